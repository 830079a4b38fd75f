//! The commit files: what one says, and the line that they make.

mod chain;
mod commit;

pub(crate) use chain::{Added, Log};
pub use commit::{Commit, CommitKind, Link, PartFile, SegmentFile, Summary};
