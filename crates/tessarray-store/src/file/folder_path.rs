//! A directory by its path, for platforms without directory descriptors.

use super::facts::{Facts, is_absent};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;

/// A directory inside the root.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

/// Tells a directory from any other that had its path: here, by the time of its birth.
pub(super) type FolderId = i128;

/// What a directory entry is, not following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

impl Folder {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Creates or opens a lock file; refuses one that is a link.
    pub(super) fn open_lock(&self, name: &str) -> io::Result<File> {
        self.refuse_link(name)?;
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(self.0.join(name))
    }

    /// Opens a lock file that is there.
    pub(super) fn open_existing_lock(&self, name: &str) -> io::Result<File> {
        self.refuse_link(name)?;
        OpenOptions::new().read(true).write(true).open(self.0.join(name))
    }

    fn refuse_link(&self, name: &str) -> io::Result<()> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(found) if found.is_symlink() => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, "the lock file is a symbolic link"))
            }
            _ => Ok(()),
        }
    }

    /// Facts about a name, not following links; `None` where it is absent.
    pub(super) fn stat(&self, name: &str) -> io::Result<Option<Facts>> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(found) => Ok(Some(Facts::from_metadata(&found))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn unlink(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(super) fn remove_folder(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub(super) fn make_folder(&self, name: &str) -> io::Result<()> {
        match fs::create_dir(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Directories cannot be synced here: renames are as durable as the file system makes them.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Which directory this is.
    pub(super) fn id(&self) -> io::Result<FolderId> {
        Ok(self.facts()?.identity.1)
    }

    /// Facts about the directory itself.
    pub(super) fn facts(&self) -> io::Result<Facts> {
        Ok(Facts::from_metadata(&fs::metadata(&self.0)?))
    }

    /// The names in it, in the directory's own order.
    pub(super) fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = if kind.is_symlink() {
                EntryKind::Link
            } else if kind.is_dir() {
                EntryKind::Folder
            } else if kind.is_file() {
                EntryKind::File
            } else {
                EntryKind::Other
            };
            found.push((entry.file_name(), kind));
        }
        Ok(found)
    }
}
