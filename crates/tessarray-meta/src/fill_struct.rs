//! Fill values of structured types: an object of the fields' values, or the packed bytes in base 64.

use crate::fill::{Rules, byte_string, element, zero};
use crate::v2::Endian;
use crate::{MetaError, Path, Result};
use serde_json::Value;
use tessarray_buffer::{DataType, Field};

/// Members that the object lacks are zero, as zarr-python reads them.
pub(crate) fn from_json(
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
            swap_from(&mut bytes, data_type, rules);
            Ok(bytes)
        }
        (Value::Number(n), Rules::V2 { .. }) if n.as_f64() == Some(0.0) => Ok(zero(data_type)),
        _ => Err(MetaError::value(path, "an object of field values, or base 64", value)),
    }
}

/// The packed bytes in the byte order that v2 stores.
pub(crate) fn to_stored(fill: &[u8], data_type: &DataType, stored: Option<Endian>) -> Vec<u8> {
    let mut bytes = fill.to_vec();
    swap_from(&mut bytes, data_type, Rules::V2 { stored });
    bytes
}

/// Between the machine's byte order and that of the document, which is its own inverse. Packed bytes in v3 documents
/// are little-endian.
fn swap_from(bytes: &mut [u8], data_type: &DataType, rules: Rules) {
    let stored = match rules {
        Rules::V2 { stored } => stored.unwrap_or(Endian::NATIVE),
        Rules::V3 => Endian::Little,
    };
    if stored != Endian::NATIVE {
        swap(bytes, data_type);
    }
}

fn swap(bytes: &mut [u8], data_type: &DataType) {
    match data_type {
        DataType::Struct(fields) => {
            let mut rest = bytes;
            for field in fields {
                let (head, tail) = rest.split_at_mut(field.data_type.size().min(rest.len()));
                swap(head, &field.data_type);
                rest = tail;
            }
        }
        other => {
            let unit = other.swap_size().unwrap_or(1).max(1);
            bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
    }
}
