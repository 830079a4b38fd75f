//! Encoding: from the first codec to the last, appending to the caller's buffer.

use super::{Chain, SerializerStage};
use crate::{BytesCodec, CodecError, EncodedSize, Pieces, Result, Scratch, room};
use std::borrow::Cow;
use std::sync::Arc;
use tessarray_buffer::Arena;

type Stage = Arc<dyn BytesCodec>;

impl Chain {
    /// Encodes one chunk, given in stored order, and appends it to `out`.
    ///
    /// # Errors
    /// Values a codec cannot hold; `out` may then have partial bytes appended.
    pub fn encode(
        &self,
        input: &[u8],
        arena: &Arena,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut array: Cow<'_, [u8]> = Cow::Borrowed(input);
        for (i, stage) in self.array.iter().enumerate() {
            let next_spec = self.array.get(i + 1).map_or(&self.serialized, |next| &next.decoded);
            let mut next = scratch.sized(next_spec.byte_len())?;
            stage.codec.encode(&stage.decoded, &array, &mut next)?;
            give(scratch, std::mem::replace(&mut array, Cow::Owned(next)));
        }
        if self.bytes.is_empty() {
            self.serialize(&array, arena, scratch, out)?;
            give(scratch, array);
            return Ok(());
        }
        let mut current = match &self.serializer {
            SerializerStage::Plain(codec) if codec.is_identity(&self.serialized) => array,
            _ => {
                let mut buffer = scratch.empty();
                self.serialize(&array, arena, scratch, &mut buffer)?;
                give(scratch, array);
                Cow::Owned(buffer)
            }
        };
        let (codecs, sums) = self.trailing_sums();
        let start = out.len();
        for (i, codec) in codecs.iter().enumerate() {
            if i + 1 == codecs.len() {
                room::reserve(out, trailers(sums))?;
                codec.encode(&current, out)?;
            } else {
                let mut next = scratch.empty();
                if let EncodedSize::Exact(n) | EncodedSize::AtMost(n) = codec.encoded_size(current.len()) {
                    room::reserve(&mut next, n.saturating_add(64))?;
                }
                codec.encode(&current, &mut next)?;
                give(scratch, std::mem::replace(&mut current, Cow::Owned(next)));
            }
        }
        if codecs.is_empty() {
            room::reserve(out, current.len() + trailers(sums))?;
            out.extend_from_slice(&current);
        }
        give(scratch, current);
        append_sums(sums, out, start)
    }

    /// As [`encode`](Self::encode), of a chunk whose bytes are asked for a block at a time; `false`, and nothing done, if
    /// the chain needs the whole chunk.
    ///
    /// # Errors
    /// Those of [`encode`](Self::encode).
    pub fn encode_pieces(&self, input: &dyn Pieces, out: &mut Vec<u8>) -> Result<bool> {
        let (codecs, sums) = self.trailing_sums();
        let start = out.len();
        match codecs {
            _ if !self.is_identity() => return Ok(false),
            [] => {
                room::reserve(out, input.len() + trailers(sums))?;
                input.append(0..input.len(), out);
            }
            [codec] => {
                room::reserve(out, trailers(sums))?;
                match codec.pieces().and_then(|codec| codec.encode_pieces(input, out)) {
                    Some(result) => result?,
                    None => return Ok(false),
                }
            }
            _ => return Ok(false),
        }
        append_sums(sums, out, start).map(|()| true)
    }

    /// If the encoded chunk is the chunk as it is between a few bytes: those before, and those after it. `runs` are the
    /// same bytes as `input`, run by run.
    pub fn stored_ends(&self, input: &dyn Pieces, runs: &[&[u8]]) -> Option<(Vec<u8>, Vec<u8>)> {
        if !self.is_identity() {
            return None;
        }
        let (codecs, sums) = self.trailing_sums();
        let head = match codecs {
            [] => Vec::new(),
            [codec] => codec.pieces()?.stored_head(input, runs)?,
            _ => return None,
        };
        let tail = match sums {
            [] => Vec::new(),
            [sum] => {
                let parts: Vec<&[u8]> = std::iter::once(&head[..]).chain(runs.iter().copied()).collect();
                sum.checksum()?.trailer(&parts)?.to_vec()
            }
            _ => return None,
        };
        Some((head, tail))
    }

    /// The bytes codecs, and the checksums at their end that only append, so that they need no buffer, and no copy, of their
    /// own.
    fn trailing_sums(&self) -> (&[Stage], &[Stage]) {
        let sums = self.bytes.iter().rev().take_while(|codec| trailer_len(codec).is_some()).count();
        self.bytes.split_at(self.bytes.len() - sums)
    }

    fn serialize(&self, array: &[u8], arena: &Arena, scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<()> {
        match &self.serializer {
            SerializerStage::Sharding(sharding) => sharding.encode_all(array, arena, scratch, out),
            SerializerStage::Plain(codec) => codec.encode(&self.serialized, array, arena, out),
        }
    }
}

fn trailer_len(codec: &Stage) -> Option<usize> {
    codec.checksum()?.trailer_len()
}

/// Bytes that checksums append.
fn trailers(sums: &[Stage]) -> usize {
    sums.iter().filter_map(trailer_len).fold(0, usize::saturating_add)
}

/// Appends the checksums of what `out` holds from `start` on.
fn append_sums(sums: &[Stage], out: &mut Vec<u8>, start: usize) -> Result<()> {
    for codec in sums {
        let data = out.get(start..).unwrap_or_default();
        let Some(trailer) = codec.checksum().and_then(|sum| sum.trailer(&[data])) else {
            let reason = format!("{} gives no checksum of its data", codec.config().name);
            return Err(CodecError::Chain { reason });
        };
        room::append(out, &trailer)?;
    }
    Ok(())
}

fn give(scratch: &mut Scratch, buffer: Cow<'_, [u8]>) {
    if let Cow::Owned(buffer) = buffer {
        scratch.give(buffer);
    }
}
