//! A commit file that is missing is damage, and is never taken for the end of history, nor given to another commit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use support::{commit, content, create, files, history, key, open, store_of};
use tessarray_pack::{Keep, Pack, PackError};
use tessarray_store::{Key, MemoryStore, PutMode, Store};

const STEPS: u64 = 7;

type Files = Vec<(Key, Vec<u8>)>;

fn keep(versions: usize) -> Keep {
    Keep { versions, retention: std::time::Duration::ZERO }
}

fn name(number: u64) -> String {
    format!("commits/{number:020}.json")
}

/// A pack of so many versions, whole or after an expiry, and each hint that there was.
fn made(expired: bool) -> (Files, Vec<Vec<u8>>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    let hint = || store.get(&key("latest.json")).unwrap().unwrap().0.to_vec();
    let mut hints = vec![hint()];
    for n in 1..=STEPS {
        commit(&pack, n).unwrap();
        if expired && n == 3 {
            pack.expire(&keep(1), false).unwrap();
        }
        hints.push(hint());
    }
    (files(&*store), hints)
}

/// The pack without a file, and with another hint.
fn damaged(files: &Files, lost: u64, hint: Option<&[u8]>) -> Arc<dyn Store> {
    let gone = [name(lost), "latest.json".into()];
    let rest: Files = files.iter().filter(|(key, _)| !gone.contains(&key.to_string())).cloned().collect();
    let store = store_of(&rest);
    if let Some(hint) = hint {
        store.put(&key("latest.json"), &[hint], PutMode::Overwrite).unwrap();
    }
    store
}

fn names(error: &PackError, number: u64) -> bool {
    matches!(error, PackError::Corrupt { file, .. } if *file == name(number))
}

fn is_there(store: &Arc<dyn Store>, number: u64) -> bool {
    store.head(&key(&name(number))).unwrap().is_some()
}

fn latest(store: &Arc<dyn Store>) -> Result<u64, PackError> {
    Ok(open(store)?.latest()?.number())
}

#[test]
fn any_missing_commit_is_seen_and_none_is_made_in_its_place() {
    let mut seen = 0;
    for expired in [false, true] {
        let (files, hints) = made(expired);
        let first = if expired { 3 } else { 0 };
        for lost in first..=STEPS {
            for hint in (0..=STEPS).map(Some).chain([None]) {
                let text = hint.map(|number| &hints[usize::try_from(number).unwrap()][..]);
                let store = damaged(&files, lost, text);
                let case = format!("expired: {expired}, {lost} lost, hint {hint:?}");
                let pack = open(&store).unwrap();
                let damage = pack.check(false, &mut |_, _| {}).unwrap();
                if lost == STEPS && hint != Some(STEPS) {
                    // Nothing tells that it was there.
                    assert_eq!(damage, [], "{case}");
                    continue;
                }
                seen += 1;
                assert!(damage.iter().any(|one| one.file == name(lost)), "{case}: {damage:?}");
                match latest(&store) {
                    // The way to the latest does not lead past it.
                    Ok(number) => assert!(number == STEPS && lost < STEPS, "{case}: {number}"),
                    Err(error) => assert!(names(&error, lost), "{case}: {error}"),
                }
                match commit(&pack, STEPS + 1) {
                    Ok(number) => assert_eq!(number, Some(STEPS + 1), "{case}"),
                    Err(error) => assert!(names(&error, lost), "{case}: {error}"),
                }
                assert!(!is_there(&store, lost), "{case}");
                let before = support::files(&*store);
                assert!(names(&pack.expire(&keep(1), false).unwrap_err(), lost), "{case}");
                assert_eq!(support::files(&*store), before, "{case}: what it named is kept");
            }
        }
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn one_who_knew_the_version_before_does_not_commit_in_a_gap() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    (1..STEPS).for_each(|n| assert!(commit(&pack, n).is_ok()));
    for lost in 2..STEPS - 1 {
        let files = files(&*store);
        let old = store_of(&files[..]);
        // Its handle has seen the version before the one that is lost, as the latest.
        let rest: Files = files
            .iter()
            .filter(|(key, _)| !(lost..=STEPS).any(|n| key.as_str() == name(n)))
            .cloned()
            .collect();
        let place: Arc<dyn Store> = store_of(&rest);
        place.delete(&key("latest.json")).unwrap();
        let handle = open(&place).unwrap();
        assert_eq!(handle.latest().unwrap().number(), lost - 1);
        let begun = handle.begin().unwrap();
        begun.store().put(&key("mine"), &[b"x"], PutMode::Overwrite).unwrap();
        for (key, bytes) in support::files(&*old) {
            if key.as_str() != name(lost) {
                place.put(&key, &[&bytes], PutMode::Overwrite).unwrap();
            }
        }
        let done = begun.commit("mine");
        assert!(done.as_ref().is_err_and(|error| names(error, lost)), "{lost}: {done:?}");
        assert!(!is_there(&place, lost), "{lost}");
    }
}

#[test]
fn a_repair_goes_on_after_the_lost_numbers_whatever_the_hint_says() {
    let (files, hints) = made(false);
    let history = history(STEPS + 1);
    for lost in [1, 4, STEPS] {
        let store = damaged(&files, lost, Some(&hints[usize::try_from(STEPS).unwrap()]));
        let pack = open(&store).unwrap();
        let done = pack.repair(true, &mut |_, _| {}).unwrap();
        assert_eq!(done.version, Some(STEPS + 1), "{lost}");
        assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), [], "{lost}");
        let last = if lost == STEPS { STEPS - 1 } else { STEPS };
        for hint in hints.iter().map(Some).chain([None]) {
            match hint {
                Some(hint) => drop(store.put(&key("latest.json"), &[hint], PutMode::Overwrite).unwrap()),
                None => drop(store.delete(&key("latest.json")).unwrap()),
            }
            let version = open(&store).unwrap().latest().unwrap();
            assert_eq!(version.number(), STEPS + 1, "{lost}");
            let found = content(&*version.store()).unwrap();
            assert_eq!(found, history[usize::try_from(last).unwrap()], "{lost}");
        }
        assert_eq!(commit(&pack, STEPS + 1).unwrap(), Some(STEPS + 2), "{lost}");
        assert_eq!(pack.expire(&keep(1), false).unwrap().versions.last(), Some(&(STEPS + 1)));
    }
}

#[test]
fn hints_that_are_damaged_or_another_packs_are_no_damage_of_this_one() {
    let (files, hints) = made(false);
    let other = {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let pack: Pack = create(&store);
        (1..=2 * STEPS).for_each(|n| assert!(commit(&pack, n).is_ok()));
        store.get(&key("latest.json")).unwrap().unwrap().0.to_vec()
    };
    let last = hints.last().unwrap();
    let flipped = (0..last.len() * 8).map(|bit| {
        let mut hint = last.clone();
        hint[bit / 8] ^= 1 << (bit % 8);
        hint
    });
    for hint in flipped.chain([other, b"{\"number\": 3}".to_vec()]) {
        let store = damaged(&files, STEPS + 1, Some(&hint));
        let case = String::from_utf8_lossy(&hint).into_owned();
        assert_eq!(latest(&store).unwrap(), STEPS, "{case}");
        assert_eq!(open(&store).unwrap().check(false, &mut |_, _| {}).unwrap(), [], "{case}");
    }
}
