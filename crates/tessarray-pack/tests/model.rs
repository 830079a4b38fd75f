//! Any sequence of what a pack can do equals a plain store, version by version: objects that are put and removed, arrays
//! that are cut and grown along any axis, made over and deleted, in transactions and by path, with merges of every level,
//! compactions, rollbacks, expiries, tags and reopenings in between.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use support::*;
use tessarray_pack::{Change, Keep, Pack, Transaction};
use tessarray_store::{Key, MemoryStore, Prefix, PutMode, Store};

/// Path, document without its shape, key of an object, bytes of an object, chunks along each axis at most.
struct Layout {
    path: &'static str,
    name: &'static str,
    document: &'static str,
    inner: u64,
}

const ARRAYS: [Layout; 4] = [
    Layout {
        path: "a",
        name: "zarr.json",
        document: r#"{"zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "uint8",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {}}"#,
        inner: 1,
    },
    Layout {
        path: "g/cube",
        name: "zarr.json",
        document: r#"{"zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "uint8",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 2, 1]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {}}"#,
        inner: 1,
    },
    Layout {
        path: "g/shards",
        name: "zarr.json",
        document: r#"{"zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "uint8",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0, "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 3],
            "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes",
            "configuration": {"endian": "little"}}]}}], "attributes": {}}"#,
        inner: 2,
    },
    Layout {
        path: "old",
        name: ".zarray",
        document: r#"{"zarr_format": 2, "shape": SHAPE, "chunks": [3, 1], "dtype": "|u1", "compressor": null,
            "fill_value": 0, "order": "C", "filters": null}"#,
        inner: 1,
    },
];

const OBJECTS: [&[u64]; 4] = [&[2, 2], &[1, 2, 1], &[2, 3], &[3, 1]];

impl Layout {
    fn key(&self, at: &[u64]) -> Key {
        let at: Vec<String> = at.iter().map(u64::to_string).collect();
        if self.name == "zarr.json" {
            key(&format!("{}/c/{}", self.path, at.join("/")))
        } else {
            key(&format!("{}/{}", self.path, at.join(".")))
        }
    }

    fn document(&self, shape: &[u64]) -> Vec<u8> {
        self.document.replace("SHAPE", &format!("{shape:?}")).into_bytes()
    }

    /// An object: a chunk, or a shard of which some inner chunks may be missing.
    fn object(&self, value: u8) -> Vec<u8> {
        if self.inner == 1 {
            return vec![value; 4];
        }
        let (mut bytes, mut index) = (Vec::new(), Vec::new());
        for inner in 0..2u8 {
            let there = value % 3 != inner;
            let (offset, length) = if there { (bytes.len() as u64, 3) } else { (u64::MAX, u64::MAX) };
            index.extend_from_slice(&offset.to_le_bytes());
            index.extend_from_slice(&length.to_le_bytes());
            if there {
                bytes.extend_from_slice(&[value, inner, value]);
            }
        }
        bytes.extend_from_slice(&index);
        bytes
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// Puts an object: of array, at, value.
    Put(usize, [u64; 3], u8),
    /// Removes one.
    Remove(usize, [u64; 3]),
    /// Makes the array, or cuts and grows it: objects outside go first, or last.
    Resize(usize, [u64; 3], bool),
    /// Removes the array: its document first, or all at once.
    Delete(usize, bool),
    /// Changes of one array only, so that parts merge: so many commits.
    Others(u8),
    Begin,
    Commit,
    Abandon,
    Compact,
    Rollback(usize),
    Tag(usize),
    Untag,
    Expire(usize),
    Reopen,
    Diff(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let array = || 0..ARRAYS.len();
    let at = || [0..4u64, 0..4u64, 0..4u64];
    prop_oneof![
        12 => (array(), at(), any::<u8>()).prop_map(|(array, at, value)| Step::Put(array, at, value)),
        3 => (array(), at()).prop_map(|(array, at)| Step::Remove(array, at)),
        10 => (array(), [0..8u64, 0..8u64, 0..5u64], any::<bool>())
            .prop_map(|(array, shape, first)| Step::Resize(array, shape, first)),
        1 => (array(), any::<bool>()).prop_map(|(array, whole)| Step::Delete(array, whole)),
        3 => (1..9u8).prop_map(Step::Others),
        2 => Just(Step::Begin),
        3 => Just(Step::Commit),
        1 => Just(Step::Abandon),
        1 => Just(Step::Compact),
        1 => any::<usize>().prop_map(Step::Rollback),
        1 => any::<usize>().prop_map(Step::Tag),
        1 => Just(Step::Untag),
        1 => (1..20usize).prop_map(Step::Expire),
        1 => Just(Step::Reopen),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Step::Diff(from, to)),
    ]
}

/// Bytes by key, with a number that tells each put from all others.
type State = BTreeMap<String, (Vec<u8>, u64)>;

/// A pack, and what it has to be.
struct Model {
    below: Arc<dyn Store>,
    pack: Pack,
    /// By version; none for those that were expired.
    states: Vec<Option<State>>,
    /// Versions that store all chunks anew.
    moved: BTreeSet<usize>,
    tags: Vec<(String, usize)>,
    /// The state under change, and its transaction; without one each call is committed.
    now: State,
    open: Option<Transaction>,
    auto: Arc<dyn Store>,
    puts: u64,
}

impl Model {
    fn new() -> Self {
        let below: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let pack = create(&below);
        let auto = pack.auto_store();
        let states = vec![Some(State::new())];
        let (moved, tags) = (BTreeSet::new(), Vec::new());
        Self { below, pack, states, moved, tags, now: State::new(), open: None, auto, puts: 0 }
    }

    fn store(&self) -> Arc<dyn Store> {
        self.open.as_ref().map_or_else(|| Arc::clone(&self.auto), Transaction::store)
    }

    /// One call; without a transaction it is a version if it changed anything.
    fn called(&mut self) {
        if self.open.is_none() {
            self.seen();
        }
    }

    /// The pack's new versions, if there are any, are of the state that is now.
    fn seen(&mut self) {
        let latest = self.pack.latest().unwrap().number() as usize;
        assert!(latest < self.states.len() + 1, "one version a call");
        if latest == self.states.len() {
            self.states.push(Some(self.now.clone()));
            self.compare(latest);
        } else {
            assert_eq!(self.states[latest].as_ref(), Some(&self.now), "a change makes a version");
        }
    }

    fn compare(&self, version: usize) {
        let Some(state) = &self.states[version] else { return };
        let found = content(&*self.pack.version(version as u64).unwrap().store()).unwrap();
        let keys: BTreeSet<&String> = found.keys().chain(state.keys()).collect();
        for key in keys {
            let expected = state.get(key).map(|(bytes, _)| bytes);
            assert!(
                found.get(key) == expected,
                "version {version}: {key}: {:?}, not {expected:?}",
                found.get(key)
            );
        }
    }

    fn put(&mut self, key: &Key, bytes: Vec<u8>) {
        self.store().put(key, &[&bytes], PutMode::Overwrite).unwrap();
        self.puts += 1;
        self.now.insert(key.to_string(), (bytes, self.puts));
        self.called();
    }

    fn remove(&mut self, key: &Key) {
        let there = self.now.remove(key.as_str()).is_some();
        assert_eq!(self.store().delete(key).unwrap(), there, "{key}");
        self.called();
    }

    /// The array's shape, where it is there.
    fn shape(&self, layout: &Layout) -> Option<Vec<u64>> {
        let (document, _) = self.now.get(&format!("{}/{}", layout.path, layout.name))?;
        let document: serde_json::Value = serde_json::from_slice(document).unwrap();
        serde_json::from_value(document["shape"].clone()).unwrap()
    }

    fn resize(&mut self, array: usize, shape: &[u64], first: bool) {
        let (layout, object) = (&ARRAYS[array], OBJECTS[array]);
        let shape = &shape[..object.len()];
        let document = key(&format!("{}/{}", layout.path, layout.name));
        if self.shape(layout).is_none() || !first {
            self.put(&document, layout.document(shape));
        }
        let grid: Vec<u64> = shape.iter().zip(object).map(|(n, object)| n.div_ceil(*object)).collect();
        let rank = object.len();
        let all = (0..4u64.pow(rank as u32))
            .map(|n| (0..rank).map(|axis| n / 4u64.pow(axis as u32) % 4).collect::<Vec<_>>());
        for at in all.filter(|at| at.iter().zip(&grid).any(|(at, length)| at >= length)) {
            let key = layout.key(&at);
            if self.now.contains_key(key.as_str()) {
                self.remove(&key);
            }
        }
        self.put(&document, layout.document(shape));
    }

    fn delete(&mut self, array: usize, whole: bool) {
        let layout = &ARRAYS[array];
        let prefix = format!("{}/", layout.path);
        if self.shape(layout).is_none() {
            return;
        }
        if !whole {
            // What is left of an array without its document is no array's, and is seen by nobody.
            self.now.retain(|key, _| !key.starts_with(&prefix));
            let document = key(&format!("{}{}", prefix, layout.name));
            assert!(self.store().delete(&document).unwrap());
            self.called();
        }
        self.now.retain(|key, _| !key.starts_with(&prefix));
        self.store().delete_prefix(&Prefix::new(&prefix).unwrap()).unwrap();
        self.called();
    }

    /// A version that is there.
    fn pick(&self, number: usize) -> usize {
        let there: Vec<usize> = (0..self.states.len()).filter(|&n| self.states[n].is_some()).collect();
        there[number % there.len()]
    }

    fn commit(&mut self) {
        if let Some(open) = self.open.take() {
            open.commit("model").unwrap();
            self.seen();
        }
    }

    fn expire(&mut self, keep: usize) {
        let keep = Keep { versions: keep, retention: Duration::ZERO };
        let gone = self.pack.expire(&keep, false).unwrap().versions;
        for number in gone {
            let number = number as usize;
            assert!(number + keep.versions < self.states.len(), "one of the last");
            assert!(self.tags.iter().all(|(_, tagged)| *tagged != number), "a tagged one");
            self.states[number] = None;
        }
    }

    /// Chunks that were put or removed between two versions are told, and no others.
    fn diff(&self, from: usize, to: usize) {
        let (from, to) = (from.min(to), from.max(to));
        if self.moved.iter().any(|&moved| from < moved && moved <= to) {
            return;
        }
        let (Some(before), Some(after)) = (&self.states[from], &self.states[to]) else { return };
        let found = self.pack.diff(from as u64, to as u64).unwrap();
        for layout in ARRAYS.iter().filter(|layout| layout.inner == 1) {
            let prefix = format!("{}/", layout.path);
            let document = format!("{prefix}{}", layout.name);
            let chunk = |key: &&String| key.starts_with(&prefix) && **key != document;
            let keys: BTreeSet<&String> = before.keys().chain(after.keys()).filter(chunk).collect();
            let put = |state: &State, key: &str| state.get(key).map(|(_, put)| *put);
            let changed = keys.iter().filter(|key| put(before, key) != put(after, key)).count() as u64;
            let told = found.iter().find(|difference| difference.path == layout.path);
            let whole = told.is_some_and(|told| matches!(told.change, Change::Created | Change::Deleted));
            if !whole {
                assert_eq!(told.map_or(0, |told| told.chunks), changed, "{}: {from} to {to}", layout.path);
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Put(array, at, value) => {
                let layout = &ARRAYS[array];
                if self.shape(layout).is_some() {
                    // It may lie outside the grid, as what an append writes before the array grows.
                    self.put(&layout.key(&at[..OBJECTS[array].len()]), layout.object(value));
                }
            }
            Step::Remove(array, at) => {
                if self.shape(&ARRAYS[array]).is_some() {
                    self.remove(&ARRAYS[array].key(&at[..OBJECTS[array].len()]));
                }
            }
            Step::Resize(array, shape, first) => self.resize(array, &shape, first),
            Step::Delete(array, whole) => self.delete(array, whole),
            Step::Others(count) => {
                for n in 0..count {
                    self.put(&key("others"), vec![n; 3]);
                }
            }
            Step::Begin if self.open.is_none() => self.open = Some(self.pack.begin().unwrap()),
            Step::Abandon if self.open.is_some() => {
                self.open = None;
                self.now = self.states.last().cloned().flatten().unwrap();
            }
            Step::Diff(from, to) => self.diff(self.pick(from), self.pick(to)),
            Step::Begin | Step::Abandon => {}
            // The others are of committed versions.
            _ => {
                self.commit();
                match *step {
                    Step::Compact => {
                        self.pack.compact("model", &mut |_, _| {}).unwrap();
                        self.moved.insert(self.states.len());
                        self.seen();
                    }
                    Step::Rollback(number) => {
                        let version = self.pick(number);
                        self.pack.rollback(version as u64, "model").unwrap();
                        self.now = self.states[version].clone().unwrap();
                        // What was stored anew since is as it was before.
                        self.moved.insert(self.states.len());
                        self.seen();
                    }
                    Step::Tag(number) => {
                        let (name, version) = (format!("t{}", self.puts), self.pick(number));
                        if self.tags.iter().all(|(known, _)| *known != name) {
                            self.pack.tag(&name, version as u64).unwrap();
                            self.tags.push((name, version));
                        }
                    }
                    Step::Untag => {
                        if let Some((name, _)) = self.tags.pop() {
                            assert!(self.pack.untag(&name).unwrap());
                        }
                    }
                    Step::Expire(keep) => self.expire(keep),
                    Step::Reopen => {
                        self.pack = open(&self.below).unwrap();
                        self.auto = self.pack.auto_store();
                    }
                    _ => {}
                }
            }
        }
    }

    fn finish(&mut self) {
        self.commit();
        self.pack = open(&self.below).unwrap();
        (0..self.states.len()).for_each(|version| self.compare(version));
        assert_eq!(self.pack.check(true, &mut |_, _| {}).unwrap(), []);
        self.moved.insert(self.states.len());
        self.pack.compact("the end", &mut |_, _| {}).unwrap();
        self.seen();
    }
}

fn follows(steps: &[Step]) {
    let mut model = Model::new();
    steps.iter().for_each(|step| model.step(step));
    model.finish();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(40) as u32, max_shrink_iters: 4000,
        failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_equals_a_plain_store(steps in prop::collection::vec(step(), 1..120)) {
        follows(&steps);
    }
}

/// An array that is cut along its last axis, merged, and grown again: what was cut is not there any more.
#[test]
fn chunks_that_were_cut_off_do_not_come_back_at_any_level_of_merges() {
    for (between, first) in
        [0, 1, 7, 8, 9, 56, 63, 64, 70, 130].into_iter().flat_map(|n| [(n, true), (n, false)])
    {
        let mut steps = vec![Step::Resize(0, [6, 6, 0], true)];
        steps.extend((0..9).map(|n| Step::Put(0, [n / 3, n % 3, 0], n as u8 + 1)));
        steps.extend(vec![Step::Others(1); between]);
        steps.push(Step::Resize(0, [6, 2, 0], first));
        steps.extend(vec![Step::Others(1); between]);
        steps.push(Step::Put(0, [0, 0, 0], 77));
        steps.extend(vec![Step::Others(1); between]);
        steps.push(Step::Resize(0, [6, 6, 0], true));
        follows(&steps);
    }
}
