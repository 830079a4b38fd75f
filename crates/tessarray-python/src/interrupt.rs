//! Ctrl-C while the engine waits for another writer.
//!
//! 1. The engine asks [`Patience`] now and then on the thread that called it. On Python's main thread that runs the
//!    signal handlers. What they raise is kept, and the wait is called off.
//! 2. When the call is over, with a result or without, what was kept is raised in its stead (see [`take`]).

use pyo3::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tessarray::waiting;

/// Whether something is kept: most calls look no further.
static KEPT: AtomicBool = AtomicBool::new(false);
static RAISED: Mutex<Option<(ThreadId, PyErr)>> = Mutex::new(None);

struct Patience;

impl waiting::Patience for Patience {
    fn is_interrupted(&self) -> bool {
        if is_kept() {
            return true;
        }
        let raised = Python::try_attach(|py| py.check_signals().err()).flatten();
        let Some(error) = raised else { return false };
        *RAISED.lock().unwrap_or_else(PoisonError::into_inner) = Some((thread::current().id(), error));
        KEPT.store(true, Ordering::Release);
        true
    }

    fn notice(&self, lock: &Path, waited: Duration) {
        let message = format!(
            "waiting for {:.0} s for another writer; its lock: {}",
            waited.as_secs_f64(),
            lock.display()
        );
        Python::try_attach(|py| {
            let log =
                py.import("logging").and_then(|logging| logging.call_method1("getLogger", ("tessarray",)));
            // Who cannot be told waits all the same.
            if let Err(error) = log.and_then(|log| log.call_method1("warning", ("%s", message))) {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// Whether this thread's call is to raise what was kept.
fn is_kept() -> bool {
    KEPT.load(Ordering::Acquire) && {
        let raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        raised.as_ref().is_some_and(|(owner, _)| *owner == thread::current().id())
    }
}

/// What a signal handler raised while this thread's call waited.
#[inline]
pub fn take() -> Option<PyErr> {
    if !KEPT.load(Ordering::Relaxed) || !is_kept() {
        return None;
    }
    let raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner).take();
    KEPT.store(false, Ordering::Release);
    raised.map(|(_, error)| error)
}

pub fn install() {
    // Another copy of this module in the process has done so.
    let _ = waiting::install(&Patience);
}
