//! One leaf: an encoded innermost chunk, decoded once into its place in the output.

use super::fill::fill_item;
use super::transfer::{mark_blocks, scatter, stored_strides, whole_chunk};
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

/// Below this share of a chunk's blocks, only those needed are decoded.
const PARTIAL: f64 = 0.7;
/// Chunks that are decoded in part from the beginning have so many bytes at least: codecs without blocks of their own decode
/// by 128 KiB.
const PREFIX: usize = 192 << 10;
/// In steps of so many bytes.
const PREFIX_STEP: usize = 4 << 10;

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
        let mut chunk = scratch.sized(self.chain.stored_spec().byte_len())?;
        let result = match self.decode_blocks(cell, encoded, &mut chunk) {
            Ok(true) => Ok(()),
            Ok(false) => self.chain.decode(encoded, &mut chunk, self.arena, scratch),
            Err(error) => Err(error),
        };
        if result.is_ok() {
            // SAFETY: `chunk` is a whole chunk, decoded where this leaf needs it; leaves have disjoint places.
            unsafe { scatter(self.picks, cell, self.chain, &chunk, &self.strides, self.out) }
        }
        scratch.give(chunk);
        result
    }

    /// Of a chunk without blocks, decodes the beginning up to what is needed, where that saves enough.
    fn decode_prefix(
        &self,
        cell: &Cell,
        blocks: &Blocks<'_>,
        chunk: &mut [u8],
        needed: &mut Vec<bool>,
    ) -> Result<bool> {
        if chunk.len() >= PREFIX {
            let item = self.out.item();
            mark_blocks(self.picks, cell, self.chain, &self.strides, item, PREFIX_STEP, needed);
            let steps = needed.iter().rposition(|needed| *needed).map_or(0, |last| last + 1);
            let bytes = steps.saturating_mul(PREFIX_STEP);
            if bytes as f64 <= chunk.len() as f64 * PARTIAL && blocks.decode_prefix(bytes, chunk)? {
                return Ok(true);
            }
        }
        blocks.decode_all(chunk).map(|()| true)
    }

    /// Decodes only the blocks that are needed, where that saves enough. `false`: the chain has none; nothing was done.
    fn decode_blocks(&self, cell: &Cell, encoded: &[u8], chunk: &mut [u8]) -> Result<bool> {
        if !self.chain.may_have_blocks() || whole_chunk(self.picks, cell, self.chain).is_some() {
            return Ok(false);
        }
        let Some(blocks) = self.chain.blocks(encoded)? else { return Ok(false) };
        let mut needed = Vec::new();
        let item = self.out.item();
        if blocks.block_bytes() >= chunk.len() {
            return self.decode_prefix(cell, &blocks, chunk, &mut needed);
        }
        let block = blocks.block_bytes();
        let marked = mark_blocks(self.picks, cell, self.chain, &self.strides, item, block, &mut needed);
        if marked as f64 > needed.len() as f64 * PARTIAL {
            return blocks.decode_all(chunk).map(|()| true);
        }
        for (number, _) in needed.iter().enumerate().filter(|(_, needed)| **needed) {
            blocks.decode_into(number, chunk)?;
        }
        Ok(true)
    }
}
