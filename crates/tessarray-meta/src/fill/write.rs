//! The `fill_value` member: from the bytes of one element to JSON, as zarr-python writes it.

use super::packed::to_stored;
use crate::base64;
use crate::endian::Endian;
use crate::error::{MetaError, Result};
use crate::path::Path;
use half::{bf16, f16};
use serde_json::{Map, Number, Value};
use tessarray_buffer::DataType;

/// The `fill_value` member of a v3 array, from one element in the machine's byte order.
///
/// Floats are numbers, `"Infinity"`, `"-Infinity"` or `"NaN"`, and any other not-a-number its bits in hexadecimal;
/// times are integers; bytes are base 64.
pub fn fill_value_to_json(data_type: &DataType, fill: &[u8]) -> Value {
    scalar(data_type, fill, true)
}

/// The `fill_value` member of a v2 array. `stored` is the byte order of its `dtype`.
pub fn fill_value_to_json_v2(data_type: &DataType, stored: Option<Endian>, fill: &[u8]) -> Value {
    match data_type {
        DataType::Struct(_) => base64::encode(&to_stored(fill, data_type, stored)).into(),
        other => scalar(other, fill, false),
    }
}

fn scalar(data_type: &DataType, fill: &[u8], hex: bool) -> Value {
    match data_type {
        DataType::Bool => (fill.first().copied().unwrap_or(0) != 0).into(),
        DataType::Int8 => i8::from_ne_bytes(first(fill)).into(),
        DataType::Int16 => i16::from_ne_bytes(first(fill)).into(),
        DataType::Int32 => i32::from_ne_bytes(first(fill)).into(),
        DataType::Int64 | DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => {
            i64::from_ne_bytes(first(fill)).into()
        }
        DataType::UInt8 => u8::from_ne_bytes(first(fill)).into(),
        DataType::UInt16 => u16::from_ne_bytes(first(fill)).into(),
        DataType::UInt32 => u32::from_ne_bytes(first(fill)).into(),
        DataType::UInt64 => u64::from_ne_bytes(first(fill)).into(),
        DataType::Float16 => {
            let value = f16::from_ne_bytes(first(fill));
            float(value.to_f64(), value.to_bits().into(), 0x7e00, 4, hex)
        }
        DataType::BFloat16 => {
            let value = bf16::from_ne_bytes(first(fill));
            float(value.to_f64(), value.to_bits().into(), 0x7fc0, 4, hex)
        }
        DataType::Float32 => float32(fill, hex),
        DataType::Float64 => float64(fill, hex),
        DataType::Small(small) => {
            let code = first::<1>(fill)[0] & small.mask();
            match small.signed_integer() {
                // Exact: a number of 4 bits or fewer.
                Some(_) => Value::Number((small.to_f64(code) as i64).into()),
                None => float(small.to_f64(code), code.into(), small.nan().unwrap_or(0).into(), 2, hex),
            }
        }
        DataType::Complex64 => Value::Array(vec![float32(fill, hex), float32(tail(fill, 4), hex)]),
        DataType::Complex128 => Value::Array(vec![float64(fill, hex), float64(tail(fill, 8), hex)]),
        DataType::FixedBytes(_) => {
            let end = fill.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
            base64::encode(fill.get(..end).unwrap_or_default()).into()
        }
        DataType::RawBits(_) | DataType::Bytes => base64::encode(fill).into(),
        DataType::FixedUtf32(_) => code_points(fill).collect::<String>().trim_end_matches('\0').into(),
        DataType::String => String::from_utf8_lossy(fill).into(),
        DataType::Struct(fields) => {
            let mut out = Map::new();
            let mut rest = fill;
            for field in fields {
                let (head, next) = rest.split_at(field.data_type.size().min(rest.len()));
                out.insert(field.name.clone(), scalar(&field.data_type, head, hex));
                rest = next;
            }
            Value::Object(out)
        }
        _ => Value::Null,
    }
}

/// The first `N` bytes, zeros where there are fewer ([`check_fill`] has refused that).
fn first<const N: usize>(fill: &[u8]) -> [u8; N] {
    fill.first_chunk().copied().unwrap_or([0; N])
}

fn tail(fill: &[u8], from: usize) -> &[u8] {
    fill.get(from..).unwrap_or_default()
}

fn float32(fill: &[u8], hex: bool) -> Value {
    let value = f32::from_ne_bytes(first(fill));
    float(value.into(), value.to_bits().into(), 0x7fc0_0000, 8, hex)
}

fn float64(fill: &[u8], hex: bool) -> Value {
    let value = f64::from_ne_bytes(first(fill));
    float(value, value.to_bits(), 0x7ff8_0000_0000_0000, 16, hex)
}

fn float(value: f64, bits: u64, nan: u64, digits: usize, hex: bool) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value == f64::INFINITY => "Infinity".into(),
        None if value == f64::NEG_INFINITY => "-Infinity".into(),
        None if bits == nan || !hex => "NaN".into(),
        None => format!("0x{bits:0digits$x}").into(),
    }
}

fn code_points(fill: &[u8]) -> impl Iterator<Item = char> {
    let point =
        |unit: &[u8]| char::from_u32(u32::from_ne_bytes(first(unit))).unwrap_or(char::REPLACEMENT_CHARACTER);
    fill.chunks_exact(4).map(point)
}

/// Refuses bytes that are no element of this type: of another size, or no text where the type is text.
pub(crate) fn check_fill(data_type: &DataType, fill: &[u8], path: &Path<'_>) -> Result<()> {
    let bad =
        |expected: String, found: String| Err(MetaError::Value { path: path.to_string(), expected, found });
    if !data_type.is_variable() && fill.len() != data_type.size() {
        return bad(format!("{} bytes ({data_type})", data_type.size()), format!("{} bytes", fill.len()));
    }
    let text = match data_type {
        DataType::String => std::str::from_utf8(fill).is_ok(),
        DataType::FixedUtf32(_) => {
            fill.chunks_exact(4).all(|unit| char::from_u32(u32::from_ne_bytes(first(unit))).is_some())
        }
        _ => true,
    };
    if text { Ok(()) } else { bad("Unicode text".into(), "bytes that are none".into()) }
}
