//! Streams of chunks: every chunk of a box once, in order or not, with bounded reading ahead.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

use std::sync::Arc;
use std::time::Duration;
use tessarray_array::{
    Array, ArrayError, ArraySpec, ChunkChoice, ChunkStream, CodecChoice, Session, ShardChoice, StreamOptions,
    Streamed,
};
use tessarray_buffer::DataType;
use tessarray_grid::{AxisSelection, Selection};
use tessarray_store::{Key, Kind, MemoryStore, PutMode, RecordStore, Store};

const SHAPE: [u64; 2] = [10, 9];

struct Scene {
    array: Array,
    records: Arc<RecordStore>,
    values: Vec<u8>,
}

/// Chunks of 2 x 3 in shards of 4 x 6, all values other.
fn scene() -> Scene {
    let records = Arc::new(RecordStore::new(Arc::new(MemoryStore::new())));
    let session = Session::builder().threads(2).build();
    let mut spec = ArraySpec::new(&SHAPE, DataType::UInt8);
    spec.chunks = ChunkChoice::Shape(vec![2, 3]);
    spec.shards = ShardChoice::Shape(vec![4, 6]);
    spec.compressors = CodecChoice::List(Vec::new());
    let array = Array::create(&session, records.clone(), "a", &spec, false).unwrap();
    let values: Vec<u8> = (1..=90).collect();
    array.write_bytes(&Selection::all(&SHAPE), &values).unwrap();
    Scene { array, records, values }
}

/// Puts the chunks of a stream to their places; `None` where none came.
fn gathered(stream: ChunkStream) -> (Vec<Option<u8>>, Vec<Vec<u64>>) {
    let mut found = vec![None; 90];
    let mut starts = Vec::new();
    for chunk in stream {
        let chunk = chunk.unwrap();
        let (rows, columns) = (chunk.values.shape()[0], chunk.values.shape()[1]);
        for (i, &value) in chunk.values.bytes().iter().enumerate() {
            let (row, column) = (i as u64 / columns, i as u64 % columns);
            assert!(row < rows);
            let at = (chunk.start[0] + row) * SHAPE[1] + chunk.start[1] + column;
            assert!(found[at as usize].replace(value).is_none(), "an element came twice");
        }
        starts.push(chunk.start);
    }
    (found, starts)
}

#[test]
fn every_element_comes_once_in_chunks_or_shards_in_order_or_not() {
    let scene = scene();
    let expected: Vec<Option<u8>> = scene.values.iter().copied().map(Some).collect();
    for by_shard in [false, true] {
        for ordered in [true, false] {
            for prefetch in [None, Some(1), Some(100)] {
                let options = StreamOptions { ordered, prefetch, by_shard };
                let stream = ChunkStream::new(&scene.array, &Selection::all(&SHAPE), options).unwrap();
                assert_eq!(stream.len(), if by_shard { 6 } else { 15 });
                let (found, starts) = gathered(stream);
                assert_eq!(found, expected, "{options:?}");
                assert!(!ordered || starts.is_sorted(), "{options:?}: {starts:?}");
            }
        }
    }
}

#[test]
fn a_box_is_cut_at_the_chunks_and_anything_else_is_refused() {
    let scene = scene();
    let options = StreamOptions::default();
    let stream = ChunkStream::new(&scene.array, &Selection::region(&[3, 2], &[4, 5]), options).unwrap();
    assert_eq!(stream.len(), 9);
    let (found, starts) = gathered(stream);
    assert_eq!(starts[..3], [vec![3, 2], vec![3, 3], vec![3, 6]]);
    for (at, value) in found.iter().enumerate() {
        let inside = (3..7).contains(&(at / 9)) && (2..7).contains(&(at % 9));
        assert_eq!(*value, inside.then_some(scene.values[at]), "{at}");
    }
    let nothing = Selection::region(&[3, 2], &[0, 5]);
    let mut empty = ChunkStream::new(&scene.array, &nothing, options).unwrap();
    assert!(empty.is_empty() && empty.next().is_none());
    let stepped = AxisSelection::Range { start: 0, step: 2, len: 3 };
    for wrong in [
        Selection::Axes(vec![stepped, AxisSelection::run(0, 9)]),
        Selection::Axes(vec![AxisSelection::List(vec![1, 2]), AxisSelection::run(0, 9)]),
        Selection::Points(vec![vec![1], vec![2]]),
        Selection::region(&[3, 2], &[8, 5]),
    ] {
        assert!(ChunkStream::new(&scene.array, &wrong, options).is_err(), "{wrong:?}");
    }
    let none = StreamOptions { prefetch: Some(0), ..options };
    let error = ChunkStream::new(&scene.array, &Selection::all(&SHAPE), none).unwrap_err();
    assert_eq!(error.to_string(), "prefetch: expected at least 1, found 0");
}

#[test]
fn no_more_is_read_ahead_than_was_asked_for_and_a_closed_stream_reads_no_more() {
    let scene = scene();
    let options = StreamOptions { by_shard: true, prefetch: Some(1), ..StreamOptions::default() };
    let reads = || scene.records.snapshot().of(Kind::Read).calls;
    let before = reads();
    let stream = ChunkStream::new(&scene.array, &Selection::all(&SHAPE), options).unwrap();
    let Streamed::Chunk(first) = stream.next_within(Duration::from_secs(60)) else { panic!("no chunk came") };
    assert_eq!(first.unwrap().start, [0, 0]);
    stream.close();
    let after = reads();
    assert!(matches!(stream.next_within(Duration::ZERO), Streamed::End));
    // The one that was taken, and the one that was under way meanwhile; each reads an index and the chunks.
    assert!(after - before <= 4, "{}", after - before);
    drop(stream);
    assert_eq!(reads(), after);
}

#[test]
fn a_chunk_that_cannot_be_read_is_the_last_item() {
    let scene = scene();
    let key = Key::new("a/c/0/1").unwrap();
    scene.records.put(&key, &[b"torn"], PutMode::Overwrite).unwrap();
    let stream = ChunkStream::new(&scene.array, &Selection::all(&SHAPE), StreamOptions::default()).unwrap();
    let items: Vec<_> = stream.collect();
    assert_eq!(items.len(), 3, "two good chunks of the first row, and the error");
    assert!(items[..2].iter().all(Result::is_ok));
    assert!(matches!(items[2], Err(ArrayError::ShardIndex { .. })), "{:?}", items[2]);
}
