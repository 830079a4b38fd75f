//! Verifying encoded bytes, without a copy: `cargo bench -p tessarray-codec --bench checksum`.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use std::sync::Arc;
use tessarray_buffer::DataType;
use tessarray_codec::{AnyCodec, BytesCodec, ChunkSpec, NamedConfig, Registry};

fn main() {
    divan::main();
}

const NAMES: [&str; 5] = ["crc32c", "crc32", "adler32", "fletcher32", "jenkins_lookup3"];
/// A small inner chunk, one of the default size, and more than a cache holds.
const SIZES: [usize; 3] = [4 << 10, 512 << 10, 32 << 20];

fn codec(name: &str, size: usize) -> Arc<dyn BytesCodec> {
    let shape = [size as u64].into_iter().collect();
    let spec = ChunkSpec { shape, data_type: DataType::UInt8, fill: Box::new([0]) };
    match Registry::new().build(&NamedConfig::new(name), &spec) {
        Ok(AnyCodec::Bytes(codec)) => codec,
        other => unreachable!("{name}: {:?}", other.err()),
    }
}

#[divan::bench(consts = SIZES, args = NAMES)]
fn verify<const SIZE: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let codec = codec(name, SIZE);
    let data: Vec<u8> = (0..SIZE as u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    let mut encoded = Vec::new();
    if let Err(error) = codec.encode(&data, &mut encoded) {
        unreachable!("{name}: {error}");
    }
    bencher.counter(BytesCount::new(SIZE)).bench_local(|| {
        let verified = codec.checksum().map(|sum| sum.verify(black_box(&encoded)));
        verified.map(|data| data.map(<[u8]>::len))
    });
}
