//! Every single bit of small stored values flipped, and plain chunks cut at every length: with the default codecs no
//! wrong value is ever given out, by full reads or by partial ones.

use super::support::{Layout, Plane, key};
use super::{assert_names, memory, session};
use std::sync::Arc;
use tessarray::{Array, ArrayError, CodecError, MemoryStore, PutMode, Selection, Store};

const OBJECT: [u64; 2] = [12, 18];

fn stored(layout: Layout) -> (Arc<dyn Store>, Array, Plane, Vec<u8>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let plane = Plane::random(OBJECT, 5);
    let array = layout.create(&session(), store.clone(), "a", &OBJECT, &OBJECT);
    array.write_bytes(&plane.all(), &plane.bytes()).unwrap();
    let bytes = store.get(&key("a/c/0/0")).unwrap().unwrap().0.to_vec();
    (store, array, plane, bytes)
}

/// Reads everything and parts, each of a few inner chunks, with their right values.
fn reads(plane: &Plane) -> Vec<(Selection, Vec<u8>)> {
    let boxes =
        [([0, 0], [12, 18]), ([0, 0], [1, 1]), ([5, 7], [1, 1]), ([11, 17], [1, 1]), ([3, 5], [2, 4])];
    boxes.map(|(start, shape)| (Selection::region(&start, &shape), plane.cut(start, shape).bytes())).into()
}

fn every_flip_is_seen(layout: Layout) {
    let (store, array, plane, bytes) = stored(layout);
    let reads = reads(&plane);
    let (mut seen, mut harmless) = (0, 0);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        store.put(&key("a/c/0/0"), &[&flipped], PutMode::Overwrite).unwrap();
        for (number, (selection, expected)) in reads.iter().enumerate() {
            match array.read_bytes(selection) {
                Ok(found) => {
                    assert!(found == *expected, "bit {bit}: wrong values for {selection:?}");
                    assert!(number > 0, "bit {bit}: a full read saw nothing");
                    harmless += 1;
                }
                Err(error) => {
                    assert_names(&error, "a/c/0/0", &format!("bit {bit}"));
                    seen += 1;
                }
            }
        }
        // Damage is not written on as if it were good.
        if array.write_bytes(&Selection::region(&[5, 7], &[1, 1]), &[1, 1]).is_ok() {
            assert!(layout != Layout::Plain, "bit {bit}: a damaged chunk was taken over");
            array.read_bytes(&plane.all()).unwrap_err();
        }
        assert!(!array.check(false).unwrap().is_empty(), "bit {bit}: check saw nothing");
    }
    assert!(seen >= bytes.len() * 8 && (harmless > 0) == (layout != Layout::Plain), "{seen} {harmless}");
}

#[test]
fn every_flipped_bit_of_a_plain_chunk_is_seen_by_full_and_partial_reads() {
    let _alone = memory::alone();
    every_flip_is_seen(Layout::Plain);
}

#[test]
fn every_flipped_bit_of_a_shard_is_seen_by_full_and_partial_reads() {
    let _alone = memory::alone();
    every_flip_is_seen(Layout::Sharded);
}

#[test]
fn every_flipped_bit_of_a_shard_with_its_index_first_is_seen_by_full_and_partial_reads() {
    let _alone = memory::alone();
    every_flip_is_seen(Layout::IndexFirst);
}

#[test]
fn every_flipped_bit_of_nested_shards_is_seen_by_full_and_partial_reads() {
    let _alone = memory::alone();
    every_flip_is_seen(Layout::Nested);
}

#[test]
fn a_chunk_cut_at_any_length_is_an_error_and_never_fill() {
    let _alone = memory::alone();
    for layout in Layout::ALL {
        let (store, array, plane, bytes) = match layout {
            Layout::V2 => continue,
            other => stored(other),
        };
        for length in 0..bytes.len() {
            store.put(&key("a/c/0/0"), &[&bytes[..length]], PutMode::Overwrite).unwrap();
            for (selection, _) in reads(&plane) {
                let error = array.read_bytes(&selection).unwrap_err();
                assert_names(&error, "a/c/0/0", &format!("{layout:?}: {length} bytes"));
                let (ArrayError::ShardIndex { .. }
                | ArrayError::Chunk {
                    source:
                        CodecError::Truncated { .. } | CodecError::Checksum { .. } | CodecError::Corrupt { .. },
                    ..
                }) = error
                else {
                    panic!("{length} bytes: {error:?}")
                };
            }
        }
    }
}
