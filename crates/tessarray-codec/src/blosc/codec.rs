//! Blosc as a codec of a chain.

use super::header::HEADER;
use super::{BloscConfig, decode, encode, raw};
use crate::{
    BlockCodec, BytesCodec, EncodedSize, InnerChecksum, NamedConfig, PieceEncoder, Pieces, Result, Window,
};
use std::ops::Range;
use std::sync::Arc;

/// Blosc 1: shuffles and compresses a chunk in blocks that decode on their own.
///
/// Frames are those of C-Blosc 1.21 and read by it, hence by numcodecs, zarr-python, TensorStore, zarrs, GDAL and others;
/// what they write is read here. A frame is at most 32 bytes longer than data of up to 128 MiB, and 8 bytes more for each
/// 128 MiB of larger ones; data have at most 2 GiB less 273 bytes.
///
/// The format has no checksum, but room for one that other readers do not look at (`spec/blosc-checksum.md`): frames get it,
/// unless a checksum codec follows in the chain. It is verified on every read, also of a part; frames of others, which have
/// none, are read as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloscCodec {
    config: BloscConfig,
    checksum: bool,
}

impl BloscCodec {
    /// A codec of these settings.
    ///
    /// # Errors
    /// [`CodecError::Config`](crate::CodecError) for a setting out of range.
    pub fn new(config: BloscConfig) -> Result<Self> {
        config.check()?;
        Ok(Self { config, checksum: true })
    }

    /// The same codec, whose frames get no checksum.
    #[must_use]
    pub fn without_checksum(self) -> Self {
        Self { checksum: false, ..self }
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

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        let more = if self.checksum { raw::overhead(decoded) } else { HEADER };
        EncodedSize::AtMost(decoded.saturating_add(more))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        encode::encode(&self.config, self.checksum, &input, out)
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        decode::decode(input, out, false)
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        decode::decode_bounded(input, limit, out)
    }

    fn inner_checksum(&self) -> Option<&dyn InnerChecksum> {
        Some(self)
    }

    fn blocks(&self) -> Option<&dyn BlockCodec> {
        Some(self)
    }

    fn pieces(&self) -> Option<&dyn PieceEncoder> {
        Some(self)
    }
}

impl PieceEncoder for BloscCodec {
    fn encode_pieces(&self, input: &dyn Pieces, out: &mut Vec<u8>) -> Option<Result<()>> {
        self.fits(input).then(|| encode::encode(&self.config, self.checksum, input, out))
    }

    fn stored_head(&self, input: &dyn Pieces, runs: &[&[u8]]) -> Option<Vec<u8>> {
        if !self.fits(input) {
            return None;
        }
        encode::stored_head(&self.config, self.checksum, input, runs)
    }
}

impl InnerChecksum for BloscCodec {
    fn verify(&self, input: &[u8]) -> Result<bool> {
        decode::verify(input).map(|()| true)
    }

    fn decode_verified(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        decode::decode(input, out, true)
    }

    fn without(&self) -> Option<Arc<dyn BytesCodec>> {
        Some(Arc::new(self.clone().without_checksum()))
    }
}

impl BlockCodec for BloscCodec {
    fn block_len(&self, input: &[u8], decoded: usize) -> Result<usize> {
        decode::block_len(input, decoded)
    }

    fn stored<'a>(&self, input: &'a [u8], decoded: usize) -> Option<&'a [u8]> {
        decode::stored(input, decoded)
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
