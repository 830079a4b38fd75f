//! The blocked transpose: one axis is contiguous in the source, another in the destination.
//!
//! The strides of the arrays are often powers of two. Rows then fall on the same few sets of every cache: a line that is
//! left half read, or half written, is gone before its other half is wanted. So a tile goes through a buffer:
//!
//! 1. The tile's rows, 256 bytes of each, are copied one below the other into the buffer: lines of the source are read
//!    at once. There are as many rows as four lines of the destination have elements, if the box has so many.
//! 2. The kernel turns the buffer, a strip of 16 bytes' width after the other, into whole lines of the destination: four
//!    that follow on one another before the next.
//! 3. A strip's end that is less than a line, and a strip of fewer elements, are turned into a second buffer, and only what
//!    belongs to the box is copied from there.

#[cfg(target_arch = "x86_64")]
use super::transpose_x86;
use super::{Axis, LINE, copy_item, copy_row};
use std::mem::MaybeUninit;

/// Bytes of the buffer's rows.
pub(super) const WIDE: usize = 256;

/// Bytes of a vector: a strip is as many elements wide as a vector has.
pub(super) const VECTOR: usize = 16;

/// Lines of the destination that a tile is deep, as far as the buffer has room.
const DEEP: usize = 4;

/// Rows of the buffer. 128 rows fill 32 KiB: with more, it would push all else out of the nearest cache.
const ROWS: usize = 128;

/// Side of the tiles of what no kernel takes, in elements: 32 rows of 32 eight-byte elements fill 8 KiB on each side.
const TILE: usize = 32;

/// Elements along an axis, below which the edges cost more than the kernel gains.
const LEAST: usize = 4;

/// Elements of a box, below which the buffers cost more than the kernel gains.
const SMALL: usize = 256;

/// A kernel: it turns a strip of the buffer, some lines deep. Element `c` of row `r` becomes element `r` of what lies
/// `c` steps of so many bytes from the destination.
///
/// # Safety
/// The machine has the kernel's instructions; the strip is initialised in as many rows as the lines have elements; the
/// lines are writable at each step, and not in the buffer.
pub(super) type Kernel = unsafe fn(strip: *const u8, to: *mut u8, step: isize, lines: usize);

/// Transposes `outer` and `inner` at each place along `next`. The source is contiguous along `outer`.
///
/// # Safety
/// As for [`copy_strided`](super::copy_strided), for the three axes.
pub(super) unsafe fn transpose<const ITEM: usize>(
    src: *const u8,
    dst: *mut u8,
    axes: [Axis; 3],
    item: usize,
) {
    let [next, outer, inner] = axes;
    let small = outer.n < LEAST || inner.n < LEAST || outer.n * inner.n * next.n < SMALL;
    let contiguous = inner.dst == ITEM as isize && outer.src == ITEM as isize;
    // SAFETY: the caller's promise; a vector has `16 / ITEM` elements, and the kernel is one of this machine.
    unsafe {
        match ITEM {
            1 if contiguous && !small => in_tiles::<16>(src, dst, axes, kernel::<16>()),
            2 if contiguous && !small => in_tiles::<8>(src, dst, axes, kernel::<8>()),
            4 if contiguous && !small => in_tiles::<4>(src, dst, axes, kernel::<4>()),
            8 if contiguous && !small => in_tiles::<2>(src, dst, axes, kernel::<2>()),
            _ => one_by_one::<ITEM>(src, dst, axes, item),
        }
    }
}

/// The best kernel of this machine for elements of which a vector has `N`.
fn kernel<const N: usize>() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    return if std::arch::is_x86_feature_detected!("avx2") {
        transpose_x86::avx2::<N>
    } else {
        transpose_x86::sse2::<N>
    };
    #[cfg(not(target_arch = "x86_64"))]
    portable::<N>
}

/// The kernel in plain code.
///
/// # Safety
/// As for [`Kernel`].
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) unsafe fn portable<const N: usize>(strip: *const u8, to: *mut u8, step: isize, lines: usize) {
    let item = VECTOR / N;
    for c in 0..N {
        for r in 0..lines * LINE / item {
            // SAFETY: the strip has `N` elements in each row, and there are as many rows as elements in the lines.
            unsafe {
                let from = strip.add(r * WIDE + c * item);
                let place = to.offset(c as isize * step).add(r * item);
                std::ptr::copy_nonoverlapping(from, place, item);
            }
        }
    }
}

/// The rows of a tile.
#[repr(align(64))]
struct Rows([MaybeUninit<u8>; ROWS * WIDE]);

/// What the kernel makes of a strip at an edge: a line for each element of its width.
#[repr(align(64))]
struct Edge([u8; VECTOR * LINE]);

/// # Safety
/// As for [`copy_strided`](super::copy_strided), where `outer` is contiguous in the source, `inner` in the destination,
/// and elements have `16 / N` bytes; the kernel is one of this machine for such elements.
unsafe fn in_tiles<const N: usize>(src: *const u8, dst: *mut u8, axes: [Axis; 3], kernel: Kernel) {
    let item = VECTOR / N;
    let (line, across) = (LINE / item, WIDE / item);
    let down = ROWS.min(DEEP * line);
    let [next, outer, inner] = axes;
    let mut rows = Rows([MaybeUninit::uninit(); ROWS * WIDE]);
    let buffer = rows.0.as_mut_ptr().cast::<u8>();
    let mut edge = Edge([0; VECTOR * LINE]);
    if !outer.n.is_multiple_of(N) || !inner.n.is_multiple_of(line) {
        // The kernel reads beyond the box's edges.
        let deep = down.min(inner.n.next_multiple_of(line));
        // SAFETY: `deep` is at most `down`, and that at most the rows of the buffer.
        unsafe { buffer.write_bytes(0, deep * WIDE) };
    }
    for n in 0..next.n as isize {
        for i in (0..inner.n).step_by(down) {
            let height = down.min(inner.n - i);
            for o in (0..outer.n).step_by(across) {
                let width = across.min(outer.n - o);
                // SAFETY: offsets in the source and the destination are those of elements of the box, since `n`,
                // `i + height - 1` and `o + width - 1` are less than the axes are long. The buffer is initialised in
                // `height` rows for `width` elements, and where these are not whole lines and strips, for those, too. Lines
                // that the kernel writes to the destination have all their elements in the box.
                unsafe {
                    let from = src.offset(n * next.src + i as isize * inner.src).add(o * item);
                    let to = dst.offset(n * next.dst + o as isize * outer.dst).add(i * item);
                    fill_rows(from, buffer, inner.src, height, width * item);
                    for c in (0..width).step_by(N) {
                        if height > line {
                            let share = height * c / width..height * (c + N).min(width) / width;
                            prefetch(from.wrapping_offset(next.src), inner.src, share, width * item);
                        }
                        let (strip, to) = (buffer.add(c * item), to.offset(c as isize * outer.dst));
                        let count = N.min(width - c);
                        let lines = if count == N { height / line } else { 0 };
                        kernel(strip, to, outer.dst, lines);
                        for r in (lines * line..height).step_by(line) {
                            kernel(strip.add(r * WIDE), edge.0.as_mut_ptr(), LINE as isize, 1);
                            let bytes = line.min(height - r) * item;
                            for (c, turned) in edge.0.chunks_exact(LINE).take(count).enumerate() {
                                copy_row(
                                    turned.as_ptr(),
                                    to.offset(c as isize * outer.dst).add(r * item),
                                    bytes,
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Copies rows of the source into the buffer. Lengths that are known make a few moves of each.
///
/// # Safety
/// `height` rows of so many bytes are readable, `stride` bytes apart, and fit into the buffer.
#[inline(always)]
unsafe fn fill_rows(from: *const u8, buffer: *mut u8, stride: isize, height: usize, bytes: usize) {
    for row in 0..height {
        // SAFETY: row < height, and rows of the buffer have 256 bytes.
        unsafe {
            let (from, to) = (from.offset(row as isize * stride), buffer.add(row * WIDE));
            match bytes {
                WIDE => copy_item::<WIDE>(from, to, WIDE),
                LINE => copy_item::<LINE>(from, to, LINE),
                _ => copy_row(from, to, bytes),
            }
        }
    }
}

/// Asks for some rows of the tile that comes next, while this one is turned: there are too many, and they lie too far apart,
/// for the processor to guess them, and for the nearest cache. Harmless for any address.
#[inline(always)]
fn prefetch(from: *const u8, stride: isize, rows: std::ops::Range<usize>, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for row in rows {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let from = from.wrapping_offset(row as isize * stride);
        for at in (0..bytes + LINE).step_by(LINE) {
            // SAFETY: a prefetch never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(from.wrapping_add(at).cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, stride, rows, bytes);
}

/// # Safety
/// As for [`copy_strided`](super::copy_strided), for the three axes.
unsafe fn one_by_one<const ITEM: usize>(src: *const u8, dst: *mut u8, axes: [Axis; 3], item: usize) {
    let [next, outer, inner] = axes;
    for n in 0..next.n as isize {
        for outer_tile in (0..outer.n).step_by(TILE) {
            let outer_end = (outer_tile + TILE).min(outer.n);
            for inner_tile in (0..inner.n).step_by(TILE) {
                let inner_end = (inner_tile + TILE).min(inner.n);
                for o in outer_tile as isize..outer_end as isize {
                    for i in inner_tile as isize..inner_end as isize {
                        // SAFETY: n < next.n, o < outer.n and i < inner.n.
                        unsafe {
                            let from = src.offset(n * next.src + o * outer.src + i * inner.src);
                            let to = dst.offset(n * next.dst + o * outer.dst + i * inner.dst);
                            copy_item::<ITEM>(from, to, item);
                        }
                    }
                }
            }
        }
    }
}
