//! The checks on codecs of this crate's own registry, by their settings.

use super::{Flips, check_array_codec, check_bytes_codec, check_serializer, spec};
use crate::{AnyCodec, ArrayCodec, BytesCodec, ChunkSpec, NamedConfig, Registry, Serializer};
use std::sync::Arc;
use tessarray_buffer::DataType;

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

/// A bytes-to-bytes codec: right, bounded and safe.
pub(crate) fn bytes(config: &NamedConfig, flips: Flips) {
    let codec = bytes_codec(config);
    settings_survive(config, &codec.config());
    check_bytes_codec(codec.as_ref(), 1, flips);
}

/// An array-to-array codec; returns the decoded chunk, for lossy codecs to compare.
pub(crate) fn array(config: &NamedConfig, spec: &ChunkSpec, input: &[u8]) -> Vec<u8> {
    let codec = array_codec(config, spec);
    settings_survive(config, &codec.config());
    check_array_codec(codec.as_ref(), spec, input)
}

/// An array-to-bytes codec of elements of fixed size.
pub(crate) fn serializer(config: &NamedConfig, spec: &ChunkSpec, input: &[u8]) {
    let codec = serializer_codec(config, spec);
    settings_survive(config, &codec.config());
    check_serializer(codec.as_ref(), spec, input);
}

/// The settings given are among those written back.
fn settings_survive(given: &NamedConfig, written: &NamedConfig) {
    for (key, value) in &given.configuration {
        assert_eq!(written.configuration.get(key), Some(value), "{}: {key}", given.name);
    }
    assert!(Registry::new().names().any(|name| name == written.name), "{} is not registered", written.name);
}
