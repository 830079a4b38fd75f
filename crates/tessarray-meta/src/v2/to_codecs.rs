//! A v2 order, filters and compressor as the equivalent v3 codec chain.

use super::codec_names::{ARRAY_FILTERS, bytes_codec_to_v3, filter_output};
use crate::array::Order;
use crate::dtype::V2DataType;
use crate::error::{MetaError, Result};
use crate::fields;
use crate::path::Path;
use crate::sharding::check_forbidden;
use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;

/// The type of the elements of `|O`, which one of the filters says; object codecs are refused.
pub(super) fn object_type(filters: &[Map<String, Value>], path: &Path<'_>) -> Result<Option<DataType>> {
    for (i, filter) in filters.iter().enumerate() {
        let at = path.index(i);
        match id(filter, &at)? {
            "vlen-utf8" => return Ok(Some(DataType::String)),
            "vlen-bytes" => return Ok(Some(DataType::Bytes)),
            "vlen-array" => return Err(MetaError::unsupported(&at, "elements that are arrays (vlen-array)")),
            other => check_forbidden(other, &at.key("id"))?,
        }
    }
    Ok(None)
}

pub(super) fn id<'f>(codec: &'f Map<String, Value>, path: &Path<'_>) -> Result<&'f str> {
    let at = path.key("id");
    match codec.get("id") {
        Some(id) => fields::string(id, &at),
        None => Err(MetaError::Missing { path: at.to_string() }),
    }
}

/// The chain, in four parts:
/// 1. Order F is a transpose that reverses the axes.
/// 2. Filters on arrays keep their place.
/// 3. The serializer is `bytes` in the byte order of what the last of them gives, or the filter for elements of
///    variable length.
/// 4. The other filters and the compressor work on bytes.
pub(super) fn translate(
    order: Order,
    rank: usize,
    dtype: &V2DataType,
    filters: &[Map<String, Value>],
    compressor: Option<&Map<String, Value>>,
    path: &Path<'_>,
) -> Result<Vec<NamedConfig>> {
    let mut chain = Chain { codecs: Vec::new(), current: dtype.clone(), serialized: false };
    if order == Order::F && rank > 1 {
        let axes: Vec<usize> = (0..rank).rev().collect();
        chain.codecs.push(NamedConfig::new("transpose").with("order", axes));
    }
    let filters_at = path.key("filters");
    for (i, filter) in filters.iter().enumerate() {
        chain.push(filter, &filters_at.index(i))?;
    }
    if let Some(compressor) = compressor {
        chain.serialize(path)?;
        chain.push(compressor, &path.key("compressor"))?;
    }
    chain.serialize(path)?;
    Ok(chain.codecs)
}

struct Chain {
    codecs: Vec<NamedConfig>,
    /// What the next codec takes.
    current: V2DataType,
    serialized: bool,
}

impl Chain {
    fn push(&mut self, codec: &Map<String, Value>, path: &Path<'_>) -> Result<()> {
        let id = id(codec, path)?;
        check_forbidden(id, &path.key("id"))?;
        let mut settings = codec.clone();
        settings.shift_remove("id");
        match id {
            "vlen-utf8" | "vlen-bytes" if !self.serialized => {
                let expected = if id == "vlen-utf8" { DataType::String } else { DataType::Bytes };
                if self.current.data_type != expected {
                    let expected = format!("a filter for {}", self.current.data_type);
                    return Err(MetaError::value(path, expected, &id.into()));
                }
                self.codecs.push(NamedConfig::new(id));
                self.serialized = true;
                self.current.data_type = DataType::UInt8;
            }
            id if ARRAY_FILTERS.contains(&id) => {
                if self.serialized {
                    return Err(MetaError::unsupported(
                        path,
                        format!("{id:?} after a filter that gives bytes"),
                    ));
                }
                self.current = filter_output(id, &settings, &self.current, path)?;
                let named = NamedConfig::new(format!("numcodecs.{id}"));
                self.codecs.push(NamedConfig { configuration: settings, ..named });
            }
            id => {
                self.serialize(path)?;
                let size = self.current.data_type.size();
                self.codecs.push(bytes_codec_to_v3(id, settings, size));
                self.current.data_type = DataType::UInt8;
            }
        }
        Ok(())
    }

    fn serialize(&mut self, path: &Path<'_>) -> Result<()> {
        if self.serialized {
            return Ok(());
        }
        if self.current.data_type.is_variable() {
            return Err(MetaError::unsupported(path, "objects that are not serialized by the first filter"));
        }
        let bytes = NamedConfig::new("bytes");
        self.codecs.push(match self.current.endian {
            Some(endian) => bytes.with("endian", endian.name()),
            None => bytes,
        });
        self.serialized = true;
        Ok(())
    }
}
