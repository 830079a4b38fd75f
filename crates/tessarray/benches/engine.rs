//! Whole calls in memory: write, read all, 100 random cubes. `cargo bench -p tessarray --bench engine`.
//!
//! A camera-like u16 array of (64, 512, 512) in shards of (64, 256, 256) of inner chunks (32, 32, 32), blosc lz4 with
//! byte shuffle and crc32c: the default chain. The cases after them show what the figures of
//! `tessarray-array/src/execute/costs.rs` decide: move a figure there, and compare.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use std::sync::Arc;
use tessarray::{
    Arena, Array, ArraySpec, ChunkChoice, DataType, MemoryStore, OutputView, Result, Selection, Session,
    ShardChoice,
};

const SHAPE: [u64; 3] = [64, 512, 512];
const THREADS: [usize; 2] = [1, 0];

fn main() {
    divan::main();
}

/// A smooth gradient with a little noise, of 12-bit values in 16 bits.
fn camera() -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut out = Vec::with_capacity((SHAPE.iter().product::<u64>() * 2) as usize);
    for i in 0..SHAPE.iter().product::<u64>() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // The sum of a few uniform numbers is close to normal.
        let noise = (0..4).map(|k| (state >> (8 * k)) & 15).sum::<u64>();
        let value = (400 + i % 512 + (i / 512) % 512 / 2 + noise) & 0xFFF;
        out.extend_from_slice(&(value as u16).to_ne_bytes());
    }
    out
}

/// A session; `threads` of 0 are as many as there are cores.
fn session(threads: usize) -> Session {
    let builder = Session::builder();
    if threads == 0 { builder } else { builder.threads(threads) }.build()
}

/// An empty array of the camera's shape.
fn array(threads: usize) -> Array {
    let session = session(threads);
    let mut spec = ArraySpec::new(&SHAPE, DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(vec![32, 32, 32]);
    spec.shards = ShardChoice::Shape(vec![64, 256, 256]);
    done(Array::create(&session, Arc::new(MemoryStore::new()), "a", &spec, true))
}

fn written(threads: usize) -> Array {
    let array = array(threads);
    done(array.write_bytes(&Selection::all(&SHAPE), &camera()));
    array
}

fn done<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => unreachable!("{error}"),
    }
}

fn read(array: &Array, selection: &Selection, out: &mut [u8]) {
    let mut view = match OutputView::new(out, &selection.shape(), 2) {
        Ok(view) => view,
        Err(error) => unreachable!("{error}"),
    };
    done(array.read_into(selection, &mut view, &Arena::new()));
}

#[divan::bench(args = THREADS)]
fn write(bencher: Bencher<'_, '_>, threads: usize) {
    let (array, image, all) = (array(threads), camera(), Selection::all(&SHAPE));
    bencher
        .counter(BytesCount::from(image.len()))
        .bench_local(|| done(array.write_bytes(black_box(&all), &image)));
}

#[divan::bench(args = THREADS)]
fn read_all(bencher: Bencher<'_, '_>, threads: usize) {
    let (array, all) = (written(threads), Selection::all(&SHAPE));
    let mut out = vec![0; (SHAPE.iter().product::<u64>() * 2) as usize];
    bencher.counter(BytesCount::from(out.len())).bench_local(|| read(&array, black_box(&all), &mut out));
}

#[divan::bench(args = THREADS)]
fn read_100_random_cubes(bencher: Bencher<'_, '_>, threads: usize) {
    let array = written(threads);
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let cubes: Vec<Selection> =
        (0..100).map(|_| Selection::region(&[below(32), below(480), below(480)], &[32, 32, 32])).collect();
    let mut out = vec![0; 32 * 32 * 32 * 2];
    bencher
        .counter(BytesCount::from(100 * out.len()))
        .bench_local(|| cubes.iter().for_each(|cube| read(&array, black_box(cube), &mut out)));
}

/// Bytes in kB (of 1024) and threads: on both sides of the sizes up to which a call stays on its thread.
const SMALL: [(u64, usize); 10] =
    [(32, 1), (32, 0), (64, 1), (64, 0), (96, 1), (96, 0), (192, 1), (192, 0), (768, 1), (768, 0)];

/// An array of so many kilobytes in eight chunks, and its values.
fn small(kilobytes: u64, threads: usize) -> (Array, Vec<u8>) {
    let length = kilobytes * 512;
    let mut spec = ArraySpec::new(&[length], DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(vec![length / 8]);
    let array = done(Array::create(&session(threads), Arc::new(MemoryStore::new()), "a", &spec, true));
    let mut values = camera();
    values.truncate(length as usize * 2);
    (array, values)
}

#[divan::bench(args = SMALL)]
fn small_reads(bencher: Bencher<'_, '_>, (kilobytes, threads): (u64, usize)) {
    let (array, mut values) = small(kilobytes, threads);
    let all = Selection::all(&array.shape());
    done(array.write_bytes(&all, &values));
    bencher
        .counter(BytesCount::from(values.len()))
        .bench_local(|| read(&array, black_box(&all), &mut values));
}

#[divan::bench(args = SMALL)]
fn small_writes(bencher: Bencher<'_, '_>, (kilobytes, threads): (u64, usize)) {
    let (array, values) = small(kilobytes, threads);
    let all = Selection::all(&array.shape());
    bencher
        .counter(BytesCount::from(values.len()))
        .bench_local(|| done(array.write_bytes(black_box(&all), &values)));
}

/// One plane of four large chunks that were seen before: their blocks are read and decoded in slabs.
#[divan::bench(args = THREADS)]
fn planes_of_large_chunks(bencher: Bencher<'_, '_>, threads: usize) {
    let mut spec = ArraySpec::new(&SHAPE, DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(vec![64, 256, 256]);
    let array = done(Array::create(&session(threads), Arc::new(MemoryStore::new()), "a", &spec, true));
    done(array.write_bytes(&Selection::all(&SHAPE), &camera()));
    let plane = Selection::region(&[7, 0, 0], &[1, SHAPE[1], SHAPE[2]]);
    let mut out = vec![0; (SHAPE[1] * SHAPE[2] * 2) as usize];
    read(&array, &plane, &mut out);
    bencher.counter(BytesCount::from(out.len())).bench_local(|| read(&array, black_box(&plane), &mut out));
}

/// One row through all inner chunks of two shards: which byte ranges are read together.
#[divan::bench(args = THREADS)]
fn rows_across_shards(bencher: Bencher<'_, '_>, threads: usize) {
    let array = written(threads);
    let row = Selection::region(&[5, 77, 0], &[1, 1, SHAPE[2]]);
    let mut out = vec![0; SHAPE[2] as usize * 2];
    bencher.counter(BytesCount::from(out.len())).bench_local(|| read(&array, black_box(&row), &mut out));
}
