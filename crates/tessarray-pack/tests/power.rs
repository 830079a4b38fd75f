//! Power may go at any moment: whatever of the unsynced writes reached the disk, the pack is at a version, and every
//! commit that was acknowledged as durable is there.
//!
//! The store keeps what a disk would: a file that is put durably is on it, whole, before the call returns. A put that was
//! under way when the power went leaves, under its final name or a temporary one, any mixture of pages of 4 KiB: the new
//! bytes, nothing, or garbage; a rename that was not synced may or may not have taken place.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use support::{Content, Random, commit, content, create, history, open, scaled, store_of};
use tessarray_pack::{Keep, PackOptions};
use tessarray_store::{
    Key, ListEntry, MemoryStore, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Store, UpdateFn,
    Version,
};

const PAGE: usize = 4096;

/// One change of the disk.
#[derive(Debug, Clone)]
enum Write {
    Put(Key, Vec<u8>, bool),
    Delete(Key),
    /// What is there under these keys is synced.
    Sync(Vec<Key>),
    /// So many steps are acknowledged.
    Acknowledged(u64),
}

/// A store that writes down what it is asked; `durable` puts are synced before they return.
#[derive(Debug)]
struct Disk {
    inner: Arc<MemoryStore>,
    log: Arc<Mutex<Vec<Write>>>,
    durable: bool,
}

impl Disk {
    fn note(&self, write: Write) {
        self.log.lock().unwrap().push(write);
    }
}

impl Store for Disk {
    fn describe(&self) -> String {
        "disk".into()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn is_durable(&self) -> bool {
        self.durable
    }

    fn make_durable(&self, keys: &[Key]) -> Result<()> {
        self.note(Write::Sync(keys.to_vec()));
        Ok(())
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        self.inner.read_many(requests, sink);
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        let version = self.inner.put(key, parts, mode)?;
        self.note(Write::Put(key.clone(), parts.concat(), self.durable));
        Ok(version)
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.inner.update(key, read, decide)?;
        if let Some((bytes, _)) = self.inner.get(key)? {
            self.note(Write::Put(key.clone(), bytes.to_vec(), self.durable));
        }
        Ok(())
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.note(Write::Delete(key.clone()));
        self.inner.delete(key)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.inner.delete_prefix(prefix)
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.inner.head(key)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.inner.list(prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.inner.list_dir(prefix)
    }
}

/// What the disk may hold if the power goes after the first `end` writes: puts that are synced are whole, the others,
/// and all deletions, may have reached it in part; so may the one that was next.
fn image(log: &[Write], end: usize, random: &mut Random) -> (Vec<(Key, Vec<u8>)>, u64) {
    let mut files: BTreeMap<Key, Vec<u8>> = BTreeMap::new();
    let mut acknowledged = 0;
    for (i, write) in log.iter().enumerate().take(end + 1) {
        let under_way = i == end;
        match write {
            Write::Put(key, bytes, true) if !under_way => {
                files.insert(key.clone(), bytes.clone());
            }
            // Synced before its rename: under its name it is whole, or it is not there.
            Write::Put(key, bytes, true) => {
                if random.next(2) == 0 {
                    files.insert(key.clone(), bytes.clone());
                }
            }
            Write::Put(key, bytes, false) if is_synced(log, i, end, key) => {
                files.insert(key.clone(), bytes.clone());
            }
            Write::Put(key, bytes, false) => match random.next(3) {
                0 => {}
                1 => {
                    files.insert(key.clone(), bytes.clone());
                }
                _ => {
                    files.insert(key.clone(), torn(bytes, random));
                }
            },
            Write::Delete(key) => {
                if random.next(2) == 0 {
                    files.remove(key);
                }
            }
            Write::Sync(_) => {}
            Write::Acknowledged(n) if !under_way => acknowledged = *n,
            Write::Acknowledged(_) => {}
        }
    }
    (files.into_iter().collect(), acknowledged)
}

/// Whether what was put at `put` was synced before `end`, and not replaced or removed first.
fn is_synced(log: &[Write], put: usize, end: usize, key: &Key) -> bool {
    for write in &log[put + 1..end.max(put + 1)] {
        match write {
            Write::Sync(keys) if keys.contains(key) => return true,
            Write::Put(other, ..) | Write::Delete(other) if other == key => return false,
            _ => {}
        }
    }
    false
}

/// Pages that were written, dropped, or are garbage.
fn torn(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for page in out.chunks_mut(PAGE) {
        match random.next(3) {
            0 => {}
            1 => page.fill(0),
            _ => page.iter_mut().for_each(|byte| *byte = random.next(256) as u8),
        }
    }
    if random.next(3) == 0 {
        out.truncate(random.next(out.len() + 1));
    }
    out
}

/// A script of 50 operations; a step that is acknowledged is noted.
fn script(durable: bool) -> (Vec<Write>, Vec<Content>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let disk = |durable| Disk { inner: Arc::default(), log: Arc::clone(&log), durable };
    let store: Arc<dyn Store> = Arc::new(disk(durable));
    // Hints are never synced.
    let hints: Arc<dyn Store> = Arc::new(disk(false));
    let options = PackOptions { hints: Some(hints), ..PackOptions::default() };
    let pack = tessarray_pack::Pack::create(Arc::clone(&store), options).unwrap();
    let mut steps = 0;
    for operation in 0..50 {
        match operation % 10 {
            6 => {
                pack.compact("compact", &mut |_, _| {}).unwrap();
            }
            9 => {
                let keep = Keep { versions: 3, retention: std::time::Duration::ZERO };
                pack.expire(&keep, false).unwrap();
            }
            _ => {
                steps += 1;
                commit(&pack, steps).unwrap();
            }
        }
        log.lock().unwrap().push(Write::Acknowledged(steps));
    }
    let log = log.lock().unwrap().clone();
    (log, history(steps))
}

fn images() -> usize {
    scaled(600)
}

#[test]
fn durable_commits_survive_a_loss_of_power() {
    let (log, history) = script(true);
    let begin = log.iter().position(|write| matches!(write, Write::Acknowledged(_))).unwrap();
    let mut random = Random(3 + scaled(1) as u64);
    let mut seen = std::collections::BTreeSet::new();
    for i in 0..images() {
        let end = begin + random.next(log.len() - begin);
        let (files, acknowledged) = image(&log, end, &mut random);
        let store = store_of(&files);
        let pack = open(&store).unwrap();
        let version = pack.latest().unwrap_or_else(|error| panic!("image {i}, write {end}: {error}"));
        let found =
            content(&*version.store()).unwrap_or_else(|error| panic!("image {i}, write {end}: {error}"));
        let step = history.iter().rposition(|then| *then == found);
        let step = step.unwrap_or_else(|| panic!("image {i}, write {end}: no state that ever was")) as u64;
        assert!(step >= acknowledged, "image {i}: step {acknowledged} was acknowledged, found {step}");
        seen.insert(step);
        // And it goes on from there.
        let next = commit(&pack, step + 1).unwrap();
        assert_eq!(next, Some(version.number() + 1), "image {i}");
    }
    assert!(seen.len() > 20, "images of many moments: {}", seen.len());
}

/// A pack that is loaded without durability, then worked on with it and without by turns, each time by another process.
fn mixed_script(expires: bool) -> (Vec<Write>, Vec<Content>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let files = Arc::new(MemoryStore::new());
    let disk = |durable| -> Arc<dyn Store> {
        Arc::new(Disk { inner: Arc::clone(&files), log: Arc::clone(&log), durable })
    };
    let pack = |durable| {
        let options = PackOptions { hints: Some(disk(false)), ..PackOptions::default() };
        tessarray_pack::Pack::open(disk(durable), options).unwrap()
    };
    tessarray_pack::Pack::create(disk(false), PackOptions::default()).unwrap();
    let mut random = Random(77 + scaled(1) as u64);
    let mut steps = 0;
    for operation in 0..80 {
        let durable = random.next(3) == 0;
        let pack = pack(durable);
        match operation % 10 {
            6 => {
                pack.compact("compact", &mut |_, _| {}).unwrap();
            }
            9 if expires => {
                let keep = Keep { versions: 1, retention: std::time::Duration::ZERO };
                pack.expire(&keep, false).unwrap();
            }
            _ => {
                steps += 1;
                commit(&pack, steps).unwrap();
                if durable {
                    log.lock().unwrap().push(Write::Acknowledged(steps));
                }
            }
        }
    }
    let log = log.lock().unwrap().clone();
    (log, history(steps))
}

/// The step that the newest version shows which can be read: one that was not durable may be damaged.
fn newest_readable(store: &Arc<dyn Store>, history: &[Content]) -> Option<u64> {
    let pack = open(store).ok()?;
    let commits = store.list(&Prefix::new("commits/").unwrap()).unwrap();
    let numbers = commits.iter().rev().filter_map(|(key, _)| key.name().strip_suffix(".json")?.parse().ok());
    for number in numbers {
        let Ok(version) = pack.version(number) else { continue };
        let Ok(found) = content(&*version.store()) else { continue };
        let step = history.iter().rposition(|then| *then == found);
        return Some(step.unwrap_or_else(|| panic!("version {number}: no state that ever was")) as u64);
    }
    None
}

#[test]
fn a_durable_commit_keeps_all_that_it_rests_on_whoever_put_it() {
    let (log, history) = mixed_script(true);
    let begin = log.iter().position(|write| matches!(write, Write::Acknowledged(_))).unwrap();
    let mut random = Random(5 + scaled(1) as u64);
    let mut seen = std::collections::BTreeSet::new();
    for i in 0..images() {
        let end = begin + 1 + random.next(log.len() - begin - 1);
        let (files, acknowledged) = image(&log, end, &mut random);
        let found = newest_readable(&store_of(&files), &history);
        assert!(
            found.is_some_and(|step| step >= acknowledged),
            "image {i}, write {end}: step {acknowledged} was acknowledged, found {found:?}"
        );
        seen.insert(found);
    }
    assert!(seen.len() > 20, "images of many moments: {}", seen.len());
}

#[test]
fn each_file_is_synced_once_and_nothing_is_without_durability() {
    let (log, _) = mixed_script(false);
    let mut synced: BTreeMap<Key, usize> = BTreeMap::new();
    for write in &log {
        if let Write::Sync(keys) = write {
            keys.iter().for_each(|key| *synced.entry(key.clone()).or_default() += 1);
        }
    }
    assert!(synced.len() > 50, "{synced:?}");
    synced.retain(|key, times| *times > 1 && !["format.json", "expired.json"].contains(&key.as_str()));
    assert_eq!(synced, BTreeMap::new());
    let (log, _) = script(false);
    assert!(!log.iter().any(|write| matches!(write, Write::Sync(_))));
    let (log, _) = script(true);
    assert!(!log.iter().any(|write| matches!(write, Write::Sync(_))), "all were durable");
}

#[test]
fn without_durability_power_may_take_commits_and_never_makes_up_values() {
    let (log, history) = script(false);
    let mut random = Random(4 + scaled(1) as u64);
    let (mut opened, mut whole) = (0, 0);
    for _ in 0..images() {
        let end = random.next(log.len());
        let (files, _) = image(&log, end, &mut random);
        let store = store_of(&files);
        let Ok(pack) = open(&store) else { continue };
        let Ok(version) = pack.latest() else { continue };
        opened += 1;
        let Ok(found) = content(&*version.store()) else { continue };
        whole += 1;
        assert!(history.contains(&found), "values that were never committed");
    }
    assert!(opened > 10 && whole > 0, "{opened} opened, {whole} whole");
}

#[test]
fn the_images_are_of_all_kinds() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    commit(&pack, 1).unwrap();
    let mut random = Random(9);
    let bytes = vec![7; 3 * PAGE];
    let torn: Vec<Vec<u8>> = (0..50).map(|_| torn(&bytes, &mut random)).collect();
    assert!(torn.iter().any(|page| page.len() < bytes.len()));
    assert!(torn.iter().any(|page| page.contains(&0)));
}
