//! A transaction is a store like any other, and what it commits is what a version shows.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

use std::sync::Arc;
use std::time::Duration;
use tessarray_pack::{Keep, Pack, PackError, PackOptions};
use tessarray_store::{
    FaultStore, Key, MemoryStore, Prefix, PrefixStore, PutMode, RecordStore, Store, StoreError,
    ThrottleStore, Throttling, Update,
};

fn pack() -> Pack {
    Pack::create(Arc::new(MemoryStore::new()), PackOptions::default()).unwrap()
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn read(store: &Arc<dyn Store>, text: &str) -> Option<Vec<u8>> {
    store.get(&key(text)).unwrap().map(|(bytes, _)| bytes.to_vec())
}

const ARRAY: &[u8] = br#"{"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "uint8",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {"units": "m"}}"#;
const GROUP: &[u8] = br#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;

#[test]
fn a_transaction_conforms() {
    tessarray_store::conformance::run(|| {
        let transaction = pack().begin().unwrap();
        ((), transaction.store())
    });
}

#[test]
fn a_store_at_the_latest_version_conforms() {
    tessarray_store::conformance::run(|| ((), pack().auto_store()));
}

#[test]
fn what_is_committed_is_read_and_nothing_before() {
    let pack = pack();
    let transaction = pack.begin().unwrap();
    let store = transaction.store();
    store.put(&key("zarr.json"), &[GROUP], PutMode::Create).unwrap();
    store.put(&key("a/zarr.json"), &[ARRAY], PutMode::Create).unwrap();
    for (i, chunk) in ["a/c/0/0", "a/c/1/2", "a/c/0/1"].iter().enumerate() {
        store.put(&key(chunk), &[&[i as u8; 4]], PutMode::Overwrite).unwrap();
    }
    store.put(&key("notes/readme.txt"), &[&[7; 40_000]], PutMode::Overwrite).unwrap();
    let before = pack.latest().unwrap();
    assert_eq!(before.number(), 0);
    assert_eq!(before.store().list(&Prefix::root()).unwrap(), []);
    assert_eq!(transaction.commit("first").unwrap(), Some(1));
    let after = pack.latest().unwrap().store();
    assert_eq!(read(&after, "a/zarr.json").as_deref(), Some(ARRAY));
    assert_eq!(read(&after, "a/c/1/2").as_deref(), Some(&[1; 4][..]));
    assert_eq!(read(&after, "a/c/1/1"), None);
    assert_eq!(read(&after, "notes/readme.txt").unwrap().len(), 40_000);
    let listed = after.list(&Prefix::root()).unwrap();
    let names: Vec<String> = listed.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(names, ["a/c/0/0", "a/c/0/1", "a/c/1/2", "a/zarr.json", "notes/readme.txt", "zarr.json"]);
    assert_eq!(before.store().list(&Prefix::root()).unwrap(), []);
    assert!(matches!(after.put(&key("x"), &[b"y"], PutMode::Overwrite), Err(StoreError::ReadOnly { .. })));
    assert!(matches!(transaction.commit("again"), Err(PackError::Ended { how: "committed" })));
    assert!(store.put(&key("x"), &[b"y"], PutMode::Overwrite).is_err());
    assert_eq!(pack.version(0).unwrap().number(), 0);
    assert!(matches!(pack.version(9), Err(PackError::NoVersion { .. })));
}

#[test]
fn disjoint_changes_both_land_and_overlapping_ones_conflict() {
    let pack = pack();
    let first = pack.begin().unwrap();
    first.store().put(&key("zarr.json"), &[GROUP], PutMode::Create).unwrap();
    first.store().put(&key("a/zarr.json"), &[ARRAY], PutMode::Create).unwrap();
    first.commit("array").unwrap();
    let (one, two, three) = (pack.begin().unwrap(), pack.begin().unwrap(), pack.begin().unwrap());
    one.store().put(&key("a/c/0/0"), &[&[1; 4]], PutMode::Overwrite).unwrap();
    two.store().put(&key("a/c/0/1"), &[&[2; 4]], PutMode::Overwrite).unwrap();
    three.store().put(&key("a/c/0/0"), &[&[3; 4]], PutMode::Overwrite).unwrap();
    assert_eq!(one.commit("one").unwrap(), Some(2));
    assert_eq!(two.commit("two").unwrap(), Some(3));
    match three.commit("three") {
        Err(PackError::Conflict { path, region, version }) => {
            assert_eq!((path.as_str(), region.as_str(), version), ("a", "chunk [0, 0]", 2));
        }
        other => panic!("{other:?}"),
    }
    let store = pack.latest().unwrap().store();
    assert_eq!(read(&store, "a/c/0/0").as_deref(), Some(&[1; 4][..]));
    assert_eq!(read(&store, "a/c/0/1").as_deref(), Some(&[2; 4][..]));
}

#[test]
fn a_removed_parent_conflicts_with_what_is_written_below_it() {
    let pack = pack();
    let first = pack.begin().unwrap();
    first.store().put(&key("g/zarr.json"), &[GROUP], PutMode::Create).unwrap();
    first.commit("group").unwrap();
    let (remover, writer) = (pack.begin().unwrap(), pack.begin().unwrap());
    remover.store().delete_prefix(&Prefix::new("g/").unwrap()).unwrap();
    writer.store().put(&key("g/a/zarr.json"), &[ARRAY], PutMode::Create).unwrap();
    let late = pack.begin().unwrap();
    late.store().delete_prefix(&Prefix::new("g/").unwrap()).unwrap();
    assert_eq!(writer.commit("write").unwrap(), Some(2));
    assert!(matches!(remover.commit("remove"), Err(PackError::Conflict { .. })));
    let again = pack.begin().unwrap();
    again.store().delete_prefix(&Prefix::new("g/").unwrap()).unwrap();
    let writer = pack.begin().unwrap();
    writer.store().put(&key("g/b/zarr.json"), &[ARRAY], PutMode::Create).unwrap();
    again.commit("remove").unwrap();
    assert!(matches!(writer.commit("write"), Err(PackError::Conflict { .. })));
    assert!(late.commit("late").is_err());
}

#[test]
fn a_thousand_commits_keep_everything_in_few_parts() {
    let pack = pack();
    for i in 0..1000u32 {
        let transaction = pack.begin().unwrap();
        transaction.store().put(&key(&format!("k{i:04}")), &[&i.to_le_bytes()], PutMode::Create).unwrap();
        assert_eq!(transaction.commit("one").unwrap(), Some(u64::from(i) + 1));
    }
    let latest = pack.latest().unwrap();
    assert!(latest.commit().parts.len() < 40, "{}", latest.commit().parts.len());
    let store = latest.store();
    for i in 0..1000u32 {
        assert_eq!(read(&store, &format!("k{i:04}")).as_deref(), Some(&i.to_le_bytes()[..]));
    }
    assert_eq!(store.list(&Prefix::root()).unwrap().len(), 1000);
    assert_eq!(pack.versions().unwrap().len(), 1001);
}

#[test]
fn the_latest_version_is_found_past_what_was_expired() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = Pack::create(Arc::clone(&store), PackOptions::default()).unwrap();
    let commit = |pack: &Pack, n: u8| {
        let transaction = pack.begin().unwrap();
        transaction.store().put(&key("k"), &[&[n]], PutMode::Overwrite).unwrap();
        transaction.commit("one").unwrap()
    };
    let open = || Pack::open(Arc::clone(&store), PackOptions::default()).unwrap();
    commit(&pack, 1);
    let hint = store.get(&key("latest.json")).unwrap().unwrap().0;
    // It has seen version 1, which stays, while those after it go.
    let old = open();
    old.tag("first", 1).unwrap();
    assert_eq!(old.latest().unwrap().number(), 1);
    let began = old.begin().unwrap();
    began.store().put(&key("other"), &[&[9]], PutMode::Overwrite).unwrap();
    for n in 2..=5 {
        commit(&pack, n);
    }
    let keep = Keep { versions: 1, retention: std::time::Duration::ZERO };
    assert_eq!(pack.expire(&keep, false).unwrap().versions, [0, 2, 3, 4]);
    assert_eq!(old.latest().unwrap().number(), 5);
    // Lost with the power, or never right.
    for hint in [Some(&hint[..]), Some(b"torn"), None] {
        match hint {
            Some(hint) => drop(store.put(&key("latest.json"), &[hint], PutMode::Overwrite).unwrap()),
            None => drop(store.delete(&key("latest.json")).unwrap()),
        }
        assert_eq!(open().latest().unwrap().number(), 5);
    }
    // Its number is free, and is not given to it.
    assert!(matches!(began.commit("late"), Err(PackError::Conflict { .. })));
    assert_eq!(open().versions().unwrap().len(), 2);
    assert_eq!(commit(&old, 6), Some(6));
    assert_eq!(read(&open().latest().unwrap().store(), "k"), Some(vec![6]));
}

const SHARDED: &[u8] = br#"{"zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": "uint8",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0, "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 2],
    "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]}"#;

/// A shard of two chunks of two bytes, either of which may be missing.
fn shard(chunks: [Option<u8>; 2]) -> Vec<u8> {
    let (mut bytes, mut index) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let entry = chunk.map_or([u64::MAX; 2], |_| [bytes.len() as u64, 2]);
        index.extend(entry.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend(chunk.iter().flat_map(|&value| [value; 2]));
    }
    [bytes, index].concat()
}

#[test]
fn what_a_put_gives_is_the_version_that_is_found() {
    let pack = pack();
    let transaction = pack.begin().unwrap();
    let store = transaction.store();
    let large = vec![7; 40_000];
    let puts: [(&str, &[u8]); 9] = [
        ("zarr.json", GROUP),
        ("a/zarr.json", ARRAY),
        ("a/c/0/0", &[1; 4]),
        ("s/zarr.json", SHARDED),
        ("s/c/0/0", &shard([Some(1), Some(2)])),
        ("s/c/0/1", &shard([None, Some(3)])),
        ("s/c/0/0", &shard([Some(4), None])),
        ("s/c/1/0", b"no shard"),
        ("notes", &large),
    ];
    let mut versions = Vec::new();
    for (name, bytes) in puts {
        let version = store.put(&key(name), &[bytes], PutMode::Overwrite).unwrap();
        assert_eq!(
            Some(&version),
            store.head(&key(name)).unwrap().map(|meta| meta.version).as_ref(),
            "{name}"
        );
        assert!(!version.0.is_empty() && !versions.contains(&version), "{name}");
        versions.push(version);
    }
}

type Wrap = fn(Arc<dyn Store>) -> Arc<dyn Store>;

#[test]
fn an_update_with_changes_of_other_keys_is_one_version_however_the_store_is_wrapped() {
    let wrapped: [Wrap; 5] = [
        |store| store,
        |store| Arc::new(PrefixStore::new(store, Prefix::new("deep/").unwrap())),
        |store| Arc::new(RecordStore::new(store)),
        |store| Arc::new(FaultStore::new(store)),
        |store| {
            let how = Throttling { first_byte: Duration::ZERO, bandwidth: u64::MAX, concurrency: 1 };
            Arc::new(ThrottleStore::new(store, how))
        },
    ];
    for wrap in wrapped {
        let pack = pack();
        let before = pack.latest().unwrap().number();
        let store = wrap(pack.auto_store());
        let (name, others) = (key("u/v"), ["u/w", "x"].map(key));
        let mut asked = 0;
        store
            .update_with(&name, &mut |within, _| {
                asked += 1;
                let within = within.expect("a store with transactions gives one");
                for other in &others {
                    within.put(other, &[&[asked]], PutMode::Overwrite)?;
                }
                if asked == 1 {
                    // Others are faster, by one key of all.
                    store.put(&others[1], &[b"theirs"], PutMode::Overwrite)?;
                }
                Ok(Update::PutOwned(vec![vec![asked]]))
            })
            .unwrap();
        assert_eq!(asked, 2, "{store:?}");
        assert_eq!(pack.latest().unwrap().number(), before + 2, "{store:?}");
        for one in [&name, &others[0], &others[1]] {
            assert_eq!(*store.get(one).unwrap().unwrap().0, [2], "{store:?}: {one}");
        }
    }
}
