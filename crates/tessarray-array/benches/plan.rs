//! What planning costs, seen through the public calls: `cargo bench -p tessarray-array --bench plan`.
//!
//! Chunks that are not stored cost a plan, a look at the index and the fill, so that their reads are nearly all plan.

mod common;

use common::done;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use std::sync::Arc;
use tessarray_array::{Array, ArraySpec, ChunkChoice, CodecChoice, Session, ShardChoice};
use tessarray_buffer::{Arena, DataType, OutputView};
use tessarray_grid::Selection;
use tessarray_store::MemoryStore;

fn main() {
    divan::main();
}

fn array(shape: &[u64], chunk: &[u64], shard: &[u64]) -> Array {
    let mut spec = ArraySpec::new(shape, DataType::UInt8);
    spec.chunks = ChunkChoice::Shape(chunk.to_vec());
    spec.shards = ShardChoice::Shape(shard.to_vec());
    spec.compressors = CodecChoice::List(Vec::new());
    let session = Session::builder().threads(1).build();
    done(Array::create(&session, Arc::new(MemoryStore::new()), "a", &spec, true))
}

fn read(array: &Array, selection: &Selection, out: &mut [u8]) {
    let mut view = match OutputView::new(out, &selection.shape(), 1) {
        Ok(view) => view,
        Err(error) => unreachable!("{error}"),
    };
    done(array.read_into(selection, &mut view, &Arena::new()));
}

/// A million inner chunks of one element, in 100 shards of which none is stored.
#[divan::bench]
fn a_million_inner_chunks_that_are_missing(bencher: Bencher<'_, '_>) {
    let array = array(&[1000, 1000], &[1, 1], &[100, 100]);
    let (all, mut out) = (Selection::all(&[1000, 1000]), vec![0; 1_000_000]);
    bencher.counter(ItemsCount::new(1_000_000u32)).bench_local(|| read(&array, black_box(&all), &mut out));
}

/// The same, where every inner chunk is stored, so each is looked up, merged with its neighbours and copied.
#[divan::bench]
fn a_million_inner_chunks_that_are_stored(bencher: Bencher<'_, '_>) {
    let array = array(&[1000, 1000], &[1, 1], &[100, 100]);
    let (all, mut out) = (Selection::all(&[1000, 1000]), vec![0; 1_000_000]);
    done(array.write_bytes(&all, &vec![1; 1_000_000]));
    bencher.counter(ItemsCount::new(1_000_000u32)).bench_local(|| read(&array, black_box(&all), &mut out));
}

/// A hundred thousand single elements by their coordinates.
#[divan::bench]
fn a_hundred_thousand_points_that_are_missing(bencher: Bencher<'_, '_>) {
    let array = array(&[1000, 1000], &[1, 1], &[100, 100]);
    let lists = [7919, 104_729].map(|step| (0..100_000u64).map(|i| i * step % 1000).collect());
    let (points, mut out) = (Selection::Points(lists.into()), vec![0; 100_000]);
    bencher.counter(ItemsCount::new(100_000u32)).bench_local(|| read(&array, black_box(&points), &mut out));
}

/// One element of a written array: what a call costs.
#[divan::bench]
fn one_element(bencher: Bencher<'_, '_>) {
    let array = array(&[512, 512], &[16, 16], &[256, 256]);
    done(array.write_bytes(&Selection::all(&[512, 512]), &vec![1; 512 * 512]));
    let (element, mut out) = (Selection::region(&[300, 77], &[1, 1]), [0]);
    bencher.bench_local(|| read(&array, black_box(&element), &mut out));
}

/// One row of a written array: 32 inner chunks in two shards.
#[divan::bench]
fn one_row(bencher: Bencher<'_, '_>) {
    let array = array(&[512, 512], &[16, 16], &[256, 256]);
    done(array.write_bytes(&Selection::all(&[512, 512]), &vec![1; 512 * 512]));
    let (row, mut out) = (Selection::region(&[300, 0], &[1, 512]), [0; 512]);
    bencher.bench_local(|| read(&array, black_box(&row), &mut out));
}
