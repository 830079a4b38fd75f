//! One leaf: an encoded innermost chunk, decoded once into its place in the output.

use super::fill::fill_item;
use super::transfer::{Parts, mark_blocks, scatter, stored_strides, whole_box, whole_chunk};
use super::whole::decode_whole;
use crate::layout::Layout;
use crate::plan::{Cell, Picks};
use tessarray_buffer::{Arena, OutputView, Strides};
use tessarray_codec::{Blocks, Chain, Result, Scratch};

/// Everything that decoding the leaves of one read has in common.
pub(crate) struct LeafDecoder<'a> {
    picks: &'a Picks,
    chain: &'a Chain,
    strides: Strides,
    fill: Vec<u8>,
    out: &'a OutputView<'a>,
    arena: &'a Arena,
}

/// Below this share of a chunk's bytes, only what is needed is decoded.
const PARTIAL: f64 = 0.7;

impl<'a> LeafDecoder<'a> {
    pub(crate) fn new(
        layout: &'a Layout,
        picks: &'a Picks,
        out: &'a OutputView<'a>,
        arena: &'a Arena,
    ) -> Self {
        let chain = layout.leaf();
        let fill = fill_item(chain.spec(), arena);
        Self { picks, chain, strides: stored_strides(chain, layout.item), fill, out, arena }
    }

    /// The same for a chunk of another shape.
    pub(super) fn with(&self, layout: &'a Layout) -> Self {
        let chain = layout.leaf();
        let (picks, out, arena) = (self.picks, self.out, self.arena);
        Self {
            picks,
            chain,
            strides: stored_strides(chain, layout.item),
            fill: self.fill.clone(),
            out,
            arena,
        }
    }

    /// Puts the fill value where the selection touches a part of the array that is not stored.
    pub(crate) fn missing(&self, cell: &Cell) {
        let zero = Strides::from_elem(0, self.strides.len());
        // SAFETY: the fill is one element and the strides are zero; leaves have disjoint places in the output.
        unsafe { scatter(self.picks, cell, self.chain, &self.fill, &zero, self.out) }
    }

    /// Decodes a chunk into the output.
    pub(crate) fn decode(&self, cell: &Cell, encoded: &[u8], scratch: &mut Scratch) -> Result<()> {
        if let Some(at) = whole_chunk(self.picks, cell, self.chain) {
            // SAFETY: the leaf's box lies inside the output, and belongs to no other leaf.
            if let Some(place) = unsafe { self.out.run_mut(&at, &self.chain.spec().shape) } {
                return self.chain.decode(encoded, place, self.arena, scratch);
            }
        }
        let blocks = self.chain.blocks(encoded)?;
        if let Some(stored) = blocks.as_ref().and_then(Blocks::stored) {
            self.place(cell, stored);
            return Ok(());
        }
        if let Some(blocks) = &blocks
            && decode_whole(self.picks, cell, self.chain, blocks, self.out, scratch)?
        {
            return Ok(());
        }
        let mut chunk = scratch.sized(self.chain.stored_spec().byte_len())?;
        let result = match &blocks {
            Some(blocks) => self.decode_blocks(cell, blocks, &mut chunk),
            None => self.chain.decode(encoded, &mut chunk, self.arena, scratch),
        };
        if result.is_ok() {
            self.place(cell, &chunk);
        }
        scratch.give(chunk);
        result
    }

    /// Whether a leaf is a whole chunk.
    pub(super) fn is_whole(&self, cell: &Cell) -> bool {
        whole_box(self.picks, cell, self.chain).is_some()
    }

    /// The blocks that a leaf needs, and of each the parts that it needs; `None` where it needs most of the chunk.
    pub(super) fn needed(&self, cell: &Cell, block: usize) -> Option<Vec<(usize, Parts)>> {
        if whole_chunk(self.picks, cell, self.chain).is_some() {
            return None;
        }
        let needed = mark_blocks(self.picks, cell, self.chain, &self.strides, self.out.item(), block);
        let few = bytes_of(&needed) * 4 <= 3 * self.chain.stored_spec().byte_len();
        few.then(|| needed.into_iter().enumerate().filter(|(_, parts)| !parts.is_empty()).collect())
    }

    /// Puts the elements of a leaf into the output, from a chunk that is decoded where the leaf needs it.
    pub(super) fn place(&self, cell: &Cell, chunk: &[u8]) {
        // SAFETY: `chunk` is a whole chunk; leaves have disjoint places.
        unsafe { scatter(self.picks, cell, self.chain, chunk, &self.strides, self.out) }
    }

    /// Decodes only the blocks that are needed, and of those only what is, where that saves enough; else all of them.
    fn decode_blocks(&self, cell: &Cell, blocks: &Blocks<'_>, chunk: &mut [u8]) -> Result<()> {
        if whole_chunk(self.picks, cell, self.chain).is_some() {
            return blocks.decode_all(chunk);
        }
        let item = self.out.item();
        let block = blocks.block_bytes();
        let needed = mark_blocks(self.picks, cell, self.chain, &self.strides, item, block);
        if bytes_of(&needed) as f64 > chunk.len() as f64 * PARTIAL {
            return blocks.decode_all(chunk);
        }
        let mut needed = needed.iter().enumerate().filter(|(_, parts)| !parts.is_empty());
        needed.try_for_each(|(number, parts)| blocks.decode_parts(number, parts, chunk))
    }
}

/// Bytes of all the parts of blocks.
fn bytes_of(needed: &[Parts]) -> usize {
    needed.iter().flatten().map(|part| part.end - part.start).sum()
}
