//! What a user wants of a new array, as the engine's `ArraySpec`.

use crate::dtype;
use crate::errors::invalid;
use crate::json::{to_json, to_map};
use crate::variable;
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use serde_json::Value;
use tessarray::{
    Arena, ArraySpec, ChecksumChoice, ChunkChoice, CodecChoice, DataType, Edges, Format, KeyEncoding,
    NamedConfig, ShardChoice, VarItem, fill_value_to_json,
};

/// The arguments of `create_array` after Python has brought them to their plain forms: shapes are sequences of
/// integers, codecs are lists of Zarr v3 JSON objects, and `"auto"` leaves a choice to the engine.
#[derive(FromPyObject)]
pub struct SpecArguments<'py> {
    #[pyo3(item)]
    shape: Vec<u64>,
    #[pyo3(item)]
    dtype: Bound<'py, PyAny>,
    #[pyo3(item)]
    chunks: Bound<'py, PyAny>,
    #[pyo3(item)]
    shards: Bound<'py, PyAny>,
    #[pyo3(item)]
    filters: Bound<'py, PyAny>,
    #[pyo3(item)]
    serializer: Bound<'py, PyAny>,
    #[pyo3(item)]
    compressors: Bound<'py, PyAny>,
    #[pyo3(item)]
    checksum: Option<String>,
    #[pyo3(item)]
    fill_value: Bound<'py, PyAny>,
    #[pyo3(item)]
    order: String,
    #[pyo3(item)]
    zarr_format: u8,
    #[pyo3(item)]
    attributes: Bound<'py, PyAny>,
    #[pyo3(item)]
    key_encoding: Option<(String, char)>,
    #[pyo3(item)]
    dimension_names: Option<Vec<Option<String>>>,
}

impl SpecArguments<'_> {
    /// The engine's form of the arguments.
    pub fn spec(self, py: Python<'_>) -> PyResult<ArraySpec> {
        let data_type = dtype::data_type(&self.dtype)?;
        let mut spec = ArraySpec::new(&self.shape, data_type);
        spec.chunks = if is_auto(&self.chunks) {
            ChunkChoice::Auto
        } else {
            match cut(py, &self.chunks, "chunks")? {
                Cut::Shape(shape) => ChunkChoice::Shape(shape),
                Cut::Edges(edges) => ChunkChoice::Edges(edges),
            }
        };
        spec.shards = if self.shards.is_none() {
            ShardChoice::None
        } else if is_auto(&self.shards) {
            ShardChoice::Auto
        } else {
            match cut(py, &self.shards, "shards")? {
                Cut::Shape(shape) => ShardChoice::Shape(shape),
                Cut::Edges(edges) => ShardChoice::Edges(edges),
            }
        };
        spec.filters = codecs(&self.filters, "filters")?;
        spec.serializer = codecs(&self.serializer, "serializer")?;
        spec.compressors = codecs(&self.compressors, "compressors")?;
        spec.checksum = match self.checksum.as_deref() {
            None => ChecksumChoice::None,
            Some("auto") => ChecksumChoice::Auto,
            Some("crc32c") => ChecksumChoice::Crc32c,
            Some(other) => {
                let expected = "expected \"auto\", \"crc32c\" or None";
                return Err(invalid(py, format!("checksum: {expected}, found {other:?}")));
            }
        };
        if !self.fill_value.is_none() {
            spec.fill_value = Some(fill_value(&self.fill_value, &spec.data_type)?);
        }
        spec.fortran_order = self.order == "F";
        spec.format = format(py, self.zarr_format)?;
        if !self.attributes.is_none() {
            spec.attributes = to_map(&self.attributes, "attributes")?;
        }
        spec.key_encoding = match self.key_encoding {
            None => None,
            Some((name, separator)) => match name.as_str() {
                "default" => Some(KeyEncoding::Default { separator }),
                "v2" => Some(KeyEncoding::V2 { separator }),
                _ => {
                    return Err(invalid(
                        py,
                        format!("chunk_key_encoding: expected \"default\" or \"v2\", found {name:?}"),
                    ));
                }
            },
        };
        spec.dimension_names = self.dimension_names;
        Ok(spec)
    }
}

/// One length an axis, or a list of lengths for some.
enum Cut {
    Shape(Vec<u64>),
    Edges(Vec<Edges>),
}

fn cut(py: Python<'_>, value: &Bound<'_, PyAny>, place: &str) -> PyResult<Cut> {
    if let Ok(shape) = value.extract() {
        return Ok(Cut::Shape(shape));
    }
    let mut axes = Vec::new();
    for (axis, item) in value.try_iter()?.enumerate() {
        let item = item?;
        axes.push(match item.extract() {
            Ok(length) => Edges::Each(length),
            Err(_) => {
                let lengths: Vec<u64> = item.extract()?;
                let edges = Edges::listed(lengths.into_iter().map(|length| (length, 1)));
                edges.map_err(|error| invalid(py, format!("{place}[{axis}]: {error}")))?
            }
        });
    }
    Ok(Cut::Edges(axes))
}

/// The format version of a number.
pub fn format(py: Python<'_>, number: u8) -> PyResult<Format> {
    match number {
        2 => Ok(Format::V2),
        3 => Ok(Format::V3),
        _ => Err(invalid(py, format!("zarr_format: expected 2 or 3, found {number}"))),
    }
}

fn is_auto(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyString>().is_ok_and(|text| text == "auto")
}

fn codecs(value: &Bound<'_, PyAny>, place: &str) -> PyResult<CodecChoice> {
    if is_auto(value) {
        return Ok(CodecChoice::Auto);
    }
    let mut list = Vec::new();
    for item in value.try_iter()? {
        let item = item?;
        let mut map = to_map(&item, place)?;
        let Some(Value::String(name)) = map.remove("name") else {
            return Err(invalid(item.py(), format!("{place}: a codec without a name: {}", item.repr()?)));
        };
        let mut codec = NamedConfig::new(name);
        if let Some(Value::Object(configuration)) = map.remove("configuration") {
            codec.configuration = configuration;
        }
        if map.remove("must_understand") == Some(Value::Bool(false)) {
            codec.must_understand = false;
        }
        list.push(codec);
    }
    Ok(CodecChoice::List(list))
}

/// A fill value in its Zarr JSON form: the value cast to the data type by NumPy, then written as the format says.
fn fill_value(value: &Bound<'_, PyAny>, data_type: &DataType) -> PyResult<Value> {
    let py = value.py();
    let wrong =
        |found: String| invalid(py, format!("fill_value: {found} does not fit data type {data_type}"));
    if data_type.is_variable() {
        let arena = Arena::new();
        let items = variable::from_python(value, data_type, &arena)?;
        let items: Vec<u8> = items.call_method0("tobytes")?.cast_into::<PyBytes>()?.as_bytes().to_vec();
        let item: [u8; VarItem::SIZE] = items.try_into().map_err(|_| wrong(value.to_string()))?;
        let buffers = arena.buffers();
        let bytes = Arena::resolve(&buffers, VarItem::from_bytes(&item)).unwrap_or_default();
        return Ok(fill_value_to_json(data_type, bytes));
    }
    if value.is_instance_of::<PyString>()
        && matches!(data_type, DataType::Float16 | DataType::BFloat16 | DataType::Float32 | DataType::Float64)
    {
        // "NaN", "Infinity" and the hexadecimal forms are Zarr's own.
        return to_json(value, "fill_value");
    }
    let descr = dtype::descr(py, data_type)?;
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (value, descr));
    let array = array.map_err(|error| wrong(format!("{} ({})", value, error.value(py))))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    let bytes = array.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    if bytes.as_bytes().len() != data_type.size() {
        return Err(wrong(value.to_string()));
    }
    Ok(fill_value_to_json(data_type, bytes.as_bytes()))
}
