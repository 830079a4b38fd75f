//! What reads and writes cost: byte ranges, calls and decodes, counted at the store and in a codec.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use support::{Layout, Place, Plane, Random, key};
use tessarray::adapters::{Count, Kind, RecordStore, ThrottleStore, Throttling};
use tessarray::{
    AnyCodec, Arena, Array, ArrayError, ArraySpec, BytesCodec, ChunkChoice, CodecChoice, CodecError,
    DataType, EncodedSize, InputView, MemoryStore, NamedConfig, PutMode, Selection, Session, ShardChoice,
    Store,
};

/// Inner chunks of 32 x 32 elements of two bytes, unencoded; shards of 4 x 4 of them.
const SHAPE: [u64; 2] = [256, 256];
const SHARD: [u64; 2] = [128, 128];
const CHUNK_BYTES: u64 = 32 * 32 * 2;
const INDEX_BYTES: u64 = 16 * 16 + 4;

/// Passes bytes through, and counts.
#[derive(Debug, Default)]
struct Counter {
    encoded: AtomicU64,
    decoded: AtomicU64,
}

#[derive(Debug, Clone)]
struct Counting(Arc<Counter>);

impl BytesCodec for Counting {
    fn config(&self) -> NamedConfig {
        NamedConfig::new("test.counting")
    }
    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::Exact(decoded)
    }
    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.0.encoded.fetch_add(1, Ordering::Relaxed);
        out.extend_from_slice(input);
        Ok(())
    }
    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
        self.0.decoded.fetch_add(1, Ordering::Relaxed);
        if input.len() != out.len() {
            let (expected, found) = (out.len() as u64, input.len() as u64);
            return Err(CodecError::Truncated { codec: "test.counting".into(), expected, found });
        }
        out.copy_from_slice(input);
        Ok(())
    }
    fn decode_bounded(&self, input: &[u8], _: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.extend_from_slice(input);
        Ok(())
    }
}

struct Scene {
    records: Arc<RecordStore>,
    counter: Arc<Counter>,
    session: Session,
    array: Array,
    plane: Plane,
}

impl Scene {
    /// A written array; counts are zero, and no index is cached.
    fn new(shards: bool) -> Self {
        let records = Arc::new(RecordStore::new(Arc::new(MemoryStore::new())));
        let counter = Arc::new(Counter::default());
        let session = Session::builder().threads(2).build();
        let codec = Counting(counter.clone());
        session.register_codec("test.counting", move |_, _| Ok(AnyCodec::Bytes(Arc::new(codec.clone()))));
        let mut spec = ArraySpec::new(&SHAPE, DataType::UInt16);
        spec.chunks = ChunkChoice::Shape(vec![32, 32]);
        spec.shards = if shards { ShardChoice::Shape(SHARD.to_vec()) } else { ShardChoice::None };
        spec.compressors = CodecChoice::List(vec![NamedConfig::new("test.counting")]);
        let array = Array::create(&session, records.clone(), "a", &spec, false).unwrap();
        let plane = Plane::random(SHAPE, 4);
        array.write_bytes(&plane.all(), &plane.bytes()).unwrap();
        let mut scene = Self { records, counter, session, array, plane };
        scene.reopen();
        scene
    }

    fn reopen(&mut self) {
        self.array = Array::open(&self.session, self.records.clone(), "a").unwrap();
        self.reset();
    }

    fn reset(&self) {
        self.records.reset();
        self.counter.encoded.store(0, Ordering::Relaxed);
        self.counter.decoded.store(0, Ordering::Relaxed);
    }

    /// Reads a box, checks the values, and gives what it cost: the store's reads and the chunks decoded.
    fn read(&self, start: [u64; 2], shape: [u64; 2]) -> (Count, u64) {
        self.reset();
        let found = self.array.read_bytes(&Selection::region(&start, &shape)).unwrap();
        assert!(found == self.plane.cut(start, shape).bytes());
        let records = self.records.snapshot();
        assert_eq!(records.total().calls, records.of(Kind::Read).calls, "a read reads, and nothing else");
        (records.of(Kind::Read), self.counter.decoded.load(Ordering::Relaxed))
    }

    fn write(&mut self, start: [u64; 2], shape: [u64; 2]) {
        let patch = Plane::random(shape, 9);
        self.plane.paste(start, &patch);
        self.reset();
        self.array.write_bytes(&Selection::region(&start, &shape), &patch.bytes()).unwrap();
    }

    fn cost(&self, kind: Kind) -> Count {
        self.records.snapshot().of(kind)
    }
}

#[test]
fn a_slice_reads_the_index_once_and_the_ranges_of_its_inner_chunks() {
    let scene = Scene::new(true);
    let (first, decoded) = scene.read([40, 70], [5, 7]);
    assert_eq!((first.ranges, first.bytes_read, decoded), (2, INDEX_BYTES + CHUNK_BYTES, 1));
    let (again, decoded) = scene.read([33, 90], [1, 1]);
    assert_eq!((again.ranges, again.bytes_read, decoded), (1, CHUNK_BYTES, 1), "the index is known");
    let (elsewhere, _) = scene.read([200, 10], [3, 3]);
    assert_eq!(elsewhere.bytes_read, INDEX_BYTES + CHUNK_BYTES, "another shard");
}

#[test]
fn neighbouring_inner_chunks_come_in_one_range() {
    let scene = Scene::new(true);
    scene.read([0, 0], [1, 1]);
    let (row, decoded) = scene.read([5, 3], [2, 120]);
    assert_eq!((row.ranges, row.bytes_read, decoded), (1, 4 * CHUNK_BYTES, 4), "a row of four");
    let (corners, decoded) = scene.read([31, 31], [2, 2]);
    assert_eq!(decoded, 4);
    assert!(corners.ranges <= 2 && corners.bytes_read <= 6 * CHUNK_BYTES, "{corners:?}");
    // Far apart: one range each, and nothing between.
    let (column, decoded) = scene.read([0, 100], [128, 1]);
    assert_eq!((column.ranges, column.bytes_read, decoded), (4, 4 * CHUNK_BYTES, 4));
}

#[test]
fn every_inner_chunk_is_decoded_once_whatever_the_selection() {
    let scene = Scene::new(true);
    let mut random = Random::new(1);
    for (number, selection) in [
        Selection::all(&SHAPE),
        // Thousands of points, out of order and with repeats.
        Selection::Points(vec![
            (0..3000).map(|_| random.below(256)).collect(),
            (0..3000).map(|_| random.below(256)).collect(),
        ]),
        Selection::Axes(vec![
            tessarray::AxisSelection::List((0..256).map(|i| i * 77 % 256).collect()),
            tessarray::AxisSelection::Range { start: 255, step: -3, len: 86 },
        ]),
    ]
    .into_iter()
    .enumerate()
    {
        scene.reset();
        scene.array.read_bytes(&selection).unwrap();
        assert_eq!(scene.counter.decoded.load(Ordering::Relaxed), 64, "selection {number}");
        assert!(scene.cost(Kind::Read).bytes_read <= 4 * INDEX_BYTES + 64 * CHUNK_BYTES);
    }
    let plain = Scene::new(false);
    let (all, decoded) = plain.read([0, 0], SHAPE);
    assert_eq!((all.ranges, all.bytes_read, decoded), (64, 64 * CHUNK_BYTES, 64));
}

#[test]
fn an_inner_chunk_that_is_not_stored_costs_no_read_of_its_own() {
    let mut scene = Scene::new(true);
    let fill = Plane::filled([32, 32]);
    scene.plane.paste([0, 32], &fill);
    scene.array.write_bytes(&Selection::region(&[0, 32], &[32, 32]), &fill.bytes()).unwrap();
    scene.reopen();
    let (read, decoded) = scene.read([5, 40], [10, 10]);
    assert_eq!((read.ranges, read.bytes_read, decoded), (1, INDEX_BYTES, 0));
}

#[test]
fn a_write_of_whole_shards_reads_nothing() {
    let mut scene = Scene::new(true);
    scene.write([0, 0], SHAPE);
    let put = scene.cost(Kind::Put);
    assert_eq!(scene.records.snapshot().total().calls, 4);
    assert_eq!((put.calls, put.bytes_written), (4, 4 * (INDEX_BYTES + 16 * CHUNK_BYTES)));
    assert_eq!(scene.counter.encoded.load(Ordering::Relaxed), 64);
    assert_eq!(scene.counter.decoded.load(Ordering::Relaxed), 0);
    scene.read([0, 0], SHAPE);
}

#[test]
fn a_write_of_a_shard_that_reaches_behind_the_end_reads_it_once_unless_the_writer_is_alone() {
    let mut scene = Scene::new(true);
    scene.array.resize(&[200, 250]).unwrap();
    scene.plane = scene.plane.cut([0, 0], [200, 250]);
    scene.write([128, 128], [72, 122]);
    // Others may have appended to it. Of its three rows of four inner chunks, the last row and column reach behind the end.
    assert_eq!((scene.records.snapshot().total().calls, scene.cost(Kind::Update).calls), (1, 1));
    assert_eq!(scene.counter.encoded.load(Ordering::Relaxed), 12);
    assert_eq!(scene.counter.decoded.load(Ordering::Relaxed), 6);
    scene.read([0, 0], [200, 250]);

    let patch = Plane::random([72, 122], 10);
    scene.plane.paste([128, 128], &patch);
    scene.reset();
    let (selection, bytes) = (Selection::region(&[128, 128], &[72, 122]), patch.bytes());
    let input = InputView::new(&bytes, &[72, 122], 2).unwrap();
    scene.array.write_alone(&selection, &input, &Arena::new()).unwrap();
    assert_eq!((scene.records.snapshot().total().calls, scene.cost(Kind::Put).calls), (1, 1));
    assert_eq!(scene.counter.decoded.load(Ordering::Relaxed), 0);
    scene.read([0, 0], [200, 250]);
}

#[test]
fn a_write_of_part_of_a_shard_reads_it_once_and_decodes_only_what_it_changes_in_part() {
    let mut scene = Scene::new(true);
    scene.write([16, 32], [32, 64]);
    let update = scene.cost(Kind::Update);
    assert_eq!(scene.records.snapshot().total().calls, 1);
    assert_eq!((update.calls, update.bytes_read), (1, INDEX_BYTES + 16 * CHUNK_BYTES));
    // Two rows of two inner chunks, each of them half covered.
    assert_eq!(scene.counter.encoded.load(Ordering::Relaxed), 4);
    assert_eq!(scene.counter.decoded.load(Ordering::Relaxed), 4);
    scene.write([32, 32], [32, 64]);
    assert_eq!(scene.counter.encoded.load(Ordering::Relaxed), 2);
    assert_eq!(scene.counter.decoded.load(Ordering::Relaxed), 0, "whole inner chunks need no old value");
    scene.read([0, 0], SHAPE);
}

#[test]
fn an_append_reads_and_writes_the_metadata_once() {
    for (rows, puts, updates) in [(128, 2, 1), (40, 2, 1)] {
        let mut scene = Scene::new(true);
        scene.reset();
        let more = Plane::random([rows, 256], 8);
        let bytes = more.bytes();
        scene.array.append(0, &InputView::new(&bytes, &more.shape, 2).unwrap(), &Arena::new()).unwrap();
        assert_eq!((scene.cost(Kind::Put).calls, scene.cost(Kind::Update).calls), (puts, updates));
        assert_eq!(scene.records.snapshot().total().calls, puts + updates);
        scene.plane = scene.plane.resized([256 + rows, 256]);
        scene.plane.paste([256, 0], &more);
        scene.read([0, 0], [256 + rows, 256]);
    }
}

#[test]
fn opening_an_array_is_one_read() {
    let mut scene = Scene::new(true);
    scene.reset();
    scene.array = Array::open(&scene.session, scene.records.clone(), "a").unwrap();
    assert_eq!((scene.records.snapshot().total().calls, scene.cost(Kind::Read).ranges), (1, 1));
}

#[test]
fn a_store_that_is_far_away_gives_equal_answers_in_few_batches() {
    let how = Throttling { first_byte: Duration::from_millis(1), bandwidth: 1 << 30, concurrency: 4 };
    let session = Session::builder().threads(2).build();
    for layout in Layout::ALL {
        // One for each level of indexes, and one for the chunks.
        let batches = match layout {
            Layout::Plain | Layout::V2 => 1,
            Layout::Sharded | Layout::IndexFirst => 2,
            Layout::Nested => 3,
        };
        let place = Place::memory();
        let plane = Plane::random([120, 130], 6);
        let array = layout.create(&session, place.store.clone(), "a", &plane.shape, &[24, 24]);
        array.write_bytes(&plane.all(), &plane.bytes()).unwrap();
        let throttled = Arc::new(ThrottleStore::new(place.store.clone(), how));
        let records = Arc::new(RecordStore::new(throttled));
        let far = Array::open(&session, records.clone(), "a").unwrap();
        for (start, shape) in
            [([0, 0], [120, 130]), ([5, 9], [100, 3]), ([70, 1], [1, 120]), ([119, 129], [1, 1])]
        {
            records.reset();
            let found = far.read_bytes(&Selection::region(&start, &shape)).unwrap();
            assert!(found == plane.cut(start, shape).bytes(), "{layout:?} {start:?}");
            let calls = records.snapshot().of(Kind::Read).calls;
            assert!(calls <= batches, "{layout:?} {start:?}: {calls} batches");
        }
        // Writes and appends through it end up as the near ones do.
        let patch = Plane::random([50, 60], 7);
        far.write_bytes(&Selection::region(&[11, 13], &patch.shape), &patch.bytes()).unwrap();
        let mut expected = plane.clone();
        expected.paste([11, 13], &patch);
        assert!(array.read_bytes(&plane.all()).unwrap() == expected.bytes(), "{layout:?}");
        let bytes = patch.cut([0, 0], [50, 0]).bytes();
        let none = InputView::new(&bytes, &[0, 130], 2).unwrap();
        assert_eq!(far.append(0, &none, &Arena::new()).unwrap(), 120);
    }
}

#[test]
fn a_partial_read_verifies_the_checksum_of_all_it_was_sent() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let session = Session::builder().threads(1).build();
    // Many blocks of blosc in one chunk, of which the read needs the first.
    let plane = Plane::random([1024, 512], 6);
    let mut spec = ArraySpec::new(&plane.shape, DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(plane.shape.to_vec());
    let array = Array::create(&session, store.clone(), "a", &spec, false).unwrap();
    array.write_bytes(&plane.all(), &plane.bytes()).unwrap();
    let stored = store.get(&key("a/c/0/0")).unwrap().unwrap().0;
    let first = Selection::region(&[0, 0], &[1, 10]);
    assert_eq!(array.read_bytes(&first).unwrap(), plane.cut([0, 0], [1, 10]).bytes());
    for at in [stored.len() / 2, stored.len() - 5, stored.len() - 1] {
        let mut damaged = stored.to_vec();
        damaged[at] ^= 0x10;
        store.put(&key("a/c/0/0"), &[&damaged], PutMode::Overwrite).unwrap();
        let error = array.read_bytes(&first).unwrap_err();
        assert!(
            matches!(&error, ArrayError::Chunk { source: CodecError::Checksum { .. }, .. }),
            "{at}: {error:?}"
        );
    }
}
