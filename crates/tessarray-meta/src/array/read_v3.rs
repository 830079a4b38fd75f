//! A v3 array document to metadata (Zarr v3 core, "Array metadata").

use super::validate::{places, validate};
use crate::array::{ArrayMetadata, Format};
use crate::dtype::parse_data_type;
use crate::error::{MetaError, Result};
use crate::fields::{self, Object};
use crate::fill::fill_value_from_json;
use crate::key_encoding::KeyEncoding;
use crate::limits::Limits;
use crate::path::Path;
use crate::{chunk_grid, json, non_finite};
use serde_json::Value;

impl ArrayMetadata {
    /// Parses and validates a `zarr.json` whose `node_type` is `array` (Zarr v3 core, "Array metadata").
    ///
    /// # Errors
    /// It is no JSON, is over a limit, lacks a member or has one that must be understood and is not known, or does not
    /// agree with itself; the error names the place in the document.
    pub fn from_v3(document: &[u8], limits: &Limits) -> Result<Self> {
        let path = Path::root("zarr.json");
        let mut object = Object::new(json::parse_object(document, limits, "zarr.json")?, &path);
        object.check_format(3)?;
        object.check_node_type("array")?;
        array_from_v3(object, limits)
    }
}

/// The rest of an array document, once its format and node type have been looked at.
pub(crate) fn array_from_v3(mut object: Object<'_>, limits: &Limits) -> Result<ArrayMetadata> {
    let path = object.path();
    let (shape, key) = object.required("shape")?;
    let shape = fields::lengths(shape, 0, limits, &path.key(key))?;
    let (data_type, key) = object.required("data_type")?;
    let data_type = parse_data_type(&data_type, &path.key(key))?;
    let (grid, key) = object.required("chunk_grid")?;
    let chunk_grid = chunk_grid::parse(grid, limits, &path.key(key))?;
    let (encoding, key) = object.required("chunk_key_encoding")?;
    let key_encoding = key_encoding(encoding, &path.key(key))?;
    let (fill, key) = object.required("fill_value")?;
    let fill_value = fill_value_from_json(&data_type, &fill, &path.key(key))?;
    let (codecs, key) = object.required("codecs")?;
    let codecs = fields::named_list(codecs, limits, &path.key(key))?;
    let mut attributes = object.attributes()?;
    let dimension_names = match object.optional("dimension_names") {
        None | Some(Value::Null) => None,
        Some(names) => Some(dimension_names(names, shape.len(), &path.key("dimension_names"))?),
    };
    if let Some(transformers) = object.optional("storage_transformers").filter(|value| !value.is_null()) {
        refuse_transformers(transformers, &path.key("storage_transformers"))?;
    }
    let mut extra = object.finish("member")?;
    non_finite::unmark_v3(&mut attributes, &mut extra);
    let metadata = ArrayMetadata {
        format: Format::V3,
        shape,
        data_type,
        chunk_grid,
        key_encoding,
        fill_value,
        codecs,
        attributes,
        dimension_names,
        v2: None,
        extra,
    };
    validate(&metadata, limits, path, places(&metadata.chunk_grid))?;
    Ok(metadata)
}

fn key_encoding(value: Value, path: &Path<'_>) -> Result<KeyEncoding> {
    let encoding = fields::named(value, path)?;
    let at = path.key("configuration");
    let mut configuration = Object::new(encoding.configuration, &at);
    let separator = match configuration.optional("separator") {
        None => None,
        Some(value) => Some(separator(&value, &at.key("separator"))?),
    };
    configuration.finish("setting")?;
    match encoding.name.as_str() {
        "default" => Ok(KeyEncoding::Default { separator: separator.unwrap_or('/') }),
        "v2" => Ok(KeyEncoding::V2 { separator: separator.unwrap_or('.') }),
        other => Err(MetaError::unknown(path, "chunk key encoding", other)),
    }
}

pub(crate) fn separator(value: &Value, path: &Path<'_>) -> Result<char> {
    match value.as_str() {
        Some("/") => Ok('/'),
        Some(".") => Ok('.'),
        _ => Err(MetaError::value(path, "\"/\" or \".\"", value)),
    }
}

fn dimension_names(value: Value, rank: usize, path: &Path<'_>) -> Result<Vec<Option<String>>> {
    let names = fields::list(value, path)?;
    if names.len() != rank {
        let expected = format!("{rank} names, one a dimension");
        return Err(MetaError::value(path, expected, &Value::Array(names)));
    }
    let name = |(i, name): (usize, Value)| match name {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(name)),
        other => Err(MetaError::value(&path.index(i), "a string or null", &other)),
    };
    names.into_iter().enumerate().map(name).collect()
}

fn refuse_transformers(value: Value, path: &Path<'_>) -> Result<()> {
    match fields::list(value, path)?.into_iter().next() {
        None => Ok(()),
        Some(first) => {
            let at = path.index(0);
            Err(MetaError::unknown(&at, "storage transformer", &fields::named(first, &at)?.name))
        }
    }
}
