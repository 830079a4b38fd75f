//! What the file system says about a file: size, kind, version.

use crate::request::{Meta, Version};
use std::fs::File;
use std::io;
use std::time::SystemTime;

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Folder,
    Other,
}

/// Facts about a file, from one system call.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) size: u64,
    pub(super) kind: FileKind,
    /// Device and inode, where there are such things.
    pub(super) identity: (i128, i128),
    /// Nanoseconds since 1970.
    pub(super) modified: i128,
    /// When the inode changed, in nanoseconds since 1970; a rename changes it on most file systems.
    changed: i128,
}

/// Whether the error says that there is nothing at the path.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Facts {
    /// Facts about an open file.
    #[cfg(unix)]
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from_stat(&rustix::fs::fstat(file)?))
    }

    /// Facts about an open file.
    #[cfg(not(unix))]
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from_metadata(&file.metadata()?))
    }

    #[cfg(unix)]
    pub(super) fn from_stat(stat: &rustix::fs::Stat) -> Self {
        use rustix::fs::FileType;
        // The fields are of other widths on other systems.
        fn wide(number: impl TryInto<i128>) -> i128 {
            number.try_into().unwrap_or(0)
        }
        fn nanoseconds(seconds: i128, rest: i128) -> i128 {
            seconds.saturating_mul(1_000_000_000).saturating_add(rest)
        }
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Folder,
            _ => FileKind::Other,
        };
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            kind,
            identity: (wide(stat.st_dev), wide(stat.st_ino)),
            modified: nanoseconds(wide(stat.st_mtime), wide(stat.st_mtime_nsec)),
            changed: nanoseconds(wide(stat.st_ctime), wide(stat.st_ctime_nsec)),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn from_metadata(found: &std::fs::Metadata) -> Self {
        let kind = if found.is_file() {
            FileKind::File
        } else if found.is_dir() {
            FileKind::Folder
        } else {
            FileKind::Other
        };
        let since_1970 = |time: io::Result<SystemTime>| {
            time.ok()
                .and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok())
                .and_then(|time| i128::try_from(time.as_nanos()).ok())
                .unwrap_or(0)
        };
        // No inode numbers in std here: the creation time stands in, and tells a lock file from its successor.
        let (created, modified) = (since_1970(found.created()), since_1970(found.modified()));
        Self { size: found.len(), kind, identity: (0, created), modified, changed: 0 }
    }

    /// Whether both are of one file that nobody writes to. The size and time help where there are no inode numbers.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.identity, self.size, self.modified) == (other.identity, other.size, other.modified)
    }

    /// Size and version, as callers see them.
    pub(super) fn meta(&self) -> Meta {
        Meta { size: self.size, version: self.version() }
    }

    /// Differs between any two values that writers of this crate ever put at one key; see `lock.rs` on time stamps.
    pub(super) fn version(&self) -> Version {
        let (device, inode) = self.identity;
        Version(format!("{device:x}-{inode:x}-{:x}-{:x}-{:x}", self.size, self.modified, self.changed).into())
    }

    /// The time just after `modified`, to give to a successor; `None` before 1970.
    pub(super) fn just_after(&self) -> Option<SystemTime> {
        let nanoseconds = u64::try_from(self.modified).ok()?.checked_add(1)?;
        SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::from_nanos(nanoseconds))
    }
}
