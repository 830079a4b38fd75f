//! Blosc as a codec of a chain.

use super::header::HEADER;
use super::{BloscConfig, decode, encode};
use crate::{BytesCodec, EncodedSize, NamedConfig, Pieces, Result, Window};
use std::ops::Range;

/// Blosc 1: shuffles and compresses a chunk in blocks that decode on their own.
///
/// Frames are those of C-Blosc 1.21 and read by it, hence by numcodecs, zarr-python, TensorStore and zarrs; what they
/// write is read here. A frame is never more than 16 bytes longer than its data, which are at most 2 GiB less 17 bytes.
/// The format has no checksum: put `crc32c` after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloscCodec {
    config: BloscConfig,
}

impl BloscCodec {
    /// A codec of these settings; refuses any out of range.
    pub fn new(config: BloscConfig) -> Result<Self> {
        config.check()?;
        Ok(Self { config })
    }

    /// The settings.
    pub fn settings(&self) -> &BloscConfig {
        &self.config
    }

    /// Whether `input` can be asked for block by block.
    fn fits(&self, input: &dyn Pieces) -> bool {
        let block = encode::blocksize(&self.config, input.len());
        block >= input.len() || block.is_multiple_of(input.unit())
    }
}

impl BytesCodec for BloscCodec {
    fn config(&self) -> NamedConfig {
        self.config.to_v3()
    }

    fn config_v2(&self) -> Option<NamedConfig> {
        Some(self.config.to_v2())
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::AtMost(decoded.saturating_add(HEADER))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        encode::encode(&self.config, &input, out)
    }

    fn encode_pieces(&self, input: &dyn Pieces, out: &mut Vec<u8>) -> Option<Result<()>> {
        self.fits(input).then(|| encode::encode(&self.config, input, out))
    }

    fn stored_head(&self, input: &dyn Pieces) -> Option<Vec<u8>> {
        if self.fits(input) { encode::stored_head(&self.config, input) } else { None }
    }

    fn stored<'a>(&self, input: &'a [u8], decoded: usize) -> Option<&'a [u8]> {
        decode::stored(input, decoded)
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        decode::decode(input, out)
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        decode::decode_bounded(input, limit, out)
    }

    fn block_len(&self, input: &[u8], decoded: usize) -> Result<Option<usize>> {
        decode::block_len(input, decoded)
    }

    fn decode_block(&self, input: Window<'_>, decoded: usize, block: usize, out: &mut [u8]) -> Result<()> {
        decode::decode_block(input, decoded, block, out)
    }

    fn block_spans(&self, input: &[u8], decoded: usize) -> Option<(usize, Vec<Range<usize>>)> {
        decode::block_spans(input, decoded)
    }

    fn decode_parts(
        &self,
        input: Window<'_>,
        decoded: usize,
        block: usize,
        parts: &[Range<usize>],
        out: &mut [u8],
    ) -> Option<Result<()>> {
        decode::decode_parts(input, decoded, block, parts, out)
    }
}
