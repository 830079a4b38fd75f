//! Large buffers straight from the system, which may be asked for their pages ahead of time.

use std::mem::ManuallyDrop;
use std::ops::Range;

/// Zeroed bytes at a place that stays, to which whoever holds a reference may write, one at a time: [`pointer`](Self::pointer)
/// is for code that knows who that is.
///
/// Those of [`MAPPED`](Self::MAPPED) bytes or more are the system's own pages, which cost nothing before they are touched;
/// where it has large pages it is asked to use them, since a fault for each small one costs as much as the copy into it.
#[derive(Debug)]
pub struct Pages {
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

// SAFETY: it is memory and nothing else; `pointer` leaves to the caller who reads and writes there.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

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
        Some(Self { pointer: bytes.as_mut_ptr(), len, source })
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
        Some(Self { pointer, len, source: Source::Mapped { begin, len: all } })
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the first is. Who reads or writes through this sees to it that nobody else writes there meanwhile.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    /// The bytes.
    ///
    /// # Safety
    /// Nobody writes there for as long as they are borrowed.
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes, initialised when they were made, which live as long as this.
        unsafe { std::slice::from_raw_parts(self.pointer, self.len) }
    }

    /// The bytes, to change them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; who has the only reference is the only one there.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.len) }
    }

    /// Has the system back the pages of a range, so that whoever fills it need not wait for that. Changes nothing that is in
    /// them, so that somebody may read or write there meanwhile; does nothing where the system cannot.
    pub fn populate(&self, range: Range<usize>) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if let Source::Mapped { .. } = self.source {
            let begin = range.start.min(self.len) / PAGE * PAGE;
            let end = range.end.min(self.len);
            if begin < end {
                // SAFETY: the range lies in the mapping and begins with a page; its bytes stay as they are.
                let _ = unsafe {
                    let advice = rustix::mm::Advice::LinuxPopulateWrite;
                    rustix::mm::madvise(self.pointer.add(begin).cast(), end - begin, advice)
                };
            }
        }
        let _ = range;
    }
}

impl Drop for Pages {
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
            pages.populate(0..len / 2);
            assert!(pages.bytes_mut().iter().all(|&byte| byte == 0), "{len}");
            pages.bytes_mut().fill(0xA5);
            for range in [0..len, 5..len / 3, len..usize::MAX, 5..5] {
                pages.populate(range);
            }
            // SAFETY: nobody writes there.
            assert!(unsafe { pages.bytes() }.iter().all(|&byte| byte == 0xA5), "{len}");
        }
        assert!(Pages::zeroed(usize::MAX).is_none());
        // Miri ends where there is no memory.
        assert!(cfg!(miri) || Pages::zeroed(1 << 60).is_none());
    }

    #[test]
    fn another_thread_may_fill_them_meanwhile() {
        let part = if cfg!(miri) { 4096 } else { 1 << 20 };
        let pages = Pages::zeroed(8 * part).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: only this thread writes or reads there, until it has ended.
                unsafe { std::slice::from_raw_parts_mut(pages.pointer(), pages.len()) }.fill(3);
            });
            (0..8).for_each(|i| pages.populate(i * part..(i + 1) * part));
        });
        // SAFETY: the other thread has ended.
        assert!(unsafe { pages.bytes() }.iter().all(|&byte| byte == 3));
    }
}
