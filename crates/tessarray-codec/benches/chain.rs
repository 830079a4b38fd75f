//! Encoding and decoding one chunk through a chain, codec by codec, in bytes of the decoded chunk:
//! `cargo bench -p tessarray-codec --bench chain`.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use tessarray_buffer::{Arena, DataType, Dims};
use tessarray_codec::{Chain, ChunkSpec, NamedConfig, Registry, Scratch};

fn main() {
    divan::main();
}

const EDGE: u64 = 64;
const CASES: [&str; 14] = [
    "bytes",
    "bytes big-endian",
    "crc32c",
    "blosc lz4 shuffle",
    "blosc lz4 shuffle crc32c",
    "blosc zstd shuffle",
    "blosc blosclz bitshuffle",
    "zstd",
    "gzip",
    "lz4",
    "snappy",
    "bz2",
    "pcodec",
    "delta zstd",
];

fn codecs(case: &str) -> Vec<NamedConfig> {
    let bytes = |endian: &str| NamedConfig::new("bytes").with("endian", endian);
    let blosc = |cname: &str, shuffle: &str| {
        let config =
            NamedConfig::new("blosc").with("cname", cname).with("clevel", 5).with("shuffle", shuffle);
        config.with("typesize", 2).with("blocksize", 0)
    };
    let after = |codec: NamedConfig| vec![bytes("little"), codec];
    match case {
        "bytes" => vec![bytes("little")],
        "bytes big-endian" => vec![bytes("big")],
        "crc32c" => after(NamedConfig::new("crc32c")),
        "blosc lz4 shuffle" => after(blosc("lz4", "shuffle")),
        "blosc lz4 shuffle crc32c" => {
            vec![bytes("little"), blosc("lz4", "shuffle"), NamedConfig::new("crc32c")]
        }
        "blosc zstd shuffle" => after(blosc("zstd", "shuffle")),
        "blosc blosclz bitshuffle" => after(blosc("blosclz", "bitshuffle")),
        "zstd" => after(NamedConfig::new("zstd").with("level", 3)),
        "gzip" => after(NamedConfig::new("gzip").with("level", 6)),
        "lz4" => after(NamedConfig::new("numcodecs.lz4")),
        "snappy" => after(NamedConfig::new("numcodecs.snappy")),
        "bz2" => after(NamedConfig::new("numcodecs.bz2").with("level", 9)),
        "pcodec" => vec![NamedConfig::new("numcodecs.pcodec")],
        "delta zstd" => {
            let delta = NamedConfig::new("numcodecs.delta").with("dtype", "<u2");
            vec![delta, bytes("little"), NamedConfig::new("zstd").with("level", 3)]
        }
        other => unreachable!("{other}"),
    }
}

/// The chain of a case, and a chunk of 512 KiB: a smooth gradient with a little noise.
fn case(name: &str) -> (Chain, Vec<u8>) {
    let shape = Dims::from_slice(&[EDGE, EDGE, EDGE]);
    let spec = ChunkSpec { shape, data_type: DataType::UInt16, fill: Box::new([0; 2]) };
    let chain = match Chain::build(&Registry::new(), &codecs(name), spec) {
        Ok(chain) => chain,
        Err(error) => unreachable!("{name}: {error}"),
    };
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let values = (0..EDGE.pow(3)).flat_map(|i| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let noise = (0..4).map(|k| (state >> (8 * k)) & 15).sum::<u64>();
        ((400 + 8 * (i % EDGE) + 4 * (i / EDGE % EDGE) + noise) as u16).to_ne_bytes()
    });
    (chain, values.collect())
}

fn encoded(chain: &Chain, chunk: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match chain.encode(chunk, &Arena::new(), &mut Scratch::new(), &mut out) {
        Ok(()) => out,
        Err(error) => unreachable!("{error}"),
    }
}

#[divan::bench(args = CASES)]
fn encode(bencher: Bencher<'_, '_>, name: &str) {
    let (chain, chunk) = case(name);
    let (mut out, mut scratch, arena) = (Vec::new(), Scratch::new(), Arena::new());
    bencher.counter(BytesCount::from(chunk.len())).bench_local(|| {
        out.clear();
        chain.encode(black_box(&chunk), &arena, &mut scratch, &mut out)
    });
}

#[divan::bench(args = CASES)]
fn decode(bencher: Bencher<'_, '_>, name: &str) {
    let (chain, chunk) = case(name);
    let encoded = encoded(&chain, &chunk);
    let (mut out, mut scratch, arena) = (vec![0; chunk.len()], Scratch::new(), Arena::new());
    bencher
        .counter(BytesCount::from(chunk.len()))
        .bench_local(|| chain.decode(black_box(&encoded), &mut out, &arena, &mut scratch));
}
