//! What lies under a prefix: values, deeper levels, and what killed writers left.

use super::facts::{Facts, FileKind, is_absent};
use super::folder::{EntryKind, Folder};
use super::handle::FileStore;
use super::lock::{Locked, if_idle, remove_if_idle};
use crate::error::{Result, StoreError};
use crate::key::{Key, LOCK_SUFFIX, Prefix};
use crate::request::ListEntry;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A file that a killed writer left behind. Harmless: no reader sees it, and the next writer of its key uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Where it lies.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// A directory still to be looked into, and those above it, to notice links that lead back up.
struct Level {
    prefix: Prefix,
    above: Vec<(i128, i128)>,
}

/// What one directory holds, of what can be in a store.
struct Found {
    values: Vec<(Key, u64)>,
    levels: Vec<Prefix>,
}

pub(super) fn list(store: &FileStore, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
    let mut values = Vec::new();
    let mut levels = vec![Level { prefix: prefix.clone(), above: Vec::new() }];
    while let Some(Level { prefix, mut above }) = levels.pop() {
        let Some(folder) = open(store, &prefix)? else { continue };
        let here = folder.facts().map_err(|error| StoreError::io(&prefix, "stat", error))?.identity;
        // Without inode numbers the depth of a key is the only bound; with them a cycle ends at once.
        if cfg!(unix) && above.contains(&here) {
            continue;
        }
        above.push(here);
        let found = look(store, &prefix, &folder)?;
        values.extend(found.values);
        levels.extend(found.levels.into_iter().map(|prefix| Level { prefix, above: above.clone() }));
    }
    values.sort();
    Ok(values)
}

pub(super) fn list_dir(store: &FileStore, prefix: &Prefix) -> Result<Vec<ListEntry>> {
    let Some(folder) = open(store, prefix)? else { return Ok(Vec::new()) };
    let found = look(store, prefix, &folder)?;
    let values = found.values.into_iter().map(|(key, size)| ListEntry::Key(key, size));
    let mut entries: Vec<_> = values.chain(found.levels.into_iter().map(ListEntry::Prefix)).collect();
    entries.sort();
    Ok(entries)
}

fn open(store: &FileStore, prefix: &Prefix) -> Result<Option<Folder>> {
    let path = prefix.path();
    store.root.folder(path).map_err(|refusal| store.refused(refusal, path, prefix, "open folder"))
}

/// The values and levels in a directory. Names that are no keys (lock files among them) are left out; a link that
/// leads nowhere is absent, and one that leads out of the root is an error, as in a read.
fn look(store: &FileStore, prefix: &Prefix, folder: &Folder) -> Result<Found> {
    let mut found = Found { values: Vec::new(), levels: Vec::new() };
    let entries = folder.entries().map_err(|error| StoreError::io(prefix, "list", error))?;
    for (name, kind) in entries {
        let Some(key) = name.to_str().and_then(|name| prefix.key(name).ok()) else { continue };
        let facts = match kind {
            EntryKind::Folder => {
                found.levels.push(prefix.join(key.name())?);
                continue;
            }
            EntryKind::Other => continue,
            EntryKind::File => {
                folder.stat(key.name()).map_err(|error| StoreError::io(&key, "stat", error))?
            }
            EntryKind::Link => {
                let file = store.root.open(key.as_str());
                let file = file.map_err(|refusal| store.refused(refusal, key.as_str(), &key, "open"))?;
                let facts = file.map(|file| Facts::of(&file)).transpose();
                facts.map_err(|error| StoreError::io(&key, "stat", error))?
            }
        };
        match facts {
            Some(facts) if facts.kind == FileKind::File => found.values.push((key, facts.size)),
            Some(facts) if facts.kind == FileKind::Folder => found.levels.push(prefix.join(key.name())?),
            _ => {}
        }
    }
    Ok(found)
}

/// Calls `visit` for every entry under a prefix that is no directory, not following links, and returns the
/// directories, outer ones first.
fn walk(
    store: &FileStore,
    prefix: &Prefix,
    mut visit: impl FnMut(&Prefix, &Folder, &str, EntryKind) -> io::Result<()>,
) -> Result<Vec<Prefix>> {
    let mut levels = vec![prefix.clone()];
    let mut next = 0;
    while let Some(level) = levels.get(next).cloned() {
        next += 1;
        let Some(folder) = open(store, &level)? else { continue };
        let entries = folder.entries().map_err(|error| StoreError::io(&level, "list", error))?;
        for (name, kind) in entries {
            let Some(name) = name.to_str() else { continue };
            match kind {
                EntryKind::Folder => levels.extend(level.join(name).ok()),
                _ => match visit(&level, &folder, name, kind) {
                    Err(error) if !is_absent(&error) => {
                        // An error of the store's own passes through as it is.
                        return Err(match error.downcast::<StoreError>() {
                            Ok(error) => error,
                            Err(error) => StoreError::io(format!("{level}{name}"), "remove", error),
                        });
                    }
                    _ => {}
                },
            }
        }
    }
    Ok(levels)
}

/// Passes over a prefix that others still write under, before the folders that are not empty are left to them.
const PASSES: u32 = 16;

pub(super) fn delete(store: &FileStore, prefix: &Prefix) -> Result<()> {
    let mut still = Vec::new();
    for _ in 0..PASSES {
        let levels = walk(store, prefix, |level, folder, name, kind| {
            let value = name.strip_suffix(LOCK_SUFFIX).filter(|_| kind == EntryKind::File);
            let Some(key) = value.and_then(|value| level.key(value).ok()) else { return folder.unlink(name) };
            // Wait for a writer at work; what it puts is found in the next pass.
            match store.lock_existing(&key) {
                Err(StoreError::Io { source, .. }) => Err(source),
                Err(error) => Err(io::Error::other(error)),
                Ok(_) => Ok(()),
            }
        })?;
        still.clear();
        for level in levels.iter().rev() {
            let Some(parent) = level.parent() else { continue };
            let Some(folder) = open(store, &parent)? else { continue };
            let name = level.path().rsplit('/').next().unwrap_or_default();
            match folder.remove_folder(name) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => still.push(level.clone()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // The prefix is a link to a directory: the link goes.
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    folder.unlink(name).map_err(|error| StoreError::io(level, "remove", error))?;
                }
                Err(error) => return Err(StoreError::io(level, "remove", error)),
            }
        }
        if still.is_empty() {
            break;
        }
    }
    store.settled.forget(prefix);
    if store.options.durable {
        // What others keep on filling lost names, too.
        still.push(prefix.parent().unwrap_or_else(Prefix::root));
        still.iter().try_for_each(|level| store.sync_folder(level.path(), level))?;
    }
    Ok(())
}

/// Lock files under a prefix that nobody holds, last written so long ago. The lock alone says that their writer is
/// dead; the time leaves one be that was just opened, and not yet locked, on every file system.
pub(super) fn abandoned(
    store: &FileStore,
    prefix: &Prefix,
    idle: Duration,
    remove: bool,
) -> Result<Vec<(String, u64)>> {
    if remove {
        store.writable(prefix.as_str(), "remove leftovers of")?;
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let before = now.checked_sub(idle).and_then(|time| i128::try_from(time.as_nanos()).ok());
    let mut found = Vec::new();
    walk(store, prefix, |level, folder, name, kind| {
        if kind == EntryKind::File
            && name.ends_with(LOCK_SUFFIX)
            && let Some(facts) = folder.stat(name)?
            && before.is_some_and(|before| facts.modified <= before)
            && let Some(size) = if_idle(folder, name, || if remove { folder.unlink(name) } else { Ok(()) })?
        {
            found.push((format!("{level}{name}"), size));
        }
        Ok(())
    })?;
    found.sort();
    Ok(found)
}

impl FileStore {
    /// Waits for the writers of a key and locks it; `None` where there is neither a value nor a lock file.
    pub(super) fn lock_existing<'s>(&'s self, key: &'s Key) -> Result<Option<Locked<'s>>> {
        let (path, name) = key.split();
        let folder =
            self.root.folder(path).map_err(|refusal| self.refused(refusal, path, key, "open folder"))?;
        let Some(folder) = folder else { return Ok(None) };
        for name in [name, &format!("{name}{LOCK_SUFFIX}")] {
            if folder.stat(name).map_err(|error| StoreError::io(key, "stat", error))?.is_some() {
                return self.lock(key, false);
            }
        }
        Ok(None)
    }

    /// The lock files under a prefix: those of writers at work, and those that killed writers left. Costs a listing.
    ///
    /// # Errors
    /// The directory cannot be listed ([`StoreError::Io`]).
    pub fn leftovers(&self, prefix: &Prefix) -> Result<Vec<Leftover>> {
        let mut found = Vec::new();
        walk(self, prefix, |level, folder, name, kind| {
            if kind == EntryKind::File
                && name.ends_with(LOCK_SUFFIX)
                && let Some(facts) = folder.stat(name)?
            {
                found.push(self.leftover(level, name, facts.size));
            }
            Ok(())
        })?;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Removes the lock files under a prefix that no writer holds, and returns them. Safe beside any writers.
    ///
    /// # Errors
    /// The directory cannot be listed, or a file cannot be removed ([`StoreError::Io`]), or the store is read-only.
    pub fn remove_leftovers(&self, prefix: &Prefix) -> Result<Vec<Leftover>> {
        self.writable(prefix.as_str(), "remove leftovers of")?;
        let mut removed = Vec::new();
        walk(self, prefix, |level, folder, name, kind| {
            if kind == EntryKind::File
                && name.ends_with(LOCK_SUFFIX)
                && let Some(size) = remove_if_idle(folder, name)?
            {
                removed.push(self.leftover(level, name, size));
            }
            Ok(())
        })?;
        removed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(removed)
    }

    fn leftover(&self, level: &Prefix, name: &str, size: u64) -> Leftover {
        Leftover { path: self.root().join(level.path()).join(name), size }
    }
}
