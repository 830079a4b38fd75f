//! The names that a durable write rests on: those of its folder, and of all folders above it.
//!
//! Somebody else may have made a folder, without a sync or killed before it. So each handle syncs the names of the folders
//! it writes in itself, once for each folder: the folder above every one of them, up to the root of the file system. A
//! folder is known again by its inode and the time of its birth, since another one may have taken its name meanwhile.

use super::folder::Folder;
use super::handle::{FileStore, Step};
use crate::error::{Result, StoreError};
use crate::key::Key;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;

impl FileStore {
    /// Sees to it that the way to a folder is on the disk. Costs one system call where this handle did so before.
    pub(super) fn settle(&self, path: &str, folder: &Folder, key: &dyn Display) -> Result<()> {
        let id = folder.id().map_err(|error| StoreError::io(key, "stat folder", error))?;
        if self.settled.has(path, id) {
            return Ok(());
        }
        if path.is_empty() {
            let synced = self.step(Step::SyncAbove).and_then(|()| self.root.sync_above());
            synced.map_err(|error| self.poison(key, error))?;
        } else {
            let above = path.rsplit_once('/').map_or("", |(above, _)| above);
            let opened = self.root.folder(above);
            let opened = opened.map_err(|refusal| self.refused(refusal, above, key, "open folder"))?;
            // Removed since it was opened: so is what is in it, and the caller finds out.
            let Some(holder) = opened else { return Ok(()) };
            self.settle(above, &holder, key)?;
            let synced = self.step(Step::SyncAbove).and_then(|()| holder.sync());
            synced.map_err(|error| self.poison(key, error))?;
        }
        self.settled.add(path, id);
        Ok(())
    }

    /// Syncs a folder and the way to it; nothing where it is absent.
    pub(super) fn sync_folder(&self, path: &str, key: &dyn Display) -> Result<()> {
        let opened = self.root.folder(path);
        let opened = opened.map_err(|refusal| self.refused(refusal, path, key, "open folder"))?;
        let Some(folder) = opened else { return Ok(()) };
        self.settle(path, &folder, key)?;
        let synced = self.step(Step::SyncFolder).and_then(|()| folder.sync());
        synced.map_err(|error| self.poison(key, error))
    }

    /// The values of these keys, then the names in their folders, then the ways there: each file and folder once.
    pub(super) fn sync_values(&self, keys: &[Key]) -> Result<()> {
        let mut folders = BTreeSet::new();
        for key in keys {
            let Some((file, _)) = self.open_value(key)? else { continue };
            let synced = self.step(Step::SyncFile).and_then(|()| self.sync_value(key, &file));
            synced.map_err(|error| self.poison(key, error))?;
            folders.insert(key.split().0);
        }
        folders.into_iter().try_for_each(|path| self.sync_folder(path, &path))
    }

    #[cfg(unix)]
    #[allow(clippy::unused_self, reason = "elsewhere the path is needed")]
    fn sync_value(&self, _: &Key, file: &std::fs::File) -> io::Result<()> {
        file.sync_all()
    }

    /// Only who may write to a file may sync it here.
    #[cfg(not(unix))]
    fn sync_value(&self, key: &Key, _: &std::fs::File) -> io::Result<()> {
        std::fs::OpenOptions::new().write(true).open(self.root.path().join(key.as_str()))?.sync_all()
    }
}
