//! Blosc frames of a camera-like image, ours against C-Blosc: `cargo bench -p tessarray-codec --bench blosc`.
//! C-Blosc is compiled for the same target as we are: add `RUSTFLAGS=-Ctarget-feature=+avx2` to give it AVX2 shuffles.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use std::ffi::CStr;
use tessarray_codec::{BloscCodec, BloscConfig, BytesCodec, Compressor, Filter};

fn main() {
    divan::main();
}

/// A smooth gradient with a little noise, of 12-bit values in 16 bits.
fn camera(bytes: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let pixels = bytes / 2;
    let mut out = Vec::with_capacity(bytes);
    for i in 0..pixels {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let (x, y) = (i % 1024, i / 1024);
        // The sum of a few uniform numbers is close to normal.
        let noise = (0..4).map(|k| (state >> (8 * k)) & 15).sum::<u64>();
        let value = (400 + x as u64 + (y as u64) / 2 + noise) & 0xFFF;
        out.extend_from_slice(&(value as u16).to_le_bytes());
    }
    out
}

const SIZES: [usize; 2] = [64 << 10, 4 << 20];
const CASES: [(Compressor, &CStr, Filter, i32); 4] = [
    (Compressor::Lz4, c"lz4", Filter::Bytes, 1),
    (Compressor::Lz4, c"lz4", Filter::Bits, 2),
    (Compressor::Lz4, c"lz4", Filter::None, 0),
    (Compressor::Zstd, c"zstd", Filter::Bytes, 1),
];

fn args() -> impl Iterator<Item = String> {
    SIZES.into_iter().flat_map(|size| {
        CASES.iter().map(move |(compressor, _, filter, _)| {
            format!("{} KiB {} {filter:?}", size >> 10, compressor.name())
        })
    })
}

fn case(arg: &str) -> (Vec<u8>, BloscCodec, &'static CStr, i32) {
    let index = args().position(|name| name == arg).unwrap_or(0);
    let (size, (compressor, name, filter, number)) = (SIZES[index / CASES.len()], CASES[index % CASES.len()]);
    let config = BloscConfig { compressor, level: level(compressor), filter, typesize: 2, blocksize: 0 };
    match BloscCodec::new(config) {
        Ok(codec) => (camera(size), codec, name, number),
        Err(error) => unreachable!("{error}"),
    }
}

fn level(compressor: Compressor) -> u8 {
    if compressor == Compressor::Zstd { 1 } else { 5 }
}

fn c_encode(data: &[u8], out: &mut [u8], level: u8, name: &CStr, shuffle: i32) -> usize {
    // SAFETY: both buffers have the lengths given.
    let len = unsafe {
        blosc_src::blosc_compress_ctx(
            level.into(),
            shuffle,
            2,
            data.len(),
            data.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            out.len(),
            name.as_ptr(),
            0,
            1,
        )
    };
    usize::try_from(len).unwrap_or(0)
}

#[divan::bench(args = args())]
fn encode_ours(bencher: Bencher, arg: &str) {
    let (data, codec, ..) = case(arg);
    let mut out = Vec::with_capacity(data.len() + 16);
    bencher.counter(BytesCount::new(data.len())).bench_local(|| {
        out.clear();
        codec.encode(black_box(&data), &mut out)
    });
}

#[divan::bench(args = args())]
fn encode_c_blosc(bencher: Bencher, arg: &str) {
    let (data, codec, name, shuffle) = case(arg);
    let mut out = vec![0; data.len() + 16];
    let level = codec.settings().level;
    bencher
        .counter(BytesCount::new(data.len()))
        .bench_local(|| c_encode(black_box(&data), &mut out, level, name, shuffle));
}

#[divan::bench(args = args())]
fn decode_ours(bencher: Bencher, arg: &str) {
    let (data, codec, ..) = case(arg);
    let mut frame = Vec::new();
    let mut out = vec![0; data.len()];
    let encoded = codec.encode(&data, &mut frame);
    eprintln!("{arg}: {} of {} bytes, {encoded:?}", frame.len(), data.len());
    bencher.counter(BytesCount::new(data.len())).bench_local(|| codec.decode(black_box(&frame), &mut out));
}

#[divan::bench(args = args())]
fn decode_c_blosc(bencher: Bencher, arg: &str) {
    let (data, codec, name, shuffle) = case(arg);
    let mut frame = vec![0; data.len() + 16];
    let len = c_encode(&data, &mut frame, codec.settings().level, name, shuffle);
    eprintln!("{arg}: {len} of {} bytes", data.len());
    let mut out = vec![0u8; data.len()];
    bencher.counter(BytesCount::new(data.len())).bench_local(|| {
        // SAFETY: the frame was just written, and `out` has the length given.
        unsafe {
            blosc_src::blosc_decompress_ctx(
                black_box(frame.as_ptr()).cast(),
                out.as_mut_ptr().cast(),
                out.len(),
                1,
            )
        }
    });
}
