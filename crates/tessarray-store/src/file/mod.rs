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
mod list;
mod lock;
mod options;
mod read;
mod root;
mod settle;
#[cfg(test)]
mod tests;
mod wait;

pub use list::Leftover;
pub use options::FileOptions;

use crate::{
    Blob, Key, KeyError, KeyProblem, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Store,
    StoreError, Update, UpdateFn, Version,
};
use facts::{Facts, FileKind};
use root::{Refusal, Root};
use settle::Settled;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// A store in a local directory. See the top of its source file for the protocol that makes its writes atomic.
///
/// Values are files, so a key cannot also be the beginning of another (`a` and `a/b`), and its last segment may
/// have 248 bytes at most. Any number of threads and processes may use one directory. Cost of a read: four system
/// calls, one more for each further range of the same value; of a write: about ten.
#[derive(Debug)]
pub struct FileStore {
    root: Root,
    options: FileOptions,
    /// Folders whose names are on the disk.
    settled: Settled,
    /// Why an fsync failed, and the system's number of that, once one did.
    poison: OnceLock<(String, Option<i32>)>,
    #[cfg(test)]
    fail: std::sync::Mutex<Option<(Step, i32)>>,
    #[cfg(test)]
    trace: std::sync::Mutex<Vec<Step>>,
}

/// The system calls of a write, for tests to make fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    SyncAbove,
    Open,
    Lock,
    Truncate,
    Write,
    SyncFile,
    Rename,
    SyncFolder,
    Unlink,
}

/// Whether the error says that there is nothing at the path.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl FileStore {
    /// The store in a directory, which need not exist: the first write makes it. Not durable, no links out of the
    /// root. Touches nothing; fails only where the path is relative and there is no working directory.
    pub fn new(root: impl AsRef<Path>) -> Result<Self> {
        Self::with_options(root, FileOptions::default())
    }

    /// The same, with [`FileOptions`].
    pub fn with_options(root: impl AsRef<Path>, options: FileOptions) -> Result<Self> {
        let path = std::path::absolute(root.as_ref())
            .map_err(|error| StoreError::io(root.as_ref().display(), "find", error))?;
        Ok(Self {
            root: Root::new(path, options.follow_links),
            options,
            settled: Settled::default(),
            poison: OnceLock::new(),
            #[cfg(test)]
            fail: std::sync::Mutex::default(),
            #[cfg(test)]
            trace: std::sync::Mutex::default(),
        })
    }

    /// The root directory, absolute, as it was given (links in it are not resolved).
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The options it was opened with.
    pub fn options(&self) -> &FileOptions {
        &self.options
    }

    fn step(&self, step: Step) -> io::Result<()> {
        #[cfg(test)]
        self.trace.lock().unwrap().push(step);
        #[cfg(test)]
        if let Some((at, code)) = *self.fail.lock().unwrap()
            && at == step
        {
            return Err(io::Error::from_raw_os_error(code));
        }
        let _ = step;
        Ok(())
    }

    /// Before any change: may this store, and this platform, make it?
    fn writable(&self, key: &str, action: &str) -> Result<()> {
        if self.options.read_only {
            return Err(StoreError::ReadOnly { store: self.describe(), action: format!("{action} {key}") });
        }
        match self.poison.get() {
            Some((reason, code)) => {
                Err(StoreError::Poisoned { key: key.into(), reason: reason.clone(), code: *code })
            }
            None => Ok(()),
        }
    }

    fn poison(&self, key: impl std::fmt::Display, error: io::Error) -> StoreError {
        let (reason, code) = self.poison.get_or_init(|| (error.to_string(), error.raw_os_error())).clone();
        StoreError::Poisoned { key: key.to_string(), reason, code }
    }

    fn refused(
        &self,
        refusal: Refusal,
        path: &str,
        key: impl std::fmt::Display,
        action: &'static str,
    ) -> StoreError {
        match refusal {
            Refusal::Outside => self.root.outside(path, &key.to_string()),
            Refusal::Io(error) => StoreError::io(key, action, error),
        }
    }

    /// Opens a value. Directories are no values: their keys are absent.
    fn open_value(&self, key: &Key) -> Result<Option<(File, Facts)>> {
        fits_platform(key)?;
        let opened = self.root.open(key.as_str());
        let opened = opened.map_err(|refusal| self.refused(refusal, key.as_str(), key, "open"))?;
        let Some(file) = opened else { return Ok(None) };
        let facts = Facts::of(&file).map_err(|error| StoreError::io(key, "stat", error))?;
        match facts.kind {
            FileKind::File => Ok(Some((file, facts))),
            FileKind::Folder => Ok(None),
            FileKind::Other => {
                let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
                Err(StoreError::io(key, "open", error))
            }
        }
    }

    fn gone(key: &Key) -> StoreError {
        StoreError::io(key, "lock", io::ErrorKind::NotFound.into())
    }
}

/// Refuses names that Windows would change, or take for a device or an alternate stream.
fn fits_platform(key: &Key) -> Result<()> {
    if !cfg!(windows) {
        return Ok(());
    }
    let devices = ["con", "prn", "aux", "nul"];
    let fits = key.as_str().split('/').all(|segment| {
        let stem = segment.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
        !(segment.ends_with(['.', ' '])
            || segment.contains(['<', '>', ':', '"', '|', '?', '*'])
            || devices.contains(&stem.as_str())
            || port.is_some_and(|number| number.chars().count() == 1))
    });
    if fits { Ok(()) } else { Err(KeyError::new(key.as_str(), KeyProblem::Platform).into()) }
}

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
