//! An open directory: names in it are reached through its descriptor, so no path is walked twice.

use super::facts::Facts;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;

/// A directory inside the root.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

/// Tells a directory from any other that had its path: device, inode, and time of birth where there is one.
pub(super) type FolderId = (u64, u64, i128);

/// What a directory entry is, not following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

/// How values are opened: never blocking on a FIFO, never kept across `exec`.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// How directories are opened.
pub(super) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

impl Folder {
    pub(super) fn new(directory: OwnedFd) -> Self {
        Self(directory)
    }

    /// Creates or opens a lock file; refuses (`ELOOP`) one that is a link.
    pub(super) fn open_lock(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Opens a lock file that is there.
    pub(super) fn open_existing_lock(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Facts about a name, not following links; `None` where it is absent.
    pub(super) fn stat(&self, name: &str) -> io::Result<Option<Facts>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Facts::from_stat(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(super) fn unlink(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(super) fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(super) fn make_folder(&self, name: &str) -> io::Result<()> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the names in this directory durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    /// Which directory this is.
    #[cfg(target_os = "linux")]
    pub(super) fn id(&self) -> io::Result<FolderId> {
        use rustix::fs::StatxFlags;
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        match rustix::fs::statx(&self.0, "", AtFlags::EMPTY_PATH, wanted) {
            Ok(found) => {
                let device = u64::from(found.stx_dev_major) << 32 | u64::from(found.stx_dev_minor);
                let born = i128::from(found.stx_btime.tv_sec) << 32 | i128::from(found.stx_btime.tv_nsec);
                Ok((device, found.stx_ino, born))
            }
            Err(Errno::NOSYS | Errno::PERM) => self.id_without_birth(),
            Err(error) => Err(error.into()),
        }
    }

    /// Which directory this is.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn id(&self) -> io::Result<FolderId> {
        self.id_without_birth()
    }

    fn id_without_birth(&self) -> io::Result<FolderId> {
        let (device, inode) = self.facts()?.identity;
        Ok((u64::try_from(device).unwrap_or(0), u64::try_from(inode).unwrap_or(0), 0))
    }

    /// Facts about the directory itself.
    pub(super) fn facts(&self) -> io::Result<Facts> {
        Ok(Facts::from_stat(&rustix::fs::fstat(&self.0)?))
    }

    /// The names in it, in the directory's own order.
    pub(super) fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind = FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            let kind = match kind {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Folder,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Other,
            };
            found.push((OsString::from_vec(name.to_bytes().to_vec()), kind));
        }
        Ok(found)
    }
}
