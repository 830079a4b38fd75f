//! Work that is borrowed, lent to threads that outlive the borrow.
//!
//! 1. [`lend`] makes a [`Loan`] of the work, which threads may keep for as long as they like.
//! 2. A thread *borrows* the work from it, and gives it back when it is done. Many may have it at once.
//! 3. When the lender's own part is done, or unwinds, the loan ends: who has not borrowed by now never will. The lender waits
//!    for those who have, and for nobody else.
//!
//! So nobody reaches the work after [`lend`] has returned, and nobody waits for a thread that has not begun.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// Set in [`Loan::borrowers`] when the loan has ended.
const ENDED: usize = 1 << (usize::BITS - 1);
/// How often the lender looks for the last borrower to be done before it sleeps.
const LOOKS: usize = 2000;

/// Work that takes a number, and says something to whoever called it.
pub type Work<'a> = dyn Fn(u32) -> bool + Sync + 'a;

/// Work that is lent. Calls of it are possible through [`borrow`](Self::borrow) alone.
pub struct Loan {
    work: *const Work<'static>,
    /// How many threads have it, and [`ENDED`].
    borrowers: AtomicUsize,
    lender: Thread,
}

// SAFETY: the work is `Sync`, and it is called only while `lend`, which borrows it, has not returned.
unsafe impl Send for Loan {}
// SAFETY: as above.
unsafe impl Sync for Loan {}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("borrowers", &self.borrowers).finish_non_exhaustive()
    }
}

/// Lends `work` for as long as `during` runs, and then waits until everybody has given it back. While it waits it calls
/// `waiting` once per `nap`. If `during` panics, the panic is passed on after the wait.
pub fn lend<R>(
    work: &Work<'_>,
    nap: Duration,
    waiting: &dyn Fn(),
    during: impl FnOnce(&Arc<Loan>) -> R,
) -> R {
    let work: *const Work<'_> = work;
    // SAFETY: only the lifetime changes. The pointer is followed by borrowers alone, and this function does not return, nor
    // unwind, before all are done (`Ending`).
    let work = unsafe { std::mem::transmute::<*const Work<'_>, *const Work<'static>>(work) };
    let loan = Arc::new(Loan { work, borrowers: AtomicUsize::new(0), lender: thread::current() });
    let _ending = Ending { loan: &loan, nap, waiting };
    during(&loan)
}

impl Loan {
    /// The work, until what this gives is dropped; `None` if the loan has ended.
    pub fn borrow(&self) -> Option<Borrowed<'_>> {
        let one_more = |borrowers| (borrowers & ENDED == 0).then_some(borrowers + 1);
        let borrowed = self.borrowers.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        borrowed.is_ok().then(|| Borrowed(self))
    }

    /// How many threads have it.
    pub fn borrowers(&self) -> usize {
        self.borrowers.load(Ordering::Relaxed) & !ENDED
    }
}

/// Work that a thread has borrowed.
#[derive(Debug)]
pub struct Borrowed<'l>(&'l Loan);

impl Deref for Borrowed<'_> {
    type Target = dyn Fn(u32) -> bool + Sync;

    fn deref(&self) -> &Self::Target {
        // SAFETY: `lend` waits until this is dropped, and the work outlives that.
        unsafe { &*self.0.work }
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let Self(loan) = *self;
        if loan.borrowers.fetch_sub(1, Ordering::AcqRel) == ENDED | 1 {
            loan.lender.unpark();
        }
    }
}

/// Ends a loan when it is dropped, and waits for the borrowers.
struct Ending<'a> {
    loan: &'a Loan,
    nap: Duration,
    waiting: &'a dyn Fn(),
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.loan.borrowers.fetch_or(ENDED, Ordering::AcqRel);
        let mut looks = 0;
        while self.loan.borrowers.load(Ordering::Acquire) != ENDED {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                thread::park_timeout(self.nap);
                (self.waiting)();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc;

    const NAP: Duration = Duration::from_millis(1);

    #[test]
    fn the_lender_waits_for_borrowers_and_for_nobody_else() {
        for _ in 0..if cfg!(miri) { 10 } else { 2000 } {
            let done = AtomicU32::new(0);
            let work = |n: u32| {
                thread::yield_now();
                done.fetch_add(n, Ordering::Relaxed);
                true
            };
            let kept = lend(&work, NAP, &|| (), |loan| {
                for _ in 0..2 {
                    let loan = Arc::clone(loan);
                    thread::spawn(move || loan.borrow().map(|work| work(1)));
                }
                Arc::clone(loan)
            });
            // Whoever was in time is done: what was borrowed is not in use any more.
            let seen = done.load(Ordering::Relaxed);
            assert!(kept.borrow().is_none() && kept.borrowers() == 0);
            drop(kept);
            assert!(seen <= 2 && done.into_inner() == seen);
        }
    }

    #[test]
    fn a_panic_of_the_lender_waits_for_the_borrowers_too() {
        let (begun, has_begun) = mpsc::channel();
        let done = AtomicU32::new(0);
        let naps = AtomicU32::new(0);
        let work = |n: u32| {
            begun.send(()).unwrap();
            // Not done before the lender is seen to wait.
            while naps.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
            done.fetch_add(n, Ordering::Relaxed);
            false
        };
        let waiting = || {
            naps.fetch_add(1, Ordering::Relaxed);
        };
        let begun = &has_begun;
        let lent = || {
            lend(&work, NAP, &waiting, |loan| {
                let loan = Arc::clone(loan);
                thread::spawn(move || loan.borrow().is_some_and(|work| work(7)));
                begun.recv().unwrap();
                panic!("the lender's own");
            })
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(lent)).is_err());
        assert_eq!(done.into_inner(), 7);
    }
}
