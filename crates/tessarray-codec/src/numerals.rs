//! One number in JSON, in the fill value encoding of Zarr v3.

use crate::lanes::Number;
use half::{bf16, f16};
use serde_json::Value;

/// A number of any type, exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numeral {
    Int(i128),
    Float(f64),
}

/// The least and the greatest value of an integer type.
pub(crate) fn range(number: Number) -> (i128, i128) {
    match number {
        Number::Bool => (0, 1),
        Number::I8 => (i8::MIN.into(), i8::MAX.into()),
        Number::I16 => (i16::MIN.into(), i16::MAX.into()),
        Number::I32 => (i32::MIN.into(), i32::MAX.into()),
        Number::U8 => (0, u8::MAX.into()),
        Number::U16 => (0, u16::MAX.into()),
        Number::U32 => (0, u32::MAX.into()),
        Number::U64 => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

/// The nearest value of a float type.
#[expect(clippy::cast_possible_truncation, reason = "the nearest number is what is wanted")]
pub(crate) fn nearest(number: Number, x: f64) -> f64 {
    match number {
        Number::F16 => f16::from_f64(x).to_f64(),
        Number::BF16 => bf16::from_f64(x).to_f64(),
        Number::F32 => f64::from(x as f32),
        _ => x,
    }
}

/// The numeral that `value` is for this type; `None` where it is none of its values.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers of at most 53 bits")]
pub(crate) fn read(number: Number, value: &Value) -> Option<Numeral> {
    if number.is_float() {
        let float = match value {
            Value::Number(given) => given.as_f64()?,
            Value::String(text) => match text.as_str() {
                "NaN" => f64::NAN,
                "Infinity" | "+Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                text => bits(number, text)?,
            },
            _ => return None,
        };
        let rounded = nearest(number, float);
        return (rounded.is_finite() || !float.is_finite()).then_some(Numeral::Float(rounded));
    }
    let Value::Number(given) = value else { return None };
    let exact = given.as_i64().map(i128::from).or_else(|| given.as_u64().map(i128::from));
    let whole = given.as_f64().filter(|x| x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0);
    let integer = exact.or_else(|| whole.map(|x| x as i128))?;
    let (least, greatest) = range(number);
    (least..=greatest).contains(&integer).then_some(Numeral::Int(integer))
}

/// All bits of a float as hexadecimal digits.
fn bits(number: Number, text: &str) -> Option<f64> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 2 * number.size())?;
    let all = u64::from_str_radix(digits, 16).ok()?;
    Some(match number {
        Number::F16 => f16::from_bits(u16::try_from(all).ok()?).to_f64(),
        Number::BF16 => bf16::from_bits(u16::try_from(all).ok()?).to_f64(),
        Number::F32 => f32::from_bits(u32::try_from(all).ok()?).into(),
        _ => f64::from_bits(all),
    })
}

/// The element whose bytes in memory these are.
pub(crate) fn load(number: Number, bytes: &[u8]) -> Numeral {
    fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }
    match number {
        Number::Bool | Number::U8 => Numeral::Int(u8::from_ne_bytes(first(bytes)).into()),
        Number::I8 => Numeral::Int(i8::from_ne_bytes(first(bytes)).into()),
        Number::I16 => Numeral::Int(i16::from_ne_bytes(first(bytes)).into()),
        Number::I32 => Numeral::Int(i32::from_ne_bytes(first(bytes)).into()),
        Number::I64 => Numeral::Int(i64::from_ne_bytes(first(bytes)).into()),
        Number::U16 => Numeral::Int(u16::from_ne_bytes(first(bytes)).into()),
        Number::U32 => Numeral::Int(u32::from_ne_bytes(first(bytes)).into()),
        Number::U64 => Numeral::Int(u64::from_ne_bytes(first(bytes)).into()),
        Number::F16 => Numeral::Float(f16::from_ne_bytes(first(bytes)).to_f64()),
        Number::BF16 => Numeral::Float(bf16::from_ne_bytes(first(bytes)).to_f64()),
        Number::F32 => Numeral::Float(f32::from_ne_bytes(first(bytes)).into()),
        Number::F64 => Numeral::Float(f64::from_ne_bytes(first(bytes))),
    }
}

/// Puts a value that this type has into the bytes of one element.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a value that the type has; a cast from a float saturates"
)]
pub(crate) fn store(number: Number, value: Numeral, out: &mut [u8]) {
    let (integer, float) = match value {
        Numeral::Int(integer) => (integer, integer as f64),
        Numeral::Float(float) => (float as i128, float),
    };
    match number {
        Number::F16 => out.copy_from_slice(&f16::from_f64(float).to_ne_bytes()),
        Number::BF16 => out.copy_from_slice(&bf16::from_f64(float).to_ne_bytes()),
        Number::F32 => out.copy_from_slice(&(float as f32).to_ne_bytes()),
        Number::F64 => out.copy_from_slice(&float.to_ne_bytes()),
        // The low bytes of the two's complement are the narrower type's.
        _ if cfg!(target_endian = "little") => {
            let bytes = integer.to_le_bytes();
            out.copy_from_slice(bytes.get(..out.len()).unwrap_or_default());
        }
        _ => {
            let bytes = integer.to_be_bytes();
            out.copy_from_slice(bytes.get(bytes.len() - out.len()..).unwrap_or_default());
        }
    }
}

/// Whether this is an integer or float of its own, not a time that is stored as one.
pub(crate) fn is_plain(data_type: &tessarray_buffer::DataType) -> bool {
    use tessarray_buffer::DataType;
    !matches!(data_type, DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. })
}
