//! Byte shuffle: the numcodecs `shuffle` codec, and the kernels that `blosc` shares.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod kernels;
mod portable;
#[cfg(test)]
mod tests;

pub(crate) use kernels::{bitshuffle, bitunshuffle, shuffle, sized, unshuffle, unshuffle_planes};

use crate::{AnyCodec, BytesCodec, ChunkSpec, CodecError, EncodedSize, NamedConfig, Registry, Result};
use std::sync::Arc;

/// Registers `shuffle` and its numcodecs name.
pub(crate) fn register(registry: &mut Registry) {
    for name in ["shuffle", "numcodecs.shuffle"] {
        registry.register(name, |config, spec| {
            Ok(AnyCodec::Bytes(Arc::new(ShuffleCodec::from_config(config, spec)?)))
        });
    }
}

/// The numcodecs `shuffle` codec: groups the first bytes of all elements, then the second bytes, and so on. It does
/// not change the size; a compressor after it does better. Bytes beyond the last whole element stay at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShuffleCodec {
    name: String,
    element_size: usize,
}

impl ShuffleCodec {
    /// A shuffle of elements of this many bytes, at least 1.
    ///
    /// # Errors
    /// [`CodecError::Config`] for elements of no bytes.
    pub fn new(element_size: usize) -> Result<Self> {
        if element_size == 0 {
            return Err(config_error("elementsize must be at least 1".into()));
        }
        Ok(Self { name: "numcodecs.shuffle".into(), element_size })
    }

    /// From `{"elementsize": n}`. numcodecs defaults to 4; without the setting, and with the 0 of netCDF-C, we take the size
    /// of the chunk's elements.
    ///
    /// # Errors
    /// [`CodecError::Config`] for another setting, or a size that is no positive integer.
    pub fn from_config(config: &NamedConfig, spec: &ChunkSpec) -> Result<Self> {
        let mut element_size = spec.data_type.size().max(1);
        for (key, value) in &config.configuration {
            if key != "elementsize" {
                return Err(config_error(format!("unknown setting {key:?}")));
            }
            let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
            let size = size.ok_or_else(|| config_error(format!("elementsize is not an integer: {value}")))?;
            if size > 0 || config.strict {
                element_size = size;
            }
        }
        Ok(Self { name: config.name.clone(), ..Self::new(element_size)? })
    }
}

fn config_error(reason: String) -> CodecError {
    CodecError::Config { codec: "shuffle".into(), reason }
}

impl BytesCodec for ShuffleCodec {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(self.name.as_str()).with("elementsize", self.element_size)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::Exact(decoded)
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        crate::room::grow(out, input.len())?;
        shuffle(self.element_size, input, &mut out[start..]);
        Ok(())
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        if input.len() != out.len() {
            return Err(size_error(out.len(), input.len()));
        }
        unshuffle(self.element_size, input, out);
        Ok(())
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        if input.len() > limit {
            return Err(size_error(limit, input.len()));
        }
        let start = out.len();
        crate::room::grow(out, input.len())?;
        unshuffle(self.element_size, input, &mut out[start..]);
        Ok(())
    }
}

fn size_error(expected: usize, found: usize) -> CodecError {
    CodecError::Size { codec: "shuffle".into(), expected: expected as u64, found: found.to_string() }
}
