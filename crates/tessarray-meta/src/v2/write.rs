//! Metadata to a `.zarray` and its `.zattrs`.

use super::from_codecs::v2_from_codecs;
use super::read::DIMENSIONS;
use crate::array::{ArrayMetadata, Format, Order, V2Extra};
use crate::dtype::parse_v2_data_type;
use crate::error::{MetaError, Result};
use crate::fill::fill_value_to_json_v2;
use crate::key_encoding::KeyEncoding;
use crate::path::Path;
use crate::{json, non_finite};
use serde_json::{Map, Value};

impl ArrayMetadata {
    /// The `.zarray` and `.zattrs` documents. Fails where v2 cannot say it: sharding, partial axis permutations, or
    /// some but not all dimensions named.
    ///
    /// # Errors
    /// v2 cannot say it: sharding, a permutation of some axes, a codec of v3 only, or some but not all dimensions named.
    pub fn to_v2(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let (zarray, zattrs) = array_to_v2(self)?;
        Ok((json::to_pretty(&zarray), json::to_pretty(&zattrs)))
    }
}

/// Members in the order in which zarr-python writes them.
pub(crate) fn array_to_v2(array: &ArrayMetadata) -> Result<(Value, Value)> {
    let path = Path::root(".zarray");
    let Some(chunks) = array.chunk_grid.regular() else {
        return Err(MetaError::unsupported(&path.key("chunks"), "chunks of unequal lengths in Zarr v2"));
    };
    let KeyEncoding::V2 { separator } = array.key_encoding else {
        return Err(MetaError::unsupported(&path, "the default chunk keys of Zarr v3 in Zarr v2"));
    };
    let extra = match &array.v2 {
        Some(extra) => extra.clone(),
        None => {
            let made = v2_from_codecs(&array.codecs, &array.data_type, array.shape.len())?;
            V2Extra { dimension_separator: Some(separator), ..made }
        }
    };
    let stored = parse_v2_data_type(&extra.dtype, Some(&array.data_type), &path.key("dtype"))?;
    let fill = match extra.fill_value_null {
        true => Value::Null,
        false => fill_value_to_json_v2(&array.data_type, stored.endian, &array.fill_value),
    };
    let order = if extra.order == Order::F { "F" } else { "C" };
    let objects = |codecs: Vec<Map<String, Value>>| codecs.into_iter().map(Value::Object).collect::<Value>();

    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.into(), value);
    put("shape", array.shape.clone().into());
    put("chunks", chunks.into());
    put("dtype", extra.dtype);
    put("fill_value", fill);
    put("order", order.into());
    put("filters", extra.filters.map_or(Value::Null, objects));
    if extra.dimension_separator.is_some() || separator != '.' {
        put("dimension_separator", separator.to_string().into());
    }
    put("compressor", extra.compressor.map_or(Value::Null, Value::Object));
    put("zarr_format", 2.into());
    // Members that v3 lets readers ignore mean nothing in v2.
    if array.format == Format::V2 {
        out.extend(array.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    Ok((Value::Object(out), attributes(array)?))
}

fn attributes(array: &ArrayMetadata) -> Result<Value> {
    let mut out = array.attributes.clone();
    if let Some(names) = &array.dimension_names {
        let named = names.iter().map(|name| name.as_deref().map(Value::from)).collect::<Option<Vec<_>>>();
        match named {
            Some(named) => {
                out.insert(DIMENSIONS.into(), Value::Array(named));
            }
            None if names.iter().all(Option::is_none) => {}
            None => {
                let path = Path::root(".zattrs");
                let reason = "names for some dimensions but not for others in Zarr v2";
                return Err(MetaError::unsupported(&path.key(DIMENSIONS), reason));
            }
        }
    }
    Ok(Value::Object(non_finite::mark_v2(out)))
}
