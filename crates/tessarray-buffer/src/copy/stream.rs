//! Rows of whole cache lines, written past the cache: a line that is written in the cache is read from memory first, and
//! drives out another one that may be half written. For destinations larger than the cache that is a third of the work.

use super::{Axis, LINE};

/// Whether rows begin and end with cache lines, on a processor that can write past its cache.
pub(super) fn fits(dst: *const u8, outer: Axis, bytes: usize) -> bool {
    let lines = |bytes: usize| bytes.is_multiple_of(LINE);
    cfg!(all(target_arch = "x86_64", not(miri)))
        && lines(bytes)
        && lines(dst as usize)
        && lines(outer.dst.unsigned_abs())
}

/// Copies rows of `bytes`, for which [`fits`] holds.
///
/// # Safety
/// As for [`copy_strided`](super::copy_strided), for the rows along `outer`; nobody else looks at them before [`fence`].
pub(super) unsafe fn rows(src: *const u8, dst: *mut u8, outer: Axis, bytes: usize) {
    for i in 0..outer.n as isize {
        let mut at = 0;
        while at < bytes {
            // SAFETY: the row is readable at one side and writable at the other, and `at` is the start of a line of it.
            unsafe { line(src.offset(i * outer.src).add(at), dst.offset(i * outer.dst).add(at)) };
            at += LINE;
        }
    }
}

/// # Safety
/// A line is readable at `src` and writable at `dst`, which begins one.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn line(src: *const u8, dst: *mut u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    // SAFETY: four times 16 of the line's bytes, which need no alignment at the source.
    unsafe {
        let (src, dst) = (src.cast::<__m128i>(), dst.cast::<__m128i>());
        let (a, b) = (_mm_loadu_si128(src), _mm_loadu_si128(src.add(1)));
        let (c, d) = (_mm_loadu_si128(src.add(2)), _mm_loadu_si128(src.add(3)));
        _mm_stream_si128(dst, a);
        _mm_stream_si128(dst.add(1), b);
        _mm_stream_si128(dst.add(2), c);
        _mm_stream_si128(dst.add(3), d);
    }
}

/// # Safety
/// A line is readable at `src` and writable at `dst`.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn line(src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, LINE) };
}

/// Makes what was written past the cache visible before what this thread writes next.
pub(super) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every processor of this kind has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
