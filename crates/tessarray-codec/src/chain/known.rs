//! Decoding blocks of an encoded chunk that was verified before, from the bytes of those blocks alone.

use super::Chain;
use crate::{EncodedSize, Result, Window};
use std::ops::Range;

/// Decoded bytes that count as a block where nothing is compressed; more for chunks of many blocks.
const RAW_BLOCK: usize = 4096;
const RAW_BLOCKS: usize = 1024;

/// Where the blocks of one encoded chunk lie.
#[derive(Debug)]
pub struct Known {
    /// Of the payload, what is inside all checksums, in the encoded chunk.
    start: usize,
    len: usize,
    decoded: usize,
    block: usize,
    /// Empty where the payload is the decoded chunk.
    spans: Box<[Range<usize>]>,
    /// The payload's first bytes, which say how to decode any block.
    head: Box<[u8]>,
}

impl Chain {
    /// Where the blocks of an encoded chunk lie; `None` where the chain decodes whole only. Of bytes whose checksums were
    /// verified: nothing is verified here.
    pub fn known(&self, encoded: &[u8]) -> Option<Known> {
        if !self.is_identity() {
            return None;
        }
        let mut payload = encoded;
        let mut codecs = self.bytes.iter().rev().peekable();
        while let Some(inner) = codecs.peek().and_then(|codec| codec.payload(payload)) {
            payload = inner;
            codecs.next();
        }
        let start = payload.as_ptr() as usize - encoded.as_ptr() as usize;
        let EncodedSize::Exact(decoded) = self.sizes[0] else { return None };
        let known = |block, head: &[u8], spans| Known {
            start,
            len: payload.len(),
            decoded,
            block,
            spans,
            head: head.into(),
        };
        match (codecs.next(), codecs.next()) {
            (None, _) => (payload.len() == decoded).then(|| known(raw_block(decoded), &[], Box::default())),
            (Some(codec), None) => {
                if let Some(stored) = codec.stored(payload, decoded) {
                    let start = stored.as_ptr() as usize - encoded.as_ptr() as usize;
                    return Some(Known {
                        start,
                        len: decoded,
                        ..known(raw_block(decoded), &[], Box::default())
                    });
                }
                let block = codec.block_len(payload, decoded).ok()?.filter(|&block| block > 0)?;
                let (head, spans) = codec.block_spans(payload, decoded)?;
                let fit = spans.len() == decoded.div_ceil(block)
                    && spans.iter().all(|span| span.start <= span.end && span.end <= payload.len());
                fit.then(|| known(block, &payload[..head.min(payload.len())], spans.into()))
            }
            _ => None,
        }
    }

    /// Decodes of block `block` the bytes `parts` to their places in `chunk`. `run` is what lies in the payload from
    /// `start` on, and has all of [`Known::span`].
    pub fn decode_known(
        &self,
        known: &Known,
        block: usize,
        parts: &[Range<usize>],
        (start, run): (usize, &[u8]),
        chunk: &mut [u8],
    ) -> Result<()> {
        let at = block.saturating_mul(known.block).min(chunk.len());
        let end = at.saturating_add(known.block).min(chunk.len());
        let out = &mut chunk[at..end];
        let Some(codec) = self.bytes.first().filter(|_| !known.is_raw()) else {
            let bytes = known.span(block, parts);
            let begin = bytes.start - at;
            out[begin..begin + bytes.len()].copy_from_slice(&run[bytes.start - start..bytes.end - start]);
            return Ok(());
        };
        let payload = Window::new(&known.head, start, run, known.len);
        let done = codec.decode_parts(payload, known.decoded, block, parts, out);
        done.unwrap_or_else(|| codec.decode_block(payload, known.decoded, block, out))
    }
}

fn raw_block(decoded: usize) -> usize {
    decoded.div_ceil(RAW_BLOCKS).next_power_of_two().max(RAW_BLOCK)
}

impl Known {
    /// Whether the payload is the decoded chunk: what was read has only to be put in its place.
    pub fn is_raw(&self) -> bool {
        self.spans.is_empty()
    }

    /// Decoded bytes of every block but the last, which may be shorter.
    pub fn block_bytes(&self) -> usize {
        self.block
    }

    /// Bytes that a payload takes.
    pub fn payload_bytes(&self) -> usize {
        self.len
    }

    /// Bytes of the decoded chunk.
    pub fn decoded_bytes(&self) -> usize {
        self.decoded
    }

    /// Where the payload begins in the encoded chunk.
    pub fn payload_start(&self) -> usize {
        self.start
    }

    /// Which bytes of the payload are needed for the bytes `parts` of block `block`.
    pub fn span(&self, block: usize, parts: &[Range<usize>]) -> Range<usize> {
        if let Some(span) = self.spans.get(block) {
            return span.clone();
        }
        let begin = parts.iter().map(|part| part.start).min().unwrap_or(0);
        let end = parts.iter().map(|part| part.end).max().unwrap_or(begin);
        block * self.block + begin..block * self.block + end
    }

    /// How many numbers it takes to hold this in memory.
    pub fn weight(&self) -> usize {
        self.spans.len() * 2 + self.head.len() / 8 + 16
    }
}
