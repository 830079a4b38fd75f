//! Packs: a transactional, log-structured home for any Zarr hierarchy.
//!
//! A pack is a folder (or a prefix of an object store):
//!
//! ```text
//! format.json                          what it is
//! commits/00000000000000000042.json    a version: created once, never changed
//! catalogue/<id>.parquet               which chunk lies where; written once
//! segments/<id>.seg                    chunks, back to back; written once
//! latest.json                          a hint
//! ```
//!
//! [`Pack::begin`] gives a [`Transaction`], whose [`store`](Transaction::store) takes any Zarr hierarchy; committing
//! makes all of its changes a version at once. [`PackVersion::store`] reads one version, whatever is written
//! meanwhile. The protocol is at the top of the `commit` module.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod auto;
mod catalogue;
mod check;
mod clock;
mod commit;
mod committing;
mod compact;
mod conflict;
mod content;
mod create;
mod diff;
mod documents;
mod durable;
mod error;
mod expire;
mod fetch;
mod history;
mod id;
mod info;
mod leftovers;
mod merge;
mod numbering;
mod overlay;
mod pack;
mod put;
mod read;
mod rollback;
mod seal;
mod segments;
mod snapshot;
mod statistics;
/// What waiting is done with; tests put a scheduler's in its place.
mod sync {
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
}
mod tags;
mod time;
mod transaction;
mod turns;
#[cfg(test)]
mod turns_tests;
mod view;

#[doc(hidden)]
pub use catalogue::hostile;
pub use check::{Damage, Repaired};
pub use clock::Clock;
pub use commit::{Commit, Kind, Link, PartFile, SegmentFile, Summary};
pub use compact::Compacted;
pub use diff::{Change, Difference};
pub use documents::{Document, Numbers, Piece};
pub use error::{PackError, Result};
pub use expire::{Expired, Keep};
pub use id::Id;
pub use leftovers::Leftovers;
pub use pack::{FORMAT_FILE, FORMAT_VERSION, Pack, PackOptions, PackVersion, Transaction};
pub use statistics::STATISTICS;
