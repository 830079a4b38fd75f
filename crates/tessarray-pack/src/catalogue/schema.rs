//! The columns, and how each is encoded.

use crate::error::{PackError, Result};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type};
use std::io;
use std::sync::{Arc, OnceLock};
use tessarray_store::StoreError;

const MESSAGE: &str = "
message catalogue {
  required binary node (UTF8);
  required binary name (UTF8);
  required int64 first;
  required boolean gone;
  optional int64 id;
  optional binary template (UTF8);
  optional binary shape (UTF8);
  optional binary attributes (UTF8);
  optional binary value;
  optional binary grid (UTF8);
  repeated int64 chunk;
  repeated int32 segment;
  repeated int64 offset;
  repeated int64 length;
  repeated int32 crc32c;
  optional binary kind (UTF8);
  optional binary dtype (UTF8);
  optional binary codecs (UTF8);
  required int64 stamp;
}";

/// Columns by their place.
pub(crate) mod column {
    pub(crate) const NODE: usize = 0;
    pub(crate) const NAME: usize = 1;
    pub(crate) const FIRST: usize = 2;
    pub(crate) const GONE: usize = 3;
    pub(crate) const ID: usize = 4;
    pub(crate) const TEMPLATE: usize = 5;
    pub(crate) const SHAPE: usize = 6;
    pub(crate) const ATTRIBUTES: usize = 7;
    pub(crate) const VALUE: usize = 8;
    pub(crate) const GRID: usize = 9;
    pub(crate) const CHUNK: usize = 10;
    pub(crate) const SEGMENT: usize = 11;
    pub(crate) const OFFSET: usize = 12;
    pub(crate) const LENGTH: usize = 13;
    pub(crate) const CRC: usize = 14;
    /// For queries: what the document says. Nothing reads them here.
    pub(crate) const KIND: usize = 15;
    pub(crate) const DTYPE: usize = 16;
    pub(crate) const CODECS: usize = 17;
    pub(crate) const STAMP: usize = 18;
    pub(crate) const COUNT: usize = 19;
}

/// The schema of every part.
pub(crate) fn schema() -> std::result::Result<Arc<Type>, ParquetError> {
    static SCHEMA: OnceLock<Arc<Type>> = OnceLock::new();
    if let Some(schema) = SCHEMA.get() {
        return Ok(Arc::clone(schema));
    }
    let schema = Arc::new(parse_message_type(MESSAGE)?);
    Ok(Arc::clone(SCHEMA.get_or_init(|| schema)))
}

/// The columns of every part.
pub(crate) fn columns() -> std::result::Result<&'static SchemaDescriptor, ParquetError> {
    static COLUMNS: OnceLock<SchemaDescriptor> = OnceLock::new();
    if let Some(columns) = COLUMNS.get() {
        return Ok(columns);
    }
    let columns = SchemaDescriptor::new(schema()?);
    Ok(COLUMNS.get_or_init(|| columns))
}

/// How parts are written: sorted texts as differences, numbers as differences, texts that repeat in a dictionary.
pub(crate) fn properties(small: bool) -> Result<WriterProperties> {
    let level = ZstdLevel::try_new(1).map_err(|error| broken("", error))?;
    let delta = |name: &str| ColumnPath::from(name);
    let mut builder = WriterProperties::builder()
        .set_created_by("tessarray".into())
        // Of a few rows the text is shorter than what says how it was compressed.
        .set_compression(if small { Compression::UNCOMPRESSED } else { Compression::ZSTD(level) })
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_column_statistics_enabled(ColumnPath::from("node"), EnabledStatistics::Chunk)
        .set_column_dictionary_enabled(ColumnPath::from("node"), false)
        .set_column_encoding(ColumnPath::from("node"), Encoding::DELTA_BYTE_ARRAY);
    for name in ["first", "id", "stamp", "chunk", "offset", "length"] {
        builder = builder
            .set_column_dictionary_enabled(delta(name), false)
            .set_column_encoding(delta(name), Encoding::DELTA_BINARY_PACKED);
    }
    // A checksum has no pattern.
    builder = builder
        .set_column_dictionary_enabled(delta("crc32c"), false)
        .set_column_encoding(delta("crc32c"), Encoding::PLAIN)
        .set_column_compression(delta("crc32c"), Compression::UNCOMPRESSED);
    Ok(builder.build())
}

/// A part that cannot be written or read, as an error of the pack.
pub(crate) fn broken(file: &str, error: ParquetError) -> PackError {
    let is_memory = |error: &io::Error| error.kind() == io::ErrorKind::OutOfMemory;
    match &error {
        ParquetError::External(source) if source.downcast_ref().is_some_and(is_memory) => {
            StoreError::io(file, "decode", io::ErrorKind::OutOfMemory.into()).into()
        }
        _ => PackError::Corrupt { store: "catalogue".into(), file: file.into(), reason: error.to_string() },
    }
}
