//! Shapes and coordinates.

/// A shape or coordinates; up to four dimensions without a heap allocation.
pub type Dims = smallvec::SmallVec<[u64; 4]>;

/// How many chunks of length `chunk` (not zero) cover `extent` elements.
pub fn chunk_count(extent: u64, chunk: u64) -> u64 {
    extent.div_ceil(chunk.max(1))
}
