//! Keys and stores: where named byte strings live.
//!
//! A [`Store`] has few methods, is object-safe, blocking and batch-first. The planner above it asks for many byte
//! ranges at once; the store answers each as it arrives, from whichever thread it likes.
//!
//! Stores: [`MemoryStore`], [`FileStore`] (a local directory), [`ZipStore`]. Adapters wrap any of them:
//! [`RecordStore`] counts, [`ThrottleStore`] slows down, [`FaultStore`] fails on purpose, [`PrefixStore`] shows a
//! part, [`ReadOnlyStore`] refuses changes. Another store implements the trait and calls the functions of
//! `conformance` (feature `conformance`) in its tests.
#![deny(missing_docs)]
#![warn(clippy::missing_errors_doc)]

mod adapters;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod error;
mod file;
mod key;
mod key_locks;
mod memory;
mod ordered;
pub mod owned;
mod positional;
mod request;
mod span;
mod store;
pub mod waiting;
mod zip;

pub use adapters::{
    Count, Effect, Fault, FaultStore, Kind, PrefixStore, ReadOnlyStore, RecordStore, Recorded, ThrottleStore,
    Throttling, When,
};
pub use error::{Result, StoreError};
pub use file::{FileOptions, FileStore, Leftover};
pub use key::{Key, KeyError, KeyProblem, LOCK_SUFFIX, MAX_KEY, MAX_SEGMENT, Prefix};
pub use key_locks::KeyLocks;
pub use memory::MemoryStore;
pub use request::{Blob, BlobBytes, ByteRange, ListEntry, Meta, PutMode, ReadRequest, Version};
pub use store::{ReadSink, Store, Update, UpdateFn, UpdateWithFn};
pub use zip::ZipStore;
