//! A data type as the JSON that zarr-python writes.

use serde_json::{Value, json};
use tessarray_buffer::{DataType, Field};

/// The v3 `data_type` member.
///
/// Raw bits are written as `raw_bytes`, with base 64 for the fill value: zarr-python 3.4 and TensorStore 0.1.86 read
/// that, and zarr-python alone does not read the core specification's `r*`, which zarrs (0.2.3 of its Python package)
/// wants. Structured types are written as `struct`.
pub fn data_type_to_json(data_type: &DataType) -> Value {
    let configured = |configuration: Value| json!({"name": name(data_type), "configuration": configuration});
    match data_type {
        DataType::DateTime64 { unit, scale } | DataType::TimeDelta64 { unit, scale } => {
            configured(json!({"unit": unit.name(), "scale_factor": scale}))
        }
        DataType::FixedBytes(length) | DataType::RawBits(length) => {
            configured(json!({"length_bytes": length}))
        }
        DataType::FixedUtf32(points) => configured(json!({"length_bytes": u64::from(*points) * 4})),
        DataType::Struct(fields) => {
            let field = |f: &Field| json!({"name": f.name, "data_type": data_type_to_json(&f.data_type)});
            configured(json!({"fields": fields.iter().map(field).collect::<Vec<_>>()}))
        }
        simple => simple.zarr_name().into(),
    }
}

fn name(data_type: &DataType) -> String {
    match data_type {
        DataType::RawBits(_) => "raw_bytes".into(),
        DataType::Struct(_) => "struct".into(),
        other => other.zarr_name(),
    }
}
