//! What every codec has to hold, as functions that each codec's tests call.

use crate::{
    AnyCodec, ArrayCodec, BytesCodec, ChunkSpec, CodecError, EncodedSize, NamedConfig, Registry, Serializer,
};
use proptest::prelude::*;
use std::sync::Arc;
use tessarray_buffer::{Arena, DataType};

/// Whether the format has a checksum over the decoded bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flips {
    /// A flipped bit gives an error or the right bytes.
    AreSeen,
    /// A flipped bit can give wrong bytes.
    MayPass,
}

const SIZES: [usize; 10] = [0, 1, 2, 3, 7, 16, 64, 1000, 4096, 65_537];

pub(crate) fn spec(data_type: DataType, shape: &[u64]) -> ChunkSpec {
    let fill = vec![0; data_type.size()].into();
    ChunkSpec { shape: shape.iter().copied().collect(), data_type, fill }
}

pub(crate) fn bytes_codec(config: &NamedConfig) -> Arc<dyn BytesCodec> {
    bytes_codec_for(config, &spec(DataType::UInt8, &[64]))
}

pub(crate) fn bytes_codec_for(config: &NamedConfig, spec: &ChunkSpec) -> Arc<dyn BytesCodec> {
    match Registry::new().build(config, spec) {
        Ok(AnyCodec::Bytes(codec)) => codec,
        other => panic!("{}: {other:?}", config.name),
    }
}

pub(crate) fn array_codec(config: &NamedConfig, spec: &ChunkSpec) -> Arc<dyn ArrayCodec> {
    match Registry::new().build(config, spec) {
        Ok(AnyCodec::Array(codec)) => codec,
        other => panic!("{}: {other:?}", config.name),
    }
}

pub(crate) fn serializer_codec(config: &NamedConfig, spec: &ChunkSpec) -> Arc<dyn Serializer> {
    match Registry::new().build(config, spec) {
        Ok(AnyCodec::Serializer(codec)) => codec,
        other => panic!("{}: {other:?}", config.name),
    }
}

/// Zeros, a ramp, a saw-tooth and noise of `n` bytes.
pub(crate) fn samples(n: usize) -> [Vec<u8>; 4] {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let noise = (0..n).map(|_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    });
    [
        vec![0; n],
        (0..n).map(|i| (i / 4) as u8).collect(),
        (0..n).map(|i| [i as u8 / 8, 3, 0, 63][i % 4]).collect(),
        noise.collect(),
    ]
}

/// Bytes that nothing compresses.
pub(crate) fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn fits(size: EncodedSize, found: usize) -> bool {
    match size {
        EncodedSize::Exact(n) => n == found,
        EncodedSize::AtMost(n) => found <= n,
        EncodedSize::Unbounded => true,
    }
}

/// A bytes-to-bytes codec: right, bounded and safe.
pub(crate) fn bytes(config: &NamedConfig, flips: Flips) {
    let codec = bytes_codec(config);
    settings_survive(config, &codec.config());
    bytes_codec_conforms(codec.as_ref(), 1, flips);
}

/// The same for a codec built elsewhere, whose input is a whole number of `item`s.
pub(crate) fn bytes_codec_conforms(codec: &dyn BytesCodec, item: usize, flips: Flips) {
    bytes_codec_is_right(codec, item);
    for data in [&samples(48)[2], &samples(48)[3], &samples(0)[0]] {
        bytes_hostile(codec, data, flips);
    }
    bytes_garbage(codec);
    bytes_bomb(codec);
}

/// The part of it for good input only.
pub(crate) fn bytes_codec_is_right(codec: &dyn BytesCodec, item: usize) {
    for data in SIZES.into_iter().flat_map(|n| samples(n / item * item)) {
        bytes_roundtrip(codec, &data);
    }
    proptest!(ProptestConfig::with_cases(64), |(mut data in prop::collection::vec(any::<u8>(), 0..600))| {
        data.truncate(data.len() / item * item);
        bytes_roundtrip(codec, &data);
    });
}

fn bytes_roundtrip(codec: &dyn BytesCodec, data: &[u8]) {
    let mut encoded = b"before".to_vec();
    codec.encode(data, &mut encoded).unwrap();
    assert!(encoded.starts_with(b"before"));
    let encoded = &encoded[6..];
    let (name, n) = (codec.config().name, data.len());
    let size = codec.encoded_size(n);
    assert!(fits(size, encoded.len()), "{name}: {n} bytes became {}, declared {size:?}", encoded.len());
    let mut out = vec![0xA5; n];
    codec.decode(encoded, &mut out).unwrap();
    assert!(out == data, "{name}: {n} bytes changed");
    for limit in [n, n + 1, n + 1_000_000] {
        let mut grown = b"before".to_vec();
        codec.decode_bounded(encoded, limit, &mut grown).unwrap();
        assert!(grown[6..] == *data && grown.starts_with(b"before"), "{name}: {n} bytes changed");
    }
    if let Some(sum) = codec.checksum() {
        assert_eq!(sum.verify(encoded).unwrap(), data);
        assert_eq!(sum.payload(encoded).unwrap(), data);
        let tail = sum.trailer(&[data]);
        assert_eq!(
            tail.as_ref().map(|tail| tail.len()),
            sum.trailer_len(),
            "{name}: another length than said"
        );
        assert!(tail.is_none_or(|tail| [data, &tail].concat() == encoded), "{name}: another trailer");
    }
    for wrong in [n + 1, n + 100, n.wrapping_sub(1), n / 2] {
        if wrong < n || wrong <= n + 100 && wrong > n {
            let error = codec.decode(encoded, &mut vec![0; wrong]).unwrap_err();
            assert!(matches!(error, CodecError::Size { .. }), "{name}: {wrong} bytes for {n}: {error}");
        }
    }
    if n > 0 {
        let mut grown = Vec::new();
        assert!(codec.decode_bounded(encoded, n - 1, &mut grown).is_err(), "{name}: limit {}", n - 1);
        assert!(grown.is_empty());
    }
}

fn bytes_hostile(codec: &dyn BytesCodec, data: &[u8], flips: Flips) {
    let mut encoded = Vec::new();
    codec.encode(data, &mut encoded).unwrap();
    let name = codec.config().name;
    let decode = |input: &[u8]| {
        let mut out = vec![0; data.len()];
        let result = codec.decode(input, &mut out).map(|()| out);
        let mut grown = Vec::new();
        let bounded = codec.decode_bounded(input, data.len(), &mut grown).map(|()| grown);
        let _ = codec.checksum().map(|sum| sum.verify(input).is_ok());
        if let Ok(out) = &result {
            assert_eq!(Some(out), bounded.as_ref().ok(), "{name}: the two ways to decode differ");
        }
        result.ok()
    };
    for n in 0..encoded.len() {
        let out = decode(&encoded[..n]);
        assert!(out.is_none(), "{name}: {n} of {} bytes decoded", encoded.len());
    }
    for garbage in [&[0u8][..], &[0; 16], &[0xFF; 5], &[1, 2, 3, 4, 5, 6, 7, 8]] {
        let out = decode(&[&encoded, garbage].concat());
        assert!(out.is_none(), "{name}: {} bytes after the end were let through", garbage.len());
    }
    for at in 0..encoded.len() {
        for value in 0..=255u8 {
            let mut mutated = encoded.clone();
            mutated[at] ^= value;
            let out = decode(&mutated);
            if flips == Flips::AreSeen && value.count_ones() == 1 {
                assert!(out.is_none_or(|out| out == data), "{name}: a flip in byte {at} gave wrong bytes");
            }
        }
    }
}

/// Noise, and encodings with several bytes changed: an error or wrong bytes, within the limit.
fn bytes_garbage(codec: &dyn BytesCodec) {
    let mut encoded = Vec::new();
    codec.encode(&samples(800)[2], &mut encoded).unwrap();
    let cases = std::env::var("CONFORMANCE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8);
    let noise = prop::collection::vec(any::<u8>(), 0..100);
    proptest!(ProptestConfig::with_cases(cases), |(changes in changes, noise in noise, limit in 0usize..2000)| {
        let mut mutated = encoded.clone();
        changes.iter().for_each(|(at, value)| mutated[at.index(encoded.len())] = *value);
        for input in [&mutated, &noise] {
            let mut grown = Vec::new();
            if codec.decode_bounded(input, limit, &mut grown).is_err() {
                prop_assert!(grown.is_empty());
            }
            prop_assert!(grown.len() <= limit);
            let _ = codec.decode(input, &mut vec![0; limit]);
            let _ = codec.checksum().map(|sum| sum.verify(input).is_ok());
        }
    });
}

fn bytes_bomb(codec: &dyn BytesCodec) {
    let mut encoded = Vec::new();
    codec.encode(&vec![0; 1 << 22], &mut encoded).unwrap();
    let error = codec.decode(&encoded, &mut [0; 100]).unwrap_err();
    assert!(matches!(error, CodecError::Size { expected: 100, .. }), "{error}");
    let mut out = Vec::new();
    let error = codec.decode_bounded(&encoded, 10_000, &mut out).unwrap_err();
    assert!(matches!(error, CodecError::Size { expected: 10_000, .. }), "{error}");
    assert!(out.capacity() <= 40_000, "{} bytes allocated for a limit of 10000", out.capacity());
}

/// The settings given are among those written back.
fn settings_survive(given: &NamedConfig, written: &NamedConfig) {
    for (key, value) in &given.configuration {
        assert_eq!(written.configuration.get(key), Some(value), "{}: {key}", given.name);
    }
    assert!(Registry::new().names().any(|name| name == written.name), "{} is not registered", written.name);
}

/// An array-to-array codec; returns the decoded chunk, for lossy codecs to compare.
pub(crate) fn array(config: &NamedConfig, spec: &ChunkSpec, input: &[u8]) -> Vec<u8> {
    let codec = array_codec(config, spec);
    settings_survive(config, &codec.config());
    assert_eq!(input.len(), spec.byte_len());
    let encoded_spec = codec.encoded_spec(spec).unwrap();
    assert_eq!(encoded_spec.fill.len(), encoded_spec.data_type.size());
    let mut encoded = vec![0xA5; encoded_spec.byte_len()];
    codec.encode(spec, input, &mut encoded).unwrap();
    let mut out = vec![0xA5; input.len()];
    codec.decode(spec, &encoded, &mut out).unwrap();
    for cut in 1..=encoded.len().min(9) {
        let short = encoded.len() - cut;
        assert!(codec.decode(spec, &encoded[..short], &mut out.clone()).is_err());
        assert!(codec.encode(spec, input, &mut vec![0; short]).is_err());
    }
    let mut longer = [input, &[0; 1]].concat();
    assert!(codec.encode(spec, &longer, &mut encoded.clone()).is_err());
    assert!(codec.decode(spec, &encoded, &mut longer).is_err());
    for at in 0..encoded.len().min(64) {
        for value in 0..=255 {
            let mut mutated = encoded.clone();
            mutated[at] = value;
            let _ = codec.decode(spec, &mutated, &mut vec![0; input.len()]);
        }
    }
    out
}

/// An array-to-bytes codec of elements of fixed size.
pub(crate) fn serializer(config: &NamedConfig, spec: &ChunkSpec, input: &[u8]) {
    let codec = serializer_codec(config, spec);
    settings_survive(config, &codec.config());
    let (mut encoded, arena) = (b"before".to_vec(), Arena::new());
    codec.encode(spec, input, &arena, &mut encoded).unwrap();
    assert!(encoded.starts_with(b"before"));
    let encoded = &encoded[6..];
    assert!(fits(codec.encoded_size(spec), encoded.len()));
    if codec.is_identity(spec) {
        assert_eq!(encoded, input);
    }
    let decode = |bytes: &[u8]| {
        let mut out = vec![0; input.len()];
        codec.decode(spec, bytes, &mut out, &arena).map(|()| out)
    };
    assert_eq!(decode(encoded).unwrap(), input);
    for n in 0..encoded.len() {
        assert!(decode(&encoded[..n]).is_err(), "{}: {n} of {} bytes decoded", config.name, encoded.len());
    }
    assert!(decode(&[encoded, &[0]].concat()).is_err(), "{}: a byte after the end", config.name);
    for at in 0..encoded.len().min(64) {
        for value in 0..=255 {
            let mut mutated = encoded.to_vec();
            mutated[at] = value;
            let _ = decode(&mutated);
        }
    }
    let mut wrong = vec![0; input.len() + 1];
    assert!(codec.decode(spec, encoded, &mut wrong, &arena).is_err());
    assert!(codec.encode(spec, &wrong, &arena, &mut Vec::new()).is_err());
}
