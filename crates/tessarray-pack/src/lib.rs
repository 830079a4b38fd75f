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
//!
//! ```
//! use std::sync::Arc;
//! use tessarray_pack::{Keep, Pack, PackOptions};
//! use tessarray_store::{Key, MemoryStore, PutMode, Store};
//!
//! let pack = Pack::create(Arc::new(MemoryStore::new()), PackOptions::default())?;
//! let key = Key::new("note.txt")?;
//! let before = pack.latest()?;
//!
//! // Nobody sees a change before it is committed; then everybody sees all of it.
//! let transaction = pack.begin()?;
//! transaction.store().put(&key, &[b"first"], PutMode::Overwrite)?;
//! assert!(pack.latest()?.store().get(&key)?.is_none());
//! assert_eq!(transaction.commit("a note")?, Some(1));
//! assert_eq!(pack.latest()?.store().get(&key)?.unwrap().0, &b"first"[..]);
//! assert!(before.store().get(&key)?.is_none(), "a version stays what it is");
//!
//! // A tagged version is kept, and can be gone back to.
//! pack.tag("good", 1)?;
//! pack.auto_store().delete(&key)?;
//! assert_eq!(pack.diff(1, 2)?.len(), 1);
//! assert_eq!(pack.rollback(pack.tagged("good")?.unwrap(), "back")?, 3);
//! pack.expire(&Keep { versions: 1, retention: std::time::Duration::ZERO }, false)?;
//! assert_eq!(pack.versions()?.iter().map(|version| version.number).collect::<Vec<_>>(), [1, 3]);
//! assert!(pack.check(true, &mut |_, _| {})?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod care;
mod catalogue;
mod chunk_checksum;
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
pub use log::{Commit, CommitKind, Link, PartFile, SegmentFile, Summary};
pub use names::{FORMAT_FILE, STATISTICS};
pub use pack::{FORMAT_VERSION, Pack, PackOptions, Transaction};
pub use version::{Document, Numbers, PackVersion, RowGroup};
