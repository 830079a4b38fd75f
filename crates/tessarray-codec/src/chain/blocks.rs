//! Decoding only some blocks of an encoded chunk.

use super::Chain;
use crate::{BytesCodec, EncodedSize, Result, Window};
use std::ops::Range;

/// An encoded chunk whose blocks decode on their own; its checksums are already verified.
#[derive(Debug)]
pub struct Blocks<'a> {
    /// `None` where the payload is the decoded chunk.
    codec: Option<&'a dyn BytesCodec>,
    payload: &'a [u8],
    decoded: usize,
    len: usize,
}

impl Chain {
    /// The blocks of an encoded chunk (a single one, where its codec has none), or `None` where the chain only decodes
    /// whole. Verifies the checksums over the whole encoded chunk first, so that a partial read is as safe as a full one.
    pub fn blocks<'a>(&'a self, input: &'a [u8]) -> Result<Option<Blocks<'a>>> {
        if !self.is_identity() {
            return Ok(None);
        }
        let EncodedSize::Exact(decoded) = self.sizes[0] else { return Ok(None) };
        let (mut payload, mut codecs) = (input, &self.bytes[..]);
        while let Some((outer, inner)) = codecs.split_last()
            && let Some(verified) = outer.verify(payload)
        {
            (payload, codecs) = (verified?, inner);
        }
        let (codec, len) = match codecs {
            [] if payload.len() == decoded => (None, decoded),
            [codec] => {
                codec.verify_inside(payload)?;
                let len = codec.block_len(payload, decoded)?.filter(|&len| len > 0);
                (Some(codec.as_ref()), len.unwrap_or(decoded))
            }
            _ => return Ok(None),
        };
        Ok(Some(Blocks { codec, payload, decoded, len }))
    }

    /// Verifies the outermost checksums of an encoded chunk, and one inside the encoding of the codec before them, which is
    /// decoded only where its checksum is of the decoded bytes. Chains without any pass.
    pub fn verify(&self, input: &[u8]) -> Result<()> {
        let mut payload = input;
        for (i, codec) in self.bytes.iter().enumerate().rev() {
            match codec.verify(payload) {
                Some(verified) => payload = verified?,
                None if codec.checks_decoded(payload) => {
                    return codec.decode_bounded(payload, self.decoded_limit(i), &mut Vec::new());
                }
                None => return codec.verify_inside(payload),
            }
        }
        Ok(())
    }
}

impl Blocks<'_> {
    /// Decoded bytes of every block but the last, which may be shorter.
    pub fn block_bytes(&self) -> usize {
        self.len
    }

    /// The decoded chunk, where its encoding has it as it is.
    pub fn stored(&self) -> Option<&[u8]> {
        match self.codec {
            None => Some(self.payload),
            Some(codec) => {
                codec.stored(self.payload, self.decoded).filter(|bytes| bytes.len() == self.decoded)
            }
        }
    }

    /// Decodes the whole chunk, without verifying its checksums again.
    pub fn decode_all(&self, chunk: &mut [u8]) -> Result<()> {
        match self.codec {
            None => chunk.copy_from_slice(self.payload),
            Some(codec) => codec.decode_verified(self.payload, chunk)?,
        }
        Ok(())
    }

    /// Decodes the bytes `parts` of block `block` to their places in `chunk`, or all of the block, whichever is quicker.
    pub fn decode_parts(&self, block: usize, parts: &[Range<usize>], chunk: &mut [u8]) -> Result<()> {
        let Some(codec) = self.codec else { return self.decode_all(chunk) };
        let (payload, place) = (Window::whole(self.payload), self.place(block, chunk.len()));
        let done = codec.decode_parts(payload, self.decoded, block, parts, &mut chunk[place.clone()]);
        done.unwrap_or_else(|| {
            if self.len >= self.decoded {
                self.decode_all(chunk)
            } else {
                self.decode_block(block, &mut chunk[place])
            }
        })
    }

    /// Decodes block `block` into exactly its bytes.
    pub fn decode_block(&self, block: usize, out: &mut [u8]) -> Result<()> {
        match self.codec {
            None => self.decode_all(out),
            Some(codec) => codec.decode_block(Window::whole(self.payload), self.decoded, block, out),
        }
    }

    /// Where a block lies in a chunk of so many bytes.
    fn place(&self, block: usize, bytes: usize) -> Range<usize> {
        let start = block.saturating_mul(self.len).min(bytes);
        start..start.saturating_add(self.len).min(bytes)
    }
}
