//! `numcodecs.delta`: the first value, then the difference of each from the one before, in the order of C.

use crate::config::Settings;
use crate::lanes::{Number, Types, floats, ints};
use crate::number_filter::{NumberFilter, codec};
use crate::registry::register_all;
use crate::{AnyCodec, ChunkSpec, NamedConfig, Registry, Result, fail};

const NAME: &str = "delta";

#[derive(Debug)]
struct Delta {
    types: Types,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["delta", "numcodecs.delta"], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["dtype", "astype"])?;
    let types = Types::read(&settings, spec, NAME, ["dtype", "astype"])?;
    let odd = [types.decoded, types.encoded].into_iter().any(|n| matches!(n, Number::Bool | Number::BF16));
    if odd || types.encoded.is_float() && !types.decoded.is_float() {
        let reason = format!("differences of {} are not kept as {}", types.decoded_name, types.encoded_name);
        return Err(fail::data_type(NAME, spec, reason));
    }
    Ok(codec(Delta { types }))
}

/// Calls a function with the differences or sums of the one integer type on both sides.
macro_rules! same_width {
    ($function:ident, $number:expr, $input:expr, $out:expr) => {
        match $number {
            Number::I8 | Number::U8 => $function!(u8, $input, $out),
            Number::I16 | Number::U16 => $function!(u16, $input, $out),
            Number::I32 | Number::U32 => $function!(u32, $input, $out),
            _ => $function!(u64, $input, $out),
        }
    };
}

macro_rules! differences {
    ($type:ty, $input:expr, $out:expr) => {{
        let mut last = 0;
        let values = $input.as_chunks::<{ size_of::<$type>() }>().0;
        for (value, out) in values.iter().zip($out.as_chunks_mut::<{ size_of::<$type>() }>().0) {
            let value = <$type>::from_ne_bytes(*value);
            *out = value.wrapping_sub(last).to_ne_bytes();
            last = value;
        }
    }};
}

macro_rules! sums {
    ($type:ty, $input:expr, $out:expr) => {{
        let mut sum: $type = 0;
        let values = $input.as_chunks::<{ size_of::<$type>() }>().0;
        for (value, out) in values.iter().zip($out.as_chunks_mut::<{ size_of::<$type>() }>().0) {
            sum = sum.wrapping_add(<$type>::from_ne_bytes(*value));
            *out = sum.to_ne_bytes();
        }
    }};
}

/// Integers wrap where the decoded type's arithmetic does, before they are cast to the encoded type.
#[derive(Debug, Clone, Copy)]
struct Wrap(Number);

impl Wrap {
    fn to(number: Number) -> Self {
        Self(number)
    }

    #[expect(clippy::cast_possible_truncation, reason = "to wrap is what it is for")]
    fn wrap(self, x: i64) -> i64 {
        match self.0 {
            Number::I8 => i64::from(x as i8),
            Number::I16 => i64::from(x as i16),
            Number::I32 => i64::from(x as i32),
            Number::U8 => i64::from(x as u8),
            Number::U16 => i64::from(x as u16),
            Number::U32 => i64::from(x as u32),
            _ => x,
        }
    }
}

impl NumberFilter for Delta {
    const NAME: &'static str = NAME;

    fn types(&self) -> &Types {
        &self.types
    }

    fn config(&self) -> NamedConfig {
        let types = &self.types;
        NamedConfig::new("numcodecs.delta")
            .with("dtype", types.decoded_name.clone())
            .with("astype", types.encoded_name.clone())
    }

    fn encode(&self, input: &[u8], out: &mut [u8]) {
        let Types { decoded, encoded, .. } = self.types;
        if decoded.is_float() {
            let (precision, mut first, mut last) = (decoded.precision(), true, 0.0);
            floats(decoded, input, encoded, out, |lanes| {
                for lane in lanes {
                    let value = *lane;
                    *lane = if first { value } else { precision.round(value - last) };
                    (first, last) = (false, value);
                }
            });
        } else if decoded.size() == encoded.size() {
            same_width!(differences, decoded, input, out);
        } else {
            let (narrow, mut first, mut last) = (Wrap::to(decoded), true, 0i64);
            ints(decoded, input, encoded, out, |lanes| {
                for lane in lanes {
                    let value = *lane;
                    *lane = if first { value } else { narrow.wrap(value.wrapping_sub(last)) };
                    (first, last) = (false, value);
                }
            });
        }
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) {
        let Types { decoded, encoded, .. } = self.types;
        if decoded.is_float() {
            let precision = decoded.precision().max(encoded.precision());
            let (mut first, mut sum) = (true, 0.0);
            floats(encoded, input, decoded, out, |lanes| {
                for lane in lanes {
                    sum = if first { *lane } else { precision.round(sum + *lane) };
                    first = false;
                    *lane = sum;
                }
            });
        } else if decoded.size() == encoded.size() {
            same_width!(sums, decoded, input, out);
        } else {
            let mut sum = 0i64;
            ints(encoded, input, decoded, out, |lanes| {
                for lane in lanes {
                    sum = sum.wrapping_add(*lane);
                    *lane = sum;
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, samples, spec};
    use tessarray_buffer::{DataType, TimeUnit};

    #[test]
    fn conforms_and_integers_come_back_whatever_they_are() {
        let types = [
            DataType::Int8,
            DataType::UInt16,
            DataType::Int32,
            DataType::UInt64,
            DataType::DateTime64 { unit: TimeUnit::Nanosecond, scale: 1 },
        ];
        for data_type in types {
            for shape in [&[7u64, 11][..], &[1], &[0], &[1000]] {
                let spec = spec(data_type.clone(), shape);
                for input in samples(spec.byte_len()) {
                    assert_eq!(array(&NamedConfig::new("delta"), &spec, &input), input);
                    let wide = NamedConfig::new("delta").with("astype", "<i8");
                    assert_eq!(array(&wide, &spec, &input), input);
                }
            }
        }
    }

    #[test]
    fn types_without_differences_are_refused() {
        let registry = Registry::new();
        let delta = NamedConfig::new("delta");
        for data_type in [DataType::Bool, DataType::Complex64, DataType::String, DataType::RawBits(4)] {
            assert!(registry.build(&delta, &spec(data_type, &[3])).is_err());
        }
        let int = spec(DataType::Int32, &[3]);
        for (key, value) in [("dtype", "<i2"), ("dtype", "O"), ("astype", "<f4"), ("astype", "|S4")] {
            assert!(registry.build(&delta.clone().with(key, value), &int).is_err(), "{key} {value}");
        }
    }
}
