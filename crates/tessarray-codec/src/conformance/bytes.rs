//! Bytes-to-bytes codecs.

use super::{Flips, blocks, fits, samples};
use crate::{BytesCodec, CodecError};
use proptest::prelude::*;

/// Bytes of the samples.
const SIZES: [usize; 10] = [0, 1, 2, 3, 7, 16, 64, 1000, 4096, 65_537];

/// A bytes-to-bytes codec: right, bounded and safe, and what it can do besides agrees with what it does whole. Its input is
/// a whole number of `item`s of bytes.
///
/// Data of several sizes round-trip through every way to decode; sizes are within those declared. Cut, longer and damaged
/// encodings are refused or decode within the limit, and nobody allocates on the word of a header.
pub fn check_bytes_codec(codec: &dyn BytesCodec, item: usize, flips: Flips) {
    check_round_trips(codec, item);
    for data in [&samples(48)[2], &samples(48)[3], &samples(0)[0]] {
        bytes_hostile(codec, data, flips);
    }
    bytes_garbage(codec);
    bytes_bomb(codec);
}

/// The part of it for good input only, for codecs that are too slow to be asked for every flipped bit.
pub fn check_round_trips(codec: &dyn BytesCodec, item: usize) {
    for data in SIZES.into_iter().flat_map(|n| samples(n / item * item)) {
        bytes_roundtrip(codec, &data);
        blocks::check_parts(codec, &data);
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
