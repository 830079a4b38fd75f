//! Copies between two strided arrays of one shape.
//!
//! 1. Dimensions of length one are dropped, and neighbours that are contiguous on both sides are merged.
//! 2. Dimensions are ordered so that the destination's smallest stride is innermost.
//! 3. Where the innermost dimension is contiguous on both sides, rows are copied whole; where the destination is larger
//!    than the cache, past it.
//! 4. Otherwise, where another dimension is contiguous in the source, the two are copied in tiles (a blocked
//!    transpose), so that C and Fortran order cost nearly the same; else element by element.

mod stream;
#[cfg(test)]
mod tests;
mod transpose;
#[cfg(test)]
mod transpose_tests;
#[cfg(target_arch = "x86_64")]
mod transpose_x86;

use smallvec::SmallVec;
use std::ptr;
use transpose::transpose;

#[derive(Debug, Clone, Copy)]
struct Axis {
    n: usize,
    src: isize,
    dst: isize,
}

type Axes = SmallVec<[Axis; 4]>;

/// Bytes of a cache line.
const LINE: usize = 64;

/// An axis of one step.
const ONCE: Axis = Axis { n: 1, src: 0, dst: 0 };

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
    // SAFETY: the caller's promise.
    unsafe { copy((src, src_strides), (dst, dst_strides), shape, item, false) }
}

/// The same, to a part of something that is larger than the processor's cache: rows of whole cache lines are written past
/// it.
///
/// # Safety
/// As for [`copy_strided`].
pub unsafe fn stream_strided(
    src: *const u8,
    src_strides: &[isize],
    dst: *mut u8,
    dst_strides: &[isize],
    shape: &[u64],
    item: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { copy((src, src_strides), (dst, dst_strides), shape, item, true) }
    stream::fence();
}

/// # Safety
/// As for [`copy_strided`].
#[expect(clippy::cast_possible_truncation, reason = "elements of an array in memory")]
unsafe fn copy(
    (src, src_strides): (*const u8, &[isize]),
    (dst, dst_strides): (*mut u8, &[isize]),
    shape: &[u64],
    item: usize,
    streams: bool,
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
            1 => copy_axes::<1>(src, dst, &axes, item, streams),
            2 => copy_axes::<2>(src, dst, &axes, item, streams),
            4 => copy_axes::<4>(src, dst, &axes, item, streams),
            8 => copy_axes::<8>(src, dst, &axes, item, streams),
            16 => copy_axes::<16>(src, dst, &axes, item, streams),
            _ => copy_axes::<0>(src, dst, &axes, item, streams),
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

/// `ITEM` is the element size where it is one of the common ones, else 0 and `item` counts. With `streams`, rows of whole
/// cache lines are written past the cache.
///
/// # Safety
/// As for [`copy_strided`].
unsafe fn copy_axes<const ITEM: usize>(
    src: *const u8,
    dst: *mut u8,
    axes: &[Axis],
    item: usize,
    streams: bool,
) {
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
                if streams && stream::fits(dst, *outer, bytes) {
                    return stream::rows(src, dst, *outer, bytes);
                }
                for i in 0..outer.n as isize {
                    prefetch_row(dst.wrapping_offset((i + AHEAD) * outer.dst), bytes);
                    copy_row(src.offset(i * outer.src), dst.offset(i * outer.dst), bytes);
                }
            }
            [outer, inner] if inner.src != step && outer.src == step => {
                transpose::<ITEM>(src, dst, [ONCE, *outer, *inner], item)
            }
            &[next, outer, inner] if inner.src != step && outer.src == step => {
                transpose::<ITEM>(src, dst, [next, outer, inner], item)
            }
            [outer, rest @ ..] => {
                // A source-contiguous axis further out than the second is moved next to the innermost.
                let innermost = rest[rest.len() - 1];
                if innermost.src != step && outer.src == step && rest.len() > 1 {
                    let mut moved: Axes = SmallVec::from_slice(rest);
                    moved.insert(rest.len() - 1, *outer);
                    return copy_axes::<ITEM>(src, dst, &moved, item, streams);
                }
                for i in 0..outer.n as isize {
                    copy_axes::<ITEM>(
                        src.offset(i * outer.src),
                        dst.offset(i * outer.dst),
                        rest,
                        item,
                        streams,
                    );
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
            at += LINE;
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
    // SAFETY: the caller's promise, and `bytes` is at least the width of the pieces.
    unsafe {
        match bytes {
            513.. => ptr::copy_nonoverlapping(src, dst, bytes),
            32.. => in_pieces::<32>(src, dst, bytes),
            16.. => in_pieces::<16>(src, dst, bytes),
            8.. => in_pieces::<8>(src, dst, bytes),
            4.. => in_pieces::<4>(src, dst, bytes),
            2.. => in_pieces::<2>(src, dst, bytes),
            1 => *dst = *src,
            0 => {}
        }
    }
}

/// Copies pieces of `WIDE` bytes; the last may write bytes of the one before again.
///
/// # Safety
/// As for [`copy_row`]; there are at least `WIDE` bytes.
#[inline(always)]
unsafe fn in_pieces<const WIDE: usize>(src: *const u8, dst: *mut u8, bytes: usize) {
    let last = bytes - WIDE;
    let mut at = 0;
    while at < last {
        // SAFETY: at + WIDE <= bytes.
        unsafe { copy_item::<WIDE>(src.add(at), dst.add(at), WIDE) };
        at += WIDE;
    }
    // SAFETY: last + WIDE == bytes.
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
