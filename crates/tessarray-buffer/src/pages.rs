//! Large buffers straight from the system, which may be asked for their pages ahead of time.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;

/// Zeroed bytes at a place that stays.
///
/// Those of [`MAPPED`](Self::MAPPED) bytes or more are the system's own pages, which cost nothing before they are touched. If it
/// has large pages it is asked to use them, since a fault for each small one costs as much as the copy into it. Whoever has
/// [`backing`](Self::backing) may have the system make pages ready while others read and write the bytes.
#[derive(Debug)]
pub struct Pages {
    backing: Arc<Mapping>,
}

/// The pages behind [`Pages`], which may be asked for ahead of time by any thread. It gives no way to their bytes.
#[derive(Debug, Clone)]
pub struct Backing(Arc<Mapping>);

#[derive(Debug)]
struct Mapping {
    pointer: *mut u8,
    len: usize,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Allocated {
        capacity: usize,
    },
    #[cfg(all(target_os = "linux", not(miri)))]
    Mapped {
        begin: *mut std::ffi::c_void,
        len: usize,
    },
}

// SAFETY: it is memory and nothing else; its bytes are reached through `Pages` alone, of which each mapping has one.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

#[cfg(all(target_os = "linux", not(miri)))]
const PAGE: usize = 4096;
#[cfg(all(target_os = "linux", not(miri)))]
const LARGE_PAGE: usize = 2 << 20;

impl Pages {
    /// Buffers of fewer bytes are the allocator's.
    pub const MAPPED: usize = 4 << 20;

    /// So many zeroed bytes; `None` where there is no memory for them.
    pub fn zeroed(len: usize) -> Option<Self> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if len >= Self::MAPPED {
            return Self::mapped(len);
        }
        let mut bytes = ManuallyDrop::new(crate::zeroed(len)?);
        let source = Source::Allocated { capacity: bytes.capacity() };
        Some(Self::of(Mapping { pointer: bytes.as_mut_ptr(), len, source }))
    }

    fn of(mapping: Mapping) -> Self {
        Self { backing: Arc::new(mapping) }
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    fn mapped(len: usize) -> Option<Self> {
        use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
        // Room to begin with a large page.
        let all = len.checked_add(LARGE_PAGE)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping, which is nobody else's, wherever the system puts it.
        let begin = unsafe { mmap_anonymous(std::ptr::null_mut(), all, access, MapFlags::PRIVATE) }.ok()?;
        let pointer = begin.cast::<u8>();
        // SAFETY: the mapping is that much longer than `len`.
        let pointer = unsafe { pointer.add(pointer.align_offset(LARGE_PAGE).min(LARGE_PAGE)) };
        // SAFETY: the range lies in the mapping; the advice changes nothing that is in it. It may be refused.
        let _ = unsafe { madvise(pointer.cast(), len, Advice::LinuxHugepage) };
        Some(Self::of(Mapping { pointer, len, source: Source::Mapped { begin, len: all } }))
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.backing.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes, initialised when they were made, which live as long as this. Who has the backing does not
        // change them, and who writes borrows this mutably.
        unsafe { std::slice::from_raw_parts(self.backing.pointer, self.len()) }
    }

    /// The bytes, to change them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; this is the only way to them, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.backing.pointer, self.len()) }
    }

    /// Their pages, for whoever makes them ready.
    pub fn backing(&self) -> Backing {
        Backing(Arc::clone(&self.backing))
    }
}

impl Backing {
    /// Has the system back the pages of a range, so that whoever fills it need not wait for that. Changes nothing that is in
    /// them, so that somebody may read or write there meanwhile; does nothing if the system cannot.
    pub fn populate(&self, range: Range<usize>) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if let Source::Mapped { .. } = self.0.source {
            let begin = range.start.min(self.0.len) / PAGE * PAGE;
            let end = range.end.min(self.0.len);
            if begin < end {
                // SAFETY: the range lies in the mapping and begins with a page; its bytes stay as they are.
                let _ = unsafe {
                    let advice = rustix::mm::Advice::LinuxPopulateWrite;
                    rustix::mm::madvise(self.0.pointer.add(begin).cast(), end - begin, advice)
                };
            }
        }
        let _ = range;
    }

    /// How many bytes they have.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether they have none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        match self.source {
            Source::Allocated { capacity } => {
                // SAFETY: these are the parts of a vector, given up in `zeroed`.
                drop(unsafe { Vec::from_raw_parts(self.pointer, self.len, capacity) });
            }
            // SAFETY: the mapping is this buffer's own, and nobody has a reference any more.
            #[cfg(all(target_os = "linux", not(miri)))]
            Source::Mapped { begin, len } => drop(unsafe { rustix::mm::munmap(begin, len) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_zeroed_and_keep_what_is_written_when_they_are_populated() {
        let large = if cfg!(miri) { vec![] } else { vec![4 << 20, (4 << 20) + 4097, (9 << 20) + 1] };
        for len in [0, 1, 7, 4095, 4096, 4097, 100_000].into_iter().chain(large) {
            let mut pages = Pages::zeroed(len).unwrap();
            assert_eq!((pages.len(), pages.is_empty()), (len, len == 0));
            pages.backing().populate(0..len / 2);
            assert!(pages.bytes_mut().iter().all(|&byte| byte == 0), "{len}");
            pages.bytes_mut().fill(0xA5);
            for range in [0..len, 5..len / 3, len..usize::MAX, 5..5] {
                pages.backing().populate(range);
            }
            assert!(pages.bytes().iter().all(|&byte| byte == 0xA5), "{len}");
        }
        assert!(Pages::zeroed(usize::MAX).is_none());
        // Miri ends where there is no memory.
        assert!(cfg!(miri) || Pages::zeroed(1 << 60).is_none());
    }

    #[test]
    fn another_thread_may_fill_them_meanwhile() {
        let part = if cfg!(miri) { 4096 } else { 1 << 20 };
        let mut pages = Pages::zeroed(8 * part).unwrap();
        let backing = pages.backing();
        std::thread::scope(|scope| {
            scope.spawn(|| pages.bytes_mut().fill(3));
            (0..8).for_each(|i| backing.populate(i * part..(i + 1) * part));
        });
        assert!(pages.bytes().iter().all(|&byte| byte == 3));
        // The pages stay for as long as somebody may ask for them.
        drop(pages);
        backing.populate(0..backing.len());
    }
}
