//! The shuffles as safe functions: the best kernel of this machine, then the portable code for what it left over.
//!
//! `shuffle` turns elements of `typesize` bytes into `typesize` planes, plane `b` holding byte `b` of each element. Bytes
//! beyond the last whole element stay where they are. All of it is as in C-Blosc 1.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls of the vector kernels"))]

use super::portable;

#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
fn has_vbmi() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vbmi")
}

/// Shuffles `src` into `dst`, which has the same length.
pub(crate) fn shuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let len = src.len().min(dst.len());
    let n = len / typesize.max(1);
    let whole = n * typesize;
    let (body, tail) = src[..len].split_at(whole);
    let (dst, dst_tail) = dst[..len].split_at_mut(whole);
    dst_tail.copy_from_slice(tail);
    match typesize {
        _ if n == 0 => {}
        1 => dst.copy_from_slice(body),
        2 => shuffle_fixed::<2>(body, split(dst, n)),
        4 => shuffle_fixed::<4>(body, split(dst, n)),
        8 => shuffle_fixed::<8>(body, split(dst, n)),
        16 => shuffle_fixed::<16>(body, split(dst, n)),
        _ => portable::shuffle_any(typesize, body, dst),
    }
}

/// Undoes [`shuffle`].
pub(crate) fn unshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let len = src.len().min(dst.len());
    let n = len / typesize.max(1);
    let whole = n * typesize;
    let (body, tail) = src[..len].split_at(whole);
    let (dst, dst_tail) = dst[..len].split_at_mut(whole);
    dst_tail.copy_from_slice(tail);
    match typesize {
        _ if n == 0 => {}
        1 => dst.copy_from_slice(body),
        2 | 4 | 8 | 16 => {
            let mut planes: [&[u8]; 16] = [&[]; 16];
            planes.iter_mut().zip(body.chunks_exact(n)).for_each(|(plane, bytes)| *plane = bytes);
            unshuffle_planes(&planes[..typesize], dst);
        }
        _ => portable::unshuffle_any(typesize, |b| &body[b * n..(b + 1) * n], dst),
    }
}

/// Unshuffles planes that lie anywhere. Each has `dst.len() / planes.len()` bytes.
pub(crate) fn unshuffle_planes(planes: &[&[u8]], dst: &mut [u8]) {
    match planes.len() {
        2 => unshuffle_fixed::<2>(planes, dst),
        4 => unshuffle_fixed::<4>(planes, dst),
        8 => unshuffle_fixed::<8>(planes, dst),
        16 => unshuffle_fixed::<16>(planes, dst),
        0 => {}
        count => portable::unshuffle_any(count, |b| planes[b], dst),
    }
}

/// `dst` as `T` planes of `n` bytes.
fn split<const T: usize>(dst: &mut [u8], n: usize) -> [&mut [u8]; T] {
    let mut planes = dst.chunks_exact_mut(n);
    std::array::from_fn(|_| planes.next().unwrap_or_default())
}

fn shuffle_fixed<const T: usize>(src: &[u8], mut planes: [&mut [u8]; T]) {
    #[allow(unused_mut)]
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    {
        let n = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(src.len() / T);
        let pointers = planes.each_mut().map(|plane| plane.as_mut_ptr());
        if has_vbmi() {
            // SAFETY: the features were just detected, `n` elements fit in `src` and `n` bytes in each plane.
            done = unsafe { avx512::shuffle::<T>(src.as_ptr(), pointers, n) };
        }
        if has_avx2() && n - done >= avx2::STEP {
            // SAFETY: as above, for the `n - done` elements after the first `done`.
            done += unsafe {
                avx2::shuffle::<T>(
                    src.as_ptr().add(done * T),
                    pointers.map(|plane| plane.add(done)),
                    n - done,
                )
            };
        }
    }
    portable::shuffle_fixed(src, &mut planes, done);
}

fn unshuffle_fixed<const T: usize>(planes: &[&[u8]], dst: &mut [u8]) {
    let Some(planes) = planes.first_chunk::<T>() else { return };
    #[allow(unused_mut)]
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    {
        let n = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(dst.len() / T);
        let pointers = planes.map(|plane| plane.as_ptr());
        if has_vbmi() {
            // SAFETY: the features were just detected, `n` bytes are in each plane and `n` elements fit in `dst`.
            done = unsafe { avx512::unshuffle::<T>(pointers, dst.as_mut_ptr(), n) };
        }
        if has_avx2() && n - done >= avx2::STEP {
            // SAFETY: as above, for the `n - done` elements after the first `done`.
            done += unsafe {
                let rest = pointers.map(|plane| plane.add(done));
                avx2::unshuffle::<T>(rest, dst.as_mut_ptr().add(done * T), n - done)
            };
        }
    }
    portable::unshuffle_fixed(planes, dst, done);
}

fn transpose_bits(buffer: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: AVX2 was just detected.
        unsafe { avx2::transpose_bits(buffer) };
        return;
    }
    portable::transpose_bits(buffer);
}

/// Bit-shuffles `src` into `dst`, which has the same length: a byte shuffle, then each plane split into its 8 bit rows.
/// As in C-Blosc 1, the bytes are copied unchanged where the number of elements is not a multiple of 8. `tmp` is scratch.
pub(crate) fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8], tmp: &mut Vec<u8>) {
    let len = src.len().min(dst.len());
    let n = len / typesize.max(1);
    if !n.is_multiple_of(8) || n == 0 {
        dst[..len].copy_from_slice(&src[..len]);
        return;
    }
    let whole = n * typesize;
    dst[whole..len].copy_from_slice(&src[whole..len]);
    let planes = sized(tmp, whole);
    shuffle(typesize, &src[..whole], planes);
    transpose_bits(planes);
    for (plane, rows) in planes.chunks_exact(n).zip(dst[..whole].chunks_exact_mut(n)) {
        shuffle(8, plane, rows);
    }
}

/// Undoes [`bitshuffle`].
pub(crate) fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8], tmp: &mut Vec<u8>) {
    let len = src.len().min(dst.len());
    let n = len / typesize.max(1);
    if !n.is_multiple_of(8) || n == 0 {
        dst[..len].copy_from_slice(&src[..len]);
        return;
    }
    let whole = n * typesize;
    dst[whole..len].copy_from_slice(&src[whole..len]);
    let planes = sized(tmp, whole);
    for (rows, plane) in src[..whole].chunks_exact(n).zip(planes.chunks_exact_mut(n)) {
        unshuffle(8, rows, plane);
    }
    transpose_bits(planes);
    unshuffle(typesize, planes, &mut dst[..whole]);
}

/// The first `len` bytes of a scratch buffer that only grows.
pub(crate) fn sized(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    &mut buffer[..len]
}
