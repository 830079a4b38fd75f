//! The shuffles with AVX-512 VBMI: the network of [`avx2`](super::avx2) on whole 64-byte registers, where one
//! instruction takes bytes from anywhere in two registers.
#![expect(unsafe_code, reason = "a kernel of vector instructions")]

use std::arch::x86_64::*;

/// Elements of one step; what is left over is for smaller steps.
const STEP: usize = 64;

/// `order(i)` for each of 64 places.
#[target_feature(enable = "avx512f")]
#[expect(clippy::cast_possible_truncation, reason = "places in one vector of 64 bytes")]
fn places(order: impl Fn(u8) -> u8) -> __m512i {
    let places: [u8; 64] = std::array::from_fn(|i| order(i as u8));
    // SAFETY: the array has the 64 bytes read.
    unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }
}

/// Shuffles `n` elements of `T` bytes, as far as whole steps go, and returns how many.
///
/// # Safety
/// The machine has AVX-512 F, BW and VBMI, `src` is readable for `n * T` bytes and each plane writable for `n`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn shuffle<const T: usize>(src: *const u8, planes: [*mut u8; T], n: usize) -> usize {
    let (even, odd) = (places(|i| 2 * i), places(|i| 2 * i + 1));
    let mut e = 0;
    while e + STEP <= n {
        let mut x = [_mm512_setzero_si512(); T];
        for (i, vector) in x.iter_mut().enumerate() {
            // SAFETY: the step's elements end at `e + 64 <= n`, and the last load ends at byte `(e + 64) * T`.
            *vector = unsafe { _mm512_loadu_si512(src.add(e * T + 64 * i).cast()) };
        }
        for _ in 0..T.trailing_zeros() {
            let y = x;
            for i in 0..T / 2 {
                x[i] = _mm512_permutex2var_epi8(y[2 * i], even, y[2 * i + 1]);
                x[i + T / 2] = _mm512_permutex2var_epi8(y[2 * i], odd, y[2 * i + 1]);
            }
        }
        for (vector, plane) in x.iter().zip(planes) {
            // SAFETY: each plane has `n` bytes, and `e + 64 <= n`.
            unsafe { _mm512_storeu_si512(plane.add(e).cast(), *vector) };
        }
        e += STEP;
    }
    e
}

/// Unshuffles `n` elements of `T` bytes, as far as whole steps go, and returns how many.
///
/// # Safety
/// The machine has AVX-512 F, BW and VBMI, each plane is readable for `n` bytes and `dst` writable for `n * T`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn unshuffle<const T: usize>(planes: [*const u8; T], dst: *mut u8, n: usize) -> usize {
    // Places from 64 on are of the second register.
    let (low, high) = (places(|i| i / 2 + 64 * (i % 2)), places(|i| 32 + i / 2 + 64 * (i % 2)));
    let mut e = 0;
    while e + STEP <= n {
        let mut x = [_mm512_setzero_si512(); T];
        for (vector, plane) in x.iter_mut().zip(planes) {
            // SAFETY: each plane has `n` bytes, and `e + 64 <= n`.
            *vector = unsafe { _mm512_loadu_si512(plane.add(e).cast()) };
        }
        for _ in 0..T.trailing_zeros() {
            let y = x;
            for i in 0..T / 2 {
                x[2 * i] = _mm512_permutex2var_epi8(y[i], low, y[i + T / 2]);
                x[2 * i + 1] = _mm512_permutex2var_epi8(y[i], high, y[i + T / 2]);
            }
        }
        for (i, vector) in x.iter().enumerate() {
            // SAFETY: the step's elements end at `e + 64 <= n`, and the last store ends at byte `(e + 64) * T`.
            unsafe { _mm512_storeu_si512(dst.add(e * T + 64 * i).cast(), *vector) };
        }
        e += STEP;
    }
    e
}
