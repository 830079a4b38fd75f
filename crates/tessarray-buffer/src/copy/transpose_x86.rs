//! The kernels of the transpose for x86.
//!
//! Both are one network. Take `N` vectors of `N` elements as one address of `log2(N)` register bits and as many position
//! bits: interleaving register `i` with register `i + N/2` rotates that address left by one bit, so `log2(N)` such steps
//! exchange registers and positions. The two 128-bit lanes of an AVX2 register work on two blocks, one below the other.

use super::LINE;
use super::transpose::{VECTOR, WIDE};
use std::arch::x86_64::*;

/// The kernel with SSE2, which every x86-64 machine has.
///
/// # Safety
/// As for [`Kernel`](super::transpose::Kernel).
#[target_feature(enable = "sse2")]
pub(super) unsafe fn sse2<const N: usize>(strip: *const u8, to: *mut u8, step: isize, lines: usize) {
    // Each block makes a quarter of a line at each step.
    for block in 0..lines * (LINE / VECTOR) {
        let mut x = [_mm_setzero_si128(); N];
        for (row, vector) in x.iter_mut().enumerate() {
            // SAFETY: the strip has a vector in each row, and the caller says that there are `N` rows for each block.
            *vector = unsafe { _mm_loadu_si128(strip.add((block * N + row) * WIDE).cast()) };
        }
        for _ in 0..N.trailing_zeros() {
            let mut y = x;
            for i in 0..N / 2 {
                let (a, b) = (x[i], x[i + N / 2]);
                (y[2 * i], y[2 * i + 1]) = match N {
                    2 => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
                    4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
                    8 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
                    _ => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
                };
            }
            x = y;
        }
        for (c, vector) in x.iter().enumerate() {
            // SAFETY: the lines are writable at each of `N` steps, as the caller says.
            unsafe { _mm_storeu_si128(to.offset(c as isize * step).add(block * VECTOR).cast(), *vector) };
        }
    }
}

/// The kernel with AVX2.
///
/// # Safety
/// As for [`Kernel`](super::transpose::Kernel).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn avx2<const N: usize>(strip: *const u8, to: *mut u8, step: isize, lines: usize) {
    // Each pair of blocks makes half a line at each step.
    for pair in 0..lines * (LINE / VECTOR / 2) {
        let mut x = [_mm256_setzero_si256(); N];
        for (row, vector) in x.iter_mut().enumerate() {
            // SAFETY: the strip has a vector in each row, and the caller says that there are `2 * N` rows for each pair.
            let (low, high) = unsafe {
                let at = strip.add((pair * 2 * N + row) * WIDE);
                (_mm_loadu_si128(at.cast()), _mm_loadu_si128(at.add(N * WIDE).cast()))
            };
            *vector = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
        }
        for _ in 0..N.trailing_zeros() {
            let mut y = x;
            for i in 0..N / 2 {
                let (a, b) = (x[i], x[i + N / 2]);
                (y[2 * i], y[2 * i + 1]) = match N {
                    2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                    4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                    8 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                    _ => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                };
            }
            x = y;
        }
        for (c, vector) in x.iter().enumerate() {
            // SAFETY: the lines are writable at each of `N` steps, as the caller says.
            unsafe {
                let at = to.offset(c as isize * step).add(pair * 2 * VECTOR);
                _mm256_storeu_si256(at.cast(), *vector);
            }
        }
    }
}
