//! Encoded chunks whose blocks decode on their own: [`Blocks`] of bytes that are at hand, [`BlockTable`] of where they lie.

use super::Chain;
use crate::{BytesCodec, EncodedSize, Result, Window, fail};
use std::ops::Range;

/// Decoded bytes that count as a block if nothing is compressed; more for chunks of many blocks.
const RAW_BLOCK: usize = 4096;
const RAW_BLOCKS: usize = 1024;

/// An encoded chunk, or the bytes of some of its blocks, whose checksums were verified: here, or before.
#[derive(Debug)]
pub struct Blocks<'a> {
    /// `None` if the payload is the decoded chunk.
    codec: Option<&'a dyn BytesCodec>,
    payload: Window<'a>,
    decoded: usize,
    block: usize,
}

/// Where the blocks of one encoded chunk lie, to be kept after its bytes are gone.
#[derive(Debug)]
pub struct BlockTable {
    /// The payload, which is what is inside all checksums, in the encoded chunk.
    start: usize,
    len: usize,
    decoded: usize,
    block: usize,
    /// Empty if the payload is the decoded chunk.
    spans: Box<[Range<usize>]>,
    /// The payload's first bytes, which say how to decode any block.
    head: Box<[u8]>,
}

/// What is inside the outermost checksums of an encoded chunk.
struct Payload<'a> {
    bytes: &'a [u8],
    /// `None` if these are the decoded bytes.
    codec: Option<&'a dyn BytesCodec>,
    decoded: usize,
}

impl Chain {
    /// The blocks of an encoded chunk (a single one, if its codec has none); `None` if the chain decodes whole only.
    /// Verifies the checksums over the whole encoded chunk first, so that a partial read is as safe as a full one.
    ///
    /// # Errors
    /// A checksum that does not match; bytes that are no encoding of such a chunk.
    pub fn blocks<'a>(&'a self, encoded: &'a [u8]) -> Result<Option<Blocks<'a>>> {
        let Some(Payload { bytes, codec, decoded }) = self.payload(encoded, true)? else { return Ok(None) };
        if let Some(sum) = codec.and_then(BytesCodec::inner_checksum) {
            sum.verify(bytes)?;
        }
        let block = match codec.and_then(BytesCodec::blocks) {
            Some(blocks) => blocks.block_len(bytes, decoded)?,
            None => decoded,
        };
        Ok(Some(Blocks { codec, payload: Window::whole(bytes), decoded, block }))
    }

    /// Where the blocks of an encoded chunk lie; `None` if they cannot be decoded from their own bytes. Of bytes whose
    /// checksums were verified: nothing is verified here.
    pub fn block_table(&self, encoded: &[u8]) -> Option<BlockTable> {
        let Payload { bytes, codec, decoded } = self.payload(encoded, false).ok()??;
        let start = |bytes: &[u8]| bytes.as_ptr() as usize - encoded.as_ptr() as usize;
        let raw = |bytes: &[u8]| BlockTable {
            start: start(bytes),
            len: decoded,
            decoded,
            block: decoded.div_ceil(RAW_BLOCKS).next_power_of_two().max(RAW_BLOCK),
            spans: Box::default(),
            head: Box::default(),
        };
        let Some(codec) = codec else { return Some(raw(bytes)) };
        let codec = codec.blocks()?;
        if let Some(stored) = codec.stored(bytes, decoded) {
            return (stored.len() == decoded).then(|| raw(stored));
        }
        let block = codec.block_len(bytes, decoded).ok().filter(|&block| block > 0)?;
        let (head, spans) = codec.block_spans(bytes, decoded)?;
        let fit = spans.len() == decoded.div_ceil(block)
            && spans.iter().all(|span| span.start <= span.end && span.end <= bytes.len());
        let head = bytes.get(..head.min(bytes.len()))?.into();
        let table =
            BlockTable { start: start(bytes), len: bytes.len(), decoded, block, spans: spans.into(), head };
        fit.then_some(table)
    }

    /// Blocks of which only some bytes are at hand: `run` is what lies in the payload from `start` on, and has all of
    /// [`BlockTable::span`] for the blocks that are decoded.
    pub fn blocks_at<'a>(&'a self, table: &'a BlockTable, start: usize, run: &'a [u8]) -> Blocks<'a> {
        Blocks {
            codec: self.bytes.first().filter(|_| !table.is_raw()).map(AsRef::as_ref),
            payload: Window::new(&table.head, start, run, table.len),
            decoded: table.decoded,
            block: table.block,
        }
    }

    /// Verifies the outermost checksums of an encoded chunk, and one inside the encoding of the codec before them, which is
    /// decoded only if its checksum is of the decoded bytes. Chains without any pass.
    ///
    /// # Errors
    /// A checksum that does not match.
    pub fn verify(&self, encoded: &[u8]) -> Result<()> {
        let mut payload = encoded;
        for (i, codec) in self.bytes.iter().enumerate().rev() {
            if let Some(sum) = codec.checksum() {
                payload = sum.verify(payload)?;
                continue;
            }
            return match codec.inner_checksum() {
                Some(sum) if !sum.verify(payload)? => {
                    codec.decode_bounded(payload, self.decoded_limit(i), &mut Vec::new())
                }
                _ => Ok(()),
            };
        }
        Ok(())
    }

    /// Takes the outermost checksums off, verified or not. `None` if what is inside is not one codec's encoding of the
    /// chunk's bytes, or these bytes themselves.
    fn payload<'a>(&'a self, encoded: &'a [u8], verify: bool) -> Result<Option<Payload<'a>>> {
        let Some(&EncodedSize::Exact(decoded)) = self.sizes.first().filter(|_| self.is_identity()) else {
            return Ok(None);
        };
        let (mut bytes, mut codecs) = (encoded, &self.bytes[..]);
        while let Some((outer, inner)) = codecs.split_last()
            && let Some(sum) = outer.checksum()
        {
            let payload = if verify { Some(sum.verify(bytes)?) } else { sum.payload(bytes) };
            let Some(payload) = payload else { return Ok(None) };
            (bytes, codecs) = (payload, inner);
        }
        Ok(match codecs {
            [] if bytes.len() == decoded => Some(Payload { bytes, codec: None, decoded }),
            [codec] => Some(Payload { bytes, codec: Some(codec.as_ref()), decoded }),
            _ => None,
        })
    }
}

impl<'a> Blocks<'a> {
    /// Decoded bytes of every block but the last, which may be shorter.
    pub fn block_bytes(&self) -> usize {
        self.block
    }

    /// The decoded chunk, if its encoding has it as it is.
    pub fn stored(&self) -> Option<&'a [u8]> {
        let all = self.payload.all()?;
        let stored = match self.codec {
            None => Some(all),
            Some(codec) => codec.blocks()?.stored(all, self.decoded),
        };
        stored.filter(|bytes| bytes.len() == self.decoded)
    }

    /// Decodes the whole chunk, without verifying its checksums again.
    ///
    /// # Errors
    /// Damaged bytes; a chunk of which only some blocks are at hand.
    pub fn decode_all(&self, chunk: &mut [u8]) -> Result<()> {
        let missing = || fail::truncated("chunk", self.payload.len(), self.payload.head().len());
        let Some(codec) = self.codec else {
            chunk.copy_from_slice(self.payload.get(0..chunk.len()).ok_or_else(missing)?);
            return Ok(());
        };
        let payload = self.payload.all().ok_or_else(missing)?;
        match codec.inner_checksum() {
            Some(sum) => sum.decode_verified(payload, chunk),
            None => codec.decode(payload, chunk),
        }
    }

    /// Decodes the bytes `parts` of block `block` to their places in `chunk`, or all of the block, whichever is quicker.
    ///
    /// # Errors
    /// Damaged bytes; bytes that are not at hand.
    pub fn decode_parts(&self, block: usize, parts: &[Range<usize>], chunk: &mut [u8]) -> Result<()> {
        let place = self.place(block, chunk.len());
        let Some(codec) = self.codec else {
            let part = shifted(&hull(parts), place.start);
            let missing = || fail::truncated("chunk", part.end, self.payload.len());
            let bytes = self.payload.get(part.clone()).ok_or_else(missing)?;
            let to = chunk.get_mut(part.clone()).ok_or_else(missing)?;
            to.copy_from_slice(bytes);
            return Ok(());
        };
        let out = &mut chunk[place];
        let done = codec
            .blocks()
            .and_then(|codec| codec.decode_parts(self.payload, self.decoded, block, parts, out));
        done.unwrap_or_else(|| self.decode_block(block, out))
    }

    /// Decodes block `block` into exactly its bytes.
    ///
    /// # Errors
    /// Damaged bytes; bytes that are not at hand.
    pub fn decode_block(&self, block: usize, out: &mut [u8]) -> Result<()> {
        match self.codec.and_then(BytesCodec::blocks) {
            Some(codec) => codec.decode_block(self.payload, self.decoded, block, out),
            None => self.decode_all(out),
        }
    }

    /// Where a block lies in a chunk of so many bytes.
    fn place(&self, block: usize, bytes: usize) -> Range<usize> {
        let start = block.saturating_mul(self.block).min(bytes);
        start..start.saturating_add(self.block).min(bytes)
    }
}

impl BlockTable {
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
        match self.spans.get(block) {
            Some(span) => span.clone(),
            None => shifted(&hull(parts), block.saturating_mul(self.block)),
        }
    }

    /// How many numbers it takes to hold this in memory.
    pub fn weight(&self) -> usize {
        self.spans.len() * 2 + self.head.len() / 8 + 16
    }
}

/// From the first byte of any of the parts to the last.
fn hull(parts: &[Range<usize>]) -> Range<usize> {
    let begin = parts.iter().map(|part| part.start).min().unwrap_or(0);
    begin..parts.iter().map(|part| part.end).max().unwrap_or(begin)
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start.saturating_add(by)..range.end.saturating_add(by)
}
