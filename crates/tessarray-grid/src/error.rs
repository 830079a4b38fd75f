//! Selections that do not fit their array, and chunks that cut nothing.

/// A selection, or a list of chunk lengths, does not fit; names the axis, what the array has and what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the words of the message")]
pub enum GridError {
    /// The selection has more, or fewer, axes than the array.
    #[error("selection has {found} axes, the array has {expected}")]
    Rank { expected: usize, found: usize },
    /// An index is outside the array.
    #[error("index {index} is out of bounds for axis {axis} with size {extent}")]
    OutOfBounds { axis: usize, index: u64, extent: u64 },
    /// A range of step zero, or one that runs off either end.
    #[error("range from {start} by {step} of {len} elements does not fit axis {axis} with size {extent}")]
    Range { axis: usize, start: u64, step: i64, len: u64, extent: u64 },
    /// The coordinate lists of a point selection differ in length.
    #[error("coordinates of axis {axis} have {found} points, those of axis 0 have {expected}")]
    Points { axis: usize, expected: usize, found: usize },
    /// A list of chunk lengths has a length of zero, or a run of no chunks.
    #[error(
        "chunk lengths: entry {index} has {count} chunks of length {length}, expected at least 1 of at least 1"
    )]
    Edge { index: usize, length: u64, count: u64 },
    /// A list of chunk lengths is empty.
    #[error("chunk lengths: expected at least one, found none")]
    NoEdges,
    /// Chunk lengths that are too large together.
    #[error("chunk lengths: expected a sum below 2^63, which entry {index} goes beyond")]
    EdgeSum { index: usize },
}
