//! The shuffles in plain Rust: the reference that the SIMD kernels are tested against, and what other machines run.
//! The fixed-size loops are written so that the compiler vectorises them.

/// Elements moved at a time by the loops for any size, so that both sides stay in the L1 cache.
const TILE: usize = 256;

/// Puts byte `b` of element `e` of `src` at `planes[b][e]`, for elements from `first` on.
pub(super) fn shuffle_fixed<const T: usize>(src: &[u8], planes: &mut [&mut [u8]; T], first: usize) {
    for (b, plane) in planes.iter_mut().enumerate() {
        for (out, element) in plane.iter_mut().zip(src.chunks_exact(T)).skip(first) {
            *out = element[b];
        }
    }
}

/// Puts `planes[b][e]` at byte `b` of element `e` of `dst`, for elements from `first` on.
pub(super) fn unshuffle_fixed<const T: usize>(planes: &[&[u8]; T], dst: &mut [u8], first: usize) {
    let n = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(dst.len() / T);
    let planes = planes.map(|plane| &plane[..n]);
    for (e, element) in dst.chunks_exact_mut(T).enumerate().take(n).skip(first) {
        for b in 0..T {
            element[b] = planes[b][e];
        }
    }
}

/// [`shuffle_fixed`] for any element size; `dst` holds the planes back to back.
pub(super) fn shuffle_any(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let n = src.len() / typesize;
    for first in (0..n).step_by(TILE) {
        let last = n.min(first + TILE);
        let tile = &src[first * typesize..last * typesize];
        for b in 0..typesize {
            let plane = &mut dst[b * n + first..b * n + last];
            for (out, element) in plane.iter_mut().zip(tile.chunks_exact(typesize)) {
                *out = element[b];
            }
        }
    }
}

/// [`unshuffle_fixed`] for any element size; `plane(b)` gives plane `b`.
pub(super) fn unshuffle_any<'a>(typesize: usize, plane: impl Fn(usize) -> &'a [u8], dst: &mut [u8]) {
    let n = dst.len() / typesize;
    for first in (0..n).step_by(TILE) {
        let last = n.min(first + TILE);
        let tile = &mut dst[first * typesize..last * typesize];
        for b in 0..typesize {
            for (element, &byte) in tile.chunks_exact_mut(typesize).zip(&plane(b)[first..last]) {
                element[b] = byte;
            }
        }
    }
}

/// Transposes each 8 bytes of `buffer` as an 8x8 matrix of bits: bit `i` of byte `j` becomes bit `j` of byte `i`.
#[inline(always)]
pub(super) fn transpose_bits(buffer: &mut [u8]) {
    let (groups, _) = buffer.as_chunks_mut::<8>();
    for group in groups {
        let mut x = u64::from_le_bytes(*group);
        let mut t = (x ^ (x >> 7)) & 0x00AA_00AA_00AA_00AA;
        x ^= t ^ (t << 7);
        t = (x ^ (x >> 14)) & 0x0000_CCCC_0000_CCCC;
        x ^= t ^ (t << 14);
        t = (x ^ (x >> 28)) & 0x0000_0000_F0F0_F0F0;
        x ^= t ^ (t << 28);
        *group = x.to_le_bytes();
    }
}
