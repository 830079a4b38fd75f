//! `bitround`: keeps this many bits of each float's mantissa, or of each integer from its highest set bit on, rounded to the
//! nearest, ties to even. Integers keep their sign, and one that would leave its type is rounded down.

use crate::config::Settings;
use crate::lanes::Number;
use crate::registry::register_all;
use crate::{AnyCodec, ArrayCodec, ChunkSpec, NamedConfig, Registry, Result, fail};
use std::sync::Arc;
use tessarray_buffer::DataType;

const NAME: &str = "bitround";

#[derive(Debug)]
struct BitRound {
    keep: u32,
    is_integer: bool,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["bitround", "numcodecs.bitround"], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["keepbits"])?;
    let bits = mantissa(spec)?;
    settings.required("keepbits", settings.value("keepbits"))?;
    let is_integer = is_integer(spec);
    let least = if is_integer { 1 } else { 0 };
    let keep = settings.encoder_int("keepbits", least..=bits.into())?.unwrap_or(bits.into());
    Ok(AnyCodec::Array(Arc::new(BitRound { keep: u32::try_from(keep).unwrap_or(bits), is_integer })))
}

/// Bits of the mantissa that are stored.
fn mantissa(spec: &ChunkSpec) -> Result<u32> {
    match spec.data_type {
        DataType::BFloat16 => Ok(7),
        DataType::Float16 => Ok(10),
        DataType::Float32 => Ok(23),
        DataType::Float64 => Ok(52),
        _ if is_integer(spec) => Ok(u32::try_from(spec.data_type.size().saturating_mul(8)).unwrap_or(64)),
        _ => Err(fail::data_type(NAME, spec, "it rounds integers, times and floats of 16 to 64 bits")),
    }
}

fn is_integer(spec: &ChunkSpec) -> bool {
    Number::of(&spec.data_type).is_some_and(|number| !number.is_float() && number != Number::Bool)
}

macro_rules! round_integers {
    ($type:ty, $keep:expr, $input:expr, $out:expr) => {{
        let values = $input.as_chunks::<{ size_of::<$type>() }>().0;
        for (value, out) in values.iter().zip($out.as_chunks_mut::<{ size_of::<$type>() }>().0) {
            let value = <$type>::from_ne_bytes(*value);
            let size = u128::from(value.unsigned_abs_of());
            let drop = (u128::BITS - size.leading_zeros()).saturating_sub($keep);
            let mut rounded = size;
            if drop > 0 {
                let nearest = (size + ((size >> drop) & 1) + (1 << (drop - 1)) - 1) >> drop << drop;
                rounded = if nearest > <$type>::MAX as u128 { size >> drop << drop } else { nearest };
            }
            *out = value.with_size(rounded).to_ne_bytes();
        }
    }};
}

/// A number without its sign, and a number of this sign.
trait Signed {
    type Size;
    fn unsigned_abs_of(self) -> Self::Size;
    fn with_size(self, size: u128) -> Self;
}

macro_rules! signed {
    ($($signed:ty, $unsigned:ty;)*) => { $(
        impl Signed for $signed {
            type Size = $unsigned;
            fn unsigned_abs_of(self) -> $unsigned {
                self.unsigned_abs()
            }
            #[expect(clippy::cast_possible_truncation, reason = "a size that was of this type, rounded within it")]
            fn with_size(self, size: u128) -> Self {
                let size = size as $unsigned as $signed;
                if self < 0 { size.wrapping_neg() } else { size }
            }
        }
        impl Signed for $unsigned {
            type Size = $unsigned;
            fn unsigned_abs_of(self) -> $unsigned {
                self
            }
            #[expect(clippy::cast_possible_truncation, reason = "a size that was of this type, rounded within it")]
            fn with_size(self, size: u128) -> Self {
                size as $unsigned
            }
        }
    )* };
}

signed! { i8, u8; i16, u16; i32, u32; i64, u64; }

fn integers(number: Number, keep: u32, input: &[u8], out: &mut [u8]) {
    match number {
        Number::I8 => round_integers!(i8, keep, input, out),
        Number::I16 => round_integers!(i16, keep, input, out),
        Number::I32 => round_integers!(i32, keep, input, out),
        Number::U8 => round_integers!(u8, keep, input, out),
        Number::U16 => round_integers!(u16, keep, input, out),
        Number::U32 => round_integers!(u32, keep, input, out),
        Number::U64 => round_integers!(u64, keep, input, out),
        _ => round_integers!(i64, keep, input, out),
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
        // numcodecs rounds floats only; the registered codec has integers too.
        let name = if self.is_integer { NAME } else { "numcodecs.bitround" };
        NamedConfig::new(name).with("keepbits", self.keep)
    }

    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec> {
        mantissa(decoded)?;
        Ok(decoded.clone())
    }

    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        check(decoded, input.len(), out.len())?;
        if let Some(number) = Number::of(&decoded.data_type).filter(|number| !number.is_float()) {
            integers(number, self.keep, input, out);
            return Ok(());
        }
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
        let bools = spec(DataType::Bool, &[1]);
        assert!(Registry::new().build(&NamedConfig::new(NAME).with("keepbits", 1), &bools).is_err());
    }

    /// The values of the sample data of the extension.
    #[test]
    fn integers_keep_bits_from_the_highest_set_one() {
        let spec = spec(DataType::UInt8, &[10]);
        let input = [0, 1, 10, 11, 100, 123, 200, 208, 209, 255];
        let out = array(&NamedConfig::new(NAME).with("keepbits", 3), &spec, &input);
        assert_eq!(out, [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]);
    }

    #[test]
    fn signed_integers_keep_their_sign_and_their_type() {
        for (value, keep, expected) in [
            (-11i16, 3, -12i16),
            (-1, 1, -1),
            (i16::MIN, 2, i16::MIN),
            (i16::MAX, 3, 0x7000),
            (-32_767, 3, -0x7000),
            (1000, 16, 1000),
        ] {
            let spec = spec(DataType::Int16, &[1]);
            let config = NamedConfig::new(NAME).with("keepbits", keep);
            assert_eq!(array(&config, &spec, &value.to_ne_bytes()), expected.to_ne_bytes(), "{value}");
        }
        for data_type in
            [DataType::Int8, DataType::Int32, DataType::Int64, DataType::UInt16, DataType::UInt64]
        {
            let spec = spec(data_type, &[50]);
            let all = u32::try_from(spec.data_type.size() * 8).unwrap();
            let input = &samples(spec.byte_len())[3];
            assert_eq!(&array(&NamedConfig::new(NAME).with("keepbits", all), &spec, input), input);
        }
    }
}
