//! Copies between two strided arrays of one shape.
//!
//! 1. Dimensions of length one are dropped, and neighbours that are contiguous on both sides are merged.
//! 2. Dimensions are ordered so that the destination's smallest stride is innermost.
//! 3. Where the innermost dimension is contiguous on both sides, rows are copied whole.
//! 4. Otherwise, where another dimension is contiguous in the source, the two are copied in tiles (a blocked
//!    transpose), so that C and Fortran order cost nearly the same; else element by element.

use smallvec::SmallVec;
use std::ptr;

#[derive(Debug, Clone, Copy)]
struct Axis {
    n: usize,
    src: isize,
    dst: isize,
}

type Axes = SmallVec<[Axis; 4]>;

/// Side of the tiles of a blocked transpose, in elements: 32 rows of 32 eight-byte elements fill 8 KiB on each side.
const TILE: usize = 32;

/// Copies every element of a `shape`d array of `item`-byte elements from `src` to `dst`; strides are in bytes.
///
/// # Safety
/// Every element reached from `src` is readable, every one reached from `dst` is writable and touched by nobody else
/// during the call, and the two do not overlap.
pub unsafe fn copy_strided(
    src: *const u8,
    src_strides: &[isize],
    dst: *mut u8,
    dst_strides: &[isize],
    shape: &[u64],
    item: usize,
) {
    let mut axes = Axes::new();
    for ((&n, &src), &dst) in shape.iter().zip(src_strides).zip(dst_strides) {
        match n {
            0 => return,
            1 => {}
            _ => axes.push(Axis { n: n as usize, src, dst }),
        }
    }
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.dst.unsigned_abs()));
    let axes = merge(&axes);
    // SAFETY: the axes reach the same elements as the caller's shape and strides.
    unsafe {
        match item {
            1 => copy_axes::<1>(src, dst, &axes, item),
            2 => copy_axes::<2>(src, dst, &axes, item),
            4 => copy_axes::<4>(src, dst, &axes, item),
            8 => copy_axes::<8>(src, dst, &axes, item),
            16 => copy_axes::<16>(src, dst, &axes, item),
            _ => copy_axes::<0>(src, dst, &axes, item),
        }
    }
}

/// Joins each axis with the one before it where the pair is contiguous on both sides.
fn merge(axes: &[Axis]) -> Axes {
    let mut out = Axes::new();
    for &axis in axes {
        if let Some(outer) = out.last_mut() {
            let n = axis.n as isize;
            if outer.src == axis.src.wrapping_mul(n) && outer.dst == axis.dst.wrapping_mul(n) {
                *outer = Axis { n: outer.n * axis.n, ..axis };
                continue;
            }
        }
        out.push(axis);
    }
    out
}

/// `ITEM` is the element size where it is one of the common ones, else 0 and `item` counts.
///
/// # Safety
/// As for [`copy_strided`].
unsafe fn copy_axes<const ITEM: usize>(src: *const u8, dst: *mut u8, axes: &[Axis], item: usize) {
    let step = item as isize;
    // SAFETY: every branch visits exactly the elements of `axes`, each at its own place.
    unsafe {
        match axes {
            [] => copy_item::<ITEM>(src, dst, item),
            [row] if row.src == step && row.dst == step => ptr::copy_nonoverlapping(src, dst, row.n * item),
            [row] => {
                for i in 0..row.n as isize {
                    copy_item::<ITEM>(src.offset(i * row.src), dst.offset(i * row.dst), item);
                }
            }
            [outer, row] if row.src == step && row.dst == step => {
                let bytes = row.n * item;
                for i in 0..outer.n as isize {
                    prefetch_row(dst.wrapping_offset((i + AHEAD) * outer.dst), bytes);
                    copy_row(src.offset(i * outer.src), dst.offset(i * outer.dst), bytes);
                }
            }
            [outer, inner] if inner.src != step && outer.src == step => {
                transpose::<ITEM>(src, dst, *outer, *inner, item)
            }
            [outer, rest @ ..] => {
                // A source-contiguous axis further out than the second is moved next to the innermost.
                let innermost = rest[rest.len() - 1];
                if innermost.src != step && outer.src == step && rest.len() > 1 {
                    let mut moved: Axes = SmallVec::from_slice(rest);
                    moved.insert(rest.len() - 1, *outer);
                    return copy_axes::<ITEM>(src, dst, &moved, item);
                }
                for i in 0..outer.n as isize {
                    copy_axes::<ITEM>(src.offset(i * outer.src), dst.offset(i * outer.dst), rest, item);
                }
            }
        }
    }
}

/// # Safety
/// As for [`copy_strided`], for the two axes.
unsafe fn transpose<const ITEM: usize>(src: *const u8, dst: *mut u8, outer: Axis, inner: Axis, item: usize) {
    for outer_tile in (0..outer.n).step_by(TILE) {
        let outer_end = (outer_tile + TILE).min(outer.n);
        for inner_tile in (0..inner.n).step_by(TILE) {
            let inner_end = (inner_tile + TILE).min(inner.n);
            for o in outer_tile as isize..outer_end as isize {
                for i in inner_tile as isize..inner_end as isize {
                    // SAFETY: o < outer.n and i < inner.n.
                    unsafe {
                        let from = src.offset(o * outer.src + i * inner.src);
                        copy_item::<ITEM>(from, dst.offset(o * outer.dst + i * inner.dst), item);
                    }
                }
            }
        }
    }
}

/// Rows of a chunk that are fetched for writing before they are written: they lie too far apart in the array for the
/// processor to guess them.
const AHEAD: isize = 12;

/// Asks for the cache lines of a short row that will be written soon; harmless for any address.
#[inline(always)]
fn prefetch_row(dst: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if bytes <= 512 {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        let mut at = 0;
        while at < bytes {
            // SAFETY: a prefetch never faults.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(dst.wrapping_add(at).cast()) };
            at += 64;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (dst, bytes);
}

/// Copies one row. Rows of a small chunk are too short for the call of `memcpy` that the compiler would make.
///
/// # Safety
/// `bytes` are readable at `src` and writable at `dst`, and the two do not overlap.
#[inline(always)]
unsafe fn copy_row(src: *const u8, dst: *mut u8, bytes: usize) {
    const WIDE: usize = 32;
    if !(WIDE..=512).contains(&bytes) {
        // SAFETY: the caller's promise.
        return unsafe { ptr::copy_nonoverlapping(src, dst, bytes) };
    }
    let last = bytes - WIDE;
    let mut at = 0;
    while at < last {
        // SAFETY: at + WIDE <= bytes.
        unsafe { copy_item::<WIDE>(src.add(at), dst.add(at), WIDE) };
        at += WIDE;
    }
    // SAFETY: last + WIDE == bytes; the last piece may write bytes of the one before again.
    unsafe { copy_item::<WIDE>(src.add(last), dst.add(last), WIDE) };
}

/// # Safety
/// One element is readable at `src` and writable at `dst`.
#[inline(always)]
unsafe fn copy_item<const ITEM: usize>(src: *const u8, dst: *mut u8, item: usize) {
    // SAFETY: the caller's promise; a constant size becomes one load and one store.
    unsafe {
        if ITEM == 0 {
            ptr::copy_nonoverlapping(src, dst, item);
        } else {
            ptr::copy_nonoverlapping(src, dst, ITEM);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_strides;
    use proptest::prelude::*;

    fn strides_of(shape: &[u64], order: &[usize], item: usize) -> Vec<isize> {
        let mut strides = vec![0; shape.len()];
        let mut step = item as isize;
        for &axis in order.iter().rev() {
            strides[axis] = step;
            step *= shape[axis] as isize;
        }
        strides
    }

    proptest! {
        #[test]
        fn any_axis_order_and_any_sign_copies_every_element_to_its_place(
            shape in prop::collection::vec(0u64..9, 0..5),
            item in prop::sample::select(vec![1usize, 2, 3, 4, 8, 12, 16]),
            seed in any::<u64>(),
            flips in prop::collection::vec(any::<bool>(), 5),
        ) {
            let rank = shape.len();
            let mut order: Vec<usize> = (0..rank).collect();
            for i in (1..rank).rev() { order.swap(i, (seed >> (i * 4)) as usize % (i + 1)); }
            let total = shape.iter().product::<u64>() as usize * item;
            let src: Vec<u8> = (0..total).map(|i| (i * 31 % 251) as u8).collect();
            let mut src_strides = strides_of(&shape, &order, item);
            let mut start = 0isize;
            for axis in 0..rank {
                if flips[axis] && shape[axis] > 0 {
                    start += src_strides[axis] * (shape[axis] as isize - 1);
                    src_strides[axis] = -src_strides[axis];
                }
            }
            let mut dst = vec![0u8; total];
            if total > 0 {
                let dst_strides = c_strides(&shape, item);
                // SAFETY: both buffers have exactly the elements of the shape, and the strides stay inside them.
                unsafe {
                    let from = src.as_ptr().offset(start);
                    copy_strided(from, &src_strides, dst.as_mut_ptr(), &dst_strides, &shape, item);
                }
                let mut at = vec![0u64; rank];
                for element in dst.chunks(item) {
                    let offset = start + at.iter().zip(&src_strides).map(|(&i, &s)| i as isize * s).sum::<isize>();
                    prop_assert_eq!(element, &src[offset as usize..offset as usize + item]);
                    for axis in (0..rank).rev() {
                        at[axis] += 1;
                        if at[axis] < shape[axis] { break; }
                        at[axis] = 0;
                    }
                }
            }
        }
    }
}
