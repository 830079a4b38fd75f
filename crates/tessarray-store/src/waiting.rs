//! Long waits for other writers: who waits can be called off, and says whom it waits for.
//!
//! Signals belong to the process, so the two questions of [`Patience`] are asked of one value for all stores. A program
//! that [`install`]s none waits for as long as it takes, silently.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How often who waits asks whether to go on.
pub const LOOK: Duration = Duration::from_millis(50);

/// What a program does about long waits.
pub trait Patience: Send + Sync {
    /// Whether the user wants the calling thread to stop waiting (Ctrl-C). Asked every [`LOOK`] by threads that the
    /// program itself called from, not by workers.
    fn is_interrupted(&self) -> bool;

    /// The lock of this file has been waited for so long. Called after some seconds, then at growing intervals.
    fn notice(&self, lock: &Path, waited: Duration);
}

static PATIENCE: OnceLock<&'static dyn Patience> = OnceLock::new();

/// Sets the program's patience, once; `false` where another was set before.
pub fn install(patience: &'static dyn Patience) -> bool {
    PATIENCE.set(patience).is_ok()
}

/// A call that several threads work on. When it is called off, all of them stop waiting for locks.
#[derive(Debug, Clone, Default)]
pub struct Call(Arc<State>);

#[derive(Debug, Default)]
struct State {
    off: AtomicBool,
    waiting: AtomicUsize,
}

thread_local! {
    /// The call that this thread works on for another one.
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
}

impl Call {
    /// Ends the waits for locks of all who work on it, now and later.
    pub fn call_off(&self) {
        self.0.off.store(true, Ordering::Release);
    }

    /// Whether somebody who works on it waits for a lock.
    pub fn waits(&self) -> bool {
        self.0.waiting.load(Ordering::Acquire) > 0
    }

    /// Until the answer is dropped, the calling thread works on this call.
    #[must_use]
    pub fn enter(&self) -> Entered {
        Entered(CALL.replace(Some(self.clone())))
    }
}

/// See [`Call::enter`].
#[derive(Debug)]
pub struct Entered(Option<Call>);

impl Drop for Entered {
    fn drop(&mut self) {
        CALL.replace(self.0.take());
    }
}

/// Whether the calling thread is to stop waiting: its call was called off, or, where it works for nobody else, the user
/// asks for it.
pub fn is_interrupted() -> bool {
    let off = CALL.with_borrow(|call| call.as_ref().map(|call| call.0.off.load(Ordering::Acquire)));
    off.unwrap_or_else(|| PATIENCE.get().is_some_and(|patience| patience.is_interrupted()))
}

/// Tells the program's patience.
pub(crate) fn notice(lock: &Path, waited: Duration) {
    if let Some(patience) = PATIENCE.get() {
        patience.notice(lock, waited);
    }
}

/// The calling thread waits for a lock, until this is dropped: whoever waits for the thread knows that it must look.
pub(crate) struct Waiting(Option<Call>);

impl Waiting {
    pub(crate) fn begin() -> Self {
        let call = CALL.with_borrow(Clone::clone);
        if let Some(Call(state)) = &call {
            state.waiting.fetch_add(1, Ordering::AcqRel);
        }
        Self(call)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(Call(state)) = &self.0 {
            state.waiting.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
