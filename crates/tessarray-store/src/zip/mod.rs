//! A zip file as a store.
//!
//! # How a zip is written
//! 1. `create` opens `<path>.__lock` and locks it: one writer a file. A killed one leaves a file that the next uses.
//! 2. Each put writes a local header and the bytes, stored as they are, after what is there; then the key points at
//!    them. A second put of a key leaves the bytes of the first dead; the later one wins.
//! 3. `close` writes the central directory and renames the file into place. Until then there is no zip, or the old
//!    one; after it, the store only reads. The file's comment is a checksum of the directory.
//!
//! # What is known to be absent
//! A damaged name in the directory would make a value look as if it had never been stored. So before the store answers
//! that a key is absent, or lists names, it must be sure of the directory: by its checksum, or, in files of other programs,
//! by the names in front of the values themselves, all of which are looked at once.

mod parse;
mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::error::{Result, StoreError};
use crate::key::{Key, LOCK_SUFFIX, Prefix};
use crate::key_locks::KeyLocks;
use crate::request::{Blob, BlobBytes, ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::store::{ReadSink, Store, Update, UpdateFn};
use crate::{ordered, span};
use parse::Entry;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use write::Writer;

/// A store in one zip file: open an existing one to read, or create one, put, and close it.
///
/// Entries that are stored are read by range straight from the file. Deflated ones are inflated with bounded memory
/// and checked against their CRC-32, whole, at every run of requests. Refused when opening: encrypted, overlapping
/// or badly named entries, entries over 2^40 bytes or inflating more than 1024 times, and directories
/// that do not fit the file. Threads may read and write at once; puts take turns.
pub struct ZipStore {
    path: PathBuf,
    file: File,
    index: RwLock<BTreeMap<Key, Entry>>,
    /// There until the file is closed.
    writer: Mutex<Option<Writer>>,
    writers: KeyLocks,
    /// Not part of `writer`, so that an update's decision may ask.
    read_only: AtomicBool,
    /// Entries that are no values; see [`parse::Directory`].
    hidden: Vec<(String, Entry)>,
    /// Whether the names are right, once somebody had to know; why not, otherwise.
    sure: OnceLock<std::result::Result<(), String>>,
}

impl ZipStore {
    /// Opens a zip file to read. Costs one read of its central directory; the first look for an absent key, and the first
    /// listing, cost a small read per entry if another program wrote the file.
    ///
    /// # Errors
    /// The file cannot be opened or read ([`StoreError::Io`]), or is no acceptable zip ([`StoreError::Corrupt`]).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = absolute(path.as_ref())?;
        let file = File::open(&path).map_err(|error| StoreError::io(path.display(), "open", error))?;
        let directory = parse::parse(&file, &path.display().to_string())?;
        let index = RwLock::new(directory.entries);
        let sure = if directory.sealed { Ok(()).into() } else { OnceLock::new() };
        Ok(Self {
            path,
            file,
            index,
            writer: Mutex::new(None),
            writers: KeyLocks::default(),
            read_only: AtomicBool::new(true),
            hidden: directory.hidden,
            sure,
        })
    }

    /// Begins a new zip file, which replaces one that is there when it is closed, and not before.
    ///
    /// # Errors
    /// Another writer is at work on it ([`StoreError::Other`]), or the file beside it cannot be made.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = absolute(path.as_ref())?;
        let (writer, file) = Writer::begin(&path, &lock_path(&path))?;
        Ok(Self {
            path,
            file,
            index: RwLock::default(),
            writer: Mutex::new(Some(writer)),
            writers: KeyLocks::default(),
            read_only: AtomicBool::new(false),
            hidden: Vec::new(),
            sure: Ok(()).into(),
        })
    }

    /// Begins a changed copy of a zip file: its entries are there, and `close` replaces it. Costs a copy of the file.
    ///
    /// # Errors
    /// Those of [`open`](Self::open) and of [`create`](Self::create).
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        let path = absolute(path.as_ref())?;
        let old = File::open(&path).map_err(|error| StoreError::io(path.display(), "open", error))?;
        let directory = parse::parse(&old, &path.display().to_string())?;
        // The copy gets a directory of its own, which must not make a damaged name look right.
        if !directory.sealed {
            let values = directory.entries.iter().map(|(key, entry)| (key.as_str(), entry));
            let agreed = read::all_agree(&old, values, &directory.hidden)
                .map_err(|error| StoreError::io(path.display(), "read", error))?;
            agreed.map_err(|reason| parse::corrupt(&path.display().to_string(), reason))?;
        }
        let (mut writer, file) = Writer::begin(&path, &lock_path(&path))?;
        writer.copy(&old, directory.start, &path)?;
        Ok(Self {
            path,
            file,
            index: RwLock::new(directory.entries),
            writer: Mutex::new(Some(writer)),
            writers: KeyLocks::default(),
            read_only: AtomicBool::new(false),
            hidden: Vec::new(),
            sure: Ok(()).into(),
        })
    }

    /// Writes the central directory and moves the file into place; from here on the store only reads. Does nothing
    /// where that was done. Dropping the store closes it too, but cannot say whether that worked.
    ///
    /// # Errors
    /// The file cannot be written ([`StoreError::Full`], [`StoreError::Io`]): what was there before stays.
    pub fn close(&self) -> Result<()> {
        let mut slot = self.writer();
        let Some(writer) = slot.as_mut() else { return Ok(()) };
        writer.finish(&self.index(), &self.path)?;
        // Dropping the writer unlocks the file.
        *slot = None;
        self.read_only.store(true, Ordering::Release);
        Ok(())
    }

    /// Gives up a zip file that is being written: nothing changes at its path, and nothing is left beside it.
    pub fn discard(self) {
        if let Some(writer) = self.writer().take() {
            writer.discard();
        }
    }

    fn index(&self) -> RwLockReadGuard<'_, BTreeMap<Key, Entry>> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names that the file has more than once, sorted: the last value of each counts, and the others are dead.
    pub fn duplicates(&self) -> Vec<&str> {
        let is_value = |name: &&str| !name.ends_with('/') && !name.ends_with(LOCK_SUFFIX);
        let mut names: Vec<&str> =
            self.hidden.iter().map(|(name, _)| name.as_str()).filter(is_value).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn find(&self, key: &Key) -> Result<Option<Entry>> {
        let found = self.index().get(key).cloned();
        if found.is_none() {
            self.be_sure()?;
        }
        Ok(found)
    }

    /// Before an answer that depends on all names of the directory: they are right.
    fn be_sure(&self) -> Result<()> {
        if let Some(known) = self.sure.get() {
            return known.clone().map_err(|reason| parse::corrupt(&self.describe(), reason));
        }
        let index = self.index();
        let values = index.iter().map(|(key, entry)| (key.as_str(), entry));
        let agreed = read::all_agree(&self.file, values, &self.hidden)
            .map_err(|error| StoreError::io(self.describe(), "read", error))?;
        let agreed = self.sure.get_or_init(|| agreed);
        agreed.clone().map_err(|reason| parse::corrupt(&self.describe(), reason))
    }

    /// Does `act` while no other change runs.
    fn change<T>(&self, action: &str, key: &str, act: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        match self.writer().as_mut() {
            Some(writer) => act(writer),
            None => Err(StoreError::ReadOnly { store: self.describe(), action: format!("{action} {key}") }),
        }
    }

    fn set<B: AsRef<[u8]>>(&self, writer: &mut Writer, key: &Key, parts: &[B]) -> Result<Version> {
        let entry = writer.append(key, parts)?;
        let version = entry.version();
        self.index.write().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), entry);
        Ok(version)
    }

    fn drop_entry(&self, key: &Key) -> bool {
        self.index.write().unwrap_or_else(PoisonError::into_inner).remove(key).is_some()
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| StoreError::io(path.display(), "find", error))
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(LOCK_SUFFIX);
    name.into()
}

impl fmt::Debug for ZipStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZipStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Drop for ZipStore {
    fn drop(&mut self) {
        if self.close().is_err()
            && let Some(writer) = self.writer().take()
        {
            writer.discard();
        }
    }
}

impl Store for ZipStore {
    fn describe(&self) -> String {
        self.path.display().to_string()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn is_read_only(&self) -> bool {
        self.read_only.load(Ordering::Acquire)
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        span::by_key(requests, |first, run| {
            let found = self.find(&run[0].key);
            let version = found.as_ref().ok().and_then(|entry| entry.as_ref().map(Entry::version));
            let mut inflated = None;
            for (i, request) in run.iter().enumerate() {
                let entry = match &found {
                    Ok(entry) => entry,
                    Err(_) => {
                        sink(first + i, self.be_sure().map(|()| None));
                        continue;
                    }
                };
                let answer = request.check_version(version.as_ref()).and_then(|()| {
                    let Some(entry) = entry else { return Ok(None) };
                    let (offset, length) = request.resolve(entry.size)?;
                    let source =
                        read::Source { file: &self.file, store: &self.path, key: &request.key, entry };
                    let bytes = source.read(offset, length, &mut inflated)?;
                    Ok(Some(Blob { meta: entry.meta(), bytes: BlobBytes::Shared(bytes) }))
                });
                sink(first + i, answer);
            }
        });
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.writers.hold(key, || {
            self.change("put", key.as_str(), |writer| {
                let found = self.find(key)?.map(|entry| entry.version());
                match mode {
                    PutMode::Create if found.is_some() => Err(StoreError::Exists { key: key.to_string() }),
                    PutMode::IfMatch(expected) if found != Some(expected.clone()) => {
                        Err(StoreError::Changed { key: key.to_string() })
                    }
                    _ => self.set(writer, key, parts),
                }
            })
        })
    }

    /// Holds the key, and not the file, while the decision is made: it may write other keys, as an append does.
    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.writers.hold(key, || {
            self.change("update", key.as_str(), |_| Ok(()))?;
            let current = match self.find(key)? {
                Some(entry) if read => {
                    let source = read::Source { file: &self.file, store: &self.path, key, entry: &entry };
                    let bytes = BlobBytes::Shared(source.read(0, entry.size, &mut None)?);
                    Some(Blob { meta: entry.meta(), bytes })
                }
                _ => None,
            };
            match decide(current)? {
                Update::Put(parts) => {
                    self.change("update", key.as_str(), |w| self.set(w, key, &parts)).map(|_| ())
                }
                Update::PutOwned(parts) => {
                    self.change("update", key.as_str(), |w| self.set(w, key, &parts)).map(|_| ())
                }
                Update::Delete => {
                    self.change("update", key.as_str(), |_| Ok(self.drop_entry(key))).map(|_| ())
                }
                Update::Keep => Ok(()),
            }
        })
    }

    /// Drops the entry; its bytes stay in the file, dead.
    fn delete(&self, key: &Key) -> Result<bool> {
        self.writers.hold(key, || self.change("delete", key.as_str(), |_| Ok(self.drop_entry(key))))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.change("delete", prefix.as_str(), |_| {
            let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
            index.retain(|key, _| !prefix.contains(key));
            Ok(())
        })
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        Ok(self.find(key)?.map(|entry| entry.meta()))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.be_sure()?;
        Ok(ordered::list(&self.index(), prefix, |entry| entry.size))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.be_sure()?;
        Ok(ordered::list_dir(&self.index(), prefix, |entry| entry.size))
    }
}
