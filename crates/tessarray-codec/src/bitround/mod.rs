//! `bitround`: keeps this many bits of each float's mantissa, rounded to the nearest, ties to even.

use crate::config::Settings;
use crate::list::register_all;
use crate::{AnyCodec, ArrayCodec, ChunkSpec, NamedConfig, Registry, Result, fail};
use std::sync::Arc;
use tessarray_buffer::DataType;

const NAME: &str = "bitround";

#[derive(Debug)]
struct BitRound {
    keep: u32,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["bitround", "numcodecs.bitround"], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["keepbits"])?;
    let bits = mantissa(spec)?;
    settings.required("keepbits", settings.value("keepbits"))?;
    let keep = settings.encoder_int("keepbits", 0..=bits.into())?.unwrap_or(bits.into());
    Ok(AnyCodec::Array(Arc::new(BitRound { keep: u32::try_from(keep).unwrap_or(bits) })))
}

/// Bits of the mantissa that are stored.
fn mantissa(spec: &ChunkSpec) -> Result<u32> {
    match spec.data_type {
        DataType::BFloat16 => Ok(7),
        DataType::Float16 => Ok(10),
        DataType::Float32 => Ok(23),
        DataType::Float64 => Ok(52),
        _ => Err(fail::data_type(NAME, spec, "it rounds floats of 16, 32 or 64 bits")),
    }
}

macro_rules! round {
    ($type:ty, $drop:expr, $input:expr, $out:expr) => {{
        let drop: u32 = $drop;
        let half: $type = (1 << (drop - 1)) - 1;
        let mask: $type = <$type>::MAX << drop;
        let values = $input.as_chunks::<{ size_of::<$type>() }>().0;
        for (value, out) in values.iter().zip($out.as_chunks_mut::<{ size_of::<$type>() }>().0) {
            let bits = <$type>::from_ne_bytes(*value);
            let rounded = bits.wrapping_add(((bits >> drop) & 1) + half) & mask;
            *out = rounded.to_ne_bytes();
        }
    }};
}

fn check(spec: &ChunkSpec, input: usize, out: usize) -> Result<()> {
    fail::check_len(NAME, spec.byte_len(), input)?;
    fail::check_len(NAME, spec.byte_len(), out)
}

impl ArrayCodec for BitRound {
    fn config(&self) -> NamedConfig {
        NamedConfig::new("numcodecs.bitround").with("keepbits", self.keep)
    }

    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec> {
        mantissa(decoded)?;
        Ok(decoded.clone())
    }

    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        check(decoded, input.len(), out.len())?;
        let drop = mantissa(decoded)?.saturating_sub(self.keep);
        match (drop, decoded.data_type.size()) {
            (0, _) => out.copy_from_slice(input),
            (_, 2) => round!(u16, drop, input, out),
            (_, 4) => round!(u32, drop, input, out),
            _ => round!(u64, drop, input, out),
        }
        Ok(())
    }

    fn decode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        check(decoded, input.len(), out.len())?;
        out.copy_from_slice(input);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, samples, spec};

    #[test]
    fn conforms_and_clears_the_bits_below() {
        for (data_type, bits) in [(DataType::Float16, 10), (DataType::Float32, 23), (DataType::Float64, 52)] {
            let spec = spec(data_type, &[50]);
            for keep in [0, 1, bits / 2, bits] {
                let config = NamedConfig::new(NAME).with("keepbits", keep);
                let out = array(&config, &spec, &samples(spec.byte_len())[3]);
                let low = (1u64 << (bits - keep)) - 1;
                for value in out.chunks(spec.data_type.size()) {
                    let mut wide = [0; 8];
                    wide[..value.len()].copy_from_slice(value);
                    assert_eq!(u64::from_le_bytes(wide) & low, 0);
                }
            }
            assert!(
                Registry::new()
                    .build(&NamedConfig::new(NAME).with("keepbits", bits + 1).for_new(), &spec)
                    .is_err()
            );
        }
        assert!(
            Registry::new()
                .build(&NamedConfig::new(NAME).with("keepbits", 1), &spec(DataType::Int32, &[1]))
                .is_err()
        );
    }
}
