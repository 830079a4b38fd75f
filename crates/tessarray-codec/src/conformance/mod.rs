//! What every codec has to hold, as functions that its tests call (feature `conformance`).
//!
//! A codec of another crate is checked as those of this one are:
//!
//! ```
//! # use tessarray_codec::{AnyCodec, NamedConfig, Registry, conformance};
//! # let spec = conformance::spec(tessarray_buffer::DataType::UInt8, &[64]);
//! let AnyCodec::Bytes(codec) = Registry::new().build(&NamedConfig::new("crc32c"), &spec)? else { unreachable!() };
//! conformance::check_bytes_codec(codec.as_ref(), 1, conformance::Flips::AreSeen);
//! # Ok::<(), tessarray_codec::CodecError>(())
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::cast_possible_truncation)]

mod blocks;
mod bytes;
#[cfg(test)]
mod own;

pub use bytes::{check_bytes_codec, check_round_trips};
#[cfg(test)]
pub(crate) use own::*;

use crate::{ArrayCodec, ChunkSpec, EncodedSize, Serializer};
use tessarray_buffer::{Arena, DataType};

/// Whether the format has a checksum over the decoded bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flips {
    /// A flipped bit gives an error or the right bytes.
    AreSeen,
    /// A flipped bit can give wrong bytes.
    MayPass,
}

/// Chunks of this type and shape, filled with zeros.
pub fn spec(data_type: DataType, shape: &[u64]) -> ChunkSpec {
    let fill = vec![0; data_type.size()].into();
    ChunkSpec { shape: shape.iter().copied().collect(), data_type, fill }
}

/// Zeros, a ramp, a saw-tooth and noise of `n` bytes.
pub fn samples(n: usize) -> [Vec<u8>; 4] {
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

fn fits(size: EncodedSize, found: usize) -> bool {
    match size {
        EncodedSize::Exact(n) => n == found,
        EncodedSize::AtMost(n) => found <= n,
        EncodedSize::Unbounded => true,
    }
}

/// An array-to-array codec, on one chunk of `spec`: sizes are as declared, and buffers of any other are refused; changed
/// bytes give an error or other values. Returns the decoded chunk, to be compared: equal to `input`, or near for a lossy codec.
pub fn check_array_codec(codec: &dyn ArrayCodec, spec: &ChunkSpec, input: &[u8]) -> Vec<u8> {
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

/// An array-to-bytes codec, on one chunk of elements of fixed size: decodes to `input`, refuses cut and longer bytes, and
/// buffers of another size.
pub fn check_serializer(codec: &dyn Serializer, spec: &ChunkSpec, input: &[u8]) {
    let name = codec.config().name;
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
        assert!(decode(&encoded[..n]).is_err(), "{name}: {n} of {} bytes decoded", encoded.len());
    }
    assert!(decode(&[encoded, &[0]].concat()).is_err(), "{name}: a byte after the end");
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
