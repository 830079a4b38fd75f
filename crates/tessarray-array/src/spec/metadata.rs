//! From what a user wants to the metadata of a new array.

use super::{ArraySpec, ChecksumChoice, CodecChoice, ShardChoice, chunks};
use crate::error::{ArrayError, Result};
use crate::session::Session;
use tessarray_buffer::DataType;
use tessarray_codec::sharding::ShardingConfig;
use tessarray_codec::{AnyCodec, ChunkSpec, NamedConfig};
use tessarray_grid::Dims;
use tessarray_meta::{
    ArrayMetadata, ChunkGrid, Format, KeyEncoding, MetaError, Path, V2Extra, fill_value_from_json,
    v2_from_codecs,
};

impl ArraySpec {
    /// The metadata of this array, every choice made and checked.
    ///
    /// # Errors
    /// Shapes that do not fit each other, codecs that are unknown or cannot hold the data type, a fill value that is
    /// not one of the data type's, v2 arrays with what only v3 can say.
    pub fn metadata(&self, session: &Session) -> Result<ArrayMetadata> {
        let item = self.data_type.size() as u64;
        let (chunk, grid) = chunks::resolve(&self.shape, item, &self.chunks, &self.shards)?;
        let sharded = self.shards != ShardChoice::None;
        if self.format == Format::V2 && sharded {
            return Err(argument("shards", "none, since Zarr v2 has no sharding", &self.shards));
        }
        if self.format == Format::V2 && grid.is_some() {
            let found = "lists of lengths".into();
            let expected = "one shape, since Zarr v2 has no chunks of unequal lengths".into();
            return Err(ArrayError::Argument { what: "chunks".into(), expected, found });
        }
        if self.format == Format::V2 && self.checksum == ChecksumChoice::Crc32c {
            let expected = "\"auto\" or none: a Zarr v2 array has one compressor, and no codec behind it";
            return Err(argument("checksum", expected, &"crc32c"));
        }
        let fill_value = self.fill_bytes()?;
        let spec = ChunkSpec {
            shape: Dims::from_slice(&chunk),
            data_type: self.data_type.clone(),
            fill: fill_value.clone(),
        };
        let chain = self.chain(session, spec, sharded)?;
        let codecs = match sharded {
            true => vec![ShardingConfig::new(&chunk, chain).to_config()],
            false => chain,
        };
        let default_encoding = match self.format {
            Format::V3 => KeyEncoding::Default { separator: '/' },
            Format::V2 => KeyEncoding::V2 { separator: '.' },
        };
        let mut metadata = ArrayMetadata {
            format: self.format,
            shape: self.shape.clone(),
            data_type: self.data_type.clone(),
            chunk_grid: grid.unwrap_or(ChunkGrid::Regular(chunk)),
            key_encoding: self.key_encoding.unwrap_or(default_encoding),
            fill_value,
            codecs,
            attributes: self.attributes.clone(),
            dimension_names: self.dimension_names.clone(),
            v2: None,
            extra: serde_json::Map::new(),
        };
        let failed = |source| ArrayError::Metadata { key: "new array".into(), source };
        if self.format == Format::V2 {
            metadata.v2 = Some(self.v2(&metadata).map_err(failed)?);
        }
        metadata.validate(session.limits()).map_err(failed)?;
        if self.format == Format::V2 {
            metadata.to_v2().map_err(failed)?;
        }
        Ok(metadata)
    }

    /// What only v2 says: no fill value is `null` there, which reads as zero and is not a missing value.
    fn v2(&self, metadata: &ArrayMetadata) -> std::result::Result<V2Extra, MetaError> {
        let extra = v2_from_codecs(&metadata.codecs, &metadata.data_type, metadata.shape.len())?;
        let (KeyEncoding::V2 { separator } | KeyEncoding::Default { separator }) = metadata.key_encoding;
        let fill_value_null = self.fill_value.is_none() && !is_time(&self.data_type);
        Ok(V2Extra { fill_value_null, dimension_separator: Some(separator), ..extra })
    }

    fn fill_bytes(&self) -> Result<Box<[u8]>> {
        match &self.fill_value {
            None if self.data_type.is_variable() => Ok(Box::new([])),
            // Not-a-time, as zarr-python has it: zero is a date.
            None if is_time(&self.data_type) => Ok(Box::new(i64::MIN.to_ne_bytes())),
            None => Ok(vec![0; self.data_type.size()].into()),
            Some(value) => fill_value_from_json(&self.data_type, value, &Path::root("fill_value"))
                .map_err(|source| ArrayError::Metadata { key: "new array".into(), source }),
        }
    }

    /// The chain of the (inner) chunks, each codec with all its settings.
    fn chain(&self, session: &Session, mut spec: ChunkSpec, sharded: bool) -> Result<Vec<NamedConfig>> {
        let registry = session.registry();
        let mut out = Vec::new();
        let (mut filters, mut after) = (self.filters(), Vec::new());
        if self.format == Format::V2 {
            // Filters of v2 come before the compressor, and may work on bytes.
            let bytes =
                |config: &NamedConfig| matches!(registry.build(config, &spec), Ok(AnyCodec::Bytes(_)));
            let array = filters.iter().rposition(|config| !bytes(config)).map_or(0, |last| last + 1);
            after = filters.split_off(array);
        }
        let wanted =
            filters.into_iter().chain(self.serializer()).chain(after).chain(self.compressors(sharded));
        for config in wanted {
            let config = with_type_size(config, &spec);
            let failed = |source| ArrayError::Codec { path: "new array".into(), source };
            if config.name == "sharding_indexed" {
                // Not in the registry: it holds chains itself, which are built with the array's.
                out.push(ShardingConfig::from_config(&config).map_err(failed)?.to_config());
                continue;
            }
            let written = match registry.build(&config.for_new(), &spec).map_err(failed)? {
                AnyCodec::Array(codec) => {
                    spec = codec.encoded_spec(&spec).map_err(failed)?;
                    codec.config()
                }
                AnyCodec::Serializer(codec) => codec.config(),
                AnyCodec::Bytes(codec) => codec.config(),
            };
            out.push(written);
        }
        Ok(out)
    }

    fn filters(&self) -> Vec<NamedConfig> {
        let mut filters = Vec::new();
        if self.fortran_order && self.shape.len() > 1 {
            let order: Vec<usize> = (0..self.shape.len()).rev().collect();
            filters.push(NamedConfig::new("transpose").with("order", order));
        }
        if let CodecChoice::List(list) = &self.filters {
            filters.extend(list.iter().cloned());
        }
        filters
    }

    fn serializer(&self) -> Vec<NamedConfig> {
        match &self.serializer {
            CodecChoice::List(list) => list.clone(),
            CodecChoice::Auto => vec![match &self.data_type {
                DataType::String => NamedConfig::new("vlen-utf8"),
                DataType::Bytes => NamedConfig::new("vlen-bytes"),
                // A filter may make wider elements of single bytes.
                other if other.swap_size() == Some(1) && self.filters().is_empty() => {
                    NamedConfig::new("bytes")
                }
                _ => NamedConfig::new("bytes").with("endian", "little"),
            }],
        }
    }

    fn compressors(&self, sharded: bool) -> Vec<NamedConfig> {
        let auto = self.checksum == ChecksumChoice::Auto;
        let mut codecs = match &self.compressors {
            CodecChoice::List(list) => list.clone(),
            CodecChoice::Auto if self.data_type.is_variable() => {
                vec![NamedConfig::new("zstd").with("level", 3).with("checksum", auto && !sharded)]
            }
            CodecChoice::Auto => {
                let shuffle = if self.data_type.size() == 1 { "noshuffle" } else { "shuffle" };
                let blosc = NamedConfig::new("blosc").with("cname", "lz4").with("clevel", 5);
                vec![blosc.with("shuffle", shuffle).with("blocksize", 0)]
            }
        };
        // Whoever reads shards reads crc32c, which their index has.
        let inner = auto && sharded && self.compressors == CodecChoice::Auto;
        let checked = codecs.last().is_some_and(|codec| codec.name == "crc32c");
        if (inner || self.checksum == ChecksumChoice::Crc32c) && !checked {
            codecs.push(NamedConfig::new("crc32c"));
        }
        codecs
    }
}

/// Blosc shuffles elements, whose size it cannot see: it is written down.
fn with_type_size(config: NamedConfig, spec: &ChunkSpec) -> NamedConfig {
    if config.name != "blosc" || config.configuration.contains_key("typesize") {
        return config;
    }
    let size = if spec.data_type.is_variable() { 1 } else { spec.data_type.size() };
    config.with("typesize", size)
}

fn argument(what: &str, expected: &str, found: &impl std::fmt::Debug) -> ArrayError {
    ArrayError::Argument { what: what.into(), expected: expected.into(), found: format!("{found:?}") }
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. })
}
