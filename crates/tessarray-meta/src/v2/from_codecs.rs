//! A v3 codec chain as v2's order, filters and compressor.

use super::codec_names::{ARRAY_FILTERS, codec_to_v2, filter_output, filter_type, type_settings};
use crate::array::{Order, V2Extra};
use crate::dtype::{V2DataType, data_type_to_v2};
use crate::endian::Endian;
use crate::error::{MetaError, Result};
use crate::names::plain;
use crate::path::Path;
use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;

/// What v2 says instead of this chain, for an array of `rank` dimensions, in numcodecs' names and settings. The last
/// bytes codec becomes the compressor, the others filters.
///
/// The byte order of the serializer becomes that of the `dtype` or, where filters name types, of what the last of them
/// gives. Types that v3 lets a filter leave out are named, since numcodecs asks for them.
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
    let mut serialized = false;
    for (i, codec) in codecs.iter().enumerate() {
        let at = path.index(i);
        match plain(&codec.name) {
            "sharding_indexed" => return Err(MetaError::unsupported(&at, "sharding in Zarr v2")),
            name @ ("scale_offset" | "cast_value") => {
                return Err(MetaError::unsupported(
                    &at,
                    format!("{name} in Zarr v2; fixedscaleoffset is its like"),
                ));
            }
            "packbits"
                if codec.name == "packbits" && codecs.get(i + 1).is_none_or(|next| next.name != "bytes") =>
            {
                return Err(MetaError::unsupported(
                    &at,
                    "packbits of zarr-extensions in Zarr v2; numcodecs.packbits packs bools there",
                ));
            }
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
            name if ARRAY_FILTERS.contains(&name) && !serialized => filters.push(codec_to_v2(codec)),
            _ => {
                // A serializer such as pcodec, which takes numbers as the machine has them.
                if !serialized {
                    endian = Some(Endian::NATIVE);
                }
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
    let endian = name_types(&mut filters, data_type, endian.unwrap_or(Endian::Little), &path)?;
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

/// Writes into the filters the types they take and give, so that the last one gives the byte order `serialized`.
/// Returns the byte order of the array itself.
fn name_types(
    filters: &mut [Map<String, Value>],
    data_type: &DataType,
    serialized: Endian,
    path: &Path<'_>,
) -> Result<Endian> {
    let types =
        |filter: &Map<String, Value>| filter.get("id").and_then(Value::as_str).and_then(type_settings);
    let mut first = None;
    for filter in filters.iter() {
        if let Some((input, _)) = types(filter) {
            first = filter_type(filter, input, path)?;
            break;
        }
    }
    let first = first.and_then(|named| named.endian).unwrap_or(serialized);
    let ordered = data_type.swap_size() != Some(1);
    let mut current = V2DataType { data_type: data_type.clone(), endian: ordered.then_some(first) };
    let last = filters.iter().rposition(|filter| types(filter).is_some());
    for (i, filter) in filters.iter_mut().enumerate() {
        let id = filter.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let takes = current;
        current = filter_output(&id, filter, &takes, path)?;
        let Some((input, output)) = type_settings(&id) else { continue };
        if Some(i) == last && current.endian.is_some() {
            current.endian = Some(serialized);
        }
        let takes = filter_type(filter, input, path)?.unwrap_or(takes);
        for (key, named) in [(input, &takes), (output, &current)] {
            let text = data_type_to_v2(&named.data_type, named.endian.unwrap_or(Endian::NATIVE));
            filter.insert(key.into(), text);
        }
    }
    Ok(first)
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
