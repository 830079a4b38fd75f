//! A v3 codec chain as v2's order, filters and compressor.

use super::codec_names::{ARRAY_FILTERS, codec_to_v2, filter_types};
use super::{Endian, Order, V2Extra};
use crate::dtype::{data_type_to_v2, parse_v2_data_type};
use crate::sharding::plain;
use crate::{MetaError, Path, Result};
use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;

/// What v2 says instead of this chain, for an array of `rank` dimensions. The last bytes codec becomes the
/// compressor, the others filters.
///
/// # Errors
/// [`MetaError::Unsupported`] where v2 cannot say it: sharding, a transpose that is not the full reversal of the axes
/// at the start of the chain, or elements of variable length without their filter.
pub fn v2_from_codecs(codecs: &[NamedConfig], data_type: &DataType, rank: usize) -> Result<V2Extra> {
    let root = Path::root(".zarray");
    let path = root.key("codecs");
    let mut order = Order::C;
    let mut filters: Vec<Map<String, Value>> = Vec::new();
    let mut bytes: Vec<Map<String, Value>> = Vec::new();
    let mut endian = None;
    let mut typed = None;
    let mut serialized = false;
    for (i, codec) in codecs.iter().enumerate() {
        let at = path.index(i);
        match plain(&codec.name) {
            "sharding_indexed" => return Err(MetaError::unsupported(&at, "sharding in Zarr v2")),
            "transpose" => order = transposed(codec, i, rank, &at)?,
            "bytes" if !serialized => {
                endian =
                    codec.configuration.get("endian").and_then(Value::as_str).and_then(Endian::from_name);
                serialized = true;
            }
            "vlen-utf8" | "vlen-bytes" if !serialized => {
                filters.push(codec_to_v2(codec));
                serialized = true;
            }
            name if ARRAY_FILTERS.contains(&name) && !serialized => {
                typed = typed.or(filter_types(name, &codec.configuration).0);
                filters.push(codec_to_v2(codec));
            }
            _ => {
                bytes.push(codec_to_v2(codec));
                serialized = true;
            }
        }
    }
    if data_type.is_variable() && !filters.iter().any(is_vlen) {
        return Err(MetaError::unsupported(
            &path,
            "elements of variable length without vlen-utf8 or vlen-bytes",
        ));
    }
    // Filters that name the type they take decide its byte order; the serializer's is that of what they give.
    let named = typed.and_then(|text| parse_v2_data_type(&text.into(), None, &path).ok());
    let endian = named.and_then(|named| named.endian).or(endian).unwrap_or(Endian::Little);
    let compressor = bytes.pop();
    filters.extend(bytes);
    Ok(V2Extra {
        order,
        dtype: data_type_to_v2(data_type, endian),
        filters: if filters.is_empty() { None } else { Some(filters) },
        compressor,
        fill_value_null: false,
        dimension_separator: None,
    })
}

fn is_vlen(filter: &Map<String, Value>) -> bool {
    matches!(filter.get("id").and_then(Value::as_str), Some("vlen-utf8" | "vlen-bytes"))
}

fn transposed(codec: &NamedConfig, place: usize, rank: usize, path: &Path<'_>) -> Result<Order> {
    let is = |axes: &mut dyn Iterator<Item = usize>| {
        let axes: Vec<Value> = axes.map(Value::from).collect();
        codec.configuration.get("order") == Some(&Value::Array(axes))
    };
    if is(&mut (0..rank)) {
        Ok(Order::C)
    } else if place == 0 && is(&mut (0..rank).rev()) {
        Ok(Order::F)
    } else {
        Err(MetaError::unsupported(path, "axes in any order but C and F in Zarr v2"))
    }
}
