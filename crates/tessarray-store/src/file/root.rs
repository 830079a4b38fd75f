//! The way from the root directory to a file or directory in it, and nowhere else.
//!
//! 1. On Linux the kernel does it: `openat2` with `RESOLVE_BENEATH`, from a descriptor of the root, walks no link that
//!    leads out. One system call, and no gap between check and use. The descriptor is kept open, of the first [`KEPT`]
//!    roots: programs may have 1,024 in all, and thousands of arrays.
//! 2. Where the kernel cannot (older ones, some sandboxes, other systems), the directory that holds the file is
//!    resolved to its canonical path, which must lie below the root's; directories found good are remembered. The
//!    last step never follows a link that has not been checked the same way. Somebody who can swap directories for
//!    links while we run could still win a race here; on the first path they cannot.
//! 3. With `follow_links` nothing is checked.
//!
//! The root itself may be a link, may not exist yet, and may be removed and made again under an open store.

use super::facts::is_absent;
use super::folder::Folder;
use crate::error::StoreError;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
#[cfg(target_os = "linux")]
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// How often a directory is made again that somebody else removes.
const ATTEMPTS: usize = 64;

/// Roots whose descriptors are kept open at once. Any other is opened for each use, which takes a microsecond.
#[cfg(target_os = "linux")]
const KEPT: usize = 256;

/// A descriptor of a root.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Handle {
    directory: OwnedFd,
    /// Whether it is one of those that are kept.
    kept: bool,
}

#[cfg(target_os = "linux")]
static NOW_KEPT: AtomicUsize = AtomicUsize::new(0);

#[cfg(target_os = "linux")]
impl Handle {
    fn new(directory: OwnedFd) -> Self {
        let more = |kept| (kept < KEPT).then_some(kept + 1);
        let kept = NOW_KEPT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        Self { directory, kept }
    }
}

#[cfg(target_os = "linux")]
impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

#[cfg(target_os = "linux")]
impl Drop for Handle {
    fn drop(&mut self) {
        if self.kept {
            NOW_KEPT.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Why a path was not opened.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It leads out of the root.
    Outside,
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

type Outcome<T> = Result<T, Refusal>;

#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    follow_links: bool,
    /// Directories that were seen to lie below the root, for the portable way.
    verified: RwLock<HashSet<Box<str>>>,
    #[cfg(target_os = "linux")]
    kernel_checks: AtomicBool,
    #[cfg(target_os = "linux")]
    handle: RwLock<Option<Arc<Handle>>>,
}

impl Root {
    /// `path` is absolute, so that a later change of the working directory changes nothing here.
    pub(super) fn new(path: PathBuf, follow_links: bool) -> Self {
        Self {
            path,
            follow_links,
            verified: RwLock::default(),
            #[cfg(target_os = "linux")]
            kernel_checks: AtomicBool::new(!follow_links),
            #[cfg(target_os = "linux")]
            handle: RwLock::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file to read; `None` where it, or a directory on the way, is absent.
    pub(super) fn open(&self, path: &str) -> Outcome<Option<File>> {
        #[cfg(target_os = "linux")]
        if let Some(answer) = self.beneath(path, super::folder::READ) {
            return Ok(answer?.map(File::from));
        }
        self.open_by_path(path)
    }

    /// Opens a directory; `None` where it is absent. The empty path is the root.
    pub(super) fn folder(&self, path: &str) -> Outcome<Option<Folder>> {
        #[cfg(target_os = "linux")]
        if let Some(answer) = self.beneath(path, super::folder::FOLDER) {
            return Ok(answer?.map(Folder::new));
        }
        self.folder_by_path(path)
    }

    /// Opens a directory, making it and those above it where they are absent. Whoever deletes at the same time takes empty
    /// ones away again: then they are made once more.
    pub(super) fn make_folder(&self, path: &str) -> Outcome<Folder> {
        for _ in 0..ATTEMPTS {
            if let Some(folder) = self.try_make_folder(path)? {
                return Ok(folder);
            }
        }
        Err(io::Error::from(io::ErrorKind::NotADirectory).into())
    }

    /// The same; `None` where a directory that was there, or was made, is gone, or what is there is none.
    fn try_make_folder(&self, path: &str) -> Outcome<Option<Folder>> {
        let mut folder = match self.folder("")? {
            Some(folder) => folder,
            None => {
                std::fs::create_dir_all(&self.path)?;
                self.folder("")?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?
            }
        };
        let mut walked = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if !walked.is_empty() {
                walked.push('/');
            }
            walked.push_str(name);
            folder = match self.folder(&walked)? {
                Some(next) => next,
                None => match folder.make_folder(name) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    made => {
                        made?;
                        let Some(next) = self.folder(&walked)? else { return Ok(None) };
                        next
                    }
                },
            };
        }
        Ok(Some(folder))
    }

    /// Syncs the directories above the root, up to that of the file system: those of its path as it was given, and, where
    /// that has links in it, those above what it leads to. One that we may not open, or that cannot be synced, is left.
    #[cfg(unix)]
    pub(super) fn sync_above(&self) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let real = self.path.canonicalize()?;
        let paths = if real == self.path { vec![&real] } else { vec![&self.path, &real] };
        for path in paths {
            let mut device = path.metadata()?.dev();
            for holder in path.ancestors().skip(1) {
                let Ok(folder) = File::open(holder) else { continue };
                let below = std::mem::replace(&mut device, folder.metadata()?.dev());
                // Where a file system is mounted there is no name of its own. A link may lie on another one.
                if below != device && path == &real {
                    break;
                }
                match folder.sync_all() {
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                    Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
                    synced => synced?,
                }
            }
        }
        Ok(())
    }

    /// Directories cannot be synced here.
    #[cfg(not(unix))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(super) fn sync_above(&self) -> io::Result<()> {
        Ok(())
    }

    /// Names the link on the way that leads out, for the error.
    pub(super) fn outside(&self, path: &str, key: &str) -> StoreError {
        let mut walked = self.path.clone();
        for name in path.split('/') {
            walked.push(name);
            if walked.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                let inside = match (walked.canonicalize(), self.path.canonicalize()) {
                    (Ok(target), Ok(root)) => target.starts_with(root),
                    _ => false,
                };
                if !inside {
                    break;
                }
            }
        }
        StoreError::OutsideRoot { key: key.into(), link: walked.display().to_string() }
    }

    /// The kernel's answer; `None` where it cannot give one.
    #[cfg(target_os = "linux")]
    fn beneath(&self, path: &str, flags: rustix::fs::OFlags) -> Option<Outcome<Option<OwnedFd>>> {
        use rustix::fs::{Mode, ResolveFlags};
        use rustix::io::Errno;
        if !self.kernel_checks.load(Ordering::Relaxed) {
            return None;
        }
        let path = if path.is_empty() { "." } else { path };
        let mut tries = 0_u32;
        loop {
            tries += 1;
            let root = match self.handle() {
                Ok(Some(root)) => root,
                Ok(None) => return Some(Ok(None)),
                Err(error) => return Some(Err(error.into())),
            };
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&*root, path, flags, Mode::empty(), resolve) {
                Ok(file) => return Some(Ok(Some(file))),
                // The root may have been removed, and made again, since its descriptor was opened.
                Err(Errno::NOENT) if tries < 3 && is_unlinked(&root) => self.forget(&root),
                Err(Errno::NOENT | Errno::NOTDIR) => return Some(Ok(None)),
                Err(Errno::XDEV) => return Some(Err(Refusal::Outside)),
                // A rename raced with the walk over a `..` in a link.
                Err(Errno::AGAIN | Errno::INTR) if tries < 1000 => {}
                Err(Errno::NOSYS | Errno::PERM) => {
                    self.kernel_checks.store(false, Ordering::Relaxed);
                    return None;
                }
                Err(error) => return Some(Err(Refusal::Io(error.into()))),
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn handle(&self) -> io::Result<Option<Arc<Handle>>> {
        use rustix::fs::{Mode, OFlags};
        if let Some(root) = &*self.handle.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Some(Arc::clone(root)));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = match rustix::fs::open(&self.path, flags, Mode::empty()) {
            Ok(root) => Arc::new(Handle::new(root)),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if !root.kept {
            return Ok(Some(root));
        }
        let mut handle = self.handle.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Arc::clone(handle.get_or_insert(root))))
    }

    #[cfg(target_os = "linux")]
    fn forget(&self, root: &Arc<Handle>) {
        let mut handle = self.handle.write().unwrap_or_else(PoisonError::into_inner);
        if handle.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, root)) {
            *handle = None;
        }
    }

    /// Makes this root use the portable way, as on a kernel without `openat2`.
    #[cfg(all(test, target_os = "linux"))]
    pub(super) fn without_kernel_checks(&self) {
        self.kernel_checks.store(false, Ordering::Relaxed);
    }

    fn open_by_path(&self, path: &str) -> Outcome<Option<File>> {
        let full = self.path.join(path);
        if self.follow_links {
            return present(open_file(&full, true));
        }
        let holder = path.rsplit_once('/').map_or("", |(holder, _)| holder);
        if !self.verify(holder)? {
            return Ok(None);
        }
        match open_file(&full, false) {
            Err(error) if full.symlink_metadata().is_ok_and(|found| found.is_symlink()) => {
                drop(error);
                let Some(target) = present(full.canonicalize())? else { return Ok(None) };
                if !target.starts_with(self.path.canonicalize()?) {
                    return Err(Refusal::Outside);
                }
                present(open_file(&target, false))
            }
            answer => present(answer),
        }
    }

    fn folder_by_path(&self, path: &str) -> Outcome<Option<Folder>> {
        if !self.follow_links && !self.verify(path)? {
            return Ok(None);
        }
        #[cfg(unix)]
        {
            let opened =
                rustix::fs::open(self.path.join(path), super::folder::FOLDER, rustix::fs::Mode::empty());
            Ok(present(opened.map_err(io::Error::from))?.map(Folder::new))
        }
        #[cfg(not(unix))]
        {
            let full = self.path.join(path);
            Ok(present(full.metadata())?.filter(std::fs::Metadata::is_dir).map(|_| Folder::new(full)))
        }
    }

    /// Whether a directory is there; refuses one that lies outside.
    fn verify(&self, path: &str) -> Outcome<bool> {
        if self.verified.read().unwrap_or_else(PoisonError::into_inner).contains(path) {
            return Ok(true);
        }
        let Some(found) = present(self.path.join(path).canonicalize())? else {
            // Absent in here, or absent out there? The latter is refused as what is there would be.
            if let Some((holder, _)) = path.rsplit_once('/') {
                self.verify(holder)?;
            }
            return Ok(false);
        };
        if !found.starts_with(self.path.canonicalize()?) {
            return Err(Refusal::Outside);
        }
        self.verified.write().unwrap_or_else(PoisonError::into_inner).insert(path.into());
        Ok(true)
    }
}

#[cfg(target_os = "linux")]
fn is_unlinked(directory: &Handle) -> bool {
    rustix::fs::fstat(directory).is_ok_and(|stat| stat.st_nlink == 0)
}

fn present<T>(answer: io::Result<T>) -> Outcome<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(unix)]
fn open_file(path: &Path, follow: bool) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = if follow { super::folder::READ } else { super::folder::READ | OFlags::NOFOLLOW };
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_file(path: &Path, follow: bool) -> io::Result<File> {
    if !follow && path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a symbolic link"));
    }
    if path.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    File::open(path)
}
