//! LZ4 streams of byte planes, our decoder against the reference library's, whole and the first half:
//! `cargo bench -p tessarray-codec --bench lz4`.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

#[path = "../src/lz4/block/mod.rs"]
#[allow(dead_code)]
mod block;
#[path = "lz4/kinds.rs"]
mod kinds;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use kinds::{KINDS, Stream, streams};
use std::ffi::{c_char, c_int};

unsafe extern "C" {
    /// In the library that `lz4_sys` builds, though not among its declarations.
    fn LZ4_decompress_safe_partial(
        source: *const c_char,
        dest: *mut c_char,
        source_size: c_int,
        target_size: c_int,
        dest_capacity: c_int,
    ) -> c_int;
}

fn main() {
    divan::main();
}

/// Measures all streams of a kind, of each as many bytes as `wanted` says of its length.
fn measure(
    bencher: Bencher,
    kind: &str,
    wanted: fn(usize) -> usize,
    decode: fn(&[u8], &mut [u8], usize) -> bool,
) {
    let streams = streams(kind);
    let total: usize = streams.iter().map(|(_, len)| wanted(*len)).sum();
    let mut out = vec![0; streams.iter().map(|(_, len)| *len).max().unwrap_or(0)];
    let mut all = |streams: &[Stream]| {
        streams.iter().all(|(stream, len)| decode(black_box(stream), &mut out[..*len], wanted(*len)))
    };
    assert!(all(&streams), "{kind}");
    bencher.counter(BytesCount::new(total)).bench_local(|| all(&streams));
}

fn ours(stream: &[u8], out: &mut [u8], wanted: usize) -> bool {
    block::decode_to(stream, out, wanted).is_ok()
}

fn reference(stream: &[u8], out: &mut [u8], wanted: usize) -> bool {
    let (from, to) = (stream.as_ptr().cast(), out.as_mut_ptr().cast());
    let (len, wanted, room) = (stream.len() as c_int, wanted as c_int, out.len() as c_int);
    // SAFETY: both buffers have the lengths given, or more.
    let n = unsafe {
        match wanted == room {
            true => lz4_sys::LZ4_decompress_safe(from, to, len, room),
            false => LZ4_decompress_safe_partial(from, to, len, wanted, wanted),
        }
    };
    n == wanted
}

#[divan::bench(args = KINDS)]
fn whole_ours(bencher: Bencher, kind: &str) {
    measure(bencher, kind, |len| len, ours);
}

#[divan::bench(args = KINDS)]
fn whole_reference(bencher: Bencher, kind: &str) {
    measure(bencher, kind, |len| len, reference);
}

#[divan::bench(args = KINDS)]
fn half_ours(bencher: Bencher, kind: &str) {
    measure(bencher, kind, |len| len / 2, ours);
}

#[divan::bench(args = KINDS)]
fn half_reference(bencher: Bencher, kind: &str) {
    measure(bencher, kind, |len| len / 2, reference);
}
