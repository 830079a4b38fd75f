//! `lz4` as numcodecs writes it: the decoded size as a little-endian u32, then one LZ4 block. The encoder is the reference
//! library's, the decoder ours.

pub(crate) mod block;

use crate::config::Settings;
use crate::grow::decode_declared;
use crate::registry::register_all;
use crate::{AnyCodec, BytesCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, fail};
use std::sync::Arc;

const NAME: &str = "lz4";
const HEADER: usize = 4;
/// The library's LZ4_MAX_INPUT_SIZE.
const MAX_INPUT: usize = 0x7E00_0000;
/// One byte of a block stands for at most this many decoded bytes.
const MAX_RATIO: usize = 255;

#[derive(Debug)]
struct Lz4 {
    acceleration: i32,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["lz4", "numcodecs.lz4"], build);
}

fn build(config: &NamedConfig, _: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["acceleration"])?;
    let acceleration = settings.encoder_int("acceleration", i32::MIN.into()..=65_537)?.unwrap_or(1);
    Ok(AnyCodec::Bytes(Arc::new(Lz4 { acceleration: i32::try_from(acceleration).unwrap_or(1) })))
}

/// The declared decoded size and the block.
fn split(input: &[u8]) -> Result<(usize, &[u8])> {
    let (size, block) =
        input.split_first_chunk().ok_or_else(|| fail::truncated(NAME, HEADER, input.len()))?;
    let size = u32::from_le_bytes(*size);
    Ok((usize::try_from(size).unwrap_or(usize::MAX), block))
}

fn decode_block(block: &[u8], out: &mut [u8]) -> Result<()> {
    let expected = out.len();
    block::decode(block, out)
        .map_err(|_| fail::corrupt(NAME, format!("the block does not decode to {expected} bytes")))
}

/// The largest block the library writes for `n` bytes.
fn bound(n: usize) -> usize {
    n.saturating_add(n / 255).saturating_add(16 + HEADER)
}

impl BytesCodec for Lz4 {
    fn config(&self) -> NamedConfig {
        NamedConfig::new("numcodecs.lz4").with("acceleration", self.acceleration)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::AtMost(bound(decoded))
    }

    #[expect(unsafe_code, reason = "a call of the reference LZ4 library")]
    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let room = bound(input.len()) - HEADER;
        let (Ok(size), Ok(from), Ok(to), true) = (
            u32::try_from(input.len()),
            i32::try_from(input.len()),
            i32::try_from(room),
            input.len() <= MAX_INPUT,
        ) else {
            return Err(fail::encode(NAME, format!("{} bytes; at most {MAX_INPUT} fit", input.len())));
        };
        crate::room::reserve(out, HEADER + room)?;
        out.extend_from_slice(&size.to_le_bytes());
        let spare = out.spare_capacity_mut();
        // SAFETY: `input` is readable for `from` bytes, the spare room was just made `to` bytes or more.
        let n = unsafe {
            let (input, spare) = (input.as_ptr().cast(), spare.as_mut_ptr().cast());
            lz4_sys::LZ4_compress_fast(input, spare, from, to, self.acceleration)
        };
        match usize::try_from(n) {
            Ok(n) if n > 0 && n <= room => {
                // SAFETY: the library wrote `n` bytes of the spare room.
                unsafe { out.set_len(out.len() + n) };
                Ok(())
            }
            _ => Err(fail::encode(NAME, "the library failed")),
        }
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        let (size, block) = split(input)?;
        fail::check_len(NAME, out.len(), size)?;
        decode_block(block, out)
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        let (size, block) = split(input)?;
        if size > limit {
            return Err(fail::size(NAME, limit, size));
        }
        if size > block.len().saturating_mul(MAX_RATIO) {
            return Err(fail::corrupt(NAME, format!("{} bytes cannot decode to {size}", block.len())));
        }
        decode_declared(size, out, |out| decode_block(block, out))
    }
}

#[cfg(test)]
mod tests {
    use crate::conformance::{self, Flips, bytes_codec};
    use crate::{CodecError, NamedConfig};

    #[test]
    fn conforms() {
        conformance::bytes(&NamedConfig::new("lz4"), Flips::MayPass);
        conformance::bytes(&NamedConfig::new("numcodecs.lz4").with("acceleration", 9), Flips::MayPass);
    }

    #[test]
    fn a_declared_size_is_not_trusted() {
        let codec = bytes_codec(&NamedConfig::new("lz4"));
        let mut bomb = u32::MAX.to_le_bytes().to_vec();
        bomb.push(0);
        let mut out = Vec::new();
        assert!(matches!(codec.decode_bounded(&bomb, usize::MAX, &mut out), Err(CodecError::Corrupt { .. })));
        assert!(matches!(codec.decode_bounded(&bomb, 1 << 20, &mut out), Err(CodecError::Size { .. })));
        assert_eq!(out.capacity(), 0);
    }
}
