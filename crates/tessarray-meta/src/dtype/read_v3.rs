//! The `data_type` of a v3 array (Zarr v3 core, "Data types", and zarr-extensions).

use crate::error::{MetaError, Result};
use crate::fields::{self, Object};
use crate::path::Path;
use serde_json::{Map, Value};
use std::collections::HashSet;
use tessarray_buffer::{DataType, Field, SmallType, TimeUnit};

/// The most fields of one structured type, nested ones not counted.
const MAX_FIELDS: usize = 4096;

/// Reads a v3 `data_type`: a name, or an object with a name and a configuration.
///
/// # Errors
/// A name that is not known, or a configuration that does not belong to it.
pub fn parse_data_type(value: &Value, path: &Path<'_>) -> Result<DataType> {
    let named = fields::named(value.clone(), path)?;
    let at = path.key("configuration");
    let mut configuration = Object::new(named.configuration, &at);
    let data_type = match named.name.as_str() {
        "numpy.datetime64" => {
            let (unit, scale) = time(&mut configuration)?;
            DataType::DateTime64 { unit, scale }
        }
        "numpy.timedelta64" => {
            let (unit, scale) = time(&mut configuration)?;
            DataType::TimeDelta64 { unit, scale }
        }
        "null_terminated_bytes" => DataType::FixedBytes(length_bytes(&mut configuration)?),
        "raw_bytes" => DataType::RawBits(length_bytes(&mut configuration)?),
        "fixed_length_utf32" => DataType::FixedUtf32(code_points(&mut configuration)?),
        "struct" | "structured" => DataType::Struct(structure(&mut configuration)?),
        name => {
            let whole = if value.is_object() { path.key("name") } else { *path };
            simple(name, &whole)?
        }
    };
    if let Some(key) = configuration.rest().keys().next() {
        return Err(MetaError::unknown(&at.key(key), "data type setting", key));
    }
    data_type.check().map_err(|error| MetaError::Value {
        path: path.to_string(),
        expected: format!("elements of 1 to {} bytes", DataType::MAX_SIZE),
        found: error.0.chars().take(80).collect(),
    })?;
    Ok(data_type)
}

fn simple(name: &str, path: &Path<'_>) -> Result<DataType> {
    Ok(match name {
        "bool" => DataType::Bool,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float16" => DataType::Float16,
        "bfloat16" => DataType::BFloat16,
        "float32" => DataType::Float32,
        "float64" => DataType::Float64,
        "complex64" | "complex_float32" => DataType::Complex64,
        "complex128" | "complex_float64" => DataType::Complex128,
        "string" => DataType::String,
        "variable_length_bytes" | "bytes" => DataType::Bytes,
        other => match (SmallType::from_name(other), raw_bits(other)) {
            (Some(small), _) => DataType::Small(small),
            (None, Some(bits)) => bits_type(bits, other, path)?,
            (None, None) => return Err(MetaError::unknown(path, "data type", other)),
        },
    })
}

/// The digits of `r16`.
fn raw_bits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('r')?;
    let number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    number.then_some(digits)
}

fn bits_type(bits: &str, name: &str, path: &Path<'_>) -> Result<DataType> {
    match bits.parse::<u32>() {
        Ok(bits) if bits > 0 && bits % 8 == 0 => Ok(DataType::RawBits(bits / 8)),
        _ => Err(MetaError::value(path, "r and a number of bits that is a multiple of 8", &name.into())),
    }
}

fn time(configuration: &mut Object<'_>) -> Result<(TimeUnit, u32)> {
    let path = configuration.path();
    let (unit, key) = configuration.required("unit")?;
    let known = unit.as_str().and_then(TimeUnit::from_name);
    let unit =
        known.ok_or_else(|| MetaError::value(&path.key(key), "a NumPy time unit, as \"ns\"", &unit))?;
    let (scale, key) = configuration.required("scale_factor")?;
    match scale.as_u64().and_then(|n| u32::try_from(n).ok()) {
        Some(scale) if (1..=i32::MAX.unsigned_abs()).contains(&scale) => Ok((unit, scale)),
        _ => Err(MetaError::value(&path.key(key), "an integer from 1 to 2^31 - 1", &scale)),
    }
}

fn length_bytes(configuration: &mut Object<'_>) -> Result<u32> {
    let path = configuration.path();
    let (length, key) = configuration.required("length_bytes")?;
    let max = u32::try_from(DataType::MAX_SIZE).unwrap_or(u32::MAX);
    match length.as_u64().and_then(|n| u32::try_from(n).ok()) {
        Some(length) if (1..=max).contains(&length) => Ok(length),
        _ => Err(MetaError::value(&path.key(key), format!("an integer from 1 to {max}"), &length)),
    }
}

fn code_points(configuration: &mut Object<'_>) -> Result<u32> {
    let path = configuration.path();
    let length = length_bytes(configuration)?;
    if length % 4 == 0 {
        return Ok(length / 4);
    }
    Err(MetaError::value(&path.key("length_bytes"), "a multiple of 4", &length.into()))
}

/// Fields as objects (`struct`) or as pairs (`structured`, which zarr-python wrote before).
fn structure(configuration: &mut Object<'_>) -> Result<Vec<Field>> {
    let path = configuration.path();
    let (items, key) = configuration.required("fields")?;
    let path = path.key(key);
    let field = |(i, item): (usize, Value)| {
        let at = path.index(i);
        match item {
            Value::Object(members) => object_field(members, &at),
            Value::Array(pair) => pair_field(pair, &at),
            other => Err(MetaError::value(&at, "a field: an object with name and data_type", &other)),
        }
    };
    let fields = fields::list(items, &path)?;
    check_field_count(fields.len(), &path)?;
    let fields = fields.into_iter().enumerate().map(field).collect::<Result<Vec<_>>>()?;
    check_fields(&fields, &path)?;
    Ok(fields)
}

fn object_field(members: Map<String, Value>, path: &Path<'_>) -> Result<Field> {
    let mut object = Object::new(members, path);
    let (name, name_key) = object.required("name")?;
    let (data_type, type_key) = object.required("data_type")?;
    object.finish("member")?;
    Ok(Field {
        name: fields::string(&name, &path.key(name_key))?.into(),
        data_type: parse_data_type(&data_type, &path.key(type_key))?,
    })
}

fn pair_field(pair: Vec<Value>, path: &Path<'_>) -> Result<Field> {
    let [name, data_type] = pair.as_slice() else {
        return Err(MetaError::value(path, "a pair of name and data type", &Value::Array(pair)));
    };
    Ok(Field {
        name: fields::string(name, &path.index(0))?.into(),
        data_type: parse_data_type(data_type, &path.index(1))?,
    })
}

pub(super) fn check_field_count(count: usize, path: &Path<'_>) -> Result<()> {
    if count <= MAX_FIELDS {
        return Ok(());
    }
    Err(MetaError::too_large(path, "fields", count, MAX_FIELDS as u64))
}

/// At least one field, none of variable length, no name empty or used twice.
pub(super) fn check_fields(fields: &[Field], path: &Path<'_>) -> Result<()> {
    if fields.is_empty() {
        return Err(MetaError::value(path, "at least one field", &Value::Array(Vec::new())));
    }
    let mut names = HashSet::new();
    for (i, field) in fields.iter().enumerate() {
        let at = path.index(i);
        if field.data_type.is_variable() {
            let found = field.data_type.zarr_name().into();
            return Err(MetaError::value(&at, "a data type of fixed size", &found));
        }
        if field.name.is_empty() || !names.insert(&field.name) {
            return Err(MetaError::value(&at, "a field name, used once", &field.name.as_str().into()));
        }
    }
    Ok(())
}
