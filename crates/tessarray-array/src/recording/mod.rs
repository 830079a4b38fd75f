//! Recording of accesses: which elements of which array are read and written, one line of JSON a call.
//!
//! 1. While no log is on, a call costs one relaxed load: [`is_on`].
//! 2. Otherwise the caller times the access and hands it to [`note`], which makes one line and appends it to each log.
//! 3. A log is opened for appending and gets a line with one write: threads and processes may share it, forked ones too,
//!    and nothing is lost where a process is killed. A log that is empty when it is opened gets a header.
//! 4. A line that cannot be written is counted and is no error of the access. [`note`] hands out the first of each log.
//!
//! Which logs are on is a fact of the process and not of a [`Session`](crate::Session): what is to be recorded are the
//! accesses that a program makes, whatever it makes them with. The format is that of [`FORMAT`], described in
//! `docs/explain.md`.

mod line;
mod log;
#[cfg(test)]
mod tests;

pub use line::{Access, Op};
pub use log::{FORMAT, Log};

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

static ON: AtomicBool = AtomicBool::new(false);
/// The logs that are on, each with how often it was begun.
static LOGS: RwLock<Vec<(Arc<Log>, usize)>> = RwLock::new(Vec::new());

/// Whether any log is on.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// When an access began; `None` where no log is on.
#[inline]
pub fn started() -> Option<Instant> {
    if is_on() { Some(Instant::now()) } else { None }
}

/// Appends an access to every log that is on. Gives the failures that are the first of their logs.
pub fn note(access: &Access<'_>) -> Vec<(Arc<Log>, io::Error)> {
    let logs = LOGS.read().unwrap_or_else(PoisonError::into_inner);
    if logs.is_empty() {
        return Vec::new();
    }
    let line = access.line();
    let failed = |(log, _): &(Arc<Log>, usize)| Some((Arc::clone(log), log.append(&line)?));
    logs.iter().filter_map(failed).collect()
}

/// Records into a file from now on, until [`end`] was called as often as this. Makes the file where there is none.
///
/// A file that is already recorded into is the same log, so that no access is in it twice. Fails where the file cannot
/// be opened, or is something else than a log ([`io::ErrorKind::InvalidData`]).
///
/// # Errors
/// A file that cannot be made or written, or that is no log of this format.
pub fn begin(path: &Path) -> io::Result<Arc<Log>> {
    let log = Log::open(path)?;
    let mut logs = LOGS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, times)) = logs.iter_mut().find(|(known, _)| known.path() == log.path()) {
        *times += 1;
        return Ok(Arc::clone(known));
    }
    let log = Arc::new(log);
    logs.push((Arc::clone(&log), 1));
    ON.store(true, Ordering::Relaxed);
    Ok(log)
}

/// The opposite of [`begin`].
pub fn end(log: &Arc<Log>) {
    let mut logs = LOGS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = logs.iter().position(|(known, _)| Arc::ptr_eq(known, log)) {
        if let Some((_, times)) = logs.get_mut(at) {
            *times -= 1;
        }
        if logs.get(at).is_some_and(|(_, times)| *times == 0) {
            logs.remove(at);
        }
    }
    ON.store(!logs.is_empty(), Ordering::Relaxed);
}
