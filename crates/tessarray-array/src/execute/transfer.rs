//! Moving the elements of one leaf between a decoded chunk and the caller's array.

use crate::plan::{Cell, Picks};
use smallvec::SmallVec;
use std::ops::Range;
use tessarray_buffer::{InputView, OutputView, Strides, c_strides, copy_strided, stream_strided};
use tessarray_codec::Chain;
use tessarray_grid::{AxisPlan, Dims, Odometer, Run};

/// Outputs of as many bytes do not stay in the processor's cache.
const LARGE_OUTPUT: u64 = 32 << 20;

/// A copy between strided arrays: source and its strides, destination and its strides, shape, item.
type Copy = unsafe fn(*const u8, &[isize], *mut u8, &[isize], &[u64], usize);

/// How to copy into an output: past the cache where it is larger than what that holds.
pub(crate) fn copy_into(out: &OutputView<'_>) -> Copy {
    let bytes = out.shape().iter().fold(out.item() as u64, |bytes, &n| bytes.saturating_mul(n));
    if bytes >= LARGE_OUTPUT { stream_strided } else { copy_strided }
}

/// Byte strides of a chunk in stored order, one an axis of the *array*.
pub(crate) fn stored_strides(chain: &Chain, item: usize) -> Strides {
    let mut strides = c_strides(&chain.stored_spec().shape, item);
    if let Some(order) = chain.permutation() {
        let stored = strides.clone();
        for (i, &axis) in order.iter().enumerate() {
            strides[axis] = stored[i];
        }
    }
    strides
}

/// One side of a copy: where it begins, and its byte strides.
struct Side<P> {
    pointer: P,
    strides: Strides,
}

/// A copy of strided boxes: offsets in bytes from both sides' origin, and the steps along each axis.
struct Boxes {
    chunk: isize,
    chunk_strides: Strides,
    array: isize,
    array_strides: Strides,
    shape: Dims,
}

/// Visits a leaf as strided boxes: one where every axis is a range, else one for each combination of listed elements.
fn boxes(axes: &[AxisPlan], cell: &Cell, chunk: &[isize], array: &[isize], mut visit: impl FnMut(&Boxes)) {
    let Cell::Axes(ranges) = cell else { return };
    let mut base = Boxes {
        chunk: 0,
        chunk_strides: Strides::new(),
        array: 0,
        array_strides: Strides::new(),
        shape: Dims::new(),
    };
    let mut listed: Vec<(usize, &[(u64, u64)])> = Vec::new();
    for (axis, (plan, range)) in axes.iter().zip(ranges).enumerate() {
        match plan.part(range.start).run {
            Run::Strided { first, step, len, out } => {
                base.chunk += first as isize * chunk[axis];
                base.array += out as isize * array[axis];
                base.chunk_strides.push(step as isize * chunk[axis]);
                base.array_strides.push(array[axis]);
                base.shape.push(len);
            }
            Run::Listed(pairs) => {
                listed.push((axis, plan.pairs(&pairs)));
                base.chunk_strides.push(0);
                base.array_strides.push(0);
                base.shape.push(1);
            }
        }
    }
    if listed.is_empty() {
        return visit(&base);
    }
    let (chunk_origin, array_origin) = (base.chunk, base.array);
    let counts: Dims = listed.iter().map(|(_, pairs)| pairs.len() as u64).collect();
    let mut odometer = Odometer::new(&counts);
    while let Some(which) = odometer.current() {
        (base.chunk, base.array) = (chunk_origin, array_origin);
        for ((axis, pairs), &i) in listed.iter().zip(which) {
            let (inside, out) = pairs[i as usize];
            base.chunk += inside as isize * chunk[*axis];
            base.array += out as isize * array[*axis];
        }
        visit(&base);
        odometer.advance();
    }
}

/// Byte offset in a stored chunk of the element with this C-order index in the array's axis order.
fn point_offset(mut inside: u64, shape: &[u64], strides: &[isize]) -> isize {
    let mut offset = 0;
    for (&n, &stride) in shape.iter().zip(strides).rev() {
        let n = n.max(1);
        offset += (inside % n) as isize * stride;
        inside /= n;
    }
    offset
}

/// Copies a leaf's elements from a chunk to their places in the output. `strides` are the chunk's, zero for a chunk
/// that is one element of fill.
///
/// # Safety
/// `chunk` holds a whole chunk of `chain` (or one element, with zero strides); `out` has the selection's shape; and
/// nobody else touches the output places of this leaf, which belong to no other.
pub(crate) unsafe fn scatter(
    picks: &Picks,
    cell: &Cell,
    chain: &Chain,
    chunk: &[u8],
    strides: &Strides,
    out: &OutputView<'_>,
) {
    let (item, copy) = (out.item(), copy_into(out));
    let from = Side { pointer: chunk.as_ptr(), strides: strides.clone() };
    match (picks, cell) {
        (Picks::Axes(axes), _) => boxes(axes, cell, &from.strides, out.strides(), |b| {
            // SAFETY: the plan's indices lie inside the chunk and the output, which the caller vouches for.
            unsafe {
                let (source, target) = (from.pointer.offset(b.chunk), out.pointer().offset(b.array));
                copy(source, &b.chunk_strides, target, &b.array_strides, &b.shape, item);
            }
        }),
        (Picks::Points(plan), Cell::Points(groups)) => {
            let stride = out.strides().first().copied().unwrap_or(0);
            for group in &plan.groups[groups.clone()] {
                for &(inside, place) in &plan.pairs[group.range.clone()] {
                    let offset = point_offset(inside, &chain.spec().shape, &from.strides);
                    // SAFETY: as above, for one element.
                    unsafe {
                        let target = out.pointer().offset(place as isize * stride);
                        std::ptr::copy_nonoverlapping(from.pointer.offset(offset), target, item);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Copies a leaf's elements from the input into a chunk, the reverse of [`scatter`].
///
/// # Safety
/// `chunk` holds a whole chunk of `chain`, and `input` has the selection's shape.
pub(crate) unsafe fn gather(
    picks: &Picks,
    cell: &Cell,
    chain: &Chain,
    input: &InputView<'_>,
    chunk: &mut [u8],
    strides: &Strides,
) {
    let item = input.item();
    let to = Side { pointer: chunk.as_mut_ptr(), strides: strides.clone() };
    match (picks, cell) {
        (Picks::Axes(axes), _) => boxes(axes, cell, &to.strides, input.strides(), |b| {
            // SAFETY: the plan's indices lie inside the chunk and the input, which the caller vouches for.
            unsafe {
                let (source, target) = (input.pointer().offset(b.array), to.pointer.offset(b.chunk));
                copy_strided(source, &b.array_strides, target, &b.chunk_strides, &b.shape, item);
            }
        }),
        (Picks::Points(plan), Cell::Points(groups)) => {
            let stride = input.strides().first().copied().unwrap_or(0);
            for group in &plan.groups[groups.clone()] {
                for &(inside, place) in &plan.pairs[group.range.clone()] {
                    let offset = point_offset(inside, &chain.spec().shape, &to.strides);
                    // SAFETY: as above, for one element.
                    unsafe {
                        let source = input.pointer().offset(place as isize * stride);
                        std::ptr::copy_nonoverlapping(source, to.pointer.offset(offset), item);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Whether a leaf is a whole chunk in its own order, and where it lies in the caller's array: then no copy is needed
/// where that box is contiguous.
pub(crate) fn whole_chunk(picks: &Picks, cell: &Cell, chain: &Chain) -> Option<Dims> {
    if chain.permutation().is_some() { None } else { whole_box(picks, cell, chain) }
}

/// Whether a leaf is a whole chunk, and where it lies in the caller's array.
pub(crate) fn whole_box(picks: &Picks, cell: &Cell, chain: &Chain) -> Option<Dims> {
    let (Picks::Axes(axes), Cell::Axes(ranges)) = (picks, cell) else { return None };
    let mut at = Dims::new();
    for ((plan, range), &n) in axes.iter().zip(ranges).zip(&chain.spec().shape) {
        match plan.part(range.start).run {
            Run::Strided { first: 0, step, len, out } if len == n && (step == 1 || n == 1) => at.push(out),
            _ => return None,
        }
    }
    Some(at)
}

/// The parts of a block that are needed, from the first byte to the last of each.
pub(crate) type Parts = SmallVec<[Range<usize>; 2]>;

/// Needed bytes of a block that lie no further apart are one part: to put together what lies between them costs less than
/// to begin again.
const NEAR: usize = 2 << 10;
/// The most parts of one block.
const MOST_PARTS: usize = 16;

/// Adds bytes to the parts of a block. Parts may overlap where bytes come out of order.
fn add(parts: &mut Parts, begin: usize, end: usize) {
    let full = parts.len() == MOST_PARTS;
    match parts.last_mut() {
        Some(last) if full || begin <= last.end + NEAR => {
            (last.start, last.end) = (last.start.min(begin), last.end.max(end));
        }
        _ => parts.push(begin..end),
    }
}

/// Says of each block of `block` bytes of a stored chunk which parts of it a leaf needs; none where it needs nothing.
pub(crate) fn mark_blocks(
    picks: &Picks,
    cell: &Cell,
    chain: &Chain,
    strides: &Strides,
    item: usize,
    block: usize,
) -> Vec<Parts> {
    let block = block.max(1);
    let mut needed = vec![Parts::new(); chain.stored_spec().byte_len().div_ceil(block)];
    // In a single block only the first byte and the last count.
    let near = if needed.len() == 1 { usize::MAX } else { NEAR };
    let mut mark = |first: isize, last: isize| {
        let (begin, end) = (first as usize, last as usize + item);
        for number in begin / block..needed.len().min((end - 1) / block + 1) {
            let at = number * block;
            let (begin, end) = (begin.max(at) - at, (end - at).min(block));
            add(&mut needed[number], begin, end);
        }
    };
    match (picks, cell) {
        (Picks::Axes(axes), _) => {
            let none = Strides::from_elem(0, axes.len());
            boxes(axes, cell, strides, &none, |b| mark_box(b, item, near, &mut mark));
        }
        (Picks::Points(plan), Cell::Points(groups)) => {
            for group in &plan.groups[groups.clone()] {
                for &(inside, _) in &plan.pairs[group.range.clone()] {
                    let offset = point_offset(inside, &chain.spec().shape, strides);
                    mark(offset, offset);
                }
            }
        }
        _ => {}
    }
    needed
}

/// Marks the runs of a box: elements along the axis of the smallest stride, and along all whose runs follow on one
/// another with gaps of at most `near` bytes.
fn mark_box(b: &Boxes, item: usize, near: usize, mark: &mut impl FnMut(isize, isize)) {
    let mut outer = b.shape.clone();
    let (mut low, mut high, mut taken) = (0, 0, false);
    while let Some(axis) =
        (0..outer.len()).filter(|&a| outer[a] > 1).min_by_key(|&a| b.chunk_strides[a].unsigned_abs())
    {
        let stride = b.chunk_strides[axis];
        if taken && stride.unsigned_abs() > near.saturating_add((high - low) as usize + item) {
            break;
        }
        let reach = (outer[axis] - 1) as isize * stride;
        (low, high, taken) = (low + reach.min(0), high + reach.max(0), true);
        outer[axis] = 1;
    }
    let mut odometer = Odometer::new(&outer);
    while let Some(at) = odometer.current() {
        let start = b.chunk + at.iter().zip(&b.chunk_strides).map(|(&i, &s)| i as isize * s).sum::<isize>();
        mark(start + low, start + high);
        odometer.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(shape: &[u64], strides: &[isize], chunk: isize, near: usize) -> Vec<(isize, isize)> {
        let b = Boxes {
            chunk,
            chunk_strides: Strides::from_slice(strides),
            array: 0,
            array_strides: Strides::from_elem(0, shape.len()),
            shape: Dims::from_slice(shape),
        };
        let mut found = Vec::new();
        mark_box(&b, 4, near, &mut |first, last| found.push((first, last)));
        found
    }

    #[test]
    fn runs_that_follow_on_one_another_are_one() {
        // A quarter of the first axis of a chunk of 8 x 5 x 3, and a part of its second.
        assert_eq!(runs(&[2, 5, 3], &[60, 12, 4], 0, 0), [(0, 116)]);
        assert_eq!(runs(&[2, 2, 3], &[60, 12, 4], 12, 0), [(12, 32), (72, 92)]);
        assert_eq!(runs(&[2, 2, 3], &[60, 12, 4], 12, 35), [(12, 32), (72, 92)]);
        assert_eq!(runs(&[2, 2, 3], &[60, 12, 4], 12, 36), [(12, 92)]);
        assert_eq!(runs(&[2, 2, 3], &[60, 12, 4], 12, usize::MAX), [(12, 92)]);
        // Backwards, and a chunk in Fortran's order.
        assert_eq!(runs(&[2, 5, 3], &[-60, 12, 4], 60, 0), [(0, 116)]);
        assert_eq!(runs(&[8, 5, 2], &[4, 32, 160], 0, 0), [(0, 316)]);
        assert_eq!(runs(&[], &[], 8, 0), [(8, 8)]);
    }

    proptest! {
        #[test]
        fn every_element_is_in_a_run(
            axes in prop::collection::vec((1u64..5, 0u64..3, 1isize..3, any::<bool>()), 0..4),
            near in prop::sample::select(vec![0, 7, 60, usize::MAX]),
        ) {
            // A box of each length in a chunk that is longer by some, with a step, forwards or backwards.
            let mut stride = 4;
            let (mut shape, mut strides, mut start) = (vec![], vec![], 0);
            for &(length, more, step, back) in &axes {
                let own = stride * step;
                start += if back { own * (length as isize - 1) } else { 0 };
                shape.push(length);
                strides.push(if back { -own } else { own });
                stride *= (length as isize - 1) * step + 1 + more as isize;
            }
            let found = runs(&shape, &strides, start, near);
            prop_assert!(near < usize::MAX || found.len() == 1);
            let mut odometer = Odometer::new(&shape);
            while let Some(at) = odometer.current() {
                let offset = start + at.iter().zip(&strides).map(|(&i, &s)| i as isize * s).sum::<isize>();
                prop_assert!(found.iter().any(|&(first, last)| first <= offset && offset <= last));
                odometer.advance();
            }
            prop_assert!(found.iter().all(|&(first, last)| first >= 0 && first <= last && last < stride));
        }
    }
}
