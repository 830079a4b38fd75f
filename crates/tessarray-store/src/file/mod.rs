//! A directory as a store: the key is the path of the file.
//!
//! # How a value is written
//! The lock file *is* the next value, so there is one extra file a write, and none that goes stale.
//! 1. Open `<key>.__lock`, making it where it is absent (never through a symbolic link).
//! 2. Take an exclusive advisory lock on it. The lock belongs to the open file: threads exclude each other as
//!    processes do, and the system frees it when its owner dies. A wait can be called off (`wait.rs`).
//! 3. Check that the path still names the locked file. It does not where the previous owner renamed or removed it
//!    while we waited: go to 1. From here on we alone may change the key, and the current value may be looked at.
//! 4. Empty the file (a killed owner may have left half a value in it) and write the new value, then see to it that
//!    its modification time is later than the old value's.
//! 5. If durable: fsync the file.
//! 6. Rename it over `<key>`. Readers see the old value or the new one.
//! 7. If durable: fsync the directory. The directories above it were synced before step 1, once a handle (`settle.rs`).
//! 8. Note the version.
//! 9. Unlock. Waiting writers wake up, and find in step 3 that this file is the lock no longer.
//!
//! A write that fails, or decides to keep or delete the value, removes the lock file before it unlocks. A process
//! that is killed leaves a lock file that the next writer of the key uses again (step 4). What is left for keys that
//! nobody writes again is found by [`FileStore::leftovers`].
//!
//! # How a value is read
//! Open, stat, read, close, with no lock: a file that was opened is one state of the value, and its version comes
//! from the same descriptor as its bytes.
//!
//! Advisory locks need a file system that has them (all local ones; NFS from version 4, or 3 with its lock service).

mod facts;
#[cfg_attr(unix, path = "folder_unix.rs")]
#[cfg_attr(not(unix), path = "folder_path.rs")]
mod folder;
mod handle;
mod list;
mod lock;
mod options;
mod read;
mod root;
mod settle;
mod settled;
#[cfg(test)]
mod tests;
mod wait;

pub use handle::FileStore;
pub use list::Leftover;
pub use options::FileOptions;

use crate::error::Result;
use crate::key::{Key, Prefix};
use crate::request::{Blob, ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::store::{ReadSink, Store, Update, UpdateFn};
use handle::fits_platform;
use std::time::Duration;

impl Store for FileStore {
    fn describe(&self) -> String {
        self.root.path().display().to_string()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    fn is_durable(&self) -> bool {
        self.options.durable
    }

    /// Also without [`FileOptions::durable`]. Costs an fsync for each value and for each folder they are in.
    fn make_durable(&self, keys: &[Key]) -> Result<()> {
        let Some(first) = keys.first() else { return Ok(()) };
        self.writable(first.as_str(), "sync")?;
        self.sync_values(keys)
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        read::read_many(self, requests, sink);
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.writable(key.as_str(), "put")?;
        fits_platform(key)?;
        let locked = self.lock(key, true)?.ok_or_else(|| Self::gone(key))?;
        locked.check(&mode)?;
        locked.commit(parts)
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.writable(key.as_str(), "update")?;
        fits_platform(key)?;
        let locked = self.lock(key, true)?.ok_or_else(|| Self::gone(key))?;
        let current = if read { self.open_value(key)? } else { None };
        let update = match current {
            None => decide(None)?,
            Some((file, facts)) => read::with_range(key, &file, 0, facts.size, |bytes| {
                decide(Some(Blob { meta: facts.meta(), bytes: bytes? }))
            })?,
        };
        match update {
            Update::Put(parts) => locked.commit(&parts).map(|_| ()),
            Update::PutOwned(parts) => locked.commit(&parts).map(|_| ()),
            Update::Delete => locked.delete().map(|_| ()),
            Update::Keep => Ok(()),
        }
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.writable(key.as_str(), "delete")?;
        fits_platform(key)?;
        match self.lock_existing(key)? {
            Some(locked) => locked.delete(),
            None => Ok(false),
        }
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.writable(prefix.as_str(), "delete")?;
        list::delete(self, prefix)
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        Ok(self.open_value(key)?.map(|(_, facts)| facts.meta()))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        list::list(self, prefix)
    }

    fn abandoned(&self, prefix: &Prefix, idle: Duration, remove: bool) -> Result<Vec<(String, u64)>> {
        list::abandoned(self, prefix, idle, remove)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        list::list_dir(self, prefix)
    }
}
