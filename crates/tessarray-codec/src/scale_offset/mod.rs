//! `scale_offset` (zarr-extensions): `(x - offset) * scale` in the arithmetic of the array's own type.
//!
//! Floats may overflow to infinity, which they can represent. An integer that would leave its type, or that does not divide
//! by the scale when decoded, is an error: nothing wraps.

use crate::config::Settings;
use crate::lanes::{Number, floats};
use crate::numerals::{self, Numeral};
use crate::registry::register_all;
use crate::{AnyCodec, ArrayCodec, ChunkSpec, CodecError, NamedConfig, Registry, Result, fail};
use serde_json::Value;
use std::sync::Arc;

const NAME: &str = "scale_offset";

#[derive(Debug)]
struct ScaleOffset {
    number: Number,
    offset: Numeral,
    scale: Numeral,
    /// The settings as they were given.
    settings: NamedConfig,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &[NAME], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["offset", "scale"])?;
    let number = Number::of(&spec.data_type)
        .filter(|&number| number != Number::Bool && numerals::is_plain(&spec.data_type))
        .ok_or_else(|| fail::data_type(NAME, spec, "it works on integers and floats"))?;
    let setting = |key: &str, default: i64| {
        let default = Value::from(default);
        let value = settings.value(key).unwrap_or(&default);
        numerals::read(number, value)
            .ok_or_else(|| settings.wrong(key, &format!("a value of {}", spec.data_type), value))
    };
    let (offset, scale) = (setting("offset", 0)?, setting("scale", 1)?);
    if matches!(scale, Numeral::Int(0)) || scale == Numeral::Float(0.0) {
        return Err(settings.error("setting \"scale\": expected a number other than 0, found 0".into()));
    }
    let mut written = NamedConfig::new(NAME);
    for key in ["offset", "scale"] {
        if let Some(value) = settings.value(key) {
            written = written.with(key, value.clone());
        }
    }
    Ok(AnyCodec::Array(Arc::new(ScaleOffset { number, offset, scale, settings: written })))
}

/// Integers of up to 32 bits in 64: a product that leaves them saturates far outside the narrow type.
macro_rules! integers {
    ($type:ty, $wide:ty, $input:expr, $out:expr, $change:expr) => {{
        const SIZE: usize = size_of::<$type>();
        let mut wrong = false;
        let (from, to) = ($input.as_chunks::<SIZE>().0, $out.as_chunks_mut::<SIZE>().0);
        for (from, to) in from.iter().zip(to) {
            let (value, is_wrong): ($wide, bool) = $change(<$wide>::from(<$type>::from_ne_bytes(*from)));
            wrong |= is_wrong | (value < <$type>::MIN.into()) | (value > <$type>::MAX.into());
            *to = (value as $type).to_ne_bytes();
        }
        wrong
    }};
}

macro_rules! each_integer {
    ($number:expr, $input:expr, $out:expr, $narrow:expr, $wide:expr) => {
        match $number {
            Number::I8 => integers!(i8, i64, $input, $out, $narrow),
            Number::I16 => integers!(i16, i64, $input, $out, $narrow),
            Number::I32 => integers!(i32, i64, $input, $out, $narrow),
            Number::U8 => integers!(u8, i64, $input, $out, $narrow),
            Number::U16 => integers!(u16, i64, $input, $out, $narrow),
            Number::U32 => integers!(u32, i64, $input, $out, $narrow),
            Number::U64 => integers!(u64, i128, $input, $out, $wide),
            _ => integers!(i64, i128, $input, $out, $wide),
        }
    };
}

macro_rules! native {
    ($type:ty, $input:expr, $out:expr, $change:expr) => {{
        const SIZE: usize = size_of::<$type>();
        let (from, to) = ($input.as_chunks::<SIZE>().0, $out.as_chunks_mut::<SIZE>().0);
        for (from, to) in from.iter().zip(to) {
            *to = $change(<$type>::from_ne_bytes(*from)).to_ne_bytes();
        }
    }};
}

impl ScaleOffset {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "settings and bounds that this number type has, and values that were checked against it"
    )]
    fn encode_values(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        let number = self.number;
        match (self.offset, self.scale) {
            (Numeral::Float(offset), Numeral::Float(scale)) => {
                match number {
                    Number::F64 => native!(f64, input, out, |x: f64| (x - offset) * scale),
                    Number::F32 => {
                        let (offset, scale) = (offset as f32, scale as f32);
                        native!(f32, input, out, |x: f32| (x - offset) * scale);
                    }
                    _ => floats(number, input, number, out, |lanes| {
                        for x in lanes {
                            let moved = numerals::nearest(number, *x - offset);
                            *x = numerals::nearest(number, moved * scale);
                        }
                    }),
                }
                Ok(())
            }
            (Numeral::Int(offset), Numeral::Int(scale)) => {
                let (least, greatest) = numerals::range(number);
                let wide = |x: i128| {
                    let moved = x - offset;
                    (moved.saturating_mul(scale), moved < least || moved > greatest)
                };
                let (small_offset, small_scale) = (offset as i64, scale as i64);
                let (small_least, small_greatest) = (least as i64, greatest as i64);
                let narrow = |x: i64| {
                    let moved = x - small_offset;
                    (moved.saturating_mul(small_scale), (moved < small_least) | (moved > small_greatest))
                };
                if each_integer!(number, input, out, narrow, wide) {
                    return Err(fail::encode(NAME, self.reason("(x - offset) * scale", input)));
                }
                Ok(())
            }
            _ => Err(CodecError::Chain { reason: "scale_offset: settings of two kinds".into() }),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "settings and bounds that this number type has, and values that were checked against it"
    )]
    fn decode_values(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        let number = self.number;
        match (self.offset, self.scale) {
            (Numeral::Float(offset), Numeral::Float(scale)) => {
                match number {
                    Number::F64 => native!(f64, input, out, |x: f64| x / scale + offset),
                    Number::F32 => {
                        let (offset, scale) = (offset as f32, scale as f32);
                        native!(f32, input, out, |x: f32| x / scale + offset);
                    }
                    _ => floats(number, input, number, out, |lanes| {
                        for x in lanes {
                            let divided = numerals::nearest(number, *x / scale);
                            *x = numerals::nearest(number, divided + offset);
                        }
                    }),
                }
                Ok(())
            }
            (Numeral::Int(offset), Numeral::Int(scale)) => {
                let wide = |x: i128| (x / scale + offset, x % scale != 0);
                let (small_offset, small_scale) = (offset as i64, scale as i64);
                let narrow = |x: i64| (x / small_scale + small_offset, x % small_scale != 0);
                if each_integer!(number, input, out, narrow, wide) {
                    return Err(fail::corrupt(NAME, self.reason("x / scale + offset", input)));
                }
                Ok(())
            }
            _ => Err(CodecError::Chain { reason: "scale_offset: settings of two kinds".into() }),
        }
    }

    fn reason(&self, formula: &str, input: &[u8]) -> String {
        let (Numeral::Int(offset), Numeral::Int(scale)) = (self.offset, self.scale) else {
            return String::new();
        };
        let (least, greatest) = numerals::range(self.number);
        let n = input.len() / self.number.size().max(1);
        format!(
            "{formula} of one of {n} integers is not exact, or not from {least} to {greatest}, with offset {offset} and \
             scale {scale}"
        )
    }

    fn check(&self, spec: &ChunkSpec, input: usize, out: usize) -> Result<()> {
        fail::check_len(NAME, spec.elements().saturating_mul(self.number.size()), input)?;
        fail::check_len(NAME, spec.elements().saturating_mul(self.number.size()), out)
    }
}

impl ArrayCodec for ScaleOffset {
    fn config(&self) -> NamedConfig {
        self.settings.clone()
    }

    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec> {
        fail::check_len(NAME, self.number.size(), decoded.fill.len())?;
        let mut fill = vec![0; decoded.fill.len()];
        self.encode_values(&decoded.fill, &mut fill)?;
        Ok(ChunkSpec { fill: fill.into(), ..decoded.clone() })
    }

    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.check(decoded, input.len(), out.len())?;
        self.encode_values(input, out)
    }

    fn decode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.check(decoded, input.len(), out.len())?;
        self.decode_values(input, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, array_codec, spec};
    use serde_json::json;
    use tessarray_buffer::DataType;

    fn config(offset: Value, scale: Value) -> NamedConfig {
        NamedConfig::new(NAME).with("offset", offset).with("scale", scale)
    }

    #[test]
    fn conforms_and_floats_come_back_within_an_error_of_rounding() {
        let values: Vec<f32> = (0..300).map(|i| i as f32 * 0.37 - 20.0).collect();
        let input: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let out = array(&config(json!(5), json!(0.1)), &spec(DataType::Float32, &[300]), &input);
        for (value, bytes) in values.iter().zip(out.as_chunks::<4>().0) {
            assert!((value - f32::from_ne_bytes(*bytes)).abs() <= 1e-5);
        }
    }

    #[test]
    fn integers_are_exact_or_an_error() {
        for (data_type, good, bad) in [
            (DataType::UInt8, 100i64, 4i64),
            (DataType::Int16, -3000, 30_000),
            (DataType::UInt32, 1 << 30, 4),
            (DataType::Int64, 1 << 40, i64::MAX),
            (DataType::UInt64, 1 << 40, 4),
        ] {
            let one = spec(data_type, &[1]);
            let size = one.byte_len();
            let codec = array_codec(&config(json!(5), json!(2)), &spec(one.data_type.clone(), &[1]));
            let bytes = |value: i64| value.to_le_bytes()[..size].to_vec();
            let (mut encoded, mut out) = (vec![0; size], vec![0; size]);
            codec.encode(&one, &bytes(good), &mut encoded).unwrap();
            assert_eq!(encoded, bytes((good - 5) * 2), "{}", one.data_type);
            codec.decode(&one, &encoded, &mut out).unwrap();
            assert_eq!(out, bytes(good));
            assert!(matches!(codec.encode(&one, &bytes(bad), &mut encoded), Err(CodecError::Encode { .. })));
            assert!(matches!(codec.decode(&one, &bytes(3), &mut out), Err(CodecError::Corrupt { .. })));
        }
    }

    #[test]
    fn settings_are_values_of_the_type() {
        let registry = Registry::new();
        for (data_type, offset, scale, word) in [
            (DataType::UInt8, json!(-1), json!(1), "offset"),
            (DataType::UInt8, json!(0), json!(0.5), "scale"),
            (DataType::UInt8, json!(0), json!(0), "other than 0"),
            (DataType::Float32, json!("x"), json!(1), "offset"),
            (DataType::Float32, json!(1e39), json!(1), "offset"),
            (DataType::Bool, json!(0), json!(1), "integers and floats"),
            (DataType::Complex64, json!(0), json!(1), "integers and floats"),
        ] {
            let error = registry.build(&config(offset, scale), &spec(data_type, &[3])).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(registry.build(&NamedConfig::new(NAME), &spec(DataType::Float16, &[3])).is_ok());
    }
}
