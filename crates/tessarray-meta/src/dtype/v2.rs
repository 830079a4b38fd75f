//! The `dtype` of a v2 array: NumPy type strings and lists of fields (Zarr v2, "Data type encoding").

use super::read_v3::{check_field_count, check_fields};
use crate::endian::Endian;
use crate::error::{MetaError, Result};
use crate::fields;
use crate::path::Path;
use serde_json::Value;
use tessarray_buffer::{DataType, Field, SmallType, TimeUnit};

/// A v2 `dtype`: a data type, and the byte order its elements are stored in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct V2DataType {
    /// The type of one element.
    pub data_type: DataType,
    /// `None` where elements have no byte order.
    pub endian: Option<Endian>,
}

/// Reads a v2 `dtype`. `object` is the type of the elements of `|O`, which the filters know; without it, `|O` is
/// refused, since its elements are Python objects. Structured types whose fields differ in byte order are refused.
///
/// # Errors
/// It is no type of NumPy's that Zarr v2 has, or one of those that are refused.
pub fn parse_v2_data_type(value: &Value, object: Option<&DataType>, path: &Path<'_>) -> Result<V2DataType> {
    let parsed = match value {
        Value::String(text) => type_string(text, object, path)?,
        Value::Array(items) => structure(items, path)?,
        other => return Err(MetaError::value(path, "a NumPy type string, or a list of fields", other)),
    };
    parsed.data_type.check().map_err(|_| {
        MetaError::value(path, format!("elements of 1 to {} bytes", DataType::MAX_SIZE), value)
    })?;
    Ok(parsed)
}

fn type_string(text: &str, object: Option<&DataType>, path: &Path<'_>) -> Result<V2DataType> {
    let bad = || MetaError::value(path, "a NumPy type string, as \"<f4\"", &text.into());
    // ml_dtypes' names, as TensorStore writes them for want of a type string.
    if let Some(small) = SmallType::from_name(text) {
        return Ok(V2DataType { data_type: DataType::Small(small), endian: None });
    }
    let mut chars = text.chars();
    let endian = match chars.next() {
        Some('<') => Some(Endian::Little),
        Some('>') => Some(Endian::Big),
        Some('=') => Some(Endian::NATIVE),
        Some('|') => None,
        // ml_dtypes' name, as zarr-python 2 wrote it for want of a type string.
        _ if text == "bfloat16" => {
            return Ok(V2DataType { data_type: DataType::BFloat16, endian: Some(Endian::Little) });
        }
        _ => return Err(bad()),
    };
    let (kind, rest) = (chars.next().ok_or_else(bad)?, chars.as_str());
    let data_type = match (kind, rest) {
        ('b', "1") => DataType::Bool,
        ('i', "1") => DataType::Int8,
        ('i', "2") => DataType::Int16,
        ('i', "4") => DataType::Int32,
        ('i', "8") => DataType::Int64,
        ('u', "1") => DataType::UInt8,
        ('u', "2") => DataType::UInt16,
        ('u', "4") => DataType::UInt32,
        ('u', "8") => DataType::UInt64,
        ('f', "2") => DataType::Float16,
        ('f', "4") => DataType::Float32,
        ('f', "8") => DataType::Float64,
        ('c', "8") => DataType::Complex64,
        ('c', "16") => DataType::Complex128,
        ('O', "" | "8" | "4") => match object {
            Some(object) => object.clone(),
            None => return Err(MetaError::Forbidden { path: path.to_string(), name: text.into() }),
        },
        ('S' | 'a', length) => DataType::FixedBytes(parse_length(length).ok_or_else(bad)?),
        ('U', length) => DataType::FixedUtf32(parse_length(length).ok_or_else(bad)?),
        ('V', length) => DataType::RawBits(parse_length(length).ok_or_else(bad)?),
        ('M', unit) => {
            let (unit, scale) = time(unit).ok_or_else(bad)?;
            DataType::DateTime64 { unit, scale }
        }
        ('m', unit) => {
            let (unit, scale) = time(unit).ok_or_else(bad)?;
            DataType::TimeDelta64 { unit, scale }
        }
        ('f' | 'c' | 'i' | 'u' | 'b' | 't', _) => return Err(MetaError::unknown(path, "data type", text)),
        _ => return Err(bad()),
    };
    let ordered = data_type.swap_size() != Some(1);
    if ordered && endian.is_none() {
        return Err(MetaError::value(path, "a byte order, \"<\" or \">\"", &text.into()));
    }
    Ok(V2DataType { data_type, endian: endian.filter(|_| ordered) })
}

fn parse_length(digits: &str) -> Option<u32> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// `8`, `8[ns]`, `8[10ns]`, or the same without the 8.
fn time(text: &str) -> Option<(TimeUnit, u32)> {
    let text = text.strip_prefix('8').unwrap_or(text);
    if text.is_empty() {
        return Some((TimeUnit::Generic, 1));
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let digits = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (scale, unit) = inner.split_at(digits);
    let scale = if scale.is_empty() { 1 } else { scale.parse().ok()? };
    let in_range = (1..=i32::MAX.unsigned_abs()).contains(&scale);
    TimeUnit::from_name(unit).filter(|_| in_range).map(|unit| (unit, scale))
}

fn structure(items: &[Value], path: &Path<'_>) -> Result<V2DataType> {
    check_field_count(items.len(), path)?;
    let mut out = Vec::with_capacity(items.len());
    let mut endian = None;
    for (i, item) in items.iter().enumerate() {
        let at = path.index(i);
        let (name, data_type) = match item.as_array().map(Vec::as_slice) {
            Some([name, data_type]) => (name, data_type),
            Some([_, _, _]) => {
                return Err(MetaError::unsupported(&at, "a field that is an array of its own"));
            }
            _ => return Err(MetaError::value(&at, "a pair of name and type", item)),
        };
        let parsed = parse_v2_data_type(data_type, None, &at.index(1))?;
        if endian.is_some() && parsed.endian.is_some() && endian != parsed.endian {
            return Err(MetaError::unsupported(&at, "fields of different byte order"));
        }
        endian = endian.or(parsed.endian);
        let name = fields::string(name, &at.index(0))?.to_owned();
        out.push(Field { name, data_type: parsed.data_type });
    }
    check_fields(&out, path)?;
    Ok(V2DataType { data_type: DataType::Struct(out), endian })
}

/// The v2 `dtype` member for elements stored in this byte order.
pub fn data_type_to_v2(data_type: &DataType, endian: Endian) -> Value {
    if let DataType::Struct(fields) = data_type {
        let field =
            |f: &Field| Value::Array(vec![f.name.as_str().into(), data_type_to_v2(&f.data_type, endian)]);
        return Value::Array(fields.iter().map(field).collect());
    }
    let order = match endian {
        _ if data_type.swap_size() == Some(1) => '|',
        Endian::Little => '<',
        Endian::Big => '>',
    };
    let kind = match data_type {
        DataType::Bool => "b1".into(),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            format!("i{}", data_type.size())
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            format!("u{}", data_type.size())
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => format!("f{}", data_type.size()),
        DataType::BFloat16 => return "bfloat16".into(),
        DataType::Small(small) => return small.name().into(),
        DataType::Complex64 => "c8".into(),
        DataType::Complex128 => "c16".into(),
        DataType::DateTime64 { unit, scale } => format!("M8{}", time_text(*unit, *scale)),
        DataType::TimeDelta64 { unit, scale } => format!("m8{}", time_text(*unit, *scale)),
        DataType::FixedBytes(length) => format!("S{length}"),
        DataType::FixedUtf32(length) => format!("U{length}"),
        DataType::RawBits(length) => format!("V{length}"),
        _ => "O".into(),
    };
    format!("{order}{kind}").into()
}

fn time_text(unit: TimeUnit, scale: u32) -> String {
    match (unit, scale) {
        (TimeUnit::Generic, _) => String::new(),
        (unit, 1) => format!("[{}]", unit.name()),
        (unit, scale) => format!("[{scale}{}]", unit.name()),
    }
}
