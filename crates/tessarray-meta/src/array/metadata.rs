//! What an array's metadata says.

use super::v2_extra::V2Extra;
use crate::chunk_grid::ChunkGrid;
use crate::error::{MetaError, Result};
use crate::key_encoding::KeyEncoding;
use crate::path::Path;
use crate::sharding;
use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;

/// The version of the Zarr format that a node is stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Zarr v2: `.zarray`, `.zgroup`, `.zattrs`.
    V2,
    /// Zarr v3: `zarr.json`.
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
            MetaError::value(&Path::root("shape"), "lengths below 2^63", &longest.into())
        })?;
        Ok(Self { shape: shape.to_vec(), chunk_grid: grid, ..self.clone() })
    }
}
