//! A whole chunk that lies scattered in the caller's array, taken from there or put there a block at a time: what is moved
//! stays in the processor's cache between the codec and the caller's memory, and no worker holds a decoded chunk.

use super::transfer::{copy_into, whole_box};
use crate::plan::{Cell, Picks};
use std::ops::Range;
use tessarray_buffer::{Dims, InputView, OutputView, Strides, c_strides, copy_strided, is_contiguous};
use tessarray_codec::{Blocks, Chain, Pieces, Result, Scratch};

/// Chunks of fewer bytes stay in cache whatever is done.
const LARGE: usize = 256 << 10;

/// Where the elements of a whole chunk, in its stored order, lie in the caller's array. Axes that follow on one another
/// there are one.
struct Whole {
    offset: isize,
    shape: Dims,
    strides: Strides,
    item: usize,
}

impl Whole {
    /// `None` where a leaf is not a whole chunk, a small one, or one whose axes lie in another order there.
    fn new(picks: &Picks, cell: &Cell, chain: &Chain, array: &[isize], item: usize) -> Option<Self> {
        if chain.stored_spec().byte_len() < LARGE || chain.spec().data_type.is_variable() {
            return None;
        }
        let at = whole_box(picks, cell, chain)?;
        let offset = at.iter().zip(array).map(|(&i, &stride)| i as isize * stride).sum();
        let (mut shape, mut strides) = (Dims::new(), Strides::new());
        for (i, &n) in chain.stored_spec().shape.iter().enumerate() {
            let stride = array[chain.permutation().map_or(i, |order| order[i])];
            match (shape.last_mut(), strides.last_mut()) {
                (Some(outer), Some(step)) if *step == stride * n as isize => {
                    (*outer, *step) = (*outer * n, stride);
                }
                _ => {
                    shape.push(n);
                    strides.push(stride);
                }
            }
        }
        // In the other order of axes a block has a few bytes of each of the array's cache lines, which all other blocks want
        // again: a whole chunk makes better use of them.
        let along = strides.last().map_or(0, |stride| stride.unsigned_abs());
        let across = shape.iter().zip(&strides).any(|(&n, stride)| n > 1 && stride.unsigned_abs() < along);
        (!across).then_some(Self { offset, shape, strides, item })
    }

    /// Cuts a range of the chunk's bytes, whole elements, into boxes, and visits them in their order: where a box lies in the
    /// array, from which axis on it has a shape of its own, and its length along that axis.
    fn boxes(&self, range: &Range<usize>, visit: &mut impl FnMut(isize, usize, u64)) {
        let (begin, end) = ((range.start / self.item) as u64, (range.end / self.item) as u64);
        self.cut(0, self.offset, begin..end, visit);
    }

    fn cut(&self, axis: usize, offset: isize, range: Range<u64>, visit: &mut impl FnMut(isize, usize, u64)) {
        if range.is_empty() {
            return;
        }
        let Some(&stride) = self.strides.get(axis) else { return visit(offset, axis, 1) };
        let inner = self.shape[axis + 1..].iter().product::<u64>();
        let place = |i: u64| offset + i as isize * stride;
        let (first, last) = (range.start.div_ceil(inner), range.end / inner);
        if first > last {
            // All of it inside one step of this axis.
            let start = last * inner;
            return self.cut(axis + 1, place(last), range.start - start..range.end - start, visit);
        }
        if range.start < first * inner {
            self.cut(axis + 1, place(first - 1), range.start + inner - first * inner..inner, visit);
        }
        if first < last {
            visit(place(first), axis, last - first);
        }
        self.cut(axis + 1, place(last), 0..range.end - last * inner, visit);
    }

    /// Shape and strides of a box that has `count` steps of `axis`, and all of those after it.
    fn shape_of(&self, axis: usize, count: u64) -> (Dims, &[isize]) {
        let mut shape = Dims::from_slice(self.shape.get(axis..).unwrap_or_default());
        if let Some(first) = shape.first_mut() {
            *first = count;
        }
        (shape, self.strides.get(axis..).unwrap_or_default())
    }

    /// Where a range begins in the array, if it lies together there.
    fn run(&self, range: &Range<usize>) -> Option<isize> {
        let (mut found, mut boxes) = (None, 0);
        self.each(range, |offset, _, shape, strides, _| {
            found = is_contiguous(shape, strides, self.item).then_some(offset);
            boxes += 1;
        });
        found.filter(|_| boxes == 1)
    }

    /// Cuts a range into boxes, and hands each to `copy`: where it lies in the array, where among the range's bytes, its shape,
    /// and its strides there and here.
    fn each(&self, range: &Range<usize>, mut copy: impl FnMut(isize, usize, &[u64], &[isize], &[isize])) {
        let mut at = 0;
        self.boxes(range, &mut |offset, axis, count| {
            let (shape, strides) = self.shape_of(axis, count);
            copy(offset, at, &shape, strides, &c_strides(&shape, self.item));
            at += shape.iter().product::<u64>() as usize * self.item;
        });
    }
}

/// A whole chunk in the caller's input.
pub(super) struct InputPieces<'a> {
    whole: Whole,
    input: &'a InputView<'a>,
    len: usize,
}

impl<'a> InputPieces<'a> {
    /// `None` where a leaf is not a whole, large chunk.
    pub(super) fn new(picks: &Picks, cell: &Cell, chain: &Chain, input: &'a InputView<'a>) -> Option<Self> {
        let whole = Whole::new(picks, cell, chain, input.strides(), input.item())?;
        Some(Self { whole, input, len: chain.stored_spec().byte_len() })
    }

    /// The chunk's bytes as they lie in the input; `None` where they lie in runs of fewer than `least`.
    pub(super) fn runs(&self, least: usize) -> Option<Vec<&'a [u8]>> {
        let whole = &self.whole;
        let run = match (whole.shape.last(), whole.strides.last()) {
            (Some(&n), Some(&stride)) if stride == whole.item as isize => n as usize * whole.item,
            _ => return None,
        };
        if run < least {
            return None;
        }
        (0..self.len / run).map(|i| self.together(i * run..(i + 1) * run)).collect()
    }

    fn together(&self, range: Range<usize>) -> Option<&'a [u8]> {
        let offset = self.whole.run(&range)?;
        // SAFETY: these bytes lie together inside the input, to which nobody writes during the call.
        Some(unsafe { std::slice::from_raw_parts(self.input.pointer().offset(offset), range.len()) })
    }
}

impl Pieces for InputPieces<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn unit(&self) -> usize {
        self.whole.item
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let bytes = range.len();
        out.reserve(bytes);
        let to = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        self.whole.each(&range, |offset, at, shape, strides, together| {
            // SAFETY: the chunk's box lies inside the input; the boxes of a range have its bytes, for which there is room, and
            // each is put behind the one before.
            unsafe {
                let from = self.input.pointer().offset(offset);
                copy_strided(from, strides, to.add(at), together, shape, self.whole.item);
            }
        });
        // SAFETY: the boxes have initialised all of them.
        unsafe { out.set_len(out.len() + bytes) };
    }

    fn whole(&self, range: Range<usize>) -> Option<&[u8]> {
        self.together(range)
    }
}

/// Decodes a whole, large chunk block by block to its places in `out`. `false`, and nothing done, where the leaf is
/// anything else.
pub(super) fn decode_whole(
    picks: &Picks,
    cell: &Cell,
    chain: &Chain,
    blocks: &Blocks<'_>,
    out: &OutputView<'_>,
    scratch: &mut Scratch,
) -> Result<bool> {
    let (block, len) = (blocks.block_bytes(), chain.stored_spec().byte_len());
    if block >= len || !block.is_multiple_of(out.item()) {
        return Ok(false);
    }
    let Some(whole) = Whole::new(picks, cell, chain, out.strides(), out.item()) else { return Ok(false) };
    let copy = copy_into(out);
    let mut decoded = scratch.sized(block)?;
    let result = (0..len.div_ceil(block)).try_for_each(|number| {
        let range = number * block..len.min((number + 1) * block);
        let bytes = &mut decoded[..range.len()];
        blocks.decode_block(number, bytes)?;
        let from = bytes.as_ptr();
        whole.each(&range, |offset, at, shape, strides, together| {
            // SAFETY: the chunk's box lies inside the output and belongs to no other leaf; the boxes of a range have its bytes.
            unsafe {
                let to = out.pointer().offset(offset);
                copy(from.add(at), together, to, strides, shape, whole.item);
            }
        });
        Ok(())
    });
    scratch.give(decoded);
    result.map(|()| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_boxes_of_a_range_have_its_elements_in_order(
            axes in prop::collection::vec((1u64..6, 0isize..3), 0..4),
            item in prop::sample::select(vec![1usize, 2, 8]),
            cut in (0.0f64..=1.0, 0.0f64..=1.0),
        ) {
            // Gaps between the steps of some axes; where there are none, axes follow on one another.
            let mut stride = item as isize;
            let mut strides: Vec<isize> = axes.iter().rev().map(|&(n, gap)| {
                let own = stride;
                stride = (own + gap * item as isize) * n as isize;
                own + gap * item as isize
            }).collect();
            strides.reverse();
            let shape: Vec<u64> = axes.iter().map(|&(n, _)| n).collect();
            let total = shape.iter().product::<u64>();
            let place = |index: u64| {
                let (mut rest, mut offset) = (index, 0);
                for (&n, &step) in shape.iter().zip(&strides).rev() {
                    offset += (rest % n) as isize * step;
                    rest /= n;
                }
                offset
            };
            let ends = [cut.0, cut.1].map(|part| (part * total as f64) as u64);
            let (begin, end) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let expected: Vec<isize> = (begin..end).map(place).collect();
            let whole = Whole {
                offset: 0, shape: Dims::from_vec(shape.clone()), strides: Strides::from_vec(strides.clone()), item,
            };
            let range = begin as usize * item..end as usize * item;
            let mut found = Vec::new();
            whole.each(&range, |offset, at, shape, strides, together| {
                assert_eq!(at, found.len() * item);
                assert_eq!(together, &c_strides(shape, item)[..]);
                let mut odometer = tessarray_grid::Odometer::new(shape);
                while let Some(place) = odometer.current() {
                    found.push(offset + place.iter().zip(strides).map(|(&i, &s)| i as isize * s).sum::<isize>());
                    odometer.advance();
                }
            });
            prop_assert_eq!(&found, &expected);
            if let Some(start) = whole.run(&range) {
                prop_assert!(expected.iter().enumerate().all(|(i, &at)| at == start + (i * item) as isize));
            }
        }
    }
}
