//! Keys and stores: where named byte strings live.
//!
//! A [`Store`] has few methods, is object-safe, blocking and batch-first. The planner above it asks for many byte
//! ranges at once; the store answers each as it arrives, from whichever thread it likes.

mod error;
mod key;
mod request;
mod store;

pub use error::{Result, StoreError};
pub use key::{Key, KeyError, Prefix};
pub use request::{Blob, BlobBytes, ByteRange, ListEntry, Meta, PutMode, ReadRequest, Version};
pub use store::{ReadSink, Store, Update, UpdateFn};
