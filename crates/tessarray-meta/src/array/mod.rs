//! The metadata of one array.

mod read_v3;
mod validate;
mod write_v3;

use crate::{ChunkGrid, KeyEncoding, Limits, Path, Result, V2Extra, sharding, v2};
use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;

pub(crate) use read_v3::{array_from_v3, separator};
pub(crate) use validate::{CHUNKS_V2, validate};

/// The version of the Zarr format that a node is stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    V2,
    V3,
}

/// What an array's metadata document says, in the terms of Zarr v3 whichever version it is stored in.
///
/// The members are public so that `create` can fill them in; [`validate`](Self::validate) checks metadata made that
/// way as strictly as metadata that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayMetadata {
    /// The version the array is stored in.
    pub format: Format,
    /// Length of each dimension, up to 2^63 - 1.
    pub shape: Vec<u64>,
    /// Type of one element.
    pub data_type: DataType,
    /// How it is cut into what is stored under one key: the chunk or, where the array is sharded, the shard.
    pub chunk_grid: ChunkGrid,
    /// How chunk keys are made.
    pub key_encoding: KeyEncoding,
    /// One element in the machine's byte order; for strings and bytes of variable length, the element's own bytes.
    pub fill_value: Box<[u8]>,
    /// The codec chain in its v3 form. That of a v2 array is translated.
    pub codecs: Vec<NamedConfig>,
    /// The user's attributes. In v2, without the `_ARRAY_DIMENSIONS` that hold the dimension names.
    pub attributes: Map<String, Value>,
    /// One name, or none, a dimension.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// What only v2 can say; `None` in v3 arrays, and in v2 arrays that `create` makes, where [`to_v2`](Self::to_v2)
    /// derives it from the codecs.
    pub v2: Option<V2Extra>,
    /// Members that are not part of the format, and that say readers may ignore them; written back unchanged.
    pub extra: Map<String, Value>,
}

impl ArrayMetadata {
    /// Parses and validates a `zarr.json` whose `node_type` is `array` (Zarr v3 core, "Array metadata").
    pub fn from_v3(document: &[u8], limits: &Limits) -> Result<Self> {
        read_v3::from_v3(document, limits)
    }

    /// Parses and validates a `.zarray` with its `.zattrs`, if it has one (Zarr v2, "Arrays").
    pub fn from_v2(zarray: &[u8], zattrs: Option<&[u8]>, limits: &Limits) -> Result<Self> {
        v2::read::from_v2(zarray, zattrs, limits)
    }

    /// The `zarr.json` document, with members in the order zarr-python writes them.
    pub fn to_v3(&self) -> Vec<u8> {
        crate::json::to_pretty(&write_v3::array_to_v3(self))
    }

    pub(crate) fn to_v3_value(&self) -> Value {
        write_v3::array_to_v3(self)
    }

    /// The `.zarray` and `.zattrs` documents. Fails where v2 cannot say it: sharding, partial axis permutations, or
    /// some but not all dimensions named.
    pub fn to_v2(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let (zarray, zattrs) = v2::write::array_to_v2(self)?;
        Ok((crate::json::to_pretty(&zarray), crate::json::to_pretty(&zattrs)))
    }

    /// Checks everything that [`from_v3`](Self::from_v3) and [`from_v2`](Self::from_v2) check beyond JSON types:
    /// ranks and sizes that agree and fit the limits, a fill value of the data type's size, shards that hold whole
    /// inner chunks.
    pub fn validate(&self, limits: &Limits) -> Result<()> {
        let places =
            if self.format == Format::V2 { &validate::CHUNKS_V2 } else { validate::places(&self.chunk_grid) };
        validate::validate(self, limits, &Path::root("metadata"), places)
    }

    /// The key of the chunk at `coords`, relative to the array's prefix: `c/0/1`, or `0.1` in v2.
    pub fn chunk_key(&self, coords: &[u64]) -> String {
        self.key_encoding.encode(coords)
    }

    /// The coordinates of the chunk with this key; `None` for keys that are no chunk's. Whether the chunk is inside
    /// the array's present shape is not looked at.
    pub fn parse_chunk_key(&self, key: &str) -> Option<Vec<u64>> {
        self.key_encoding.decode(key, self.shape.len())
    }

    /// Number of chunks along each dimension.
    pub fn grid_shape(&self) -> Vec<u64> {
        self.chunk_grid.counts(&self.shape)
    }

    /// The same array with another shape; one of the same number of dimensions. Elements keep their chunks. Where chunk
    /// lengths are listed, and an axis grows behind them, one more chunk takes the rest.
    ///
    /// # Errors
    /// A length that no array may have.
    pub fn reshaped(&self, shape: &[u64]) -> Result<Self> {
        let units = sharding::units(&self.codecs, self.shape.len());
        let grid = self.chunk_grid.grown(shape, &units).map_err(|_| {
            let longest = shape.iter().copied().max().unwrap_or(0);
            crate::MetaError::value(&Path::root("shape"), "lengths below 2^63", &longest.into())
        })?;
        Ok(Self { shape: shape.to_vec(), chunk_grid: grid, ..self.clone() })
    }
}
