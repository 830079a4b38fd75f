//! Writers, readers, expire, check and repair in thousands of orders: a scheduler chooses, at each call of the store,
//! whose turn it is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "support/scheduled.rs"]
mod scheduled;
mod support;

use scheduled::{Scheduled, explore};
use shuttle::thread;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use support::*;
use tessarray_pack::{CommitKind, Expired, Keep, Pack, PackError};
use tessarray_store::{PutMode, Store};

fn store() -> Arc<dyn Store> {
    Arc::new(Scheduled::new(true))
}

fn put(store: &dyn Store, name: &str, bytes: &[u8]) {
    store.put(&key(name), &[bytes], PutMode::Overwrite).unwrap();
}

fn get(store: &dyn Store, name: &str) -> Vec<u8> {
    store.get(&key(name)).unwrap().unwrap_or_else(|| panic!("{name} is not there")).0.to_vec()
}

/// Two arrays that always have the same value.
fn twins(store: &Arc<dyn Store>) -> Pack {
    let pack = create(store);
    let transaction = pack.begin().unwrap();
    let inside = transaction.store();
    put(&*inside, "zarr.json", GROUP);
    for name in ["a", "b"] {
        put(&*inside, &format!("{name}/zarr.json"), &array(0));
        put(&*inside, &format!("{name}/c/0/0"), &[0; 4]);
    }
    transaction.commit("twins").unwrap();
    pack
}

/// Gives both of the twins value `n`, and writes a chunk that nobody else writes.
fn write(pack: &Pack, n: u8) -> tessarray_pack::Result<Option<u64>> {
    let transaction = pack.begin()?;
    let inside = transaction.store();
    for name in ["a/c/0/0", &format!("a/c/1/{}", n % 3), "b/c/0/0"] {
        inside.put(&key(name), &[&[n; 4]], PutMode::Overwrite)?;
    }
    transaction.commit(&format!("twins are {n}"))
}

/// History is one line, in which each acknowledged commit is there once, with what it wrote.
fn assert_history(store: &Arc<dyn Store>, acknowledged: &BTreeMap<u64, u8>) {
    let pack = open(store).unwrap();
    let versions = pack.versions().unwrap();
    let first = versions[0].number;
    for (i, commit) in versions.iter().enumerate() {
        assert_eq!(commit.number, first + i as u64, "versions are numbered without a gap");
    }
    let last = versions.last().unwrap().number;
    for (&number, &n) in acknowledged.iter().filter(|(number, _)| **number >= first) {
        assert!(number <= last, "version {number} was acknowledged, the last is {last}");
        let at = pack.version(number).unwrap();
        assert_eq!(at.commit().message, format!("twins are {n}"), "version {number}");
        for name in ["a/c/0/0", "b/c/0/0"] {
            assert_eq!(get(&*at.store(), name), [n; 4], "version {number}: {name}");
        }
    }
    assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
}

/// Commits, again after a conflict, and says which versions came of it.
fn write_all(pack: &Pack, values: [u8; 2]) -> Vec<(u64, u8)> {
    let mut done = Vec::new();
    for n in values {
        loop {
            match write(pack, n) {
                Ok(number) => break done.push((number.unwrap(), n)),
                Err(PackError::Conflict { .. } | PackError::Outlived { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    done
}

/// Expires all versions but the latest, on a thread of its own.
fn expiring(pack: Pack, retention: Duration) -> thread::JoinHandle<Expired> {
    let keep = Keep { versions: 1, retention };
    thread::spawn(move || pack.expire(&keep, false).unwrap())
}

fn read_twins(pack: &Pack) {
    let version = pack.latest().unwrap();
    let inside = version.store();
    let (a, b) = (get(&*inside, "a/c/0/0"), get(&*inside, "b/c/0/0"));
    assert_eq!(a, b, "half of version {}", version.number());
    assert_eq!(get(&*inside, "a/c/0/0"), a, "version {} changed", version.number());
}

#[test]
fn writers_of_the_same_chunks_and_readers() {
    explore(1000, || {
        let store = store();
        let pack = twins(&store);
        let other = open(&store).unwrap();
        let writers = [(pack.clone(), [1, 2]), (pack.clone(), [3, 4]), (other.clone(), [5, 6])];
        let writers = writers.map(|(pack, values)| thread::spawn(move || write_all(&pack, values)));
        let readers = [pack, other].map(|pack| thread::spawn(move || read_twins(&pack)));
        let acknowledged: BTreeMap<u64, u8> =
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        assert_eq!(acknowledged.len(), 6, "each landed, in a version of its own");
        assert_history(&store, &acknowledged);
    });
}

#[test]
fn writers_of_different_chunks_never_conflict() {
    explore(1000, || {
        let store = store();
        let pack = twins(&store);
        let commit = |pack: Pack, n: u8| {
            thread::spawn(move || {
                let transaction = pack.begin().unwrap();
                put(&*transaction.store(), &format!("a/c/1/{n}"), &[n; 4]);
                transaction.commit("mine").unwrap().unwrap()
            })
        };
        let mut numbers: Vec<u64> =
            [0, 1, 2].map(|n| commit(pack.clone(), n)).into_iter().map(|one| one.join().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [2, 3, 4]);
        let latest = open(&store).unwrap().latest().unwrap().store();
        (0..3).for_each(|n| assert_eq!(get(&*latest, &format!("a/c/1/{n}")), [n; 4]));
    });
}

#[test]
fn a_compaction_beside_writers_and_readers() {
    explore(400, || {
        let store = store();
        let pack = twins(&store);
        let writer = {
            let pack = pack.clone();
            thread::spawn(move || write_all(&pack, [1, 2]))
        };
        let reader = {
            let pack = open(&store).unwrap();
            thread::spawn(move || read_twins(&pack))
        };
        let compacted = pack.compact("compact", &mut |_, _| {}).unwrap().version;
        let acknowledged: BTreeMap<u64, u8> = writer.join().unwrap().into_iter().collect();
        reader.join().unwrap();
        assert_history(&store, &acknowledged);
        assert_eq!(pack.version(compacted).unwrap().commit().kind, CommitKind::Compact);
        assert_eq!(get(&*pack.latest().unwrap().store(), "a/c/0/0"), [2; 4]);
    });
}

#[test]
fn two_that_expire_beside_writers() {
    // Everything here is younger than an hour, so that nothing goes that a writer may need; with no retention
    // versions go, when nobody is at work.
    explore(400, || {
        let store = store();
        let pack = twins(&store);
        let expire = |pack| expiring(pack, Duration::from_secs(3600));
        let writer = {
            let pack = pack.clone();
            thread::spawn(move || write_all(&pack, [1, 2]))
        };
        let both = [expire(pack.clone()), expire(open(&store).unwrap())];
        let acknowledged: BTreeMap<u64, u8> = writer.join().unwrap().into_iter().collect();
        both.into_iter().for_each(|one| assert!(one.join().unwrap().versions.is_empty()));
        assert_history(&store, &acknowledged);

        let expire = |pack| expiring(pack, Duration::ZERO);
        let both = [expire(pack.clone()), expire(open(&store).unwrap())];
        read_twins(&pack);
        both.into_iter().for_each(|one| drop(one.join().unwrap()));
        let last = BTreeMap::from_iter(acknowledged.last_key_value().map(|(number, n)| (*number, *n)));
        assert_history(&store, &last);
        assert_eq!(open(&store).unwrap().versions().unwrap().len(), 1);
    });
}

#[test]
fn a_transaction_that_outlives_the_retention_lands_or_conflicts() {
    explore(1000, || {
        let store = store();
        let pack = twins(&store);
        write(&pack, 1).unwrap();
        let slow = {
            let transaction = pack.begin().unwrap();
            thread::spawn(move || {
                transaction.store().put(&key("b/c/1/2"), &[&[9; 4]], PutMode::Overwrite)?;
                transaction.commit("slow")
            })
        };
        let expire = |pack| expiring(pack, Duration::ZERO);
        let first = expire(open(&store).unwrap());
        // These may outlive the retention, too.
        (2..4).for_each(|n| while write(&pack, n).is_err() {});
        let second = expire(pack.clone());
        let done = slow.join().unwrap();
        first.join().unwrap();
        second.join().unwrap();
        let latest = open(&store).unwrap().latest().unwrap().store();
        let there = latest.get(&key("b/c/1/2")).unwrap().map(|(bytes, _)| bytes.to_vec());
        match done {
            Ok(number) => assert_eq!(there, Some(vec![9; 4]), "version {number:?} was acknowledged"),
            Err(PackError::Unknown { .. }) => {}
            // It conflicts, or finds what it reads gone.
            Err(error) => assert_eq!(there, None, "{error}"),
        }
        assert_eq!(get(&*latest, "a/c/0/0"), [3; 4]);
        assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
    });
}

/// Clocks of a writer and of one who expires, in hours ahead of the others'.
const CLOCKS: [(i64, i64); 6] = [(0, 0), (-30, 0), (30, 0), (0, 30), (0, -30), (-30, 30)];

#[test]
fn expiry_and_commits_on_machines_with_any_clocks() {
    for (writes, expires) in CLOCKS {
        explore(200, move || {
            let store = store();
            twins(&store);
            let writer = |hours, values| {
                let pack = open_ahead(&store, hours).unwrap();
                thread::spawn(move || write_all(&pack, values))
            };
            let writers = [writer(writes, [1, 2]), writer(0, [3, 4])];
            let expirer = {
                let pack = open_ahead(&store, expires).unwrap();
                let keep = Keep { versions: 100, retention: Duration::from_secs(86_400) };
                thread::spawn(move || (0..2).for_each(|_| drop(pack.expire(&keep, false).unwrap())))
            };
            let acknowledged: BTreeMap<u64, u8> =
                writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
            expirer.join().unwrap();
            assert_eq!(acknowledged.len(), 4, "each landed, in a version of its own");
            assert_history(&store, &acknowledged);
        });
    }
}

#[test]
fn a_compaction_beside_one_who_expires_by_a_fast_clock() {
    explore(400, || {
        let store = store();
        let pack = twins(&store);
        let expirer = {
            let pack = open_ahead(&store, 30).unwrap();
            let keep = Keep { versions: 100, retention: Duration::from_secs(86_400) };
            thread::spawn(move || drop(pack.expire(&keep, false).unwrap()))
        };
        match pack.compact("compact", &mut |_, _| {}) {
            Ok(_) | Err(PackError::Outlived { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        expirer.join().unwrap();
        assert_history(&store, &BTreeMap::new());
        assert_eq!(get(&*pack.latest().unwrap().store(), "a/c/0/0"), [0; 4]);
    });
}

#[test]
fn any_number_of_those_who_expire_with_no_retention() {
    explore(400, || {
        let store = store();
        let pack = twins(&store);
        (1..4).for_each(|n| assert!(write(&pack, n).is_ok()));
        let all = [0, 30, 0].map(|hours| expiring(open_ahead(&store, hours).unwrap(), Duration::ZERO));
        let tagged = pack.tag("two", 2).is_ok();
        all.into_iter().for_each(|one| drop(one.join().unwrap()));
        // One that was tagged for a moment may have been put back.
        let numbers: Vec<u64> = pack.versions().unwrap().iter().map(|one| one.number).collect();
        assert!(numbers.iter().all(|number| *number == 2 || *number >= 4), "{numbers:?}");
        if tagged {
            assert_eq!(get(&*pack.version(2).unwrap().store(), "a/c/0/0"), [1; 4]);
        }
        assert_eq!(get(&*open(&store).unwrap().latest().unwrap().store(), "a/c/0/0"), [3; 4]);
        assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
    });
}

#[test]
fn a_repair_of_a_lost_commit_beside_writers() {
    explore(400, || {
        let store = store();
        let pack = twins(&store);
        (1..3).for_each(|n| assert!(write(&pack, n).is_ok()));
        let latest = pack.latest().unwrap().number();
        store.delete(&key(&format!("commits/{latest:020}.json"))).unwrap();
        let writer = {
            let pack = open(&store).unwrap();
            thread::spawn(move || match write(&pack, 9) {
                Ok(number) => number,
                Err(PackError::Corrupt { .. } | PackError::Conflict { .. }) => None,
                Err(error) => panic!("{error}"),
            })
        };
        let repairs = [pack.clone(), open(&store).unwrap()].map(|pack| {
            thread::spawn(move || match pack.repair(true, &mut |_, _| {}) {
                Ok(done) => done.version,
                Err(PackError::Conflict { .. }) => None,
                Err(error) => panic!("{error}"),
            })
        });
        let written = writer.join().unwrap();
        let made: Vec<u64> = repairs.into_iter().filter_map(|one| one.join().unwrap()).collect();
        assert!(!made.is_empty() && made.iter().all(|number| *number > latest), "{made:?}");
        assert!(written.is_none_or(|number| number > latest), "{written:?} in the place of {latest}");
        let opened = open(&store).unwrap();
        let expected = if written.is_some() { 9 } else { 1 };
        assert_eq!(get(&*opened.latest().unwrap().store(), "a/c/0/0"), [expected; 4]);
        assert_eq!(opened.check(true, &mut |_, _| {}).unwrap(), []);
    });
}

#[test]
fn a_rollback_to_a_version_that_is_being_expired() {
    explore(1000, || {
        let store = store();
        let pack = twins(&store);
        write(&pack, 1).unwrap();
        write(&pack, 2).unwrap();
        let expiring = expiring(open(&store).unwrap(), Duration::ZERO);
        let done = pack.rollback(2, "back to 1");
        expiring.join().unwrap();
        let expected = match done {
            Ok(_) => 1,
            Err(PackError::Conflict { .. } | PackError::NoVersion { .. }) => 2,
            Err(error) => panic!("{error}"),
        };
        let latest = open(&store).unwrap().latest().unwrap().store();
        assert_eq!(get(&*latest, "a/c/0/0"), [expected; 4]);
    });
}

#[test]
fn repairs_beside_writers_lose_what_was_damaged_alone() {
    explore(400, || {
        let store = store();
        let pack = twins(&store);
        // The bytes of the one chunk that is overwritten by nobody are lost.
        let transaction = pack.begin().unwrap();
        put(&*transaction.store(), "b/c/1/1", &[9; 4]);
        transaction.commit("to be lost").unwrap();
        let segment = pack.latest().unwrap().commit().segments[0].id;
        let segment = key(&format!("segments/{segment}.seg"));
        let mut bytes = store.get(&segment).unwrap().unwrap().0.to_vec();
        bytes[0] ^= 1;
        store.put(&segment, &[&bytes], PutMode::Overwrite).unwrap();

        let repairs = [pack.clone(), open(&store).unwrap()].map(|pack| {
            thread::spawn(move || match pack.repair(true, &mut |_, _| {}) {
                Ok(_) | Err(PackError::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            })
        });
        let done = write(&pack, 7);
        repairs.into_iter().for_each(|one| one.join().unwrap());
        // A repair is a change of everything: a writer may find that it overlaps.
        let latest = pack.latest().unwrap();
        let expected = match done {
            Ok(_) => 7,
            Err(PackError::Conflict { .. }) => 0,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(get(&*latest.store(), "a/c/0/0"), [expected; 4]);
        read_twins(&pack);
        if pack.repair(false, &mut |_, _| {}).unwrap().damage.is_empty() {
            assert!(latest.store().get(&key("b/c/1/1")).unwrap().is_none());
        }
    });
}
