//! Decoding: from the last codec to the first, into the caller's buffer.

use super::{Chain, SerializerStage};
use crate::{CodecError, EncodedSize, Result, Scratch};
use tessarray_buffer::Arena;

/// Encoded bytes of chunks without a bound from their shape may reach this many bytes an element, at least
/// [`UNBOUNDED_MIN`] and at most [`UNBOUNDED_MAX`] in all.
const UNBOUNDED_ITEM: usize = 64 << 10;
const UNBOUNDED_MIN: usize = 20 << 20;
const UNBOUNDED_MAX: usize = 1 << 30;

impl Chain {
    /// Decodes one chunk into `out`, which has exactly the stored spec's bytes. Checksums are verified. Never
    /// allocates more than the chunk's own size for each codec that cannot work in place.
    ///
    /// # Errors
    /// Truncated, corrupt or oversized data; the contents of `out` are then unspecified.
    pub fn decode(&self, input: &[u8], out: &mut [u8], arena: &Arena, scratch: &mut Scratch) -> Result<()> {
        let mut held: Option<Vec<u8>> = None;
        let result = self.decode_with(input, out, arena, scratch, &mut held);
        if let Some(buffer) = held {
            scratch.give(buffer);
        }
        result
    }

    fn decode_with(
        &self,
        input: &[u8],
        out: &mut [u8],
        arena: &Arena,
        scratch: &mut Scratch,
        held: &mut Option<Vec<u8>>,
    ) -> Result<()> {
        // `window` is the part of the current bytes (`input`, or `held`) that is data.
        let mut window = 0..input.len();
        for (i, codec) in self.bytes.iter().enumerate().rev() {
            let current = &held.as_deref().unwrap_or(input)[window.clone()];
            if let Some(sum) = codec.checksum() {
                let verified = sum.verify(current)?;
                let start = window.start + (verified.as_ptr() as usize - current.as_ptr() as usize);
                window = start..start + verified.len();
                continue;
            }
            if i == 0 && self.is_identity() {
                return codec.decode(current, out);
            }
            let mut buffer = match self.sizes[i] {
                EncodedSize::Exact(n) => scratch.sized(n)?,
                _ => scratch.empty(),
            };
            let decoded = match self.sizes[i] {
                EncodedSize::Exact(_) => codec.decode(current, &mut buffer),
                _ => codec.decode_bounded(current, self.decoded_limit(i), &mut buffer),
            };
            window = 0..buffer.len();
            if let Some(old) = held.replace(buffer) {
                scratch.give(old);
            }
            decoded?;
        }
        let current = &held.as_deref().unwrap_or(input)[window];
        self.deserialize(current, out, arena, scratch)
    }

    fn deserialize(&self, input: &[u8], out: &mut [u8], arena: &Arena, scratch: &mut Scratch) -> Result<()> {
        if self.array.is_empty() {
            return self.serializer_decode(input, out, arena, scratch);
        }
        let mut current = scratch.sized(self.serialized.byte_len())?;
        let mut result = self.serializer_decode(input, &mut current, arena, scratch);
        for (i, stage) in self.array.iter().enumerate().rev() {
            if result.is_err() {
                break;
            }
            if i == 0 {
                result = stage.codec.decode(&stage.decoded, &current, out);
            } else {
                let mut next = scratch.sized(stage.decoded.byte_len())?;
                result = stage.codec.decode(&stage.decoded, &current, &mut next);
                scratch.give(std::mem::replace(&mut current, next));
            }
        }
        scratch.give(current);
        result
    }

    fn serializer_decode(
        &self,
        input: &[u8],
        out: &mut [u8],
        arena: &Arena,
        scratch: &mut Scratch,
    ) -> Result<()> {
        match &self.serializer {
            SerializerStage::Sharding(sharding) => sharding.decode_all(input, out, arena, scratch),
            SerializerStage::Plain(codec) if codec.is_identity(&self.serialized) => {
                exact(&codec.config().name, input, out)
            }
            SerializerStage::Plain(codec) => codec.decode(&self.serialized, input, out, arena),
        }
    }

    /// The most bytes that bytes codec `i` may decode to.
    pub(super) fn decoded_limit(&self, i: usize) -> usize {
        match self.sizes[i] {
            EncodedSize::Exact(n) => n,
            EncodedSize::AtMost(n) => n.saturating_add(n / 8 + 4096),
            EncodedSize::Unbounded => self.unbounded_limit(),
        }
    }

    fn unbounded_limit(&self) -> usize {
        self.serialized.elements().saturating_mul(UNBOUNDED_ITEM).clamp(UNBOUNDED_MIN, UNBOUNDED_MAX)
    }
}

/// Copies bytes that must be exactly as many.
fn exact(codec: &str, input: &[u8], out: &mut [u8]) -> Result<()> {
    let (expected, found) = (out.len() as u64, input.len() as u64);
    if found < expected {
        return Err(CodecError::Truncated { codec: codec.into(), expected, found });
    }
    if found > expected {
        return Err(CodecError::Size { codec: codec.into(), expected, found: found.to_string() });
    }
    out.copy_from_slice(input);
    Ok(())
}
