//! Flipped bits, truncations and swapped files: an error, or the right values; never others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use std::sync::Arc;
use support::{Content, Random, commit, content, create, files, history, open, scaled, store_of};
use tessarray_codec::crc32c;
use tessarray_pack::{Damage, Keep, Pack};
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

/// A pack with tags, merged parts, a version stored anew, and versions between that were expired.
fn long() -> Vec<(Key, Vec<u8>)> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    for n in 1..=30 {
        commit(&pack, n).unwrap();
        if matches!(n, 3 | 12) {
            pack.tag(&format!("t{n}"), n).unwrap();
        }
        if n == 20 {
            pack.compact("anew", &mut |_, _| {}).unwrap();
        }
    }
    let keep = Keep { versions: 10, retention: std::time::Duration::ZERO };
    assert!(pack.expire(&keep, false).unwrap().versions.len() > 10);
    assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
    files(&*store)
}

/// Damages a file in one of five ways: what was done, or nothing where the file is what it was.
fn damage(all: &mut Vec<(Key, Vec<u8>)>, number: usize, way: usize, random: &mut Random) -> Option<String> {
    let before = all[number].1.clone();
    let length = before.len();
    match way {
        0 if length > 0 => all[number].1[random.next(length)] ^= 1 << random.next(8),
        1 if length > 0 => all[number].1.truncate(random.next(length)),
        2 if length > 0 => {
            let begin = random.next(length);
            let end = begin + 1 + random.next(length - begin);
            all[number].1[begin..end].fill(0);
        }
        3 => {
            all.remove(number);
            return Some("deleted".into());
        }
        _ => {
            let folder = |key: &Key| key.as_str().split('/').next().unwrap().to_string();
            let same = |i: &usize| folder(&all[*i].0) == folder(&all[number].0);
            let others: Vec<usize> = (0..all.len()).filter(same).collect();
            let other = others[random.next(others.len())];
            all[number].1 = std::mem::replace(&mut all[other].1, before.clone());
        }
    }
    (all[number].1 != before).then(|| ["flipped", "cut", "zeroed", "", "swapped"][way.min(4)].to_string())
}

/// Everything that a deep check claims to read is damaged. A hint is no promise, a tag that is deleted is no tag, and what
/// `format.json` says of when the pack was made is nobody's business.
#[test]
fn a_deep_check_finds_damage_of_every_version() {
    let files = long();
    let claimed = |i: &usize| {
        let name = files[*i].0.as_str();
        ["commits/", "catalogue/", "segments/", "tags/"].iter().any(|folder| name.starts_with(folder))
    };
    let numbers: Vec<usize> = (0..files.len()).filter(claimed).collect();
    let mut random = Random(23 + scaled(1) as u64);
    let whole = shown(&open(&store_of(&files)).unwrap());
    let (mut done, mut round, mut dead) = (0, 0, 0);
    while done < scaled(250) {
        round += 1;
        let (number, way) = (numbers[random.next(numbers.len())], round % 5);
        let name = files[number].0.as_str();
        // A tag that is not there is one that was taken away; gaps in the versions are looked for elsewhere.
        if way == 3 && (name.starts_with("tags/") || name.starts_with("commits/")) {
            continue;
        }
        let mut damaged = files.clone();
        let Some(what) = damage(&mut damaged, number, way, &mut random) else { continue };
        done += 1;
        let what = format!("{name} {what}");
        let Ok(pack) = open(&store_of(&damaged)) else { continue };
        let found = pack.check(true, &mut |_, _| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
        if name.starts_with("segments/") && found.is_empty() {
            // Bytes that no version shows any more, beside others that one does.
            assert_eq!(shown(&pack), whole, "{what}");
            dead += 1;
        } else {
            // Of two segments that changed places, one may have nothing but such bytes.
            let swapped = way == 4 && name.starts_with("segments/");
            let named =
                |damage: &Damage| damage.file == name || (swapped && damage.file.starts_with("segments/"));
            assert!(found.iter().any(named), "{what}: {found:?}");
        }
        let told = found.iter().filter(|damage| damage.file == name);
        for damage in told.filter(|_| !name.starts_with("tags/")) {
            assert!(!damage.versions.is_empty(), "{what}: {damage:?}");
            assert!(damage.path.is_some() || !name.starts_with("segments/"), "{what}: {damage:?}");
        }
    }
    assert!(dead < done / 4, "{dead} of {done}");
}

/// Everything that the versions show.
fn shown(pack: &Pack) -> Vec<Content> {
    let versions = pack.versions().unwrap().into_iter().map(|commit| pack.version(commit.number).unwrap());
    versions.map(|version| content(&*version.store()).unwrap()).collect()
}

#[test]
fn all_versions_that_show_a_damaged_chunk_are_named() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    let change = |name: &str, bytes: &[u8]| {
        let transaction = pack.begin().unwrap();
        let inside = transaction.store();
        inside.put(&Key::new(name).unwrap(), &[bytes], PutMode::Overwrite).unwrap();
        transaction.commit(name).unwrap().unwrap()
    };
    change("a/zarr.json", &support::array(0));
    let begin = change("a/c/0/0", &[77; 4]);
    for n in 0..12 {
        change("a/c/1/1", &[n; 4]);
    }
    let end = change("a/c/0/0", &[2; 4]);
    change("notes", b"more");
    let mut damaged = files(&*store);
    let segment =
        damaged.iter_mut().find(|(key, bytes)| key.as_str().starts_with("segments/") && *bytes == [77; 4]);
    segment.unwrap().1[2] ^= 4;
    let found = open(&store_of(&damaged)).unwrap().check(true, &mut |_, _| {}).unwrap();
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.path.as_deref(), Some("a"));
    let mut versions = found.versions.clone();
    versions.sort_unstable();
    assert_eq!(versions, Vec::from_iter(begin..end));
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
