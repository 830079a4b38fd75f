//! Encoding: from the first codec to the last, appending to the caller's buffer.

use super::{Chain, SerializerStage};
use crate::{EncodedSize, Result, Scratch};
use std::borrow::Cow;
use tessarray_buffer::Arena;

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
        // Checksums at the end need no buffer, and no copy, of their own.
        let seals = self.bytes.iter().rev().take_while(|codec| codec.is_seal()).count();
        let (codecs, seals) = self.bytes.split_at(self.bytes.len() - seals);
        let start = out.len();
        for (i, codec) in codecs.iter().enumerate() {
            if i + 1 == codecs.len() {
                out.reserve(4 * seals.len());
                codec.encode(&current, out)?;
            } else {
                let mut next = scratch.empty();
                if let EncodedSize::Exact(n) | EncodedSize::AtMost(n) = codec.encoded_size(current.len()) {
                    next.reserve(n.saturating_add(64));
                }
                codec.encode(&current, &mut next)?;
                give(scratch, std::mem::replace(&mut current, Cow::Owned(next)));
            }
        }
        if codecs.is_empty() {
            out.reserve(current.len() + 4 * seals.len());
            out.extend_from_slice(&current);
        }
        seals.iter().for_each(|codec| codec.seal(out, start));
        give(scratch, current);
        Ok(())
    }

    fn serialize(&self, array: &[u8], arena: &Arena, scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<()> {
        match &self.serializer {
            SerializerStage::Sharding(sharding) => sharding.encode_all(array, arena, scratch, out),
            SerializerStage::Plain(codec) => codec.encode(&self.serialized, array, arena, out),
        }
    }
}

fn give(scratch: &mut Scratch, buffer: Cow<'_, [u8]>) {
    if let Cow::Owned(buffer) = buffer {
        scratch.give(buffer);
    }
}
