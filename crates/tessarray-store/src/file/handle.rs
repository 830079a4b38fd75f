//! A handle of a directory: what all that is done in it rests on.

use super::facts::{Facts, FileKind};
use super::options::FileOptions;
use super::root::{Refusal, Root};
use super::settled::Settled;
use crate::error::{Result, StoreError};
use crate::key::{Key, KeyError, KeyProblem};
use crate::store::Store;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// A store in a local directory. See the top of its source file for the protocol that makes its writes atomic.
///
/// Values are files, so a key cannot also be the beginning of another (`a` and `a/b`), and its last segment may
/// have 248 bytes at most. Any number of threads and processes may use one directory. Cost of a read: four system
/// calls, one more for each further range of the same value; of a write: about ten.
#[derive(Debug)]
pub struct FileStore {
    pub(super) root: Root,
    pub(super) options: FileOptions,
    /// Folders whose names are on the disk.
    pub(super) settled: Settled,
    /// Why an fsync failed, and the system's number of that, once one did.
    pub(super) poison: OnceLock<(String, Option<i32>)>,
    #[cfg(test)]
    pub(super) fail: std::sync::Mutex<Option<(Step, i32)>>,
    #[cfg(test)]
    pub(super) trace: std::sync::Mutex<Vec<Step>>,
}

/// The system calls of a write, for tests to make fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
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

impl FileStore {
    /// The store in a directory, which need not exist: the first write makes it. Not durable, no links out of the
    /// root. Touches nothing.
    ///
    /// ```
    /// use tessarray_store::{FileStore, Key, PutMode, Store};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path();
    /// let store = FileStore::new(path.join("data"))?;
    /// store.put(&Key::new("a/b")?, &[b"value"], PutMode::Overwrite)?;
    /// assert_eq!(store.get(&Key::new("a/b")?)?.unwrap().0, &b"value"[..]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The path is relative, and there is no working directory.
    pub fn new(root: impl AsRef<Path>) -> Result<Self> {
        Self::with_options(root, FileOptions::default())
    }

    /// The same, with [`FileOptions`].
    ///
    /// # Errors
    /// The same.
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

    pub(super) fn step(&self, step: Step) -> io::Result<()> {
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
    pub(super) fn writable(&self, key: &str, action: &str) -> Result<()> {
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

    pub(super) fn poison(&self, key: impl std::fmt::Display, error: io::Error) -> StoreError {
        let (reason, code) = self.poison.get_or_init(|| (error.to_string(), error.raw_os_error())).clone();
        StoreError::Poisoned { key: key.to_string(), reason, code }
    }

    pub(super) fn refused(
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
    pub(super) fn open_value(&self, key: &Key) -> Result<Option<(File, Facts)>> {
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

    /// Somebody removed the key while it was to be locked.
    pub(super) fn gone(key: &Key) -> StoreError {
        StoreError::io(key, "lock", io::ErrorKind::NotFound.into())
    }
}

/// Refuses names that Windows would change, or take for a device or an alternate stream.
pub(super) fn fits_platform(key: &Key) -> Result<()> {
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
