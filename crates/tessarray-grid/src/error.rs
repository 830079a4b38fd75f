//! Selections that do not fit their array.

/// A selection does not fit; names the axis, what the array has and what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
}
