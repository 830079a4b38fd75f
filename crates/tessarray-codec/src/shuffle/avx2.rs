//! The shuffles with AVX2.
//!
//! Both directions are one network. Take `T` vectors of 16 bytes as one address of `log2(T)` register bits and 4
//! position bits: interleaving register `i` with register `i + T/2` rotates that address left by one bit. Unshuffling
//! is `log2(T)` such steps on bytes. Shuffling first groups the bytes inside each vector, then takes `log2(T)` steps on
//! units of `16 / T` bytes. The two 128-bit lanes of a register work on neighbouring groups of 16 elements, so no
//! step crosses lanes.
#![expect(unsafe_code, reason = "a kernel of vector instructions")]

use std::arch::x86_64::*;

/// Elements of one step; what is left over is for the portable code.
pub(super) const STEP: usize = 32;

/// Shuffles `n` elements of `T` bytes, as far as whole steps go, and returns how many.
///
/// # Safety
/// The machine has AVX2, `src` is readable for `n * T` bytes and each plane writable for `n`.
#[target_feature(enable = "avx2")]
#[expect(clippy::cast_possible_truncation, reason = "places in one vector of 16 bytes")]
pub(super) unsafe fn shuffle<const T: usize>(src: *const u8, planes: [*mut u8; T], n: usize) -> usize {
    let mut group = [0u8; 16];
    for (place, from) in group.iter_mut().enumerate() {
        let per_vector = 16 / T;
        *from = ((place % per_vector) * T + place / per_vector) as u8;
    }
    // SAFETY: `group` has the 16 bytes read.
    let group = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(group.as_ptr().cast()) });
    let mut e = 0;
    while e + STEP <= n {
        let mut x = [_mm256_setzero_si256(); T];
        for (i, vector) in x.iter_mut().enumerate() {
            // SAFETY: the step's elements end at `e + 32 <= n`, and the last load ends at byte `(e + 32) * T`.
            let (low, high) = unsafe {
                let at = src.add(e * T + 16 * i);
                (_mm_loadu_si128(at.cast()), _mm_loadu_si128(at.add(16 * T).cast()))
            };
            let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
            *vector = if T == 16 { both } else { _mm256_shuffle_epi8(both, group) };
        }
        for _ in 0..T.trailing_zeros() {
            let mut y = x;
            for i in 0..T / 2 {
                (y[2 * i], y[2 * i + 1]) = match T {
                    2 => (_mm256_unpacklo_epi64(x[i], x[i + 1]), _mm256_unpackhi_epi64(x[i], x[i + 1])),
                    4 => (_mm256_unpacklo_epi32(x[i], x[i + 2]), _mm256_unpackhi_epi32(x[i], x[i + 2])),
                    8 => (_mm256_unpacklo_epi16(x[i], x[i + 4]), _mm256_unpackhi_epi16(x[i], x[i + 4])),
                    _ => (_mm256_unpacklo_epi8(x[i], x[i + T / 2]), _mm256_unpackhi_epi8(x[i], x[i + T / 2])),
                };
            }
            x = y;
        }
        for (vector, plane) in x.iter().zip(planes) {
            // SAFETY: each plane has `n` bytes, and `e + 32 <= n`.
            unsafe { _mm256_storeu_si256(plane.add(e).cast(), *vector) };
        }
        e += STEP;
    }
    e
}

/// Unshuffles `n` elements of `T` bytes, as far as whole steps go, and returns how many.
///
/// # Safety
/// The machine has AVX2, each plane is readable for `n` bytes and `dst` writable for `n * T`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn unshuffle<const T: usize>(planes: [*const u8; T], dst: *mut u8, n: usize) -> usize {
    let mut e = 0;
    while e + STEP <= n {
        let mut x = [_mm256_setzero_si256(); T];
        for (vector, plane) in x.iter_mut().zip(planes) {
            // SAFETY: each plane has `n` bytes, and `e + 32 <= n`.
            *vector = unsafe { _mm256_loadu_si256(plane.add(e).cast()) };
        }
        for _ in 0..T.trailing_zeros() {
            let mut y = x;
            for i in 0..T / 2 {
                y[2 * i] = _mm256_unpacklo_epi8(x[i], x[i + T / 2]);
                y[2 * i + 1] = _mm256_unpackhi_epi8(x[i], x[i + T / 2]);
            }
            x = y;
        }
        for (i, vector) in x.iter().enumerate() {
            // SAFETY: the step's elements end at `e + 32 <= n`, and the last store ends at byte `(e + 32) * T`.
            unsafe {
                let at = dst.add(e * T + 16 * i);
                _mm_storeu_si128(at.cast(), _mm256_castsi256_si128(*vector));
                _mm_storeu_si128(at.add(16 * T).cast(), _mm256_extracti128_si256::<1>(*vector));
            }
        }
        e += STEP;
    }
    e
}

/// [`transpose_bits`](super::portable::transpose_bits), compiled for AVX2: four matrices at a time.
#[target_feature(enable = "avx2")]
pub(super) fn transpose_bits(buffer: &mut [u8]) {
    super::portable::transpose_bits(buffer);
}
