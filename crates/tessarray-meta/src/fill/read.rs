//! The `fill_value` member: from JSON to the bytes of one element (Zarr v3 core, "Fill value"; Zarr v2, "Fill
//! values").

use super::packed::swap_from;
use crate::base64;
use crate::endian::Endian;
use crate::error::{MetaError, Result};
use crate::path::Path;
use half::{bf16, f16};
use serde_json::Value;
use tessarray_buffer::{DataType, Field, SmallType};

/// Which version's rules hold: v2 lets numbers be strings, and 0 stand for an empty element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    V2 { stored: Option<Endian> },
    V3,
}

impl Rules {
    fn lenient(self) -> bool {
        matches!(self, Self::V2 { .. })
    }

    /// The byte order of packed bytes. In v3 documents they are little-endian.
    fn stored(self) -> Endian {
        match self {
            Self::V2 { stored } => stored.unwrap_or(Endian::NATIVE),
            Self::V3 => Endian::Little,
        }
    }
}

/// One element, in the machine's byte order, from the `fill_value` of a v3 array. Values that the type cannot hold
/// are refused (256 for `uint8`, 1e300 for `float32`); floats are rounded to the type.
///
/// # Errors
/// The type cannot hold the value, or it is written as no value of the type is.
pub fn fill_value_from_json(data_type: &DataType, value: &Value, path: &Path<'_>) -> Result<Box<[u8]>> {
    element(data_type, value, Rules::V3, path).map(Vec::into_boxed_slice)
}

/// One element, in the machine's byte order, from the `fill_value` of a v2 array, which is not null. `stored` is the
/// byte order of the array's `dtype`, which structured fill values are stored in as well.
///
/// # Errors
/// The same as for [`fill_value_from_json`].
pub fn fill_value_from_json_v2(
    data_type: &DataType,
    stored: Option<Endian>,
    value: &Value,
    path: &Path<'_>,
) -> Result<Box<[u8]>> {
    element(data_type, value, Rules::V2 { stored }, path).map(Vec::into_boxed_slice)
}

/// The element that reads where the document gives no fill value: all bytes zero, or empty.
pub(crate) fn zero(data_type: &DataType) -> Vec<u8> {
    if data_type.is_variable() { Vec::new() } else { vec![0; data_type.size()] }
}

fn element(data_type: &DataType, value: &Value, rules: Rules, path: &Path<'_>) -> Result<Vec<u8>> {
    let int = |min: i128, max: i128| integer(value, min, max, rules, data_type, path);
    let float = |value: &Value, path: &Path<'_>| float_bytes(data_type, value, rules, path);
    let out = match data_type {
        DataType::Bool => vec![u8::from(boolean(value, path)?)],
        DataType::Int8 => int(i8::MIN.into(), i8::MAX.into())?.as_i8().to_ne_bytes().into(),
        DataType::Int16 => int(i16::MIN.into(), i16::MAX.into())?.as_i16().to_ne_bytes().into(),
        DataType::Int32 => int(i32::MIN.into(), i32::MAX.into())?.as_i32().to_ne_bytes().into(),
        DataType::Int64 => int(i64::MIN.into(), i64::MAX.into())?.as_i64().to_ne_bytes().into(),
        DataType::UInt8 => int(0, u8::MAX.into())?.as_u8().to_ne_bytes().into(),
        DataType::UInt16 => int(0, u16::MAX.into())?.as_u16().to_ne_bytes().into(),
        DataType::UInt32 => int(0, u32::MAX.into())?.as_u32().to_ne_bytes().into(),
        DataType::UInt64 => int(0, u64::MAX.into())?.as_u64().to_ne_bytes().into(),
        DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => {
            let time =
                if value.as_str() == Some("NaT") { i64::MIN } else { time(value, rules, data_type, path)? };
            time.to_ne_bytes().into()
        }
        DataType::Float16 | DataType::BFloat16 | DataType::Float32 | DataType::Float64 => float(value, path)?,
        DataType::Small(small) => vec![small_number(*small, data_type, value, rules, path)?],
        DataType::Complex64 | DataType::Complex128 => match value.as_array().map(Vec::as_slice) {
            Some([re, im]) => [float(re, &path.index(0))?, float(im, &path.index(1))?].concat(),
            _ if rules.lenient() && value.is_number() => {
                [float(value, path)?, float(&0.into(), path)?].concat()
            }
            _ => return Err(MetaError::value(path, "a pair of real and imaginary part", value)),
        },
        DataType::FixedBytes(_) => padded(byte_string(value, rules, path)?, data_type, value, path)?,
        DataType::RawBits(_) => {
            let bytes = byte_string(value, rules, path)?;
            if rules == Rules::V3 && bytes.len() != data_type.size() {
                let expected = format!("exactly {} bytes", data_type.size());
                return Err(MetaError::value(path, expected, value));
            }
            padded(bytes, data_type, value, path)?
        }
        DataType::FixedUtf32(_) => {
            let text = text(value, rules, path)?;
            padded(text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect(), data_type, value, path)?
        }
        // zarr-python reads numbers here as their text.
        DataType::String if rules.lenient() && (value.is_i64() || value.is_u64()) => value.to_string().into(),
        DataType::String => text(value, rules, path)?.into(),
        DataType::Bytes => byte_string(value, rules, path)?,
        DataType::Struct(fields) => structure(fields, data_type, value, rules, path)?,
        other => return Err(MetaError::unsupported(path, format!("fill values of {other}"))),
    };
    Ok(out)
}

/// A structured element: an object of the fields' values, or the packed bytes in base 64. Members that the object lacks are zero, as zarr-python reads them.
fn structure(
    fields: &[Field],
    data_type: &DataType,
    value: &Value,
    rules: Rules,
    path: &Path<'_>,
) -> Result<Vec<u8>> {
    match (value, rules) {
        (Value::Object(members), Rules::V3) => {
            if let Some(name) = members.keys().find(|name| fields.iter().all(|field| field.name != **name)) {
                return Err(MetaError::value(&path.key(name), "no field of this name", &members[name]));
            }
            let mut out = Vec::with_capacity(data_type.size());
            for field in fields {
                out.extend(match members.get(&field.name) {
                    Some(member) => element(&field.data_type, member, rules, &path.key(&field.name))?,
                    None => zero(&field.data_type),
                });
            }
            Ok(out)
        }
        (Value::String(_), _) => {
            let mut bytes = byte_string(value, rules, path)?;
            if bytes.len() != data_type.size() {
                let expected = format!("base 64 of exactly {} bytes", data_type.size());
                return Err(MetaError::value(path, expected, value));
            }
            swap_from(&mut bytes, data_type, rules.stored());
            Ok(bytes)
        }
        (Value::Number(n), Rules::V2 { .. }) if n.as_f64() == Some(0.0) => Ok(zero(data_type)),
        _ => Err(MetaError::value(path, "an object of field values, or base 64", value)),
    }
}

/// An integer that was checked to be in the range of the type asked for.
struct Checked(i128);

macro_rules! narrow {
    ($($name:ident: $to:ty),*) => { $( fn $name(&self) -> $to { <$to>::try_from(self.0).unwrap_or_default() } )* };
}

impl Checked {
    narrow!(as_i8: i8, as_i16: i16, as_i32: i32, as_i64: i64, as_u8: u8, as_u16: u16, as_u32: u32, as_u64: u64);
}

fn integer(
    value: &Value,
    min: i128,
    max: i128,
    rules: Rules,
    data_type: &DataType,
    path: &Path<'_>,
) -> Result<Checked> {
    let number = match value {
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(n), ..) => Some(i128::from(n)),
            (_, Some(n), _) => Some(i128::from(n)),
            // Writers without an integer type say 0.0; beyond 2^53 the digits are not to be trusted.
            (.., Some(n)) if n.fract() == 0.0 && n.abs() <= 9_007_199_254_740_992.0 => Some(n as i128),
            _ => None,
        },
        Value::String(text) if rules.lenient() => text.parse::<i128>().ok(),
        _ => None,
    };
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(Checked(number)),
        _ => Err(MetaError::value(path, format!("an integer from {min} to {max} ({data_type})"), value)),
    }
}

fn time(value: &Value, rules: Rules, data_type: &DataType, path: &Path<'_>) -> Result<i64> {
    let checked = integer(value, i64::MIN.into(), i64::MAX.into(), rules, data_type, path);
    checked.map(|n| n.as_i64()).map_err(|_| MetaError::value(path, "a 64-bit integer or \"NaT\"", value))
}

fn boolean(value: &Value, path: &Path<'_>) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        // Writers without a Boolean type of their own (Neuroglancer's, zarrita.js') say 0 and 1 in v3 as well.
        Value::Number(n) if n.as_f64() == Some(0.0) => Ok(false),
        Value::Number(n) if n.as_f64() == Some(1.0) => Ok(true),
        other => Err(MetaError::value(path, "true or false", other)),
    }
}

/// The byte of a number of 8 bits or fewer.
fn small_number(
    small: SmallType,
    data_type: &DataType,
    value: &Value,
    rules: Rules,
    path: &Path<'_>,
) -> Result<u8> {
    let bad = |expected: String| MetaError::value(path, expected, value);
    if let Some(signed) = small.signed_integer() {
        let count = 1i128 << small.bits();
        let (min, max) = if signed { (-count / 2, count / 2 - 1) } else { (0, count - 1) };
        let number = integer(value, min, max, rules, data_type, path)?.as_i8();
        return Ok(number.cast_unsigned() & small.mask());
    }
    let bits = value.as_str().and_then(|text| hex_bits(text, 1)).and_then(|bytes| bytes.first().copied());
    if let Some(bits) = bits.filter(|bits| bits & !small.mask() == 0) {
        return Ok(bits);
    }
    let number = float_number(value, rules).and_then(|number| small.from_f64(number));
    number.ok_or_else(|| bad(format!("a number that {data_type} can hold, or its bits as \"0x..\"")))
}

/// A number, or the word for one; `None` for any other value.
fn float_number(value: &Value, rules: Rules) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            // Words such as "nan" and "-inf" too; 1e999 is none, and no number that fits.
            text if rules.lenient() => {
                let word = !text.bytes().any(|byte| byte.is_ascii_digit());
                text.parse().ok().filter(|n: &f64| word || n.is_finite())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The bytes of one float: the element, or either part of a complex element.
fn float_bytes(data_type: &DataType, value: &Value, rules: Rules, path: &Path<'_>) -> Result<Vec<u8>> {
    let width = match data_type {
        DataType::Complex64 => 4,
        DataType::Complex128 => 8,
        other => other.size(),
    };
    let bad = || {
        let expected = format!("a number that fits {data_type}, \"NaN\", \"Infinity\" or \"-Infinity\"");
        MetaError::value(path, expected, value)
    };
    let Some(number) = float_number(value, rules) else {
        let bits = value.as_str().filter(|_| !rules.lenient()).and_then(|text| hex_bits(text, width));
        return bits.ok_or_else(bad);
    };
    let (bytes, finite) = match (width, data_type) {
        (2, DataType::BFloat16) => {
            (bf16::from_f64(number).to_ne_bytes().to_vec(), bf16::from_f64(number).is_finite())
        }
        (2, _) => (f16::from_f64(number).to_ne_bytes().to_vec(), f16::from_f64(number).is_finite()),
        (4, _) => ((number as f32).to_ne_bytes().to_vec(), (number as f32).is_finite()),
        _ => (number.to_ne_bytes().to_vec(), number.is_finite()),
    };
    if number.is_finite() && !finite { Err(bad()) } else { Ok(bytes) }
}

/// `0x` and all bits of the float as hexadecimal digits, the most significant first.
fn hex_bits(text: &str, width: usize) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if digits.len() != 2 * width || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let all = u64::from_str_radix(digits, 16).ok()?.to_be_bytes();
    let mut bytes = all.get(all.len().checked_sub(width)?..)?.to_vec();
    if cfg!(target_endian = "little") {
        bytes.reverse();
    }
    Some(bytes)
}

fn text<'v>(value: &'v Value, rules: Rules, path: &Path<'_>) -> Result<&'v str> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(n) if rules.lenient() && n.as_f64() == Some(0.0) => Ok(""),
        other => Err(MetaError::value(path, "a string", other)),
    }
}

/// Base 64, or a list of bytes.
fn byte_string(value: &Value, rules: Rules, path: &Path<'_>) -> Result<Vec<u8>> {
    match value {
        Value::String(text) => {
            base64::decode(text).ok_or_else(|| MetaError::value(path, "base 64 with padding", value))
        }
        Value::Array(items) => {
            let byte = |(i, item): (usize, &Value)| {
                let byte = item.as_u64().and_then(|n| u8::try_from(n).ok());
                byte.ok_or_else(|| MetaError::value(&path.index(i), "an integer from 0 to 255", item))
            };
            items.iter().enumerate().map(byte).collect()
        }
        Value::Number(n) if rules.lenient() && n.as_f64() == Some(0.0) => Ok(Vec::new()),
        other => Err(MetaError::value(path, "a base 64 string, or an array of bytes", other)),
    }
}

fn padded(mut bytes: Vec<u8>, data_type: &DataType, value: &Value, path: &Path<'_>) -> Result<Vec<u8>> {
    if bytes.len() > data_type.size() {
        return Err(MetaError::value(path, format!("a value that fits {data_type}"), value));
    }
    bytes.resize(data_type.size(), 0);
    Ok(bytes)
}
