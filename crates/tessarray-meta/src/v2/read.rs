//! A `.zarray` and its `.zattrs` to metadata (Zarr v2, "Arrays").

use super::to_codecs::{object_type, translate};
use crate::array::{ArrayMetadata, CHUNKS_V2, Format, Order, V2Extra, separator, validate};
use crate::chunk_grid::ChunkGrid;
use crate::dtype::parse_v2_data_type;
use crate::error::{MetaError, Result};
use crate::fields::{self, Object};
use crate::fill::{fill_value_from_json_v2, zero};
use crate::key_encoding::KeyEncoding;
use crate::limits::Limits;
use crate::path::Path;
use crate::{json, non_finite};
use serde_json::{Map, Value};

/// The attribute that xarray keeps dimension names in.
pub(crate) const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

impl ArrayMetadata {
    /// Parses and validates a `.zarray` with its `.zattrs`, if it has one (Zarr v2, "Arrays").
    ///
    /// # Errors
    /// The same as for [`from_v3`](Self::from_v3); and a `dtype`, filter or compressor that has no equivalent here.
    pub fn from_v2(zarray: &[u8], zattrs: Option<&[u8]>, limits: &Limits) -> Result<Self> {
        let path = Path::root(".zarray");
        let zarray = json::parse_object(zarray, limits, ".zarray")?;
        array_from_v2(zarray, attributes(zattrs, limits)?, limits, &path)
    }
}

pub(super) fn attributes(zattrs: Option<&[u8]>, limits: &Limits) -> Result<Map<String, Value>> {
    let Some(document) = zattrs else { return Ok(Map::new()) };
    json::parse_object(document, limits, ".zattrs").map(non_finite::unmark_v2)
}

pub(super) fn array_from_v2(
    zarray: Map<String, Value>,
    mut attributes: Map<String, Value>,
    limits: &Limits,
    path: &Path<'_>,
) -> Result<ArrayMetadata> {
    let mut object = Object::new(zarray, path);
    object.check_format(2)?;
    let (shape, key) = object.required("shape")?;
    let shape = fields::lengths(shape, 0, limits, &path.key(key))?;
    let (chunks, key) = object.required("chunks")?;
    let chunk_shape = fields::lengths(chunks, 1, limits, &path.key(key))?;
    let filters = match object.optional("filters") {
        None | Some(Value::Null) => None,
        Some(filters) => Some(codecs(filters, limits, &path.key("filters"))?),
    };
    let compressor = match object.optional("compressor") {
        None | Some(Value::Null) => None,
        Some(compressor) => Some(json::into_object(compressor, &path.key("compressor"))?),
    };
    let listed = filters.as_deref().unwrap_or_default();
    let objects = object_type(listed, &path.key("filters"))?;
    let (raw_dtype, key) = object.required("dtype")?;
    let dtype = parse_v2_data_type(&raw_dtype, objects.as_ref(), &path.key(key))?;
    let (order, key) = object.required("order")?;
    let order = match order.as_str() {
        Some("C") => Order::C,
        Some("F") => Order::F,
        _ => return Err(MetaError::value(&path.key(key), "\"C\" or \"F\"", &order)),
    };
    let dimension_separator = match object.optional("dimension_separator") {
        None | Some(Value::Null) => None,
        Some(value) => Some(separator(&value, &path.key("dimension_separator"))?),
    };
    let fill = object.optional("fill_value").unwrap_or(Value::Null);
    let fill_value = match &fill {
        Value::Null => zero(&dtype.data_type).into_boxed_slice(),
        fill => fill_value_from_json_v2(&dtype.data_type, dtype.endian, fill, &path.key("fill_value"))?,
    };
    let codecs = translate(order, shape.len(), &dtype, listed, compressor.as_ref(), path)?;
    let dimension_names = take_dimensions(&mut attributes, shape.len());
    let metadata = ArrayMetadata {
        format: Format::V2,
        data_type: dtype.data_type,
        chunk_grid: ChunkGrid::Regular(chunk_shape),
        key_encoding: KeyEncoding::V2 { separator: dimension_separator.unwrap_or('.') },
        fill_value,
        codecs,
        attributes,
        dimension_names,
        v2: Some(V2Extra {
            order,
            dtype: raw_dtype,
            filters,
            compressor,
            fill_value_null: fill.is_null(),
            dimension_separator,
        }),
        // Zarr v2: other members should be ignored.
        extra: object.rest(),
        shape,
    };
    validate(&metadata, limits, path, &CHUNKS_V2)?;
    Ok(metadata)
}

fn codecs(value: Value, limits: &Limits, path: &Path<'_>) -> Result<Vec<Map<String, Value>>> {
    let items = fields::list(value, path)?;
    if items.len() > limits.max_codecs {
        let limit = limits.max_codecs.try_into().unwrap_or(u64::MAX);
        return Err(MetaError::too_large(path, "filters", items.len(), limit));
    }
    items.into_iter().enumerate().map(|(i, item)| json::into_object(item, &path.index(i))).collect()
}

/// Takes xarray's attribute out, where it is one name a dimension; anything else is the user's own and stays.
fn take_dimensions(attributes: &mut Map<String, Value>, rank: usize) -> Option<Vec<Option<String>>> {
    let names = attributes.get(DIMENSIONS)?.as_array()?;
    let name = |value: &Value| value.as_str().filter(|_| non_finite(value).is_none()).map(str::to_owned);
    let names = names.iter().map(|value| name(value).map(Some));
    let names = names.collect::<Option<Vec<_>>>().filter(|names| names.len() == rank)?;
    attributes.shift_remove(DIMENSIONS);
    Some(names)
}
