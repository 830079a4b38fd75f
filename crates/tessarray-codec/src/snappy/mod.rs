//! `snappy`: one raw Snappy block (no framing), as imagecodecs and other tools write under Zarr.

use crate::config::Settings;
use crate::grow::decode_declared;
use crate::registry::register_all;
use crate::{AnyCodec, BytesCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, fail};
use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};
use std::sync::Arc;

const NAME: &str = "snappy";
/// The densest element of a block: a 3-byte copy of 64 bytes.
const MAX_RATIO: usize = 22;

#[derive(Debug)]
struct Snappy;

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["snappy", "numcodecs.snappy", "imagecodecs_snappy"], build);
}

fn build(config: &NamedConfig, _: &ChunkSpec) -> Result<AnyCodec> {
    Settings::new(config, &[])?;
    Ok(AnyCodec::Bytes(Arc::new(Snappy)))
}

/// The decoded size that the block declares and its bytes can stand for.
fn declared(input: &[u8], expected: usize) -> Result<usize> {
    if input.is_empty() {
        return Err(fail::truncated(NAME, 1, 0));
    }
    let size = decompress_len(input).map_err(|error| fail::corrupt(NAME, error.to_string()))?;
    if size > expected {
        return Err(fail::size(NAME, expected, size));
    }
    if size > input.len().saturating_mul(MAX_RATIO) {
        return Err(fail::corrupt(NAME, format!("{} bytes cannot decode to {size}", input.len())));
    }
    Ok(size)
}

impl BytesCodec for Snappy {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(NAME)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        // The crate's bound is 0 for sizes it cannot take; `encode` then fails.
        EncodedSize::AtMost(max_compress_len(decoded).max(decoded))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        crate::room::grow(out, max_compress_len(input.len()))?;
        let room = out.get_mut(start..).unwrap_or(&mut []);
        let result = Encoder::new().compress(input, room);
        out.truncate(start.saturating_add(*result.as_ref().unwrap_or(&0)));
        result.map(drop).map_err(|error| fail::encode(NAME, error.to_string()))
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        fail::check_len(NAME, out.len(), declared(input, out.len())?)?;
        let n =
            Decoder::new().decompress(input, out).map_err(|error| fail::corrupt(NAME, error.to_string()))?;
        fail::check_len(NAME, out.len(), n)
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        decode_declared(declared(input, limit)?, out, |out| self.decode(input, out))
    }
}

#[cfg(test)]
mod tests {
    use crate::NamedConfig;
    use crate::conformance;

    #[test]
    fn conforms() {
        conformance::bytes(&NamedConfig::new("snappy"), conformance::Flips::MayPass);
    }
}
