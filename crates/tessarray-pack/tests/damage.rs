//! Flipped bits, truncations and swapped files: an error, or the right values; never others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use support::{Content, Random, commit, content, create, files, history, open, scaled, store_of};
use tessarray_store::{Key, MemoryStore, PutMode, Store};

const STEPS: u64 = 10;

fn made() -> (Vec<(Key, Vec<u8>)>, Vec<Content>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    for n in 1..=STEPS {
        commit(&pack, n).unwrap();
    }
    (files(&*store), history(STEPS))
}

/// Whether the damage is seen: an error somewhere, or nothing is different. Values that were never committed fail.
fn judge(damaged: &[(Key, Vec<u8>)], history: &[Content], what: &str) -> bool {
    let store = store_of(damaged);
    let Ok(pack) = open(&store) else { return true };
    let mut seen = false;
    match pack.latest() {
        Err(_) => seen = true,
        Ok(version) => {
            // A hint that says less, and a commit that is missing, lead to an earlier version: whole.
            let number = version.number() as usize;
            for (key, expected) in &history[number] {
                match version.store().get(&Key::new(key).unwrap()) {
                    Ok(Some((bytes, _))) => {
                        assert_eq!(bytes, expected[..], "{what}: {key} of version {number}")
                    }
                    Ok(None) => panic!("{what}: {key} of version {number} is gone"),
                    Err(_) => seen = true,
                }
            }
            match content(&*version.store()) {
                Ok(found) => assert_eq!(&found, &history[number], "{what}"),
                Err(_) => seen = true,
            }
        }
    }
    seen || pack.check(true, &mut |_, _| {}).map_or(true, |damage| !damage.is_empty())
}

#[test]
fn flipped_bits_are_never_other_values() {
    let (files, history) = made();
    let mut random = Random(11 + scaled(1) as u64);
    let mut unseen = Vec::new();
    for i in 0..scaled(1500) {
        let mut damaged = files.clone();
        let number = i % damaged.len();
        let (key, bytes) = &mut damaged[number];
        if bytes.is_empty() {
            continue;
        }
        let bit = random.next(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let name = key.to_string();
        if !judge(&damaged, &history, &format!("{name}, bit {bit}")) {
            unseen.push(name);
        }
    }
    // A hint is a hint; what is said of when the pack was made is nobody's business; old segments may be dead.
    let others: Vec<&String> = unseen
        .iter()
        .filter(|name| *name != "latest.json" && *name != "format.json" && !name.starts_with("segments/"))
        .collect();
    assert!(others.is_empty(), "not noticed: {others:?}");
}

#[test]
fn truncations_are_never_other_values() {
    let (files, history) = made();
    for number in 0..files.len() {
        let length = files[number].1.len();
        let step = (length / 25).max(1);
        for cut in (0..length).step_by(step) {
            let mut damaged = files.clone();
            damaged[number].1.truncate(cut);
            let name = damaged[number].0.to_string();
            let seen = judge(&damaged, &history, &format!("{name} cut to {cut}"));
            let old = name.starts_with("segments/") || name == "latest.json";
            assert!(seen || old, "{name} cut to {cut} of {length} is not noticed");
        }
    }
}

#[test]
fn swapped_and_missing_files_are_seen() {
    let (files, history) = made();
    let kinds = ["commits/", "catalogue/", "segments/"];
    for kind in kinds {
        let numbers: Vec<usize> =
            (0..files.len()).filter(|&i| files[i].0.as_str().starts_with(kind)).collect();
        for pair in numbers.windows(2) {
            let mut damaged = files.clone();
            let (a, b) = (damaged[pair[0]].1.clone(), damaged[pair[1]].1.clone());
            if a == b {
                continue;
            }
            damaged[pair[0]].1 = b;
            damaged[pair[1]].1 = a;
            let what = format!("{} and {} swapped", damaged[pair[0]].0, damaged[pair[1]].0);
            let seen = judge(&damaged, &history, &what);
            assert!(seen || kind == "segments/", "{what}: not noticed");
        }
        for &number in &numbers {
            let mut damaged = files.clone();
            let (key, _) = damaged.remove(number);
            judge(&damaged, &history, &format!("{key} is missing"));
        }
    }
}

/// Chunks that end in a checksum of their own: two of one length are right by themselves wherever they lie.
#[test]
fn chunks_that_changed_places_are_seen() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    let transaction = pack.begin().unwrap();
    let inside = transaction.store();
    let put = |name: &str, bytes: &[u8]| {
        inside.put(&Key::new(name).unwrap(), &[bytes], PutMode::Overwrite).unwrap();
    };
    let document = String::from_utf8(support::array(0)).unwrap();
    let document = document.replace(r#"{"name": "bytes"}"#, r#"{"name": "bytes"}, {"name": "crc32c"}"#);
    put("a/zarr.json", document.as_bytes());
    let chunk = |values: [u8; 4]| [&values[..], &crc32c::crc32c(&values).to_le_bytes()].concat();
    let (one, two) = (chunk([1, 2, 3, 4]), chunk([5, 6, 7, 8]));
    put("a/c/0/0", &one);
    put("a/c/0/1", &two);
    transaction.commit("two chunks").unwrap();
    let mut damaged = files(&*store);
    let segment = damaged.iter_mut().find(|(key, _)| key.as_str().starts_with("segments/")).unwrap();
    assert_eq!(segment.1, [&one[..], &two].concat());
    segment.1 = [&two[..], &one].concat();
    let pack = open(&store_of(&damaged)).unwrap();
    for name in ["a/c/0/0", "a/c/0/1"] {
        let found = pack.latest().unwrap().store().get(&Key::new(name).unwrap());
        assert!(found.is_err(), "{name}: {found:?}");
    }
    assert_eq!(pack.check(true, &mut |_, _| {}).unwrap().len(), 2);
}

#[test]
fn a_repair_saves_every_chunk_that_is_whole() {
    let (files, history) = made();
    let mut random = Random(5 + scaled(1) as u64);
    let mut lost_any = 0;
    for i in 0..scaled(120) {
        let mut damaged = files.clone();
        let number = i % damaged.len();
        let (key, bytes) = &mut damaged[number];
        if bytes.is_empty() || key.as_str() == "format.json" {
            continue;
        }
        let bit = random.next(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let what = format!("{key}, bit {bit}");
        let in_segment = key.as_str().starts_with("segments/");
        let store = store_of(&damaged);
        let pack = open(&store).unwrap();
        let plan = pack.repair(false, &mut |_, _| {}).unwrap();
        assert_eq!(plan.version, None);
        let before = support::files(&*store);
        assert_eq!(before, damaged, "{what}: nothing is written without apply");
        let done = pack.repair(true, &mut |_, _| {}).unwrap();
        let version = open(&store).unwrap().latest().unwrap();
        let found = content(&*version.store()).unwrap_or_else(|error| panic!("{what}: {error}"));
        if done.damage.is_empty() {
            continue;
        }
        if in_segment {
            let expected = &history[STEPS as usize];
            let missing =
                expected.iter().filter(|(key, bytes)| found.get(*key) != Some(bytes)).count() as u64;
            assert_eq!(missing, done.lost, "{what}");
            lost_any += missing;
        }
        for (key, bytes) in &found {
            assert!(history.iter().any(|then| then.get(key) == Some(bytes)), "{what}: {key} was never that");
        }
    }
    assert!(lost_any > 0);
}
