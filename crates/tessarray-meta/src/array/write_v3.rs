//! Metadata to a v3 array document.

use crate::array::ArrayMetadata;
use crate::dtype::data_type_to_json;
use crate::fill::fill_value_to_json;
use crate::key_encoding::KeyEncoding;
use crate::{chunk_grid, json, non_finite};
use serde_json::{Map, Value, json};
use tessarray_codec::NamedConfig;

impl ArrayMetadata {
    /// The `zarr.json` document, with members in the order zarr-python writes them.
    pub fn to_v3(&self) -> Vec<u8> {
        json::to_pretty(&self.to_v3_value())
    }

    pub(crate) fn to_v3_value(&self) -> Value {
        array_to_v3(self)
    }
}

/// Members in the order in which zarr-python writes them, so that documents of both compare well.
fn array_to_v3(array: &ArrayMetadata) -> Value {
    let (name, separator) = match array.key_encoding {
        KeyEncoding::Default { separator } => ("default", separator),
        KeyEncoding::V2 { separator } => ("v2", separator),
    };
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.into(), value);
    put("shape", array.shape.clone().into());
    put("data_type", data_type_to_json(&array.data_type));
    put("chunk_grid", chunk_grid::to_json(&array.chunk_grid));
    put("chunk_key_encoding", json!({"name": name, "configuration": {"separator": separator}}));
    put("fill_value", fill_value_to_json(&array.data_type, &array.fill_value));
    put("codecs", array.codecs.iter().map(NamedConfig::to_json).collect());
    put("attributes", Value::Object(array.attributes.clone()));
    if let Some(names) = &array.dimension_names {
        put("dimension_names", json!(names));
    }
    put("zarr_format", 3.into());
    put("node_type", "array".into());
    put("storage_transformers", Value::Array(Vec::new()));
    out.extend(array.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
    non_finite::mark_v3(&array.attributes, &mut out);
    Value::Object(out)
}
