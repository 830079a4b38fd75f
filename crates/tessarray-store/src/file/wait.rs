//! Step 2 of the protocol: waiting for a lock that another writer holds.
//!
//! 1. The lock is tried; it is free most of the time, and this costs one system call.
//! 2. It is tried again for about a millisecond: most writers are done by then.
//! 3. A thread of its own waits in the kernel's queue, on a copy of the descriptor. Such locks belong to the open file,
//!    so what it gets is ours; and the queue is fair, as trying again would not be.
//! 4. We wait for that thread, and look every [`LOOK`] whether the user wants us to go on. If not, we leave; the thread
//!    stays in the queue until its turn has come, finds that nobody takes the lock, and gives it back.

use crate::waiting::{self, LOOK, Waiting};
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Step 2: so often, with such pauses.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_micros(50);
/// When it is first said that somebody is waited for.
const NOTICE: Duration = Duration::from_secs(3);

/// Why there is no lock.
#[derive(Debug)]
pub(super) enum NoLock {
    /// The wait was called off.
    Interrupted(Duration),
    Io(io::Error),
}

impl From<io::Error> for NoLock {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Locks the file, however long that takes; `path` is for those who are told about it.
pub(super) fn lock(file: &File, path: impl Fn() -> PathBuf) -> Result<(), NoLock> {
    // 1.
    if tried(file)? {
        return Ok(());
    }
    let (_waiting, began) = (Waiting::begin(), Instant::now());
    // 2.
    for _ in 0..TRIES {
        std::thread::sleep(PAUSE);
        if tried(file)? {
            return Ok(());
        }
    }
    // 3 and 4.
    let queue = Queue::join(file)?;
    let mut told = NOTICE;
    loop {
        if let Some(answer) = queue.wait(file) {
            return Ok(answer?);
        }
        let waited = began.elapsed();
        if waiting::is_interrupted() {
            return Err(NoLock::Interrupted(waited));
        }
        if waited >= told {
            waiting::notice(&path(), waited);
            told = told.saturating_mul(2);
        }
    }
}

fn tried(file: &File) -> io::Result<bool> {
    loop {
        return match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(TryLockError::Error(error)) => Err(error),
        };
    }
}

/// A place in the kernel's queue for a lock.
#[cfg(unix)]
struct Queue(std::sync::mpsc::Receiver<io::Result<()>>);

#[cfg(unix)]
impl Queue {
    fn join(file: &File) -> io::Result<Self> {
        let copy = file.try_clone()?;
        // Without room in the channel, an answer that is not taken comes back to the thread, which unlocks.
        let (answers, answer) = std::sync::mpsc::sync_channel(0);
        std::thread::Builder::new().name("tessarray-lock".into()).stack_size(64 << 10).spawn(move || {
            let locked = loop {
                match copy.lock() {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    locked => break locked,
                }
            };
            if answers.send(locked).is_err() {
                let _ = copy.unlock();
            }
        })?;
        Ok(Self(answer))
    }

    /// Waits a little; `None` where it is not our turn yet.
    fn wait(&self, _: &File) -> Option<io::Result<()>> {
        use std::sync::mpsc::RecvTimeoutError;
        match self.0.recv_timeout(LOOK) {
            Ok(locked) => Some(locked),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(io::Error::other("the waiting thread died"))),
        }
    }
}

/// Where a lock may belong to the handle, it is tried again and again.
#[cfg(not(unix))]
struct Queue;

#[cfg(not(unix))]
impl Queue {
    fn join(_: &File) -> io::Result<Self> {
        Ok(Self)
    }

    fn wait(&self, file: &File) -> Option<io::Result<()>> {
        std::thread::sleep(Duration::from_millis(2));
        tried(file).map(|locked| locked.then_some(())).transpose()
    }
}
