//! Numbered jobs, shared between the thread that has them and the workers of a pool.
//!
//! 1. The jobs are cut into runs, one for each who may work. The caller asks workers to help, and begins at once with
//!    the first run itself.
//! 2. A worker that wakes *joins* the crew and takes a run that nobody works on, from its beginning. When that is done
//!    it takes jobs from the ends of others' runs until none are left, and leaves. So neighbours are mostly one
//!    thread's: two that write into one page of fresh memory both pay for it.
//! 3. When the caller finds no job left, it closes the crew: who has not joined by now never will. It waits for those
//!    who have. (The job is borrowed; [`lend`] is what makes sure of this step.)
//!
//! Behind a gate (see [`crate::gate`]), workers join for one job at a time.
//!
//! While the caller waits for helpers, it looks whether the user wants the call to end; helpers then stop waiting for locks
//! that other writers hold.
//!
//! So nobody waits for a worker that has not begun. To wake a thread can take longer than to decode several inner
//! chunks, so that a small read loses little by being shared; and where all workers wait for a lock that the caller
//! holds, it does all of the work.

use crate::gate::Gate;
use rayon::ThreadPool;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tessarray_buffer::{Loan, Work, lend};
use tessarray_store::waiting::{self, Call};

/// Runs jobs `0..count`, each once unless one says (`false`) that it was the last, on the caller's thread and on up to
/// `helpers` workers. A job's panic is passed on, once nobody works any more.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer threads than 2^32")]
pub(crate) fn share(pool: &ThreadPool, helpers: usize, count: u32, gate: Option<&Arc<Gate>>, job: &Work<'_>) {
    let helpers = helpers.min((count as usize).saturating_sub(1));
    let crew = Arc::new(Crew {
        runs: Run::cut(count, helpers as u32 + 1),
        // The first run is the caller's.
        members: AtomicUsize::new(1),
        gate: gate.cloned(),
        call: Call::default(),
        panic: Mutex::default(),
    });
    // A helper may wait for another process, and only the caller hears of the user.
    let waiting = || {
        if crew.call.waits() && waiting::is_interrupted() {
            crew.call.call_off();
        }
    };
    lend(job, waiting::LOOK, &waiting, |loan| {
        for _ in 0..helpers {
            let (crew, loan) = (Arc::clone(&crew), Arc::clone(loan));
            pool.spawn(move || crew.help(&loan));
        }
        let _stopping = Stopping(&crew);
        crew.work(job, 0, usize::MAX);
    });
    let panicked = crew.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(panicked) = panicked {
        resume_unwind(panicked);
    }
}

/// Jobs that follow each other and that nobody has taken: the first in the upper half, the end in the lower.
struct Run(AtomicU64);

impl Run {
    fn new(begin: u32, end: u32) -> Self {
        Self(AtomicU64::new(Self::pack(begin, end)))
    }

    fn pack(begin: u32, end: u32) -> u64 {
        u64::from(begin) << 32 | u64::from(end)
    }

    /// Jobs `0..count` in so many runs, of about one length.
    #[expect(clippy::cast_possible_truncation, reason = "at most `count`")]
    fn cut(count: u32, runs: u32) -> Box<[Self]> {
        let at = |i: u32| (u64::from(count) * u64::from(i) / u64::from(runs)) as u32;
        (0..runs).map(|i| Self::new(at(i), at(i + 1))).collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "one half of the word")]
    fn is_left(&self) -> bool {
        let run = self.0.load(Ordering::Relaxed);
        ((run >> 32) as u32) < run as u32
    }

    /// Takes the first job, or the last.
    #[expect(clippy::cast_possible_truncation, reason = "one half of the word")]
    fn take(&self, first: bool) -> Option<u32> {
        let take = |run: u64| {
            let (begin, end) = ((run >> 32) as u32, run as u32);
            (begin < end).then(|| if first { Self::pack(begin + 1, end) } else { Self::pack(begin, end - 1) })
        };
        let was = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(if first { (was >> 32) as u32 } else { was as u32 - 1 })
    }
}

struct Crew {
    runs: Box<[Run]>,
    /// How many ever joined, the caller too.
    members: AtomicUsize,
    gate: Option<Arc<Gate>>,
    /// Ends the helpers' waits for locks.
    call: Call,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Crew {
    /// Takes the jobs of a run, then those of others; up to `most`.
    fn work(&self, job: &Work<'_>, own: usize, most: usize) {
        let runs = self.runs.len();
        let mut done = 0;
        for other in 0..runs {
            let run = &self.runs[(own + other) % runs];
            while done < most
                && let Some(number) = run.take(other == 0)
            {
                if !job(number) {
                    return self.stop();
                }
                done += 1;
            }
        }
    }

    /// No more jobs are begun.
    fn stop(&self) {
        self.runs.iter().for_each(|run| run.0.store(0, Ordering::Relaxed));
    }

    fn help(&self, loan: &Loan) {
        let own = self.members.fetch_add(1, Ordering::Relaxed);
        let Some(gate) = &self.gate else {
            self.join(loan, own, usize::MAX);
            return;
        };
        while self.runs.iter().any(Run::is_left) {
            // Who waits at the gate has not joined: the caller does not wait for it.
            if gate.passes(loan.borrowers() + 1) && !self.join(loan, own, 1) {
                return;
            }
        }
    }

    /// Joins, does up to `most` jobs, and leaves; `false` if the crew is closed.
    fn join(&self, loan: &Loan, own: usize, most: usize) -> bool {
        let Some(job) = loan.borrow() else { return false };
        let _entered = self.call.enter();
        if let Err(panicked) = catch_unwind(AssertUnwindSafe(|| self.work(&*job, own, most))) {
            self.stop();
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panicked);
        }
        true
    }
}

/// No more jobs are begun when the caller is done, or unwinds.
struct Stopping<'a>(&'a Crew);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    const SIZES: [u32; 5] = [0, 1, 2, 5, if cfg!(miri) { 9 } else { 1000 }];
    const ROUNDS: usize = if cfg!(miri) { 3 } else { 300 };

    fn pool() -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(3).build().unwrap()
    }

    #[test]
    fn each_job_is_done_once() {
        let pool = pool();
        for _ in 0..ROUNDS {
            for count in SIZES {
                let done: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
                share(&pool, 2, count, None, &|i| {
                    done[i as usize].fetch_add(1, Ordering::Relaxed);
                    true
                });
                assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn each_job_is_done_once_behind_a_gate_that_opens_and_closes() {
        let pool = pool();
        let gate = Arc::new(Gate::new(2));
        for round in 0..ROUNDS {
            let done: Vec<AtomicU32> = (0..SIZES[4]).map(|_| AtomicU32::new(0)).collect();
            share(&pool, 2, SIZES[4], Some(&gate), &|i| {
                match (i as usize + round) % 7 {
                    0 => gate.enter(),
                    3 => gate.wait(),
                    _ => {}
                }
                done[i as usize].fetch_add(1, Ordering::Relaxed);
                true
            });
            assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn the_caller_works_alone_before_a_closed_gate_and_is_helped_when_it_opens() {
        let pool = pool();
        let gate = Arc::new(Gate::new(2));
        gate.enter();
        let caller = thread::current().id();
        share(&pool, 2, 100, Some(&gate), &|_| {
            assert_eq!(thread::current().id(), caller);
            true
        });
        gate.wait();
        // Each job waits for the other.
        let barrier = std::sync::Barrier::new(2);
        share(&pool, 1, 2, Some(&gate), &|_| {
            barrier.wait();
            true
        });
    }

    #[test]
    fn helpers_help() {
        let pool = pool();
        // Each job waits for the other: one thread alone would wait for ever.
        let barrier = std::sync::Barrier::new(2);
        share(&pool, 1, 2, None, &|_| {
            barrier.wait();
            true
        });
    }

    #[test]
    fn the_caller_does_not_wait_for_workers_that_are_busy() {
        let pool = pool();
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        for _ in 0..3 {
            let held = Arc::clone(&held);
            pool.spawn(move || {
                let _ = held.lock().unwrap().recv_timeout(Duration::from_secs(60));
            });
        }
        let done = AtomicU32::new(0);
        share(&pool, 2, 10, None, &|_| {
            done.fetch_add(1, Ordering::Relaxed);
            true
        });
        assert_eq!(done.into_inner(), 10);
        drop(release);
    }

    #[test]
    fn a_job_that_says_so_is_the_last() {
        let pool = pool();
        let done = AtomicU32::new(0);
        share(&pool, 2, 100_000, None, &|_| {
            std::thread::yield_now();
            done.fetch_add(1, Ordering::Relaxed) < 5
        });
        assert!(done.into_inner() < 100, "those under way end, and no others begin");
    }

    #[test]
    fn a_panic_of_any_job_is_passed_on_when_nobody_works_any_more() {
        let pool = pool();
        for bad in [0, 1, 7] {
            let working = AtomicU32::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                share(&pool, 2, 8, None, &|i| {
                    working.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    working.fetch_sub(1, Ordering::SeqCst);
                    assert_ne!(i, bad, "this one panics");
                    true
                });
            }));
            assert!(caught.is_err());
            assert_eq!(working.into_inner(), 0);
        }
    }

    #[test]
    fn workers_may_share_jobs_of_their_own() {
        let pool = pool();
        let done = AtomicU32::new(0);
        share(&pool, 2, 8, None, &|_| {
            share(&pool, 2, 8, None, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
                true
            });
            true
        });
        assert_eq!(done.into_inner(), 64);
    }
}
