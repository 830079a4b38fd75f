//! Transactions of any length, on machines with any clocks, beside one who expires: what is acknowledged can be read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;
use support::{array, commit, content, create, files, history, key, open, open_ahead};
use tessarray_pack::{CommitKind, Expired, Keep, Pack, PackError, Transaction};
use tessarray_store::{MemoryStore, PutMode, Store};

/// More than what is stored at once, so that it is in the store before the transaction is committed.
const LARGE: usize = 5 << 20;
const HOURS: [i64; 5] = [-30, -2, 0, 2, 30];

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn keep(versions: usize, retention: u64) -> Keep {
    Keep { versions, retention: Duration::from_secs(retention) }
}

/// A transaction that has stored something already.
fn begun(pack: &Pack) -> Transaction {
    let transaction = pack.begin().unwrap();
    transaction.store().put(&key("long"), &[&vec![7; LARGE]], PutMode::Overwrite).unwrap();
    transaction
}

#[test]
fn a_transaction_whose_files_were_expired_is_refused_and_lands_when_run_again() {
    for writer in HOURS {
        for expirer in HOURS {
            for others in [0, 1, 9] {
                let case = format!("writer {writer} h, expiry {expirer} h, {others} other commits");
                let store = store();
                let pack = create(&store);
                commit(&pack, 1).unwrap();
                let late = open_ahead(&store, writer).unwrap();
                let transaction = begun(&late);
                let expired = open_ahead(&store, expirer).unwrap().expire(&keep(100, 86_400), false).unwrap();
                assert_eq!(expired.versions, Vec::<u64>::new(), "{case}");
                (0..others).for_each(|n| assert!(commit(&pack, n + 2).is_ok()));
                let done = transaction.commit("late");
                let taken = expirer - writer >= 24;
                assert_eq!(expired.files, u64::from(taken), "{case}");
                assert_eq!(matches!(done, Err(PackError::Outlived { .. })), taken, "{case}: {done:?}");
                assert_eq!(done.is_ok(), !taken, "{case}: {done:?}");
                let again = if taken { begun(&late).commit("again").unwrap() } else { done.unwrap() };
                let latest = open(&store).unwrap().latest().unwrap();
                assert_eq!(Some(latest.number()), again, "{case}");
                let found = latest.store().get(&key("long")).unwrap().unwrap().0;
                assert_eq!(found, vec![7; LARGE], "{case}");
                assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), [], "{case}");
            }
        }
    }
}

#[test]
fn a_delta_that_was_expired_while_its_commit_was_tried_is_put_again() {
    // The transaction stores nothing but its delta, and is overtaken between that and its commit file.
    for others in [0, 1, 9] {
        let inner = store();
        let pack = create(&inner);
        commit(&pack, 1).unwrap();
        let between = Arc::clone(&inner);
        let hooked: Arc<dyn Store> =
            Arc::new(support::Hooked::new(Arc::clone(&inner), "commits/", move || {
                let pack = open(&between).unwrap();
                (0..others).for_each(|n| assert!(commit(&pack, n + 2).is_ok()));
                let expired = open_ahead(&between, 30).unwrap().expire(&keep(100, 86_400), false).unwrap();
                assert_eq!(expired.files, 1, "the delta");
            }));
        let transaction = open(&hooked).unwrap().begin().unwrap();
        transaction.store().put(&key("mine"), &[b"small"], PutMode::Overwrite).unwrap();
        let number = transaction.commit("small").unwrap().unwrap();
        let latest = open(&inner).unwrap().latest().unwrap();
        assert_eq!(latest.number(), number);
        assert_eq!(&latest.store().get(&key("mine")).unwrap().unwrap().0[..], b"small");
        assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
    }
}

#[test]
fn calls_by_path_are_made_again_where_their_files_were_expired() {
    let inner = store();
    let pack = create(&inner);
    let made = pack.begin().unwrap();
    made.store().put(&key("a/zarr.json"), &[&array(0)], PutMode::Overwrite).unwrap();
    made.commit("array").unwrap();
    let between = Arc::clone(&inner);
    let hooked: Arc<dyn Store> = Arc::new(support::Hooked::new(Arc::clone(&inner), "commits/", move || {
        let expired = open_ahead(&between, 30).unwrap().expire(&keep(100, 86_400), false).unwrap();
        assert_eq!(expired.files, 2, "the segment and the delta");
    }));
    let auto = open(&hooked).unwrap().auto_store();
    auto.put(&key("a/c/0/0"), &[&[5; 4]], PutMode::Overwrite).unwrap();
    assert_eq!(&auto.get(&key("a/c/0/0")).unwrap().unwrap().0[..], [5; 4]);
    assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
}

#[test]
fn expiries_one_after_the_other_keep_the_versions_that_were_asked_for() {
    let store = store();
    let pack = create(&store);
    (1..=6).for_each(|n| assert!(commit(&pack, n).is_ok()));
    let late = open_ahead(&store, 30).unwrap();
    for round in 0..4 {
        // Each leaves a file that nobody names.
        drop(begun(&pack));
        assert_eq!(
            late.expire(&keep(3, 0), true).unwrap().files,
            late.expire(&keep(3, 0), false).unwrap().files
        );
        let versions = pack.versions().unwrap();
        let real: Vec<_> = versions.iter().filter(|one| one.kind == CommitKind::Write).collect();
        assert!(real.len() >= 3 - usize::from(round > 0), "round {round}: {versions:?}");
        let latest = versions.last().unwrap();
        assert!(latest.swept.is_some() && latest.kind == CommitKind::Compact);
        assert_eq!(content(&*pack.latest().unwrap().store()).unwrap(), history(6)[6]);
        assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
    }
    // With nothing to remove, nothing is added.
    assert_eq!(late.expire(&keep(100, 0), false).unwrap(), Expired::default());
    let before = files(&*store);
    assert_eq!(late.expire(&keep(100, 0), false).unwrap(), Expired::default());
    assert_eq!(files(&*store), before);
}
