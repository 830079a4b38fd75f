//! Work in the background that leaves a core to whoever feeds it.
//!
//! An appender's caller copies frames while its workers encode those before. Where both want all cores, the system takes
//! turns of milliseconds, and a call that takes a tenth of one waits for such a turn. So while somebody is in a call, or was
//! in one a moment ago, no more than all threads but one work behind the gate; when the caller waits, or has other things to
//! do, all of them do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long after a call the next one is expected.
const LINGER: Duration = Duration::from_micros(250);

#[derive(Debug)]
pub(crate) struct Gate {
    /// How many may work while somebody is in a call.
    seats: usize,
    /// Whether a seat is taken by who prepares memory.
    preparing: AtomicBool,
    caller: Mutex<Caller>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy)]
enum Caller {
    Inside,
    Waiting,
    /// Since then.
    Outside(Instant),
}

impl Gate {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            seats: threads.saturating_sub(1).max(1),
            preparing: AtomicBool::new(false),
            caller: Mutex::new(Caller::Waiting),
            changed: Condvar::new(),
        }
    }

    /// A call begins, or goes on after it waited.
    pub(crate) fn enter(&self) {
        self.set(Caller::Inside);
    }

    /// A call has ended.
    pub(crate) fn leave(&self) {
        self.set(Caller::Outside(Instant::now()));
    }

    /// A call waits for what works behind the gate.
    pub(crate) fn wait(&self) {
        let mut caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        *caller = Caller::Waiting;
        self.changed.notify_all();
    }

    fn set(&self, caller: Caller) {
        *self.caller.lock().unwrap_or_else(PoisonError::into_inner) = caller;
    }

    /// Whether fresh memory is still being made ready, or will be.
    pub(crate) fn prepare(&self, preparing: bool) {
        self.preparing.store(preparing, Ordering::Relaxed);
    }

    /// Whether one more may work beside so many who do. Where not, it has slept a moment.
    pub(crate) fn passes(&self, working: usize) -> bool {
        if working + usize::from(self.preparing.load(Ordering::Relaxed)) < self.seats {
            return true;
        }
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = match *caller {
            Caller::Inside => LINGER,
            Caller::Waiting => return true,
            Caller::Outside(since) => match LINGER.checked_sub(since.elapsed()) {
                Some(rest) if !rest.is_zero() => rest,
                _ => return true,
            },
        };
        drop(self.changed.wait_timeout(caller, rest));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_left_to_who_is_in_a_call() {
        let gate = Gate::new(3);
        assert!(gate.passes(2), "nobody ever called");
        gate.enter();
        assert!(gate.passes(0) && gate.passes(1) && !gate.passes(2));
        gate.prepare(true);
        assert!(gate.passes(0) && !gate.passes(1), "a seat is taken");
        gate.wait();
        assert!(gate.passes(2), "the caller waits for them");
        gate.leave();
        std::thread::sleep(2 * LINGER);
        assert!(gate.passes(2), "no call follows");
    }

    #[test]
    fn one_always_works() {
        let gate = Gate::new(1);
        gate.enter();
        assert!(gate.passes(0) && !gate.passes(1));
    }
}
