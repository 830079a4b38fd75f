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
    use proptest::prelude::*;

    /// Where the elements of a box lie: any order of axes, any direction, gaps between neighbours.
    #[derive(Debug)]
    struct Side {
        start: usize,
        strides: Vec<isize>,
        bytes: usize,
    }

    /// One axis of a side: its turn, counted from the outermost; whether it runs backwards; and how many times the
    /// extent of the axes inside its stride is. A `gap` of 0 repeats one element, as fill does.
    type Way = (u32, bool, usize);

    fn side(shape: &[u64], ways: &[Way], item: usize) -> Side {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(ways[axis].0));
        let (mut start, mut strides, mut extent) = (0, vec![0; shape.len()], item);
        for axis in order {
            let (_, backwards, gap) = ways[axis];
            let (n, stride) = (shape[axis] as usize, extent * gap);
            strides[axis] = if backwards { -(stride as isize) } else { stride as isize };
            start += if backwards { stride * n.saturating_sub(1) } else { 0 };
            extent += stride * n.saturating_sub(1);
        }
        Side { start, strides, bytes: extent }
    }

    /// The plainest copy: one element after another, each at the offset that its coordinates say.
    fn plain(shape: &[u64], item: usize, src: &[u8], from: &Side, dst: &mut [u8], to: &Side) {
        let mut at = vec![0u64; shape.len()];
        for _ in 0..shape.iter().product() {
            let offset = |side: &Side| {
                let steps = at.iter().zip(&side.strides).map(|(&i, &stride)| i as isize * stride);
                (side.start as isize + steps.sum::<isize>()) as usize
            };
            let (source, target) = (offset(from), offset(to));
            dst[target..target + item].copy_from_slice(&src[source..source + item]);
            for axis in (0..shape.len()).rev() {
                at[axis] = (at[axis] + 1) % shape[axis];
                if at[axis] != 0 {
                    break;
                }
            }
        }
    }

    /// Elements of a box; Miri is slow.
    const MOST: u64 = if cfg!(miri) { 3000 } else { 20_000 };

    /// Short axes, and such as need more than one tile of a transpose or more than one piece of a row.
    fn length() -> impl Strategy<Value = u64> {
        prop_oneof![8 => 0u64..6, 2 => 30u64..35, 1 => 64u64..67]
    }

    fn ways(gaps: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Way>> {
        let gap = prop_oneof![3 => Just(1), 1 => gaps];
        prop::collection::vec((any::<u32>(), any::<bool>(), gap), 4)
    }

    proptest! {
        #[test]
        fn any_box_is_copied_as_if_one_by_one_and_nothing_between_its_elements_is_touched(
            shape in prop::collection::vec(length(), 0..5)
                .prop_filter("small", |shape| shape.iter().product::<u64>() <= MOST),
            item in prop::sample::select(vec![1usize, 2, 3, 4, 8, 12, 16, 100]),
            from in ways(0..4),
            to in ways(1..4),
        ) {
            let (from, to) = (side(&shape, &from, item), side(&shape, &to, item));
            let src: Vec<u8> = (0..from.bytes).map(|i| (i * 31 % 251) as u8).collect();
            let mut expected = vec![0xEE; to.bytes];
            let mut dst = expected.clone();
            plain(&shape, item, &src, &from, &mut expected, &to);
            // SAFETY: each side's memory ends with the last element that its strides reach.
            unsafe {
                let (source, target) = (src.as_ptr().add(from.start), dst.as_mut_ptr().add(to.start));
                copy_strided(source, &from.strides, target, &to.strides, &shape, item);
            }
            prop_assert!(dst == expected, "{:?}", (from, to));
        }
    }
}
