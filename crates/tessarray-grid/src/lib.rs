//! Pure integer maths: selections on chunk grids, cut into the parts that fall into each chunk.
//!
//! Nothing here does I/O or allocates in proportion to anything but the selection, the number of chunks it touches
//! along each axis, and the runs of chunks of unequal length that it touches. All numbers are `u64` with checked maths:
//! absurd shapes give errors, not overflows.
//!
//! ```
//! use tessarray_grid::AxisSelection;
//!
//! // Elements 3, 5 and 7 of an axis of 10; 3 to 11 are too many.
//! let wanted = AxisSelection::Range { start: 3, step: 2, len: 3 };
//! wanted.check(0, 10)?;
//! assert!(AxisSelection::Range { start: 3, step: 2, len: 5 }.check(0, 10).is_err());
//! # Ok::<(), tessarray_grid::GridError>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod axis;
mod axis_groups;
mod dims;
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
pub use dims::{Dims, chunk_count};
pub use edges::{EdgeRun, EdgeRuns, Edges};
pub use error::GridError;
pub use odometer::{Odometer, ravel, unravel};
pub use points::{PointGroup, PointPlan};
pub use selection::{AxisSelection, Selection};
pub use slice::AxisSlice;
