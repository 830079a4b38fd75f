//! What must hold of an array's metadata beyond the types of its members.

use crate::array::{ArrayMetadata, Format};
use crate::chunk_grid::ChunkGrid;
use crate::dtype::data_type_to_json;
use crate::error::{MetaError, Result};
use crate::fields::{self, MAX_LENGTH, length_text};
use crate::fill::{check_fill, fill_value_to_json};
use crate::key_encoding::KeyEncoding;
use crate::limits::Limits;
use crate::path::Path;
use crate::{chunk_grid, non_finite, sharding};

/// Where a document of either version has its members, for errors.
pub(crate) struct Places {
    pub chunks: &'static [&'static str],
    pub data_type: &'static str,
}

const CHUNKS_V3: Places =
    Places { chunks: &["chunk_grid", "configuration", "chunk_shape"], data_type: "data_type" };
const LISTED: Places =
    Places { chunks: &["chunk_grid", "configuration", "chunk_shapes"], data_type: "data_type" };
pub(crate) const CHUNKS_V2: Places = Places { chunks: &["chunks"], data_type: "dtype" };

impl ArrayMetadata {
    /// Checks everything that [`from_v3`](Self::from_v3) and [`from_v2`](Self::from_v2) check beyond JSON types:
    /// ranks and sizes that agree and fit the limits, a fill value of the data type's size, shards that hold whole
    /// inner chunks.
    ///
    /// # Errors
    /// What does not agree, with its place, what was expected and what was found.
    pub fn validate(&self, limits: &Limits) -> Result<()> {
        let places = if self.format == Format::V2 { &CHUNKS_V2 } else { places(&self.chunk_grid) };
        validate(self, limits, &Path::root("metadata"), places)
    }
}

/// Where a v3 document has them.
pub(crate) fn places(grid: &ChunkGrid) -> &'static Places {
    match grid {
        ChunkGrid::Regular(_) => &CHUNKS_V3,
        ChunkGrid::Rectilinear(_) => &LISTED,
    }
}

pub(crate) fn validate(
    array: &ArrayMetadata,
    limits: &Limits,
    path: &Path<'_>,
    places: &Places,
) -> Result<()> {
    fields::check_rank(array.shape.len(), limits, &path.key("shape"))?;
    for (i, &length) in array.shape.iter().enumerate() {
        if length > MAX_LENGTH {
            return Err(MetaError::value(&path.key("shape").index(i), length_text(0), &length.into()));
        }
    }
    array.data_type.check().map_err(|error| MetaError::Value {
        path: path.key(places.data_type).to_string(),
        expected: "elements that are not empty, of a size in the limits".into(),
        found: error.0.chars().take(80).collect(),
    })?;
    at(path, places.chunks, &mut |chunks| chunk_grid::check(&array.chunk_grid, &array.shape, chunks))?;
    if let Some(names) = &array.dimension_names {
        let names = names.len();
        if names != array.shape.len() {
            let expected = format!("{} names, one a dimension", array.shape.len());
            return Err(MetaError::value(&path.key("dimension_names"), expected, &names.into()));
        }
    }
    check_fill(&array.data_type, &array.fill_value, &path.key("fill_value"))?;
    check_format(array, path)?;
    check_finite(array, path)?;
    let size = array.data_type.size() as u64;
    // The codecs of v2 documents are our translation, so their errors are about the array as a whole.
    let codecs = path.key("codecs");
    let codecs = if array.format == Format::V3 { &codecs } else { path };
    at(path, places.chunks, &mut |chunks| {
        sharding::check(&array.codecs, &array.chunk_grid.largest(), size, limits, codecs, chunks)?;
        let units = sharding::units(&array.codecs, array.shape.len());
        chunk_grid::check_units(&array.chunk_grid, &units, chunks)
    })
}

/// Calls `f` with the path that these keys lead to.
fn at(path: &Path<'_>, keys: &[&str], f: &mut dyn FnMut(&Path<'_>) -> Result<()>) -> Result<()> {
    match keys.split_first() {
        None => f(path),
        Some((key, rest)) => at(&path.key(key), rest, f),
    }
}

/// NaN and the infinities are for attributes only, and so is the text that stands for them.
fn check_finite(array: &ArrayMetadata, path: &Path<'_>) -> Result<()> {
    let names = path.key("dimension_names");
    for (i, name) in array.dimension_names.iter().flatten().enumerate() {
        if name.as_deref().is_some_and(|name| non_finite::word(name).is_some()) {
            return Err(MetaError::Json {
                path: names.index(i).to_string(),
                reason: non_finite::REASON.into(),
            });
        }
    }
    let codecs = path.key("codecs");
    for (i, codec) in array.codecs.iter().enumerate() {
        non_finite::refuse_in(&codec.configuration, &codecs.index(i).key("configuration"))?;
    }
    non_finite::refuse(&data_type_to_json(&array.data_type), &path.key("data_type"))?;
    non_finite::refuse(&fill_value_to_json(&array.data_type, &array.fill_value), &path.key("fill_value"))?;
    non_finite::refuse_in(&array.extra, path)
}

/// Keys and members that the array's format cannot say.
fn check_format(array: &ArrayMetadata, path: &Path<'_>) -> Result<()> {
    let (KeyEncoding::Default { separator } | KeyEncoding::V2 { separator }) = array.key_encoding;
    if !matches!(separator, '/' | '.') {
        let found = separator.to_string().into();
        return Err(MetaError::value(&path.key("chunk_key_encoding"), "\"/\" or \".\"", &found));
    }
    if array.format == Format::V2 && array.chunk_grid.regular().is_none() {
        return Err(MetaError::unsupported(&path.key("chunks"), "chunks of unequal lengths in Zarr v2"));
    }
    match (array.format, &array.v2, array.key_encoding) {
        (Format::V2, _, KeyEncoding::Default { .. }) => {
            Err(MetaError::unsupported(&path.key("chunk_key_encoding"), "the default chunk keys in Zarr v2"))
        }
        (Format::V3, Some(_), _) => Err(MetaError::unsupported(path, "Zarr v2 members in a Zarr v3 array")),
        _ => Ok(()),
    }
}
