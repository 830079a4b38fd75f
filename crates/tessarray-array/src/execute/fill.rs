//! The fill value as it lies in memory.

use tessarray_buffer::{Arena, VarItem, fill_with, is_filled_with};
use tessarray_codec::ChunkSpec;

/// One element of fill; for variable-length types an item that names the fill's bytes in `arena`.
pub(crate) fn fill_item(spec: &ChunkSpec, arena: &Arena) -> Vec<u8> {
    if spec.data_type.is_variable() {
        arena.push_item(&spec.fill).to_bytes().to_vec()
    } else {
        spec.fill.to_vec()
    }
}

/// Whether every element of a chunk equals the fill value, bit for bit.
pub(crate) fn is_fill(spec: &ChunkSpec, chunk: &[u8], fill: &[u8], arena: &Arena) -> bool {
    if !spec.data_type.is_variable() {
        return is_filled_with(chunk, fill);
    }
    let buffers = arena.buffers();
    let (items, _) = chunk.as_chunks::<{ VarItem::SIZE }>();
    items.iter().all(|item| Arena::resolve(&buffers, VarItem::from_bytes(item)) == Some(&spec.fill[..]))
}

/// Fills a chunk.
pub(crate) fn fill_chunk(chunk: &mut [u8], fill: &[u8]) {
    fill_with(chunk, fill);
}
