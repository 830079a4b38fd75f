//! What to create: the choices a user makes for a new array, with `Auto` for those left to us.

mod chunks;
mod metadata;
mod text;

pub use text::codec_from_text;

use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;
use tessarray_grid::Edges;
use tessarray_meta::{Format, KeyEncoding};

/// How the array is cut for reading (the inner chunk when there are shards).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ChunkChoice {
    /// Chunks of a size that suits most reads.
    #[default]
    Auto,
    /// Chunks of this shape, clipped at the array's end.
    Shape(Vec<u64>),
    /// Lengths of their own along each axis (a rectilinear grid), that sum to the array's. Not with shards.
    Edges(Vec<Edges>),
}

/// What is stored as one object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ShardChoice {
    /// No shards: every chunk is an object.
    #[default]
    None,
    /// Shards of a size that suits stores, with small inner chunks.
    Auto,
    /// Shards of this shape, of whole chunks.
    Shape(Vec<u64>),
    /// Lengths of their own along each axis, of whole chunks, that sum to the array's.
    Edges(Vec<Edges>),
}

/// Codecs of one kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CodecChoice {
    /// Those that suit the data type.
    #[default]
    Auto,
    /// Exactly these; may be empty.
    List(Vec<NamedConfig>),
}

/// How chunks are guarded against flipped bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecksumChoice {
    /// In a way that every reader of the codecs takes. Where the compressors are ours to choose: Blosc frames hold a
    /// checksum where other readers do not look, Zstandard frames hold the format's own, and inner chunks of shards get a
    /// `crc32c` codec. Compressors that are listed stay as they are.
    #[default]
    Auto,
    /// A `crc32c` codec behind the compressors, unless they end in one. Zarr v2 has no place for it.
    Crc32c,
    /// No codec and no setting for it. Blosc frames hold one all the same.
    None,
}

/// A new array. Build one with [`ArraySpec::new`] and change what differs from the defaults.
#[derive(Debug, Clone)]
pub struct ArraySpec {
    /// Elements along each axis.
    pub shape: Vec<u64>,
    /// The type of an element.
    pub data_type: DataType,
    /// How the array is cut for reading.
    pub chunks: ChunkChoice,
    /// What is stored as one object.
    pub shards: ShardChoice,
    /// Array-to-array codecs; `Auto` is none.
    pub filters: CodecChoice,
    /// Array-to-bytes codec; `Auto` is `bytes`, little-endian, or the variable-length codec of the data type.
    pub serializer: CodecChoice,
    /// Bytes-to-bytes codecs; `Auto` is blosc (lz4, level 5, byte shuffle by element size), or zstd (level 3) for elements of
    /// variable length.
    pub compressors: CodecChoice,
    /// Beside the compressors.
    pub checksum: ChecksumChoice,
    /// In its Zarr JSON form; `None` is the data type's zero; not-a-time for dates and durations.
    pub fill_value: Option<Value>,
    /// `true`: chunks are stored in Fortran order.
    pub fortran_order: bool,
    /// Zarr v3 or v2.
    pub format: Format,
    /// The user's attributes.
    pub attributes: Map<String, Value>,
    /// How chunks are named; `None` is the format's default.
    pub key_encoding: Option<KeyEncoding>,
    /// Names of the dimensions, if they have any.
    pub dimension_names: Option<Vec<Option<String>>>,
}

impl ArraySpec {
    /// An array of this shape and type, everything else left to us.
    pub fn new(shape: &[u64], data_type: DataType) -> Self {
        Self {
            shape: shape.to_vec(),
            data_type,
            chunks: ChunkChoice::Auto,
            shards: ShardChoice::None,
            filters: CodecChoice::Auto,
            serializer: CodecChoice::Auto,
            compressors: CodecChoice::Auto,
            checksum: ChecksumChoice::Auto,
            fill_value: None,
            fortran_order: false,
            format: Format::V3,
            attributes: Map::new(),
            key_encoding: None,
            dimension_names: None,
        }
    }
}
