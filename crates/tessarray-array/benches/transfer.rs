//! Moving elements between stored chunks and the caller's memory: `cargo bench -p tessarray-array --bench transfer`.
//!
//! The chunks are not compressed, so that nearly all is the copy, and how it is found.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

mod common;

use common::done;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use std::sync::Arc;
use tessarray_array::{Array, ArraySpec, ChunkChoice, CodecChoice, Session};
use tessarray_buffer::{Arena, DataType, OutputView};
use tessarray_grid::{AxisSelection, Selection};
use tessarray_store::MemoryStore;

const EDGE: u64 = 128;
const SHAPE: [u64; 3] = [EDGE; 3];

fn main() {
    divan::main();
}

/// A written array of chunks of 32 KiB each way.
fn array(fortran: bool) -> Array {
    let mut spec = ArraySpec::new(&SHAPE, DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(vec![8, 32, 64]);
    spec.fortran_order = fortran;
    spec.compressors = CodecChoice::List(Vec::new());
    let session = Session::builder().threads(1).build();
    let array = done(Array::create(&session, Arc::new(MemoryStore::new()), "a", &spec, true));
    done(array.write_bytes(&Selection::all(&SHAPE), &bytes(&Selection::all(&SHAPE))));
    array
}

fn bytes(selection: &Selection) -> Vec<u8> {
    vec![1; selection.shape().iter().product::<u64>() as usize * 2]
}

/// What is taken along each axis, or which points.
const CASES: [&str; 5] = ["all", "every second", "backwards", "lists", "points"];

fn selection(case: &str) -> Selection {
    let axis = |start, step, len| AxisSelection::Range { start, step, len };
    let list = |step: u64, len: u64| -> Vec<u64> { (0..len).map(|i| i * step % EDGE).collect() };
    let each =
        |axis: AxisSelection| Selection::Axes([axis.clone(), axis.clone(), axis].into_iter().collect());
    match case {
        "all" => Selection::all(&SHAPE),
        "every second" => each(axis(0, 2, EDGE / 2)),
        "backwards" => each(axis(EDGE - 1, -1, EDGE)),
        "lists" => each(AxisSelection::List(list(3, EDGE / 2))),
        _ => Selection::Points([7919, 104_729, 31].map(|step| list(step, 100_000)).into()),
    }
}

fn scatter(bencher: Bencher<'_, '_>, array: &Array, case: &str) {
    let selection = selection(case);
    let (shape, mut out) = (selection.shape(), bytes(&selection));
    bencher.counter(BytesCount::new(out.len())).bench_local(|| match OutputView::new(&mut out, &shape, 2) {
        Ok(mut view) => done(array.read_into(black_box(&selection), &mut view, &Arena::new())),
        Err(error) => unreachable!("{error}"),
    });
}

#[divan::bench(args = CASES)]
fn read(bencher: Bencher<'_, '_>, case: &str) {
    scatter(bencher, &array(false), case);
}

#[divan::bench(args = CASES)]
fn read_fortran_chunks(bencher: Bencher<'_, '_>, case: &str) {
    scatter(bencher, &array(true), case);
}

#[divan::bench(args = CASES)]
fn write(bencher: Bencher<'_, '_>, case: &str) {
    let (array, selection) = (array(false), selection(case));
    let input = bytes(&selection);
    bencher
        .counter(BytesCount::new(input.len()))
        .bench_local(|| done(array.write_bytes(black_box(&selection), &input)));
}
