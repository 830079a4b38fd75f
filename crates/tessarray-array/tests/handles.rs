//! Any sequence of writes, appends and resizes by handles that know older shapes equals a plain in-memory model.

#![allow(clippy::unwrap_used)] // a failure here is a failed test

use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use tessarray_array::{Array, ArrayError, ArraySpec, ChunkChoice, CodecChoice, Session, ShardChoice};
use tessarray_buffer::{Arena, DataType, InputView};
use tessarray_codec::NamedConfig;
use tessarray_grid::Selection;
use tessarray_meta::Format;
use tessarray_store::{FileStore, Key, MemoryStore, PutMode, Store};

const FILL: u16 = 7;

/// A step of one of the handles. Places and lengths are cut to what fits.
#[derive(Debug, Clone)]
enum Step {
    /// What lies between two corners of the array as the handle knows it: of fill, where the last says so.
    Write([u64; 2], [u64; 2], bool),
    /// All of the array as the handle knows it.
    WriteAll(bool),
    Append(usize, u64),
    Resize([u64; 2]),
    Refresh,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let pair = || prop::array::uniform2(0u64..10);
    let step = prop_oneof![
        3 => (pair(), pair(), prop::bool::weighted(0.2)).prop_map(|(a, b, fill)| Step::Write(a, b, fill)),
        3 => prop::bool::weighted(0.2).prop_map(Step::WriteAll),
        4 => (0usize..2, 0u64..4).prop_map(|(axis, n)| Step::Append(axis, n)),
        1 => prop::array::uniform2(1u64..10).prop_map(Step::Resize),
        1 => Just(Step::Refresh),
    ];
    (0usize..2, step)
}

/// The array as it is, and where elements are that were ever set.
struct Model {
    shape: [u64; 2],
    data: HashMap<[u64; 2], u16>,
    next: u16,
}

impl Model {
    /// Sets a box to numbers of its own, as far as it lies in the array, and gives all of its bytes.
    fn set(&mut self, from: [u64; 2], shape: [u64; 2], fill: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for i in from[0]..from[0] + shape[0] {
            for j in from[1]..from[1] + shape[1] {
                self.next += 1;
                let value = if fill { FILL } else { self.next };
                bytes.extend(value.to_ne_bytes());
                if i < self.shape[0] && j < self.shape[1] {
                    self.data.insert([i, j], value);
                }
            }
        }
        bytes
    }

    fn bytes(&self) -> Vec<u8> {
        let places = (0..self.shape[0]).flat_map(|i| (0..self.shape[1]).map(move |j| [i, j]));
        places.flat_map(|at| self.data.get(&at).unwrap_or(&FILL).to_ne_bytes()).collect()
    }
}

fn take(array: &Array, model: &mut Model, step: &Step) {
    let known: [u64; 2] = array.shape().try_into().unwrap();
    match step {
        Step::Write(a, b, fill) => {
            let from = [0, 1].map(|axis| a[axis] % known[axis]);
            let shape = [0, 1].map(|axis| 1 + b[axis] % (known[axis] - from[axis]));
            let bytes = model.set(from, shape, *fill);
            array.write_bytes(&Selection::region(&from, &shape), &bytes).unwrap();
        }
        Step::WriteAll(fill) => {
            let bytes = model.set([0, 0], known, *fill);
            array.write_bytes(&Selection::all(&known), &bytes).unwrap();
        }
        Step::Append(axis, n) => {
            let (mut from, mut shape) = ([0, 0], model.shape);
            from[*axis] = shape[*axis];
            shape[*axis] = *n;
            model.shape[*axis] += n;
            let bytes = model.set(from, shape, false);
            let start = array.append(*axis, &InputView::new(&bytes, &shape, 2).unwrap(), &Arena::new());
            assert_eq!(start.unwrap(), from[*axis]);
        }
        Step::Resize(shape) => {
            array.resize(shape).unwrap();
            model.shape = *shape;
            model.data.retain(|at, _| at[0] < shape[0] && at[1] < shape[1]);
        }
        Step::Refresh => array.refresh().unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_sequence_of_changes_by_two_handles_equals_the_model(
        layout in 0u8..4,
        chunks in prop::array::uniform2(1u64..6),
        factors in prop::array::uniform2(1u64..4),
        on_disk in any::<bool>(),
        shape in prop::array::uniform2(1u64..8),
        steps in prop::collection::vec(step(), 1..14),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = match on_disk {
            true => Arc::new(FileStore::new(folder.path()).unwrap()),
            false => Arc::new(MemoryStore::new()),
        };
        let mut spec = ArraySpec::new(&shape, DataType::UInt16);
        spec.fill_value = Some(FILL.into());
        spec.chunks = ChunkChoice::Shape(chunks.to_vec());
        match layout {
            0 => {}
            1 => spec.format = Format::V2,
            _ => spec.shards = ShardChoice::Shape([0, 1].map(|axis| chunks[axis] * factors[axis]).to_vec()),
        }
        if layout == 3 {
            spec.compressors = CodecChoice::List(vec![NamedConfig::new("gzip").with("level", 1)]);
        }
        let session = Session::builder().threads(2).build();
        let first = Array::create(&session, store.clone(), "a", &spec, false).unwrap();
        let handles = [first, Array::open(&session, store.clone(), "a").unwrap()];
        let mut model = Model { shape, data: HashMap::new(), next: 100 };
        for (who, step) in &steps {
            take(&handles[*who], &mut model, step);
            let now = Array::open(&session, store.clone(), "a").unwrap();
            prop_assert_eq!(now.shape(), model.shape.to_vec());
            let found = now.read_bytes(&Selection::all(&model.shape)).unwrap();
            prop_assert_eq!(found, model.bytes(), "after {:?} of {}", step, who);
        }
        handles[0].remove_strays().unwrap();
        prop_assert_eq!(Array::open(&session, store, "a").unwrap().check(true).unwrap(), vec![]);
    }
}

/// An array of three rows in chunks of four, or in a shard of two chunks of two, whose one object is damaged.
fn damaged(shards: bool) -> (Arc<dyn Store>, Array) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut spec = ArraySpec::new(&[3], DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(vec![if shards { 2 } else { 4 }]);
    spec.compressors = CodecChoice::List(vec![NamedConfig::new("crc32c")]);
    if shards {
        spec.shards = ShardChoice::Shape(vec![4]);
    }
    let array = Array::create(&Session::new(), store.clone(), "a", &spec, false).unwrap();
    array.write_bytes(&Selection::all(&[3]), &[1; 6]).unwrap();
    (store, array)
}

fn damage(store: &Arc<dyn Store>) {
    let key = Key::new("a/c/0").unwrap();
    let mut bytes = store.get(&key).unwrap().unwrap().0.to_vec();
    bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
    store.put(&key, &[&bytes], PutMode::Overwrite).unwrap();
}

#[test]
fn a_damaged_object_at_the_end_is_replaced_by_a_write_that_has_all_of_it() {
    for shards in [false, true] {
        let (store, array) = damaged(shards);
        damage(&store);
        array.write_bytes(&Selection::all(&[3]), &[2; 6]).unwrap();
        assert_eq!(array.read_bytes(&Selection::all(&[3])).unwrap(), [2; 6]);
    }
}

#[test]
fn a_damaged_object_at_the_end_that_has_rows_of_others_is_an_error() {
    for shards in [false, true] {
        let (store, array) = damaged(shards);
        let other = Array::open(&Session::new(), store.clone(), "a").unwrap();
        other.append(0, &InputView::new(&[9; 2], &[1], 2).unwrap(), &Arena::new()).unwrap();
        damage(&store);
        let error = array.write_bytes(&Selection::all(&[3]), &[2; 6]).unwrap_err();
        assert!(matches!(error, ArrayError::Chunk { .. } | ArrayError::ShardIndex { .. }), "{error}");
        array.refresh().unwrap();
        array.write_bytes(&Selection::all(&[4]), &[3; 8]).unwrap();
        assert_eq!(array.read_bytes(&Selection::all(&[4])).unwrap(), [3; 8]);
    }
}

/// Of an append under way, the rows are stored, and the document does not say so yet.
#[test]
fn a_damaged_inner_chunk_is_replaced_and_what_an_append_under_way_put_beside_it_stays() {
    let (store, other) = damaged(true);
    other.resize(&[1]).unwrap();
    let older = Array::open(&Session::new(), store.clone(), "a").unwrap();
    let document = Key::new("a/zarr.json").unwrap();
    let before = store.get(&document).unwrap().unwrap().0;
    other.append(0, &InputView::new(&[9; 6], &[3], 2).unwrap(), &Arena::new()).unwrap();
    let after = store.get(&document).unwrap().unwrap().0;
    let object = Key::new("a/c/0").unwrap();
    let mut bytes = store.get(&object).unwrap().unwrap().0.to_vec();
    bytes[0] ^= 0x55;
    store.put(&object, &[&bytes], PutMode::Overwrite).unwrap();

    store.put(&document, &[&after], PutMode::Overwrite).unwrap();
    assert!(older.write_bytes(&Selection::all(&[1]), &[2; 2]).is_err());
    store.put(&document, &[&before], PutMode::Overwrite).unwrap();
    older.write_bytes(&Selection::all(&[1]), &[2; 2]).unwrap();
    store.put(&document, &[&after], PutMode::Overwrite).unwrap();
    other.refresh().unwrap();
    assert_eq!(other.read_bytes(&Selection::region(&[0], &[1])).unwrap(), [2; 2]);
    assert_eq!(other.read_bytes(&Selection::region(&[2], &[2])).unwrap(), [9; 4]);
}
