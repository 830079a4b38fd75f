//! Filling memory with one element, and asking whether it is filled.

/// Zeroed bytes, or `None` where there is no memory for them. Untouched pages cost nothing.
pub fn zeroed(len: usize) -> Option<Vec<u8>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let layout = std::alloc::Layout::array::<u8>(len).ok()?;
    // SAFETY: the layout is not empty; the allocation is `len` initialised bytes of the global allocator, aligned as
    // `u8` is, and owned by the vector from here on.
    unsafe {
        let pointer = std::alloc::alloc_zeroed(layout);
        (!pointer.is_null()).then(|| Vec::from_raw_parts(pointer, len, len))
    }
}

/// The same for a large buffer that will be filled soon: where the system has large pages, it is asked to use them, since
/// a fault for each small one costs as much as the copy into it.
pub fn zeroed_in_large_pages(len: usize) -> Option<Vec<u8>> {
    let buffer = zeroed(len)?;
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let skipped = buffer.as_ptr().align_offset(PAGE);
        let whole = len.saturating_sub(skipped) / PAGE * PAGE;
        if whole >= 4 << 20 {
            // SAFETY: the range lies inside the buffer; the advice changes nothing that is in it. It may be refused.
            let _ = unsafe {
                let begin = buffer.as_ptr().add(skipped).cast_mut().cast();
                rustix::mm::madvise(begin, whole, rustix::mm::Advice::LinuxHugepage)
            };
        }
    }
    Some(buffer)
}

/// Has the system back the pages of a buffer that will be filled soon, so that whoever fills it need not wait for that.
/// Changes nothing that is in it, and does nothing where the system cannot.
pub fn populate(buffer: &mut [u8]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let skipped = buffer.as_ptr().align_offset(PAGE);
        let whole = buffer.len().saturating_sub(skipped) / PAGE * PAGE;
        if whole > 0 {
            // SAFETY: the range lies inside the buffer, which is borrowed for writing; its bytes stay as they are.
            let _ = unsafe {
                let begin = buffer.as_mut_ptr().add(skipped).cast();
                rustix::mm::madvise(begin, whole, rustix::mm::Advice::LinuxPopulateWrite)
            };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = buffer;
}

/// Sets every element of `out` to `element`. `out` is a whole number of elements.
pub fn fill_with(out: &mut [u8], element: &[u8]) {
    match element {
        [] => {}
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => out.fill(*first),
        _ => {
            let first = element.len().min(out.len());
            out[..first].copy_from_slice(&element[..first]);
            let mut done = first;
            while done < out.len() {
                let (filled, rest) = out.split_at_mut(done);
                let n = filled.len().min(rest.len());
                rest[..n].copy_from_slice(&filled[..n]);
                done += n;
            }
        }
    }
}

/// Whether every element of `data` has exactly the bytes of `element`; stops at the first that has not.
pub fn is_filled_with(data: &[u8], element: &[u8]) -> bool {
    let n = element.len();
    if n == 0 || data.len() < n {
        return data.is_empty();
    }
    // Equal to itself moved by one element, and the first element right: then all are. One memcmp, which stops early.
    data[..n] == *element && data[n..] == data[..data.len() - n]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_its_bytes_when_it_is_populated() {
        for len in [0, 1, 4095, 4096, 3 << 20] {
            let mut data: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let same = data.clone();
            populate(&mut data);
            assert_eq!(data, same);
            assert!(zeroed_in_large_pages(len).is_some_and(|mut fresh| {
                populate(&mut fresh);
                fresh == vec![0; len]
            }));
        }
    }

    #[test]
    fn filled_memory_is_recognised_and_one_other_byte_is_seen() {
        for element in [&[0u8][..], &[7], &[1, 2], &[0, 0, 128, 63], &[1, 2, 3, 4, 5, 6, 7]] {
            for count in [1, 2, 3, 31, 100] {
                let mut data = vec![9; element.len() * count];
                fill_with(&mut data, element);
                assert!(data.chunks(element.len()).all(|e| e == element));
                assert!(is_filled_with(&data, element));
                let last = data.len() - 1;
                data[last] ^= 1;
                assert!(!is_filled_with(&data, element));
            }
        }
    }

    #[test]
    fn memory_of_any_size_is_zero_and_writable_to_its_ends() {
        // Large pages are asked for from 4 MiB on, which Miri knows nothing about.
        let large = if cfg!(miri) { vec![] } else { vec![4 << 20, (4 << 20) + 4097, (9 << 20) + 1] };
        for len in [0, 1, 7, 4095, 4096, 4097, 100_000].into_iter().chain(large) {
            let mut buffer = zeroed_in_large_pages(len).unwrap();
            assert!(buffer.len() == len && is_filled_with(&buffer, &[0]), "{len}");
            buffer.fill(0xA5);
            buffer.push(1);
            assert!(is_filled_with(&buffer[..len], &[0xA5]), "{len}");
        }
        assert!(zeroed_in_large_pages(usize::MAX).is_none());
    }
}
