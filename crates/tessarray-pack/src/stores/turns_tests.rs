//! Turns in orders that a scheduler chooses, which sees a thread that waits for ever; and with panics.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

mod sync {
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
}
/// The same module on a scheduler's mutexes.
#[path = "turns.rs"]
#[allow(clippy::duplicate_mod, reason = "it is compiled twice on purpose")]
mod scheduled;

#[test]
fn every_change_is_committed_in_every_order_and_nobody_waits_for_ever() {
    use scheduled::{Outcome, Turns};
    use shuttle::sync::{Arc, Mutex};
    use shuttle::thread;
    let scene = || {
        let turns = Arc::new(Turns::<Mutex<Vec<usize>>>::new());
        let committed = Arc::new(Mutex::new(Vec::new()));
        let change = |n: usize| {
            let (turns, committed) = (Arc::clone(&turns), Arc::clone(&committed));
            thread::spawn(move || {
                for n in [n, n + 10] {
                    let begin = || Ok::<_, Infallible>(Mutex::new(Vec::new()));
                    let commit = |batch: &Mutex<Vec<usize>>| {
                        committed.lock().unwrap().append(&mut batch.lock().unwrap());
                        (Outcome::Committed, None::<()>)
                    };
                    let make = |batch: &Mutex<Vec<usize>>| batch.lock().unwrap().push(n);
                    let ((), outcome, _) = turns.take_part(begin, make, commit).unwrap();
                    assert_ne!(outcome, Outcome::Conflict);
                    assert_eq!(outcome, Outcome::Committed);
                    assert!(committed.lock().unwrap().contains(&n), "acknowledged");
                }
            })
        };
        let threads = [0, 1, 2].map(change);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut committed = committed.lock().unwrap().clone();
        committed.sort_unstable();
        assert_eq!(committed, [0, 1, 2, 10, 11, 12], "once each");
    };
    shuttle::check_random(scene, 2000);
    shuttle::check_pct(scene, 2000, 3);
}

#[test]
fn a_panic_leaves_nobody_waiting() {
    use crate::stores::turns::{Outcome, Turns};
    let turns = Turns::<AtomicUsize>::new();
    let commits = AtomicUsize::new(0);
    let part = |n: usize| {
        let make = |sum: &AtomicUsize| {
            sum.fetch_add(1, Ordering::SeqCst);
            assert_ne!(n % 7, 1, "a change that panics");
        };
        let commit = |sum: &AtomicUsize| {
            assert_ne!(n % 7, 2, "a commit that panics");
            commits.fetch_add(sum.load(Ordering::SeqCst), Ordering::SeqCst);
            (Outcome::Committed, None::<()>)
        };
        turns.take_part(|| Ok::<_, Infallible>(AtomicUsize::new(0)), make, commit).unwrap().1
    };
    let (committed, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (part, committed, failed) = (&part, &committed, &failed);
            scope.spawn(move || {
                for n in 0..70 {
                    match catch_unwind(AssertUnwindSafe(|| part(n + thread))) {
                        Ok(Outcome::Committed) => committed.fetch_add(1, Ordering::SeqCst),
                        _ => failed.fetch_add(1, Ordering::SeqCst),
                    };
                }
            });
        }
    });
    assert_eq!(committed.load(Ordering::SeqCst) + failed.load(Ordering::SeqCst), 280);
    assert!(commits.load(Ordering::SeqCst) >= committed.load(Ordering::SeqCst), "all that was acknowledged");
    assert_eq!(part(0), Outcome::Committed, "and it goes on");
    let alone = Turns::<AtomicUsize>::new();
    let begin = || Ok::<_, Infallible>(AtomicUsize::new(0));
    let half = |sum: &AtomicUsize| {
        sum.fetch_add(1, Ordering::SeqCst);
        panic!("half a change");
    };
    let commit = |sum: &AtomicUsize| (Outcome::Committed, Some(sum.load(Ordering::SeqCst)));
    catch_unwind(AssertUnwindSafe(|| alone.take_part(begin, half, commit))).unwrap_err();
    let (_, _, sum) = alone.take_part(begin, |_| (), commit).unwrap();
    assert_eq!(sum, Some(0), "half a change is nobody else's");
}
