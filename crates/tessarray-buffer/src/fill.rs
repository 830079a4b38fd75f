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
}
