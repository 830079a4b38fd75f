//! Decoding only some blocks of an encoded chunk.

use super::Chain;
use crate::{BytesCodec, EncodedSize, Result};
use std::ops::Range;

/// An encoded chunk whose blocks decode on their own; its checksums are already verified.
#[derive(Debug)]
pub struct Blocks<'a> {
    codec: &'a dyn BytesCodec,
    payload: &'a [u8],
    decoded: usize,
    len: usize,
}

impl Chain {
    /// The blocks of an encoded chunk (a single one, where its codec has none), or `None` where the chain only decodes
    /// whole. Verifies the
    /// checksums over the whole encoded chunk first, so that a partial read is as safe as a full one.
    pub fn blocks<'a>(&'a self, input: &'a [u8]) -> Result<Option<Blocks<'a>>> {
        let (Some((first, outer)), true) = (self.bytes.split_first(), self.is_identity()) else {
            return Ok(None);
        };
        let EncodedSize::Exact(decoded) = self.sizes[0] else { return Ok(None) };
        let mut payload = input;
        for codec in outer.iter().rev() {
            match codec.verify(payload) {
                Some(verified) => payload = verified?,
                None => return Ok(None),
            }
        }
        let len = first.block_len(payload, decoded)?.filter(|&len| len > 0).unwrap_or(decoded);
        Ok(Some(Blocks { codec: first.as_ref(), payload, decoded, len }))
    }

    /// Verifies the outer checksums of an encoded chunk, without decoding it. Chains without any pass.
    pub fn verify(&self, input: &[u8]) -> Result<()> {
        let mut payload = input;
        for codec in self.bytes.iter().rev() {
            match codec.verify(payload) {
                Some(verified) => payload = verified?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Whether [`blocks`](Self::blocks) can give anything for this chain.
    pub fn may_have_blocks(&self) -> bool {
        !self.bytes.is_empty() && self.is_identity()
    }
}

impl Blocks<'_> {
    /// Decoded bytes of every block but the last, which may be shorter.
    pub fn block_bytes(&self) -> usize {
        self.len
    }

    /// Decodes the whole chunk, without verifying its checksums again.
    pub fn decode_all(&self, chunk: &mut [u8]) -> Result<()> {
        self.codec.decode(self.payload, chunk)
    }

    /// Decodes the bytes `part` of block `block` to their places in `chunk`, or all of the block, whichever is quicker.
    pub fn decode_part(&self, block: usize, part: Range<usize>, chunk: &mut [u8]) -> Result<()> {
        let place = self.place(block, chunk.len());
        let done = self.codec.decode_part(self.payload, self.decoded, block, part, &mut chunk[place]);
        done.unwrap_or_else(|| {
            if self.len >= self.decoded { self.decode_all(chunk) } else { self.decode_into(block, chunk) }
        })
    }

    /// Where a block lies in a chunk of so many bytes.
    fn place(&self, block: usize, bytes: usize) -> Range<usize> {
        let start = block.saturating_mul(self.len).min(bytes);
        start..start.saturating_add(self.len).min(bytes)
    }

    /// Decodes block `block` to its place in `chunk`, which has the whole chunk's bytes.
    fn decode_into(&self, block: usize, chunk: &mut [u8]) -> Result<()> {
        let place = self.place(block, chunk.len());
        self.codec.decode_block(self.payload, self.decoded, block, &mut chunk[place])
    }
}
