//! A pack that is made: whoever dies, fails or comes at the same time, there is a pack or the next call makes one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use support::{Hooked, commit, content, files, history, key, open};
use tessarray_pack::{Keep, Pack, PackError, PackOptions, Result};
use tessarray_store::{Effect, Fault, FaultStore, MemoryStore, PutMode, Store, When};

const FIRST: &str = "commits/00000000000000000000.json";

fn create(store: &Arc<dyn Store>) -> Result<Pack> {
    Pack::create(Arc::clone(store), PackOptions::default())
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// There is one pack, with one version, that can be written.
fn assert_made(store: &Arc<dyn Store>, case: &str) {
    let pack = open(store).unwrap_or_else(|error| panic!("{case}: {error}"));
    assert_eq!(pack.latest().unwrap().number(), 0, "{case}");
    assert!(matches!(create(store), Err(PackError::Exists { .. })), "{case}");
    assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), [], "{case}");
    assert_eq!(commit(&pack, 1).unwrap(), Some(1), "{case}");
    let found = content(&*open(store).unwrap().latest().unwrap().store()).unwrap();
    assert_eq!(found, history(1)[1], "{case}");
}

#[test]
fn a_failure_or_death_at_any_call_does_not_block_the_place() {
    let fault = Arc::new(FaultStore::new(memory()));
    create(&(Arc::clone(&fault) as Arc<dyn Store>)).unwrap();
    let calls = fault.calls();
    assert!(calls > 3);
    for effect in [Effect::fail(), Effect::LostResponse] {
        for all_later in [false, true] {
            for k in 0..calls {
                let fault = Arc::new(FaultStore::new(memory()));
                let store: Arc<dyn Store> = Arc::clone(&fault) as _;
                let when = if all_later { When::FromCall(k) } else { When::Call(k) };
                fault.set(Some(Fault { when, effect: effect.clone() }));
                let done = create(&store);
                fault.set(None);
                let case = format!("call {k}, {effect:?}, all later: {all_later}: {done:?}");
                match (done, create(&store)) {
                    (Ok(_), again) => assert!(matches!(again, Err(PackError::Exists { .. })), "{case}"),
                    // A lost answer: it may be there.
                    (Err(_), Ok(_) | Err(PackError::Exists { .. })) => {}
                    (Err(_), Err(error)) => panic!("{case}: {error}"),
                }
                assert_made(&store, &case);
            }
        }
    }
}

#[test]
fn of_two_at_once_one_makes_the_pack_wherever_the_other_is() {
    for before in ["commits/", "format.json", "latest.json"] {
        let store = memory();
        let other = Arc::clone(&store);
        let hooked: Arc<dyn Store> = Arc::new(Hooked::new(Arc::clone(&store), before, move || {
            let made = create(&other);
            let late = before == "latest.json";
            assert_eq!(made.is_err(), late, "{before}: {made:?}");
        }));
        let made = create(&hooked);
        match before {
            "latest.json" => drop(made.unwrap()),
            _ => assert!(matches!(made, Err(PackError::Exists { .. })), "{before}: {made:?}"),
        }
        assert_made(&store, before);
    }
}

#[test]
fn one_who_comes_back_after_versions_were_expired_leaves_the_pack_as_it_is() {
    let store = memory();
    let other = Arc::clone(&store);
    let hooked: Arc<dyn Store> = Arc::new(Hooked::new(Arc::clone(&store), "commits/", move || {
        let pack = create(&other).unwrap();
        (1..=3).for_each(|n| assert!(commit(&pack, n).is_ok()));
        pack.expire(&Keep { versions: 1, retention: std::time::Duration::ZERO }, false).unwrap();
    }));
    assert!(matches!(create(&hooked), Err(PackError::Exists { .. })));
    let pack = open(&store).unwrap();
    assert_eq!(pack.versions().unwrap().len(), 1);
    assert_eq!(content(&*pack.latest().unwrap().store()).unwrap(), history(3)[3]);
    assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
}

#[test]
fn what_is_left_by_killed_creators_of_every_release_is_finished() {
    let store = memory();
    create(&store).unwrap();
    let whole = files(&*store);
    let only = |name: &str| {
        let kept: Vec<_> = whole.iter().filter(|(key, _)| key.as_str() == name).cloned().collect();
        assert_eq!(kept.len(), 1);
        support::store_of(&kept)
    };
    for left in [only(FIRST), only("format.json")] {
        create(&left).unwrap();
        assert_made(&left, "left");
    }
    // A version 0 that a loss of power has torn.
    let torn = memory();
    torn.put(&key(FIRST), &[b"{\"num"], PutMode::Overwrite).unwrap();
    assert!(matches!(open(&torn), Err(PackError::NotAPack { .. })));
    create(&torn).unwrap();
    assert_made(&torn, "torn");
}

#[test]
fn damaged_packs_are_not_made_anew() {
    let store = memory();
    let pack = create(&store).unwrap();
    commit(&pack, 1).unwrap();
    let whole = files(&*store);
    for missing in ["format.json", "commits/"] {
        let rest: Vec<_> =
            whole.iter().filter(|(key, _)| !key.as_str().starts_with(missing)).cloned().collect();
        let damaged = support::store_of(&rest);
        let before = files(&*damaged);
        let found = create(&damaged).unwrap_err();
        assert!(matches!(found, PackError::Corrupt { .. } | PackError::Exists { .. }), "{found}");
        assert_eq!(files(&*damaged), before);
        let opened = open(&damaged).and_then(|pack| pack.latest());
        assert!(matches!(opened, Err(PackError::Corrupt { .. })), "{missing}: {opened:?}");
    }
}
