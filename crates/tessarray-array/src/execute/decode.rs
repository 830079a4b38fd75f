//! One leaf of a read: an encoded innermost chunk, decoded once into its place in the output.

use super::costs;
use super::fill::fill_item;
use super::leaf::{Leaf, Leaves};
use super::marks::bytes_of;
use crate::layout::Layout;
use crate::plan::{Cell, Picks};
use tessarray_buffer::{Arena, Strides, Tile, Tiles};
use tessarray_codec::{Blocks, Result, Scratch};

/// Everything that decoding the leaves of one read has in common.
pub(super) struct LeafDecoder<'a> {
    leaves: Leaves<'a>,
    fill: Vec<u8>,
    tiles: &'a Tiles<'a>,
    arena: &'a Arena,
}

impl<'a> LeafDecoder<'a> {
    /// `tiles` are the output, cut for these picks.
    pub(super) fn new(layout: &'a Layout, picks: &'a Picks, tiles: &'a Tiles<'a>, arena: &'a Arena) -> Self {
        let fill = fill_item(layout.leaf().spec(), arena);
        Self { leaves: Leaves::new(picks, layout), fill, tiles, arena }
    }

    /// The same for a chunk of another shape.
    pub(super) fn with<'b>(&self, layout: &'b Layout) -> LeafDecoder<'b>
    where
        'a: 'b,
    {
        let (leaves, fill) = (Leaves::new(self.leaves.picks, layout), self.fill.clone());
        LeafDecoder { leaves, fill, tiles: self.tiles, arena: self.arena }
    }

    pub(super) fn leaves(&self) -> &Leaves<'a> {
        &self.leaves
    }

    /// Puts the fill value where the selection touches a part of the array that is not stored.
    pub(super) fn missing(&self, cell: &Cell) {
        let zero = Strides::from_elem(0, self.leaves.strides.len());
        let leaf = self.leaves.of(cell);
        leaf.scatter(&mut leaf.take(self.tiles), &self.fill, &zero);
    }

    /// Puts the elements of a leaf into the output, from a whole chunk of which what the leaf needs is decoded.
    pub(super) fn place(&self, cell: &Cell, chunk: &[u8]) {
        let leaf = self.leaves.of(cell);
        leaf.scatter(&mut leaf.take(self.tiles), chunk, &self.leaves.strides);
    }

    /// Decodes a chunk into the output.
    pub(super) fn decode(&self, cell: &Cell, encoded: &[u8], scratch: &mut Scratch) -> Result<()> {
        let leaf = self.leaves.of(cell);
        let mut tile = leaf.take(self.tiles);
        if leaf.is_whole_in_order()
            && let Some(place) = tile.run()
        {
            return self.leaves.chain.decode(encoded, place, self.arena, scratch);
        }
        let blocks = self.leaves.chain.blocks(encoded)?;
        if let Some(stored) = blocks.as_ref().and_then(Blocks::stored) {
            leaf.scatter(&mut tile, stored, &self.leaves.strides);
            return Ok(());
        }
        if let Some(blocks) = &blocks
            && decode_whole(&leaf, &mut tile, self.leaves.item, blocks, scratch)?
        {
            return Ok(());
        }
        let mut chunk = scratch.sized(self.leaves.chunk_bytes())?;
        let result = match &blocks {
            Some(blocks) => self.decode_blocks(&leaf, blocks, &mut chunk),
            None => self.leaves.chain.decode(encoded, &mut chunk, self.arena, scratch),
        };
        if result.is_ok() {
            leaf.scatter(&mut tile, &chunk, &self.leaves.strides);
        }
        scratch.give(chunk);
        result
    }

    /// Decodes only the blocks that are needed, and of those only what is, if that saves enough; else all of them.
    fn decode_blocks(&self, leaf: &Leaf<'_>, blocks: &Blocks<'_>, chunk: &mut [u8]) -> Result<()> {
        if leaf.is_whole_in_order() {
            return blocks.decode_all(chunk);
        }
        let needed = leaf.marks(&self.leaves.strides, self.leaves.item, blocks.block_bytes());
        if !costs::is_worth_blocks(bytes_of(&needed), chunk.len()) {
            return blocks.decode_all(chunk);
        }
        let mut needed = needed.iter().enumerate().filter(|(_, parts)| !parts.is_empty());
        needed.try_for_each(|(number, parts)| blocks.decode_parts(number, parts, chunk))
    }
}

/// Decodes a whole, large chunk block by block to its places: what is moved stays in the processor's cache between the codec
/// and the caller's memory, and no worker holds a decoded chunk. `false`, and nothing done, if the leaf is anything else.
fn decode_whole(
    leaf: &Leaf<'_>,
    tile: &mut Tile<'_, '_>,
    item: usize,
    blocks: &Blocks<'_>,
    scratch: &mut Scratch,
) -> Result<bool> {
    let (block, len) = (blocks.block_bytes(), leaf.chain().stored_spec().byte_len());
    if block >= len || !block.is_multiple_of(item) || !leaf.is_large() || !leaf.is_whole() {
        return Ok(false);
    }
    let Some(mut flat) = tile.flat(leaf.chain().permutation()) else { return Ok(false) };
    // For the reason why, see `Leaf::sequence_of`.
    if flat.is_across() {
        return Ok(false);
    }
    let mut decoded = scratch.sized(block)?;
    let result = (0..len.div_ceil(block)).try_for_each(|number| {
        let start = number * block;
        let bytes = &mut decoded[..block.min(len - start)];
        blocks.decode_block(number, bytes)?;
        flat.put(start, bytes);
        Ok(())
    });
    scratch.give(decoded);
    result.map(|()| true)
}
