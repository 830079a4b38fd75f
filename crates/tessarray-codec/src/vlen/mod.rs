//! `vlen-utf8` and `vlen-bytes`: the number of elements as a little-endian u32, then for each its length as such and
//! its bytes.
//!
//! All lengths are checked against the encoded bytes before anything is allocated; the encoded bytes then become one
//! buffer of the arena, which the elements point into.

use crate::config::Settings;
use crate::list::register_all;
use crate::{AnyCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, Serializer, fail};
use std::sync::Arc;
use tessarray_buffer::{Arena, DataType, VarItem};

const WORD: usize = 4;

#[derive(Debug)]
struct Vlen {
    utf8: bool,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["vlen-utf8", "numcodecs.vlen-utf8"], |config, spec| build(config, spec, true));
    register_all(registry, &["vlen-bytes", "numcodecs.vlen-bytes"], |config, spec| {
        build(config, spec, false)
    });
}

fn build(config: &NamedConfig, spec: &ChunkSpec, utf8: bool) -> Result<AnyCodec> {
    Settings::new(config, &[])?;
    let codec = Vlen { utf8 };
    let fits = if utf8 { DataType::String } else { DataType::Bytes };
    if spec.data_type != fits {
        return Err(fail::data_type(codec.name(), spec, format!("it holds {fits} only")));
    }
    Ok(AnyCodec::Serializer(Arc::new(codec)))
}

/// The next u32, and what follows it.
fn word(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<WORD>()?;
    Some((usize::try_from(u32::from_le_bytes(*word)).ok()?, rest))
}

impl Vlen {
    fn name(&self) -> &'static str {
        if self.utf8 { "vlen-utf8" } else { "vlen-bytes" }
    }

    /// Calls `each` with the number, position and bytes of every element; checks that they fill `input` exactly.
    fn walk(
        &self,
        input: &[u8],
        elements: usize,
        mut each: impl FnMut(usize, usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (count, mut rest) = word(input).ok_or_else(|| fail::truncated(self.name(), WORD, input.len()))?;
        if count != elements {
            let reason = format!("holds {count} elements where the chunk has {elements}");
            return Err(fail::corrupt(self.name(), reason));
        }
        for number in 0..elements {
            let at = input.len() - rest.len();
            let (len, after) =
                word(rest).ok_or_else(|| fail::truncated(self.name(), at + WORD, input.len()))?;
            let Some((element, after)) = after.split_at_checked(len) else {
                let end = (at + WORD).saturating_add(len);
                return Err(fail::truncated(self.name(), end, input.len()));
            };
            each(number, at + WORD, element)?;
            rest = after;
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(fail::corrupt(self.name(), format!("{} bytes after the last element", rest.len())))
        }
    }

    fn check_element(&self, number: usize, element: &[u8]) -> Result<()> {
        match std::str::from_utf8(element) {
            Err(error) if self.utf8 => Err(fail::corrupt(self.name(), format!("element {number}: {error}"))),
            _ => Ok(()),
        }
    }
}

impl Serializer for Vlen {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(self.name())
    }

    fn encoded_size(&self, _: &ChunkSpec) -> EncodedSize {
        EncodedSize::Unbounded
    }

    fn encode(&self, spec: &ChunkSpec, input: &[u8], arena: &Arena, out: &mut Vec<u8>) -> Result<()> {
        fail::check_len(self.name(), spec.byte_len(), input.len())?;
        let (items, _) = input.as_chunks::<{ VarItem::SIZE }>();
        let buffers = arena.buffers();
        let count = u32::try_from(items.len()).map_err(|_| {
            fail::encode(self.name(), format!("{} elements; at most 2^32 - 1 fit", items.len()))
        })?;
        crate::room::append(out, &count.to_le_bytes())?;
        for item in items {
            let item = VarItem::from_bytes(item);
            // An item of length zero may name no buffer at all.
            let element = if item.len == 0 { Some(&[][..]) } else { Arena::resolve(&buffers, item) };
            let element =
                element.ok_or_else(|| fail::encode(self.name(), format!("{item:?} is in no buffer")))?;
            crate::room::reserve(out, element.len().saturating_add(4))?;
            out.extend_from_slice(&item.len.to_le_bytes());
            out.extend_from_slice(element);
        }
        Ok(())
    }

    fn decode(&self, spec: &ChunkSpec, input: &[u8], out: &mut [u8], arena: &Arena) -> Result<()> {
        fail::check_len(self.name(), spec.byte_len(), out.len())?;
        let (items, _) = out.as_chunks_mut::<{ VarItem::SIZE }>();
        self.walk(input, items.len(), |number, _, element| self.check_element(number, element))?;
        let buffer = arena.push(crate::room::copy(input)?);
        self.walk(input, items.len(), |number, offset, element| {
            if let (Some(item), Ok(len)) = (items.get_mut(number), u32::try_from(element.len())) {
                *item = VarItem { buffer, len, offset: fail::count(offset) }.to_bytes();
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
