//! Blosc 1: shuffle and compression by blocks that decode on their own.
//!
//! The container is ours, the compressors inside are the reference ones, and C-Blosc is the oracle in the tests. A
//! frame, all integers little-endian:
//!
//! 1. 16 bytes: format version (2), compressor version (1), flags, element size, then as 32-bit integers the decoded
//!    size, the block size and the frame's own size. Flags: bit 0 byte shuffle, bit 1 stored, bit 2 bit shuffle, bit 4
//!    not split, bits 5-7 the compressor.
//! 2. Stored: the data. Otherwise the offset of each block as 32-bit integers, then the blocks.
//! 3. A block is one stream, or one for each byte of an element (*split*, never the last, shorter block): a 32-bit
//!    length and that many bytes. A stream as long as what it decodes to is stored.
//!
//! Frames get a checksum between offsets and blocks, unless a codec after them has one: see [`checksum`].

mod blosclz;
mod checksum;
#[cfg(test)]
mod checksum_tests;
mod codec;
mod compressor;
mod config;
mod decode;
mod encode;
mod header;
mod lz4;
mod raw;
mod scratch;
#[cfg(test)]
mod tests;

pub use codec::BloscCodec;
pub use compressor::Compressor;
pub use config::{BloscConfig, Filter};

use crate::{AnyCodec, CodecError, Registry};
use std::sync::Arc;

/// Registers `blosc` and its numcodecs name.
pub(crate) fn register(registry: &mut Registry) {
    for name in ["blosc", "numcodecs.blosc"] {
        registry.register(name, |config, spec| {
            Ok(AnyCodec::Bytes(Arc::new(BloscCodec::new(BloscConfig::from_config(config, spec)?)?)))
        });
    }
}

fn corrupt(reason: impl Into<String>) -> CodecError {
    CodecError::Corrupt { codec: "blosc".into(), reason: reason.into() }
}

fn truncated(expected: usize, found: usize) -> CodecError {
    CodecError::Truncated { codec: "blosc".into(), expected: expected as u64, found: found as u64 }
}

fn size(expected: usize, found: impl ToString) -> CodecError {
    CodecError::Size { codec: "blosc".into(), expected: expected as u64, found: found.to_string() }
}
