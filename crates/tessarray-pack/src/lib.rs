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
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod care;
mod catalogue;
mod checksum;
mod clock;
mod commit;
mod error;
mod id;
mod layout;
mod log;
mod names;
mod pack;
mod stores;
mod time;
mod transaction;
mod version;

pub use care::{Change, Compacted, Damage, Difference, Expired, Keep, Leftovers, Repaired};
#[doc(hidden)]
pub use catalogue::hostile;
pub use clock::Clock;
pub use error::{PackError, Result};
pub use id::Id;
pub use log::{Commit, Kind, Link, PartFile, SegmentFile, Summary};
pub use names::{FORMAT_FILE, STATISTICS};
pub use pack::{FORMAT_VERSION, Pack, PackOptions, Transaction};
pub use version::{CataloguePiece as Piece, Document, Numbers, PackVersion};
