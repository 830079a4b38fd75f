//! Copies between strided arrays, and fills: `cargo bench -p tessarray-buffer --bench memory`.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use tessarray_buffer::{Lie, Pages, Strides, c_strides, copy_between, fill_with, is_filled_with, zeroed};

fn main() {
    divan::main();
}

/// What lies where: a box of 64 x 64 x 64 elements, 4 MiB at most.
const EDGE: u64 = 64;
const ITEMS: [usize; 5] = [1, 2, 4, 8, 16];

/// Copies the box between memory of these strides; a zero stride repeats.
fn copy(bencher: Bencher<'_, '_>, item: usize, from: &[isize], to: &[isize]) {
    let reach = |strides: &[isize]| {
        strides.iter().map(|&stride| stride as usize * (EDGE as usize - 1)).sum::<usize>() + item
    };
    let (src, mut dst) = (vec![7u8; reach(from)], vec![0u8; reach(to)]);
    bencher.counter(BytesCount::new(EDGE.pow(3) as usize * item)).bench_local(|| {
        let (from, to) = (Lie { start: 0, strides: from }, Lie { start: 0, strides: to });
        copy_between(black_box(&src), from, &mut dst, to, &[EDGE; 3], item);
        black_box(&mut dst);
    });
}

fn c(item: usize) -> Strides {
    c_strides(&[EDGE; 3], item)
}

/// A chunk to its place in an array of 256 x 256 elements a plane, and back.
fn wide(item: usize) -> Strides {
    c_strides(&[EDGE, 256, 256], item)
}

#[divan::bench(args = ITEMS)]
fn one_run(bencher: Bencher<'_, '_>, item: usize) {
    copy(bencher, item, &c(item), &c(item));
}

#[divan::bench(args = ITEMS)]
fn rows_scattered(bencher: Bencher<'_, '_>, item: usize) {
    copy(bencher, item, &c(item), &wide(item));
}

#[divan::bench(args = ITEMS)]
fn rows_gathered(bencher: Bencher<'_, '_>, item: usize) {
    copy(bencher, item, &wide(item), &c(item));
}

#[divan::bench(args = ITEMS)]
fn transposed(bencher: Bencher<'_, '_>, item: usize) {
    let mut fortran = c(item);
    fortran.reverse();
    copy(bencher, item, &fortran, &c(item));
}

/// An array of two-byte elements in Fortran order, which no cache holds, and bytes before its first element: NumPy's
/// large arrays begin at 16.
const FORTRAN: [u64; 3] = [256, 1024, 1024];
const OFFSETS: [usize; 2] = [0, 16];

/// Gathers one cubic chunk after another in C order, as a write does.
fn from_fortran(bencher: Bencher<'_, '_>, offset: usize, edge: u64) {
    let bytes = FORTRAN.iter().product::<u64>() as usize * 2;
    let Some(mut pages) = Pages::zeroed(bytes + offset) else { return };
    let src = pages.bytes_mut();
    src.fill(7);
    let mut from = c_strides(&[FORTRAN[2], FORTRAN[1], FORTRAN[0]], 2);
    from.reverse();
    let shape = [edge; 3];
    let to = c_strides(&shape, 2);
    let mut dst = vec![0u8; edge.pow(3) as usize * 2];
    let counts = FORTRAN.map(|n| n / edge);
    let mut chunk = 0;
    bencher.counter(BytesCount::new(dst.len())).bench_local(|| {
        let at =
            [chunk / (counts[1] * counts[2]) % counts[0], chunk / counts[2] % counts[1], chunk % counts[2]];
        let start: usize =
            at.iter().zip(&from).map(|(&i, &stride)| (i * edge) as usize * stride as usize).sum();
        let lies = Lie { start: offset + start, strides: &from };
        copy_between(src, lies, &mut dst, Lie { start: 0, strides: &to }, &shape, 2);
        chunk += 1;
        black_box(&mut dst);
    });
}

#[divan::bench(args = OFFSETS, sample_count = 2000, sample_size = 1)]
fn small_chunks_from_fortran_order(bencher: Bencher<'_, '_>, offset: usize) {
    from_fortran(bencher, offset, 32);
}

#[divan::bench(args = OFFSETS, sample_size = 1)]
fn large_chunks_from_fortran_order(bencher: Bencher<'_, '_>, offset: usize) {
    from_fortran(bencher, offset, 128);
}

#[divan::bench(args = ITEMS)]
fn every_second_element(bencher: Bencher<'_, '_>, item: usize) {
    let steps: Strides = c(item).iter().map(|stride| stride * 2).collect();
    copy(bencher, item, &steps, &c(item));
}

#[divan::bench(args = ITEMS)]
fn one_element_repeated(bencher: Bencher<'_, '_>, item: usize) {
    copy(bencher, item, &[0; 3], &wide(item));
}

const ELEMENTS: [&[u8]; 3] = [&[0; 2], &[1, 2], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]];
const FILLED: usize = 12 << 16;

#[divan::bench(args = ELEMENTS)]
fn fill(bencher: Bencher<'_, '_>, element: &[u8]) {
    let mut out = vec![0; FILLED];
    bencher.counter(BytesCount::new(FILLED)).bench_local(|| fill_with(black_box(&mut out), element));
}

#[divan::bench(args = ELEMENTS)]
fn is_fill(bencher: Bencher<'_, '_>, element: &[u8]) {
    let mut out = vec![0; FILLED];
    fill_with(&mut out, element);
    bencher.counter(BytesCount::new(FILLED)).bench_local(|| is_filled_with(black_box(&out), element));
}

/// More than the allocator keeps for itself: each time, the pages are the system's.
const FRESH: usize = 48 << 20;

/// Fresh memory, written once: what its pages cost, small and large.
fn write_once<T>(bencher: Bencher<'_, '_>, allocate: fn(usize) -> Option<T>, bytes: fn(&mut T) -> &mut [u8]) {
    bencher.counter(BytesCount::new(FRESH)).bench_local(|| {
        let mut buffer = allocate(black_box(FRESH));
        buffer.iter_mut().for_each(|buffer| bytes(buffer).fill(1));
        buffer
    });
}

#[divan::bench]
fn fresh_memory(bencher: Bencher<'_, '_>) {
    write_once(bencher, zeroed, |buffer| buffer);
}

#[divan::bench]
fn fresh_memory_in_large_pages(bencher: Bencher<'_, '_>) {
    write_once(bencher, Pages::zeroed, Pages::bytes_mut);
}
