//! The writer's side of the protocol: one key, locked. The steps are numbered as at the top of the folder's `mod.rs`.

use super::facts::{Facts, FileKind, is_absent};
use super::folder::Folder;
use super::handle::{FileStore, Step};
use super::wait::{self, NoLock};
use crate::error::{Result, StoreError};
use crate::key::{Key, LOCK_SUFFIX};
use crate::request::{PutMode, Version};
use std::fs::{File, FileTimes};
use std::io::{self, IoSlice, Write};

/// The lock on a key, and the file that becomes its next value. Dropped without a commit, it removes that file.
pub(super) struct Locked<'s> {
    store: &'s FileStore,
    key: &'s Key,
    folder: Folder,
    lock: File,
    lock_name: String,
    /// What a killed owner left in the file.
    left: u64,
    committed: bool,
}

impl FileStore {
    /// Steps 1 to 3: waits for the key's other writers. `None` where the folder is absent and not to be made.
    pub(super) fn lock<'s>(&'s self, key: &'s Key, make_folder: bool) -> Result<Option<Locked<'s>>> {
        let (path, name) = key.split();
        let lock_name = format!("{name}{LOCK_SUFFIX}");
        let mut vanished = 0_u32;
        loop {
            let opened =
                self.root.folder(path).map_err(|refusal| self.refused(refusal, path, key, "open folder"))?;
            let folder = match opened {
                Some(folder) => folder,
                None if !make_folder => return Ok(None),
                // Folders are looked for first and made only when absent: most writes find theirs.
                None => match self.root.make_folder(path) {
                    Ok(folder) => folder,
                    Err(refusal) => {
                        let error = self.refused(refusal, path, key, "make folder");
                        let gone = matches!(&error, StoreError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound);
                        vanished += 1;
                        if gone && vanished < 1000 {
                            continue;
                        }
                        return Err(error);
                    }
                },
            };
            if self.options.durable {
                self.settle(path, &folder, key)?;
            }
            // 1. Open the lock file, or make it.
            let lock = match self.step(Step::Open).and_then(|()| folder.open_lock(&lock_name)) {
                Ok(lock) => lock,
                // Somebody removed the folder after we opened it.
                Err(error) if error.kind() == io::ErrorKind::NotFound && vanished < 1000 => {
                    vanished += 1;
                    continue;
                }
                Err(error) => {
                    if is_link(&self.root.path().join(path).join(&lock_name)) {
                        return Err(self.root.outside(&format!("{path}/{lock_name}"), key.as_str()));
                    }
                    return Err(StoreError::io(key, "open lock", error));
                }
            };
            let mut locked = Locked {
                store: self,
                key,
                folder,
                lock,
                lock_name: lock_name.clone(),
                left: 0,
                committed: true,
            };
            // 2. Wait for the lock.
            locked.wait(path)?;
            // 3. Is this still the lock file, or has its last owner made a value of it, or removed it?
            match locked.current_size() {
                Ok(Some(left)) => {
                    locked.left = left;
                    locked.committed = false;
                    return Ok(Some(locked));
                }
                Ok(None) => {}
                Err(error) => return Err(StoreError::io(key, "stat lock", error)),
            }
        }
    }
}

/// Locks a leftover lock file without waiting, and removes it; `None` where somebody is at work on it.
pub(super) fn remove_if_idle(folder: &Folder, lock_name: &str) -> io::Result<Option<u64>> {
    if_idle(folder, lock_name, || folder.unlink(lock_name))
}

/// Locks a leftover lock file without waiting, and acts; its size, `None` where somebody is at work on it.
pub(super) fn if_idle(
    folder: &Folder,
    lock_name: &str,
    act: impl FnOnce() -> io::Result<()>,
) -> io::Result<Option<u64>> {
    let lock = match folder.open_existing_lock(lock_name) {
        Ok(lock) => lock,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    match lock.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
        Err(std::fs::TryLockError::Error(error)) => return Err(error),
    }
    let facts = Facts::of(&lock)?;
    let removed = match folder.stat(lock_name)? {
        Some(found) if found.is_same_file(&facts) => {
            act()?;
            Some(facts.size)
        }
        _ => None,
    };
    lock.unlock()?;
    Ok(removed)
}

fn is_link(path: &std::path::Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

impl Locked<'_> {
    fn wait(&self, folder: &str) -> Result<()> {
        let path = || self.store.root.path().join(folder).join(&self.lock_name);
        let locked =
            self.store.step(Step::Lock).map_err(NoLock::Io).and_then(|()| wait::lock(&self.lock, path));
        locked.map_err(|no| match no {
            NoLock::Interrupted(waited) => StoreError::Interrupted {
                key: self.key.to_string(),
                lock: path().display().to_string(),
                waited,
            },
            NoLock::Io(error) => StoreError::io(self.key, "lock", error),
        })
    }

    /// The size of the lock file, where the path still names it.
    fn current_size(&self) -> io::Result<Option<u64>> {
        let mine = Facts::of(&self.lock)?;
        if mine.kind != FileKind::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the lock is not a regular file"));
        }
        Ok(self.folder.stat(&self.lock_name)?.filter(|found| found.is_same_file(&mine)).map(|_| mine.size))
    }

    /// Whether the mode allows a put on the value that is there.
    pub(super) fn check(&self, mode: &PutMode) -> Result<()> {
        match mode {
            PutMode::Overwrite => Ok(()),
            PutMode::Create => match self.folder.stat(self.key.name()) {
                Ok(None) => Ok(()),
                Ok(Some(_)) => Err(StoreError::Exists { key: self.key.to_string() }),
                Err(error) => Err(StoreError::io(self.key, "stat", error)),
            },
            PutMode::IfMatch(expected) => match self.store.open_value(self.key)? {
                Some((_, facts)) if facts.version() == *expected => Ok(()),
                _ => Err(StoreError::Changed { key: self.key.to_string() }),
            },
        }
    }

    /// Steps 4 to 9: the parts become the value.
    pub(super) fn commit<B: AsRef<[u8]>>(mut self, parts: &[B]) -> Result<Version> {
        let (store, key) = (self.store, self.key);
        // 4. Write everything into the lock file. What a killed owner left in it goes first.
        let action = "write";
        let written = self.write(parts).and_then(|()| self.outdate_current());
        written.map_err(|error| StoreError::io(key, action, error))?;
        // 5. The bytes are on the disk before the name is.
        if store.options.durable {
            let synced = store.step(Step::SyncFile).and_then(|()| self.lock.sync_all());
            synced.map_err(|error| store.poison(key, error))?;
        }
        // 6. The lock file becomes the value.
        let renamed = store.step(Step::Rename).and_then(|()| self.folder.rename(&self.lock_name, key.name()));
        renamed.map_err(|error| StoreError::io(key, "rename", error))?;
        self.committed = true;
        // 7. The name is on the disk.
        if store.options.durable {
            let synced = store.step(Step::SyncFolder).and_then(|()| self.folder.sync());
            synced.map_err(|error| store.poison(key, error))?;
        }
        // 8. The version includes the change time, which the rename has set.
        let facts = Facts::of(&self.lock).map_err(|error| StoreError::io(key, "stat", error))?;
        Ok(facts.version())
        // 9. Dropping `self` unlocks; those who wait for this lock find in step 3 that it is one no longer.
    }

    /// Removes the value; `false` where there was none. The lock file goes when `self` is dropped.
    pub(super) fn delete(self) -> Result<bool> {
        let (store, key) = (self.store, self.key);
        match store.step(Step::Unlink).and_then(|()| self.folder.unlink(key.name())) {
            Ok(()) => {}
            Err(error) if is_absent(&error) => return Ok(false),
            Err(error) if self.is_folder() => {
                drop(error);
                return Ok(false);
            }
            Err(error) => return Err(StoreError::io(key, "remove", error)),
        }
        if store.options.durable {
            let synced = store.step(Step::SyncFolder).and_then(|()| self.folder.sync());
            synced.map_err(|error| store.poison(key, error))?;
        }
        Ok(true)
    }

    fn is_folder(&self) -> bool {
        matches!(self.folder.stat(self.key.name()), Ok(Some(found)) if found.kind == FileKind::Folder)
    }

    fn write<B: AsRef<[u8]>>(&mut self, parts: &[B]) -> io::Result<()> {
        self.store.step(Step::Truncate)?;
        if self.left > 0 {
            self.lock.set_len(0)?;
        }
        self.store.step(Step::Write)?;
        let mut slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part.as_ref())).collect();
        let mut rest = slices.as_mut_slice();
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            match self.lock.write_vectored(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut rest, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes the new value's modification time later than the old one's. Clocks of file systems tick slowly and
    /// inode numbers are used again, so two values put in one tick could otherwise share a version.
    fn outdate_current(&self) -> io::Result<()> {
        let Some(current) = self.folder.stat(self.key.name())? else { return Ok(()) };
        if Facts::of(&self.lock)?.modified <= current.modified
            && let Some(later) = current.just_after()
        {
            self.lock.set_times(FileTimes::new().set_modified(later))?;
        }
        Ok(())
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // The lock file is removed while it is locked: whoever waits for it finds out in step 3.
        if !self.committed {
            let _ = self.folder.unlink(&self.lock_name);
        }
        // Closing would do, had no other process forked meanwhile and kept a copy of the descriptor.
        let _ = self.lock.unlock();
    }
}
