//! Pure integer maths: selections on chunk grids, cut into the parts that fall into each chunk.
//!
//! Nothing here does I/O or allocates in proportion to anything but the selection, the number of chunks it touches
//! along each axis, and the runs of chunks of unequal length that it touches. All numbers are `u64` with checked maths: absurd shapes give errors, not overflows.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod axis;
mod axis_groups;
mod edges;
mod error;
mod odometer;
mod points;
mod segments;
mod selection;
mod slice;
mod strided;

pub use axis::{AxisPart, AxisPlan, OutputCut, Run};
pub use axis_groups::AxisGroups;
pub use edges::{EdgeRun, EdgeRuns, Edges};
pub use error::GridError;
pub use odometer::{Odometer, ravel, unravel};
pub use points::{PointGroup, PointPlan};
pub use selection::{AxisSelection, Selection};
pub use slice::AxisSlice;

/// A shape or coordinates; up to four dimensions without a heap allocation.
pub type Dims = smallvec::SmallVec<[u64; 4]>;

/// How many chunks of length `chunk` (not zero) cover `extent` elements.
pub fn chunk_count(extent: u64, chunk: u64) -> u64 {
    extent.div_ceil(chunk.max(1))
}
