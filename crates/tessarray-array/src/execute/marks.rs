//! Which bytes of a chunk a leaf needs, block by block.

use super::costs::{BLOCK_HOLE, BLOCK_PARTS};
use smallvec::SmallVec;
use std::ops::Range;
use tessarray_buffer::StridedBox;
use tessarray_grid::Odometer;

/// The parts of a block that are needed, from the first byte to the last of each.
pub(super) type BlockParts = SmallVec<[Range<usize>; 2]>;

/// Bytes of all the parts of blocks.
pub(super) fn bytes_of(needed: &[BlockParts]) -> usize {
    needed.iter().flatten().map(|part| part.end - part.start).sum()
}

/// What is needed of each block of a chunk.
pub(super) struct Marks {
    needed: Vec<BlockParts>,
    block: usize,
    item: usize,
    /// Bytes between runs that count as one.
    near: usize,
}

impl Marks {
    /// Of a chunk of so many bytes in blocks of `block`, with elements of `item`.
    pub(super) fn new(bytes: usize, block: usize, item: usize) -> Self {
        let block = block.max(1);
        let needed = vec![BlockParts::new(); bytes.div_ceil(block)];
        // In a single block only the first byte and the last count.
        let near = if needed.len() == 1 { usize::MAX } else { BLOCK_HOLE };
        Self { needed, block, item, near }
    }

    pub(super) fn into_parts(self) -> Vec<BlockParts> {
        self.needed
    }

    /// Marks the bytes from the element that begins at `first` to the end of the one that begins at `last`.
    pub(super) fn add(&mut self, first: isize, last: isize) {
        let (begin, end) = (first as usize, last as usize + self.item);
        let block = self.block;
        for number in begin / block..self.needed.len().min((end - 1) / block + 1) {
            let at = number * block;
            let (begin, end) = (begin.max(at) - at, (end - at).min(block));
            add(&mut self.needed[number], begin, end);
        }
    }

    pub(super) fn add_box(&mut self, b: &StridedBox) {
        let (item, near) = (self.item, self.near);
        runs_of(b, item, near, &mut |first, last| self.add(first, last));
    }
}

/// Adds bytes to the parts of a block. Parts may overlap if bytes come out of order.
fn add(parts: &mut BlockParts, begin: usize, end: usize) {
    let full = parts.len() == BLOCK_PARTS;
    match parts.last_mut() {
        Some(last) if full || begin <= last.end + BLOCK_HOLE => {
            (last.start, last.end) = (last.start.min(begin), last.end.max(end));
        }
        _ => parts.push(begin..end),
    }
}

/// Visits the runs of a box: elements along the axis of the smallest stride, and along all whose runs follow on one another with
/// gaps of at most `near` bytes.
#[expect(clippy::cast_possible_truncation, reason = "places in a chunk that is in memory")]
fn runs_of(b: &StridedBox, item: usize, near: usize, mark: &mut impl FnMut(isize, isize)) {
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
    use tessarray_buffer::{Dims, Strides};

    fn runs(shape: &[u64], strides: &[isize], chunk: isize, near: usize) -> Vec<(isize, isize)> {
        let b = StridedBox {
            chunk,
            chunk_strides: Strides::from_slice(strides),
            array: 0,
            array_strides: Strides::from_elem(0, shape.len()),
            shape: Dims::from_slice(shape),
        };
        let mut found = Vec::new();
        runs_of(&b, 4, near, &mut |first, last| found.push((first, last)));
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
