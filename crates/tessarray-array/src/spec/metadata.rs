//! From what a user wants to the metadata of a new array.

use super::{ArraySpec, CodecChoice, chunks};
use crate::error::{ArrayError, Result};
use crate::session::Session;
use tessarray_buffer::DataType;
use tessarray_codec::sharding::ShardingConfig;
use tessarray_codec::{AnyCodec, ChunkSpec, NamedConfig};
use tessarray_grid::Dims;
use tessarray_meta::{
    ArrayMetadata, Format, KeyEncoding, MetaError, Path, V2Extra, fill_value_from_json, v2_from_codecs,
};

impl ArraySpec {
    /// The metadata of this array, every choice made and checked.
    ///
    /// # Errors
    /// Shapes that do not fit each other, codecs that are unknown or cannot hold the data type, a fill value that is
    /// not one of the data type's, v2 arrays with what only v3 can say.
    pub fn metadata(&self, session: &Session) -> Result<ArrayMetadata> {
        let item = self.data_type.size() as u64;
        let (chunk, shard) = chunks::resolve(&self.shape, item, &self.chunks, &self.shards)?;
        if self.format == Format::V2 && shard.is_some() {
            return Err(argument("shards", "none, since Zarr v2 has no sharding", &shard));
        }
        let fill_value = self.fill_bytes()?;
        let spec = ChunkSpec {
            shape: Dims::from_slice(&chunk),
            data_type: self.data_type.clone(),
            fill: fill_value.clone(),
        };
        let chain = self.chain(session, spec)?;
        let codecs = match &shard {
            Some(_) => vec![ShardingConfig::new(&chunk, chain).to_config()],
            None => chain,
        };
        let default_encoding = match self.format {
            Format::V3 => KeyEncoding::Default { separator: '/' },
            Format::V2 => KeyEncoding::V2 { separator: '.' },
        };
        let mut metadata = ArrayMetadata {
            format: self.format,
            shape: self.shape.clone(),
            data_type: self.data_type.clone(),
            chunk_shape: shard.unwrap_or(chunk),
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
        let fill_value_null = self.fill_value.is_none();
        Ok(V2Extra { fill_value_null, dimension_separator: Some(separator), ..extra })
    }

    fn fill_bytes(&self) -> Result<Box<[u8]>> {
        match &self.fill_value {
            None if self.data_type.is_variable() => Ok(Box::new([])),
            None => Ok(vec![0; self.data_type.size()].into()),
            Some(value) => fill_value_from_json(&self.data_type, value, &Path::root("fill_value"))
                .map_err(|source| ArrayError::Metadata { key: "new array".into(), source }),
        }
    }

    /// The chain of the (inner) chunks, each codec with all its settings.
    fn chain(&self, session: &Session, mut spec: ChunkSpec) -> Result<Vec<NamedConfig>> {
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
        let wanted = filters.into_iter().chain(self.serializer()).chain(after).chain(self.compressors());
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

    fn compressors(&self) -> Vec<NamedConfig> {
        let CodecChoice::Auto = &self.compressors else {
            let CodecChoice::List(list) = &self.compressors else { return Vec::new() };
            return list.clone();
        };
        let mut codecs = if self.data_type.is_variable() {
            vec![NamedConfig::new("zstd").with("level", 3).with("checksum", false)]
        } else {
            let shuffle = if self.data_type.size() == 1 { "noshuffle" } else { "shuffle" };
            let blosc = NamedConfig::new("blosc").with("cname", "lz4").with("clevel", 5);
            vec![blosc.with("shuffle", shuffle).with("blocksize", 0)]
        };
        // A v2 array has one compressor, and readers of v2 seldom know crc32c.
        if self.format == Format::V3 {
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
