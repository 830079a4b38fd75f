//! Frames of a camera through the appender, in memory: `cargo bench -p tessarray-array --bench appender`.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

mod common;

use common::done;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use std::sync::Arc;
use tessarray_array::{Appender, Array, ArraySpec, ChunkChoice, CodecChoice, Session, ShardChoice};
use tessarray_buffer::{DataType, InputView};
use tessarray_store::MemoryStore;

const EDGE: u64 = 512;
const FRAMES: u64 = 64;

fn main() {
    divan::main();
}

/// How the array is cut: chunks of which a frame touches many, chunks that are tiles of a layer, and shards.
const CASES: [&str; 3] = ["chunks of 64 KiB", "chunks of 512 KiB", "shards of 8 MiB"];

fn empty(case: &str, compressed: bool) -> Array {
    let mut spec = ArraySpec::new(&[0, EDGE, EDGE], DataType::UInt16);
    let (chunk, shard) = match case {
        "chunks of 64 KiB" => (vec![32, 32, 32], None),
        "chunks of 512 KiB" => (vec![16, 128, 128], None),
        _ => (vec![32, 32, 32], Some(vec![64, 256, 256])),
    };
    spec.chunks = ChunkChoice::Shape(chunk);
    spec.shards = shard.map_or(ShardChoice::None, ShardChoice::Shape);
    if !compressed {
        spec.compressors = CodecChoice::List(Vec::new());
    }
    let session = Session::builder().build();
    done(Array::create(&session, Arc::new(MemoryStore::new()), "a", &spec, true))
}

fn frame() -> Vec<u8> {
    let value = |i: u64| 400 + (i % EDGE) as u16 + (i.wrapping_mul(0x9E37_79B9) >> 28 & 15) as u16;
    (0..EDGE * EDGE).flat_map(|i| value(i).to_ne_bytes()).collect()
}

fn append(bencher: Bencher<'_, '_>, case: &str, compressed: bool) {
    let frame = frame();
    let appended = |array: Array| {
        let appender = done(Appender::new(&array, 0, 64 << 20));
        for _ in 0..FRAMES {
            match InputView::new(black_box(&frame), &[1, EDGE, EDGE], 2) {
                Ok(input) => done(appender.append(&input)),
                Err(error) => unreachable!("{error}"),
            }
        }
        done(appender.close());
        array
    };
    bencher
        .counter(BytesCount::new(frame.len() * FRAMES as usize))
        .with_inputs(|| empty(case, compressed))
        .bench_local_values(appended);
}

/// The default codecs: as fast as the encoders are.
#[divan::bench(args = CASES)]
fn frames(bencher: Bencher<'_, '_>, case: &str) {
    append(bencher, case, true);
}

/// No codecs: what the appender itself costs, and the copies.
#[divan::bench(args = CASES)]
fn frames_uncompressed(bencher: Bencher<'_, '_>, case: &str) {
    append(bencher, case, false);
}
