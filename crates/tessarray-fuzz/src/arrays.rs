//! Stored values under a whole array: every way to read one agrees, and so does the check.

use crate::{Outcome, Target};
use serde_json::json;
use std::sync::Arc;
use tessarray_array::{Array, ArraySpec, ChunkChoice, CodecChoice, Session};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;
use tessarray_grid::Selection;
use tessarray_store::{Key, MemoryStore, PutMode, Store};

const EDGE: u64 = 16;

/// Boxes that lie in one inner chunk, in several, and in all.
const BOXES: [([u64; 2], [u64; 2]); 4] =
    [([3, 5], [1, 1]), ([2, 2], [5, 5]), ([7, 0], [2, 16]), ([0, 9], [16, 7])];

fn bytes() -> NamedConfig {
    NamedConfig::new("bytes").with("endian", "little")
}

fn blosc() -> NamedConfig {
    let config = NamedConfig::new("blosc").with("cname", "lz4").with("clevel", 5).with("shuffle", "shuffle");
    // Blocks so small that a part of a chunk needs a part of them.
    config.with("typesize", 2).with("blocksize", 128)
}

/// Shards without a checksum in them, so that the mutator reaches what lies behind it.
fn sharding(chunk: u64, location: &str, codecs: &[NamedConfig]) -> NamedConfig {
    NamedConfig::new("sharding_indexed")
        .with("chunk_shape", json!([chunk, chunk]))
        .with("codecs", codecs.iter().map(NamedConfig::to_json).collect::<Vec<_>>())
        .with("index_codecs", json!([bytes().to_json()]))
        .with("index_location", location)
}

fn layouts() -> Vec<(&'static str, Vec<NamedConfig>)> {
    vec![
        ("array_of_chunks", vec![bytes(), blosc()]),
        ("array_of_checked_chunks", vec![bytes(), blosc(), NamedConfig::new("crc32c")]),
        ("array_of_shards", vec![sharding(8, "end", &[bytes()])]),
        ("array_of_shards_index_first", vec![sharding(8, "start", &[bytes(), blosc()])]),
        ("array_of_shards_in_shards", vec![sharding(8, "end", &[sharding(4, "end", &[bytes()])])]),
        ("array_of_compressed_shards", vec![sharding(8, "end", &[bytes()]), NamedConfig::new("zstd")]),
    ]
}

fn array(store: &Arc<dyn Store>, codecs: &[NamedConfig]) -> Array {
    let session = Session::builder().threads(1).build();
    let mut spec = ArraySpec::new(&[EDGE, EDGE], DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(vec![EDGE, EDGE]);
    spec.compressors = CodecChoice::List(Vec::new());
    let mut metadata = spec.metadata(&session).unwrap();
    metadata.codecs = codecs.to_vec();
    Array::create_with(&session, store.clone(), "a", metadata, true).unwrap()
}

/// The part of a whole read that lies in a box.
fn cut(whole: &[u8], start: [u64; 2], shape: [u64; 2]) -> Vec<u8> {
    let row = |y: u64| ((start[0] + y) * EDGE + start[1]) as usize * 2;
    (0..shape[0]).flat_map(|y| &whole[row(y)..][..shape[1] as usize * 2]).copied().collect()
}

fn check(array: &Array, store: &Arc<dyn Store>, key: &Key, input: &[u8]) -> Outcome {
    store.put(key, &[input], PutMode::Overwrite).map_err(|error| error.to_string())?;
    let everything = Selection::all(&[EDGE, EDGE]);
    let whole = array.read_bytes(&everything);
    let findings = array.check(true).map_err(|error| error.to_string())?;
    assert_eq!(findings.is_empty(), whole.is_ok(), "the check found {findings:?}");
    for (start, shape) in BOXES {
        let region = Selection::region(&start, &shape);
        let part = array.read_bytes(&region);
        if let Ok(whole) = &whole {
            assert_eq!(part.as_ref().ok(), Some(&cut(whole, start, shape)), "{start:?} {shape:?}: {part:?}");
        } else if let Ok(part) = part {
            assert_eq!(part.len() as u64, shape[0] * shape[1] * 2);
        }
    }
    let mut whole = whole.map_err(|error| error.to_string())?;
    // A write of a part changes that part, and nothing else.
    let (start, shape) = BOXES[1];
    let patch: Vec<u8> = (0..shape[0] * shape[1] * 2).map(|i| 200 + i as u8 % 50).collect();
    array.write_bytes(&Selection::region(&start, &shape), &patch).map_err(|error| error.to_string())?;
    for (y, row) in (0..).zip(patch.chunks_exact(shape[1] as usize * 2)) {
        let at = ((start[0] + y) * EDGE + start[1]) as usize * 2;
        whole[at..at + row.len()].copy_from_slice(row);
    }
    assert_eq!(array.read_bytes(&everything).ok(), Some(whole), "a write of a part changed more, or less");
    Ok(())
}

pub fn targets() -> Vec<Target> {
    layouts()
        .into_iter()
        .map(|(name, codecs)| {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let array = array(&store, &codecs);
            let key = Key::new("a/c/0/0").unwrap();
            let seeds = [1, 97].map(|step| {
                let data: Vec<u8> = (0..EDGE * EDGE * 2).map(|i| (i * step / 5) as u8).collect();
                array.write_bytes(&Selection::all(&[EDGE, EDGE]), &data).unwrap();
                store.get(&key).unwrap().unwrap().0.to_vec()
            });
            Target::new(name, seeds.into(), move |input| check(&array, &store, &key, input))
        })
        .collect()
}
