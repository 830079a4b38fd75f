//! Any call of the store may fail, or its answer get lost: the pack is at a version, with all that was acknowledged.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use std::sync::Arc;
use support::{commit, content, create, history, open};
use tessarray_pack::{Keep, PackError};
use tessarray_store::{Effect, Fault, FaultStore, MemoryStore, Store, StoreError, When};

const STEPS: u64 = 12;

fn faulty() -> (Arc<FaultStore>, Arc<dyn Store>) {
    let fault = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    (Arc::clone(&fault), fault as Arc<dyn Store>)
}

/// Calls that a step after `steps` others makes.
fn calls(steps: u64) -> u64 {
    let (fault, store) = faulty();
    let pack = create(&store);
    for n in 1..=steps {
        commit(&pack, n).unwrap();
    }
    fault.set(None);
    commit(&pack, steps + 1).unwrap();
    fault.calls()
}

#[test]
fn a_failure_of_any_call_leaves_the_version_before_or_after() {
    let history = history(STEPS + 2);
    let effects: [(&str, Effect); 3] = [
        (
            "EIO",
            Effect::Fail(Arc::new(|key| StoreError::io(key, "write", std::io::Error::from_raw_os_error(5)))),
        ),
        (
            "ENOSPC",
            Effect::Fail(Arc::new(|key| StoreError::io(key, "write", std::io::Error::from_raw_os_error(28)))),
        ),
        ("lost", Effect::LostResponse),
    ];
    // After 7 steps the next one merges parts.
    for steps in [1, 7] {
        for k in 0..calls(steps) {
            for (name, effect) in &effects {
                for all_later in [false, true] {
                    let (fault, store) = faulty();
                    let pack = create(&store);
                    for n in 1..=steps {
                        commit(&pack, n).unwrap();
                    }
                    let when = if all_later { When::FromCall(k) } else { When::Call(k) };
                    fault.set(Some(Fault { when, effect: effect.clone() }));
                    let outcome = commit(&pack, steps + 1);
                    fault.set(None);
                    let case = format!("call {k} after {steps} steps: {name}, {all_later}: {outcome:?}");
                    let version = open(&store).unwrap().latest().unwrap();
                    match &outcome {
                        Ok(number) => assert_eq!(*number, Some(version.number()), "{case}"),
                        Err(PackError::Unknown { .. }) => {}
                        Err(_) => assert_eq!(version.number(), steps, "{case}"),
                    }
                    let at = version.number() as usize;
                    assert_eq!(content(&*version.store()).unwrap(), history[at], "{case}");
                    // The same handle goes on.
                    let next = version.number() + 1;
                    assert_eq!(commit(&pack, next).unwrap(), Some(next), "{case}");
                    assert_eq!(content(&*pack.latest().unwrap().store()).unwrap(), history[at + 1], "{case}");
                    assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), [], "{case}");
                }
            }
        }
    }
}

#[test]
fn lost_answers_of_every_put_make_no_conflict_and_no_double() {
    let (fault, store) = faulty();
    let pack = create(&store);
    let history = history(100);
    let count = calls(0);
    let mut landed = 0;
    for n in 1..=100 {
        // Every call in turn: of a put, done and then reported as failed.
        let fault_at = Fault { when: When::Call(n % count), effect: Effect::LostResponse };
        fault.set(Some(fault_at));
        let outcome = commit(&pack, n);
        fault.set(None);
        let latest = pack.latest().unwrap().number();
        match outcome {
            Ok(number) => {
                assert_eq!((number, latest), (Some(n), n));
                landed += 1;
            }
            Err(PackError::Store(_)) => assert_eq!(latest, n - 1),
            Err(PackError::Unknown { version, .. }) => assert_eq!(version, n),
            Err(error) => panic!("{error:?}"),
        }
        if latest < n {
            commit(&pack, n).unwrap();
        }
        assert_eq!(content(&*pack.latest().unwrap().store()).unwrap(), history[n as usize]);
    }
    // Those of the commit file and of the hint.
    assert!(landed >= 100 / count, "{landed} of 100, {count} calls each");
    assert_eq!(pack.versions().unwrap().len(), 101);
}

#[test]
fn compacting_and_expiring_may_fail_anywhere() {
    let history = history(STEPS);
    for what in ["compact", "expire"] {
        let mut k = 0;
        loop {
            let (fault, store) = faulty();
            let pack = create(&store);
            for n in 1..=STEPS {
                commit(&pack, n).unwrap();
            }
            fault.set(Some(Fault { when: When::FromCall(k), effect: Effect::fail() }));
            let keep = Keep { versions: 1, retention: std::time::Duration::ZERO };
            let outcome = match what {
                "compact" => pack.compact("c", &mut |_, _| {}).map(|_| ()),
                _ => pack.expire(&keep, false).map(|_| ()),
            };
            let calls = fault.calls();
            fault.set(None);
            let pack = open(&store).unwrap();
            let found = content(&*pack.latest().unwrap().store()).unwrap();
            assert_eq!(found, history[STEPS as usize], "{what}, call {k}: {outcome:?}");
            // Going on is all it takes.
            pack.compact("again", &mut |_, _| {}).unwrap();
            pack.expire(&keep, false).unwrap();
            let found = content(&*pack.latest().unwrap().store()).unwrap();
            assert_eq!(found, history[STEPS as usize], "{what}, call {k}");
            assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), [], "{what}, call {k}");
            assert_eq!(pack.versions().unwrap().len(), 1);
            if outcome.is_ok() {
                assert!(k >= calls.min(3));
                break;
            }
            k += 1;
        }
        assert!(k > 5, "{what}");
    }
}
