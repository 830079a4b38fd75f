//! Random sequences of calls give what a map gives.

use super::{collect, key, whole};
use crate::error::StoreError;
use crate::key::{Key, Prefix};
use crate::request::{ByteRange, ListEntry, PutMode, ReadRequest};
use crate::store::{Store, Update};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Clone)]
enum Step {
    Put(usize, Vec<u8>),
    Create(usize, Vec<u8>),
    IfMatch(usize, Vec<u8>, bool),
    Append(usize, Vec<u8>),
    Remove(usize),
    Delete(usize),
    DeletePrefix(usize),
    Read(usize, u64, u64),
    List(usize),
}

/// No name is the beginning of another: directories are stores too.
const NAMES: [&str; 7] = ["a", "b/a", "b/b/a", "b/b/c", "b/ba", "b-a/x", "c/zarr.json"];
const PREFIXES: [&str; 6] = ["", "b/", "b/b/", "b-a/", "c/", "none/"];

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    let bytes = || proptest::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        4 => (name.clone(), bytes()).prop_map(|(name, bytes)| Step::Put(name, bytes)),
        2 => (name.clone(), bytes()).prop_map(|(name, bytes)| Step::Create(name, bytes)),
        2 => (name.clone(), bytes(), any::<bool>()).prop_map(|(name, bytes, stale)| Step::IfMatch(name, bytes, stale)),
        2 => (name.clone(), bytes()).prop_map(|(name, bytes)| Step::Append(name, bytes)),
        1 => name.clone().prop_map(Step::Remove),
        1 => name.clone().prop_map(Step::Delete),
        1 => (0..PREFIXES.len()).prop_map(Step::DeletePrefix),
        4 => (name, 0..50_u64, 0..50_u64).prop_map(|(name, offset, length)| Step::Read(name, offset, length)),
        2 => (0..PREFIXES.len()).prop_map(Step::List),
    ]
}

/// Runs `cases` random sequences of calls on a store and on a map, and compares every answer.
pub fn behaves_like_a_map<G>(cases: u32, make: &mut dyn FnMut() -> (G, Arc<dyn Store>)) {
    let make = std::cell::RefCell::new(make);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&proptest::collection::vec(step(), 1..40), |steps| {
        let (_guard, store) = (*make.borrow_mut())();
        let mut model = BTreeMap::new();
        for step in &steps {
            apply(&*store, &mut model, step);
        }
        for name in NAMES {
            assert_eq!(whole(&*store, &key(name)).as_ref(), model.get(&key(name)), "{name}");
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

fn apply(store: &dyn Store, model: &mut BTreeMap<Key, Vec<u8>>, step: &Step) {
    match step {
        Step::Put(name, bytes) => {
            store.put(&key(NAMES[*name]), &[bytes], PutMode::Overwrite).unwrap();
            model.insert(key(NAMES[*name]), bytes.clone());
        }
        Step::Create(name, bytes) => {
            let name = key(NAMES[*name]);
            let result = store.put(&name, &[bytes], PutMode::Create);
            assert_eq!(matches!(result, Err(StoreError::Exists { .. })), model.contains_key(&name));
            model.entry(name).or_insert_with(|| bytes.clone());
        }
        Step::IfMatch(name, bytes, stale) => {
            let name = key(NAMES[*name]);
            let Some(meta) = store.head(&name).unwrap() else { return };
            if *stale {
                store.put(&name, &[b"between"], PutMode::Overwrite).unwrap();
                model.insert(name.clone(), b"between".to_vec());
            }
            let result = store.put(&name, &[bytes], PutMode::IfMatch(meta.version));
            assert_eq!(matches!(result, Err(StoreError::Changed { .. })), *stale);
            if !stale {
                model.insert(name, bytes.clone());
            }
        }
        Step::Append(name, bytes) => {
            let name = key(NAMES[*name]);
            let append = &mut |current: Option<crate::request::Blob<'_>>| {
                let old = current.map(|blob| blob.bytes.to_vec()).unwrap_or_default();
                Ok(Update::PutOwned(vec![old, bytes.clone()]))
            };
            store.update(&name, true, append).unwrap();
            model.entry(name).or_default().extend(bytes);
        }
        Step::Remove(name) => {
            store.update(&key(NAMES[*name]), false, &mut |_| Ok(Update::Delete)).unwrap();
            model.remove(&key(NAMES[*name]));
        }
        Step::Delete(name) => {
            let name = key(NAMES[*name]);
            assert_eq!(store.delete(&name).unwrap(), model.remove(&name).is_some());
        }
        Step::DeletePrefix(prefix) => {
            let prefix = Prefix::new(PREFIXES[*prefix]).unwrap();
            store.delete_prefix(&prefix).unwrap();
            model.retain(|key, _| !prefix.contains(key));
        }
        Step::Read(name, offset, length) => read(store, model, &key(NAMES[*name]), *offset, *length),
        Step::List(prefix) => list(store, model, &Prefix::new(PREFIXES[*prefix]).unwrap()),
    }
}

fn read(store: &dyn Store, model: &BTreeMap<Key, Vec<u8>>, name: &Key, offset: u64, length: u64) {
    let ranges = [ByteRange::Span { offset, length }, ByteRange::Suffix { length }, ByteRange::All];
    let requests = ranges.map(|range| ReadRequest { key: name.clone(), range, expect: None });
    let answers = collect(store, &requests);
    let Some(value) = model.get(name) else {
        assert!(answers.iter().all(|answer| matches!(answer, Ok(None))));
        return;
    };
    let (start, count) = (usize::try_from(offset).unwrap(), usize::try_from(length).unwrap());
    match value.get(start..start + count) {
        Some(bytes) => assert_eq!(answers[0].as_ref().unwrap().as_ref().unwrap().0, bytes),
        None => assert!(matches!(answers[0], Err(StoreError::OutOfRange { .. }))),
    }
    let suffix = &value[value.len().saturating_sub(count)..];
    assert_eq!(answers[1].as_ref().unwrap().as_ref().unwrap().0, suffix);
    assert_eq!(&answers[2].as_ref().unwrap().as_ref().unwrap().0, value);
}

fn list(store: &dyn Store, model: &BTreeMap<Key, Vec<u8>>, prefix: &Prefix) {
    let under: Vec<(Key, u64)> = model
        .iter()
        .filter(|(key, _)| prefix.contains(key))
        .map(|(key, value)| (key.clone(), crate::span::as_u64(value.len())))
        .collect();
    assert_eq!(store.list(prefix).unwrap(), under);
    let entries: BTreeSet<ListEntry> = under
        .into_iter()
        .map(|(key, size)| match key.as_str()[prefix.as_str().len()..].split_once('/') {
            None => ListEntry::Key(key, size),
            Some((level, _)) => ListEntry::Prefix(prefix.join(level).unwrap()),
        })
        .collect();
    // Directories may keep empty levels.
    let found = store.list_dir(prefix).unwrap();
    assert!(found.is_sorted());
    let found: BTreeSet<ListEntry> = found.into_iter().collect();
    assert!(found.is_superset(&entries));
    for extra in found.difference(&entries) {
        assert!(matches!(extra, ListEntry::Prefix(_)), "{extra:?}");
    }
}
