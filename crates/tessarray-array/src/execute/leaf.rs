//! One leaf: what a call touches of one innermost chunk. Where it lies in the chunk and in the caller's array is found once,
//! and used by all that look at it, copy it or mark it.

use super::costs;
use super::marks::{BlockParts, Marks, bytes_of};
use crate::layout::Layout;
use crate::plan::{Cell, Picks};
use smallvec::SmallVec;
use tessarray_buffer::{
    Along, AlongAxes, Dims, FlatInput, InputView, Strides, Tile, Tiles, boxes, c_strides,
};
use tessarray_codec::Chain;
use tessarray_grid::Run;

/// The leaves of one call that are of one shape.
pub(super) struct Leaves<'a> {
    pub picks: &'a Picks,
    pub chain: &'a Chain,
    /// Byte strides of a chunk in stored order, one per axis of the *array*.
    pub strides: Strides,
    pub item: usize,
}

impl<'a> Leaves<'a> {
    pub(super) fn new(picks: &'a Picks, layout: &'a Layout) -> Self {
        let (chain, item) = (layout.leaf(), layout.item);
        Self { picks, chain, strides: stored_strides(chain, item), item }
    }

    /// The leaf of a cell of a single innermost chunk.
    pub(super) fn of(&self, cell: &Cell) -> Leaf<'a> {
        Leaf::new(self.picks, cell, self.chain)
    }

    /// Bytes of a decoded chunk.
    pub(super) fn chunk_bytes(&self) -> usize {
        self.chain.stored_spec().byte_len()
    }

    /// The blocks that a leaf needs, and of each the parts that it needs; `None` if it needs most of the chunk.
    pub(super) fn needed(&self, cell: &Cell, block: usize) -> Option<Vec<(usize, BlockParts)>> {
        let leaf = self.of(cell);
        if leaf.is_whole_in_order() {
            return None;
        }
        let needed = leaf.marks(&self.strides, self.item, block);
        let few = costs::is_part(bytes_of(&needed), self.chunk_bytes());
        few.then(|| needed.into_iter().enumerate().filter(|(_, parts)| !parts.is_empty()).collect())
    }
}

/// What a call touches of one innermost chunk.
pub(super) struct Leaf<'p> {
    picked: Picked<'p>,
    chain: &'p Chain,
    /// The numbers of its parts along each axis: its tile of the output.
    number: SmallVec<[usize; 4]>,
}

enum Picked<'p> {
    Axes(AlongAxes<'p>),
    /// (C-order index in the chunk, index in the array)
    Points(&'p [(u64, u64)]),
}

fn stored_strides(chain: &Chain, item: usize) -> Strides {
    let mut strides = c_strides(&chain.stored_spec().shape, item);
    if let Some(order) = chain.permutation() {
        let stored = strides.clone();
        for (i, &axis) in order.iter().enumerate() {
            strides[axis] = stored[i];
        }
    }
    strides
}

impl<'p> Leaf<'p> {
    fn new(picks: &'p Picks, cell: &Cell, chain: &'p Chain) -> Self {
        let mut number = SmallVec::new();
        let picked = match (picks, cell) {
            (Picks::Axes(axes), Cell::Axes(ranges)) => {
                let mut along = AlongAxes::new();
                for (plan, range) in axes.iter().zip(ranges) {
                    number.push(range.start);
                    along.push(match plan.part(range.start).run {
                        Run::Strided { first, step, len, out } => Along::Run { first, step, len, out },
                        Run::Listed(pairs) => Along::Pairs(plan.pairs(&pairs)),
                    });
                }
                Picked::Axes(along)
            }
            (Picks::Points(plan), Cell::Points(groups)) => {
                number.push(groups.start);
                Picked::Points(&plan.pairs[plan.groups[groups.start].range.clone()])
            }
            _ => Picked::Points(&[]),
        };
        Self { picked, chain, number }
    }

    pub(super) fn chain(&self) -> &'p Chain {
        self.chain
    }

    /// Whether it is a whole chunk, in its order: then it needs no copy if its box in the caller's array is contiguous.
    pub(super) fn is_whole_in_order(&self) -> bool {
        self.chain.permutation().is_none() && self.is_whole()
    }

    /// Whether it is a whole chunk.
    pub(super) fn is_whole(&self) -> bool {
        let Picked::Axes(along) = &self.picked else { return false };
        along.iter().zip(&self.chain.spec().shape).all(|(along, &n)| match along {
            Along::Run { first: 0, step, len, .. } => *len == n && (*step == 1 || n == 1),
            _ => false,
        })
    }

    /// Where a whole chunk begins in the caller's array.
    fn place(&self) -> Option<Dims> {
        let Picked::Axes(along) = &self.picked else { return None };
        let out = |along: &Along<'_>| match along {
            Along::Run { out, .. } => Some(*out),
            Along::Pairs(_) => None,
        };
        self.is_whole().then(|| along.iter().map(out).collect::<Option<Dims>>()).flatten()
    }

    /// Its memory in the input, if it is a whole chunk in its order that lies there as one run.
    pub(super) fn run_of<'a>(&self, input: &InputView<'a>) -> Option<&'a [u8]> {
        if !self.is_whole_in_order() {
            return None;
        }
        input.run(&self.place()?, &self.chain.spec().shape)
    }

    /// A whole, large chunk of the input, in its stored order, as a sequence. `None` if its axes lie in another order there: a
    /// block would have a few bytes of each of the array's cache lines, which all other blocks want again, so that to move the
    /// whole chunk at once makes better use of them.
    pub(super) fn sequence_of<'a>(&self, input: &InputView<'a>) -> Option<FlatInput<'a>> {
        if !self.is_large() {
            return None;
        }
        let flat = input.flat(&self.place()?, &self.chain.spec().shape, self.chain.permutation())?;
        (!flat.is_across()).then_some(flat)
    }

    /// Whether the chunk is one that does not stay in the processor's cache.
    pub(super) fn is_large(&self) -> bool {
        let stored = self.chain.stored_spec();
        stored.byte_len() >= costs::LARGE_CHUNK && !stored.data_type.is_variable()
    }

    /// Its places in the output, for this thread alone.
    pub(super) fn take<'t, 'a>(&self, tiles: &'t Tiles<'a>) -> Tile<'t, 'a> {
        tiles.take(&self.number)
    }

    /// Copies its elements from a chunk of these strides (zero for a chunk that is one element) to their places.
    pub(super) fn scatter(&self, tile: &mut Tile<'_, '_>, chunk: &[u8], strides: &[isize]) {
        match &self.picked {
            Picked::Axes(along) => tile.scatter(along, chunk, strides),
            Picked::Points(_) => {
                let shape = &self.chain.spec().shape;
                tile.scatter_points(chunk, |inside| point_offset(inside, shape, strides));
            }
        }
    }

    /// Copies its elements from the input into a chunk, the reverse of [`scatter`](Self::scatter).
    pub(super) fn gather(&self, input: &InputView<'_>, chunk: &mut [u8], strides: &[isize]) {
        match &self.picked {
            Picked::Axes(along) => input.gather(along, chunk, strides),
            Picked::Points(pairs) => {
                let shape = &self.chain.spec().shape;
                input.gather_points(pairs, chunk, |inside| point_offset(inside, shape, strides));
            }
        }
    }

    /// Says of each block of `block` bytes of the stored chunk which parts of it are needed; none if it needs nothing.
    pub(super) fn marks(&self, strides: &[isize], item: usize, block: usize) -> Vec<BlockParts> {
        let mut marks = Marks::new(self.chain.stored_spec().byte_len(), block, item);
        match &self.picked {
            Picked::Axes(along) => {
                let none = Strides::from_elem(0, along.len());
                boxes(along, strides, &none, |b| marks.add_box(b));
            }
            Picked::Points(pairs) => {
                for &(inside, _) in *pairs {
                    let offset = point_offset(inside, &self.chain.spec().shape, strides);
                    marks.add(offset, offset);
                }
            }
        }
        marks.into_parts()
    }
}

/// Byte offset in a stored chunk of the element with this C-order index in the array's axis order.
#[expect(clippy::cast_possible_truncation, reason = "places in an output that is in memory")]
fn point_offset(mut inside: u64, shape: &[u64], strides: &[isize]) -> isize {
    let mut offset = 0;
    for (&n, &stride) in shape.iter().zip(strides).rev() {
        let n = n.max(1);
        offset += (inside % n) as isize * stride;
        inside /= n;
    }
    offset
}
