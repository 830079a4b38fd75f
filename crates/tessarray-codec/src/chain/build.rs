//! Building a chain from metadata, with every rule of order checked.

use super::{ArrayStage, Chain, SerializerStage};
use crate::sharding::{Sharding, ShardingConfig};
use crate::{AnyCodec, ChunkSpec, CodecError, EncodedSize, InnerChecksum, NamedConfig, Registry, Result};

/// Shardings inside shardings that are accepted.
const MAX_SHARDINGS: usize = 4;

impl Chain {
    /// Builds the codecs that metadata names, for chunks of `spec`.
    ///
    /// # Errors
    /// Unknown or forbidden codecs, settings that are wrong, a chain out of order, data types a codec cannot hold.
    pub fn build(registry: &Registry, configs: &[NamedConfig], spec: ChunkSpec) -> Result<Self> {
        Self::nested(registry, configs, spec, 0)
    }

    pub(crate) fn nested(
        registry: &Registry,
        configs: &[NamedConfig],
        spec: ChunkSpec,
        shardings: usize,
    ) -> Result<Self> {
        let mut builder = Builder { stored: spec.clone(), current: spec.clone(), ..Builder::default() };
        for (at, config) in configs.iter().enumerate() {
            if crate::packbits::is_array_codec(configs.get(at..).unwrap_or_default()) {
                let named = NamedConfig { name: format!("numcodecs.{}", config.name), ..config.clone() };
                builder.add(config, registry.build(&named, &builder.current)?)?;
            } else if config.name == "sharding_indexed" {
                if shardings >= MAX_SHARDINGS {
                    let reason = format!("more than {MAX_SHARDINGS} shardings inside each other");
                    return Err(CodecError::Chain { reason });
                }
                let parsed = ShardingConfig::from_config(config)?;
                let sharding = Sharding::build(registry, parsed, &builder.current, shardings + 1)?;
                builder.serializer(config, SerializerStage::Sharding(sharding.into()))?;
            } else {
                builder.add(config, registry.build(config, &builder.current)?)?;
            }
        }
        builder.finish(spec)
    }
}

#[derive(Default)]
struct Builder {
    stored: ChunkSpec,
    current: ChunkSpec,
    permutation: Option<Vec<usize>>,
    array: Vec<ArrayStage>,
    serializer: Option<SerializerStage>,
    bytes: Vec<std::sync::Arc<dyn crate::BytesCodec>>,
}

impl Builder {
    fn add(&mut self, config: &NamedConfig, codec: AnyCodec) -> Result<()> {
        match codec {
            AnyCodec::Array(codec) => {
                if self.serializer.is_some() {
                    return Err(out_of_order(
                        config,
                        "an array-to-array codec stands after the array-to-bytes codec",
                    ));
                }
                let encoded = codec.encoded_spec(&self.current)?;
                match codec.permutation() {
                    Some(order) if self.array.is_empty() => {
                        let before = self.permutation.take();
                        let combined =
                            order.iter().map(|&axis| before.as_ref().map_or(axis, |b| b[axis])).collect();
                        self.permutation = Some(combined);
                        self.stored = encoded.clone();
                    }
                    _ => self.array.push(ArrayStage { codec, decoded: self.current.clone() }),
                }
                self.current = encoded;
                Ok(())
            }
            AnyCodec::Serializer(codec) => self.serializer(config, SerializerStage::Plain(codec)),
            AnyCodec::Bytes(codec) => {
                if self.serializer.is_none() {
                    return Err(out_of_order(
                        config,
                        "a bytes-to-bytes codec stands before any array-to-bytes codec",
                    ));
                }
                self.bytes.push(codec);
                Ok(())
            }
        }
    }

    fn serializer(&mut self, config: &NamedConfig, stage: SerializerStage) -> Result<()> {
        if self.serializer.is_some() || !self.bytes.is_empty() {
            return Err(out_of_order(config, "there is an array-to-bytes codec before it already"));
        }
        self.serializer = Some(stage);
        Ok(())
    }

    fn finish(mut self, spec: ChunkSpec) -> Result<Chain> {
        // One checksum is enough.
        if let Some(last) = self.bytes.iter().rposition(|codec| codec.checksum().is_some()) {
            for codec in &mut self.bytes[..last] {
                if let Some(bare) = codec.inner_checksum().and_then(InnerChecksum::without) {
                    *codec = bare;
                }
            }
        }
        let Some(serializer) = self.serializer else {
            return Err(CodecError::Chain { reason: "there is no array-to-bytes codec".into() });
        };
        let mut size = match &serializer {
            SerializerStage::Plain(codec) => codec.encoded_size(&self.current),
            SerializerStage::Sharding(sharding) => sharding.encoded_size(),
        };
        let mut sizes = vec![size];
        for codec in &self.bytes {
            size = match size {
                EncodedSize::Exact(n) => codec.encoded_size(n),
                EncodedSize::AtMost(n) => match codec.encoded_size(n) {
                    EncodedSize::Exact(n) | EncodedSize::AtMost(n) => EncodedSize::AtMost(n),
                    EncodedSize::Unbounded => EncodedSize::Unbounded,
                },
                EncodedSize::Unbounded => EncodedSize::Unbounded,
            };
            sizes.push(size);
        }
        let permutation =
            self.permutation.filter(|order| order.iter().enumerate().any(|(i, &axis)| i != axis));
        Ok(Chain {
            spec,
            stored: self.stored,
            permutation,
            array: self.array,
            serializer,
            serialized: self.current,
            bytes: self.bytes,
            sizes,
        })
    }
}

fn out_of_order(config: &NamedConfig, why: &str) -> CodecError {
    CodecError::Chain { reason: format!("{:?}: {why}", config.name) }
}
