//! Partial reads of large chunks: all of a chunk is read, and verified, once; later reads take the blocks they need.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use std::sync::Arc;
use support::{Plane, Random, key};
use tessarray::adapters::{Kind, RecordStore};
use tessarray::{
    Array, ArrayError, ArraySpec, AxisSelection, ChunkChoice, CodecChoice, CodecError, DataType, MemoryStore,
    NamedConfig, PutMode, Selection, Session, Store, codec_from_text,
};

const SHAPE: [u64; 2] = [700, 900];
const CHUNK: [u64; 2] = [650, 880];

const CHAINS: [&[&str]; 7] = [
    &[],
    &["crc32c"],
    &["blosc:lz4:5:shuffle", "crc32c"],
    &["blosc:zstd:3:bitshuffle", "crc32c"],
    &["blosc:lz4:5:noshuffle"],
    &["zstd:1", "crc32c"],
    &["adler32", "crc32c"],
];

struct Scene {
    records: Arc<RecordStore>,
    session: Session,
    array: Array,
    plane: Plane,
}

/// Noise that compresses to a part of its size, or not at all.
fn plane(noisy: bool) -> Plane {
    let mut plane = Plane::random(SHAPE, 3);
    if !noisy {
        plane.data.iter_mut().enumerate().for_each(|(i, value)| *value = *value % 8 + (i / 300) as u16);
    }
    plane
}

impl Scene {
    fn new(chain: &[&str], noisy: bool, transposed: bool) -> Self {
        let records = Arc::new(RecordStore::new(Arc::new(MemoryStore::new())));
        let session = Session::builder().threads(2).build();
        let mut spec = ArraySpec::new(&SHAPE, DataType::UInt16);
        spec.chunks = ChunkChoice::Shape(CHUNK.to_vec());
        let codecs = chain.iter().flat_map(|text| codec_from_text(text).unwrap());
        spec.compressors = CodecChoice::List(codecs.collect());
        spec.filters = CodecChoice::List(if transposed {
            vec![NamedConfig::new("transpose").with("order", vec![1, 0])]
        } else {
            Vec::new()
        });
        let array = Array::create(&session, records.clone(), "a", &spec, false).unwrap();
        let plane = plane(noisy);
        array.write_bytes(&plane.all(), &plane.bytes()).unwrap();
        Self { records, session, array, plane }
    }

    fn read(&self, start: [u64; 2], shape: [u64; 2]) -> u64 {
        self.records.reset();
        let found = self.array.read_bytes(&Selection::region(&start, &shape)).unwrap();
        assert!(found == self.plane.cut(start, shape).bytes(), "{start:?} {shape:?}");
        self.records.snapshot().of(Kind::Read).bytes_read
    }
}

#[test]
fn parts_of_verified_chunks_are_right_whatever_the_selection_and_the_codecs() {
    for chain in CHAINS {
        for (noisy, transposed) in [(true, false), (false, false), (false, true)] {
            let scene = Scene::new(chain, noisy, transposed);
            scene.read([0, 0], SHAPE);
            let mut random = Random::new(7);
            for _ in 0..60 {
                let start = [random.below(SHAPE[0]), random.below(SHAPE[1])];
                let most = [SHAPE[0] - start[0], SHAPE[1] - start[1]];
                let small = [most[0].min(40), most[1].min(40)];
                let shape = [1 + random.below(small[0]), 1 + random.below(small[1])];
                scene.read(start, shape);
                scene.read([start[0], 0], [1, SHAPE[1]]);
                scene.read([0, start[1]], [SHAPE[0], 1]);
            }
            let lists: Vec<Vec<u64>> =
                SHAPE.iter().map(|&n| (0..50).map(|_| random.below(n)).collect()).collect();
            let points = scene.array.read_bytes(&Selection::Points(lists.clone())).unwrap();
            let at = |i: usize| (lists[0][i] * SHAPE[1] + lists[1][i]) as usize;
            let expected: Vec<u8> = (0..50).flat_map(|i| scene.plane.data[at(i)].to_ne_bytes()).collect();
            assert!(points == expected, "{chain:?}: points");
            let strided = Selection::Axes(vec![
                AxisSelection::Range { start: 690, step: -170, len: 4 },
                AxisSelection::List(vec![880, 3, 3, 500]),
            ]);
            let found = scene.array.read_bytes(&strided).unwrap();
            let rows = (0..4).map(|i| 690 - 170 * i);
            let expected: Vec<u8> = rows
                .flat_map(|row: u64| [880, 3, 3, 500].map(|column| (row * SHAPE[1] + column) as usize))
                .flat_map(|at| scene.plane.data[at].to_ne_bytes())
                .collect();
            assert!(found == expected, "{chain:?}: lists");
        }
    }
}

#[test]
fn an_element_of_a_verified_chunk_costs_a_block_and_not_the_chunk() {
    for (chain, most) in [(CHAINS[1], 100), (CHAINS[2], 600_000), (CHAINS[3], 600_000)] {
        let scene = Scene::new(chain, true, false);
        let whole = scene.read([7, 8], [1, 1]);
        assert!(whole > 100_000, "the first time all of it is verified: {whole}");
        let part = scene.read([300, 30], [1, 1]);
        assert!(part <= most && part < whole * 2 / 3, "{chain:?}: {part}");
        // Another array, also of the same store, verifies for itself.
        let other = Array::open(&scene.session, scene.records.clone(), "a").unwrap();
        scene.records.reset();
        other.read_bytes(&Selection::region(&[300, 30], &[1, 1])).unwrap();
        assert_eq!(scene.records.snapshot().of(Kind::Read).bytes_read, whole);
    }
}

#[test]
fn a_chunk_that_was_written_since_is_verified_again() {
    for chain in CHAINS {
        let mut scene = Scene::new(chain, false, false);
        let whole = scene.read([1, 1], [3, 3]);
        scene.read([100, 100], [3, 3]);
        // By somebody else.
        let other = Array::open(&scene.session, scene.records.clone(), "a").unwrap();
        let patch = Plane::random([5, 5], 1);
        other.write_bytes(&Selection::region(&[100, 100], &[5, 5]), &patch.bytes()).unwrap();
        scene.plane.paste([100, 100], &patch);
        assert!(scene.read([99, 99], [7, 7]) > whole / 2, "{chain:?}: read whole");
        scene.read([102, 100], [1, 2]);
        // Gone: fill values.
        scene.records.delete(&key("a/c/0/0")).unwrap();
        let found = scene.array.read_bytes(&Selection::region(&[100, 100], &[1, 2])).unwrap();
        assert_eq!(found, [0; 4]);
    }
}

#[test]
fn damage_that_was_put_since_is_found_by_a_part_that_does_not_need_it() {
    let scene = Scene::new(CHAINS[2], false, false);
    scene.read([0, 0], SHAPE);
    let stored = scene.records.get(&key("a/c/0/0")).unwrap().unwrap().0;
    for at in [20, stored.len() / 2, stored.len() - 1] {
        let mut damaged = stored.to_vec();
        damaged[at] ^= 1;
        scene.records.put(&key("a/c/0/0"), &[&damaged], PutMode::Overwrite).unwrap();
        let error = scene.array.read_bytes(&Selection::region(&[0, 0], &[1, 1])).unwrap_err();
        let found = matches!(&error, ArrayError::Chunk { source: CodecError::Checksum { .. }, .. });
        assert!(found, "{at}: {error:?}");
    }
}
