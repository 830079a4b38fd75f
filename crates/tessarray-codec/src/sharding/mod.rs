//! `sharding_indexed`: a chunk (the shard) that holds inner chunks and an index of where they lie (Zarr v3,
//! "sharding codec" 1.0).

mod assembly;
mod config;
mod index;
mod memory;

pub use assembly::ShardAssembly;
pub use config::{IndexLocation, ShardingConfig};
pub use index::{Entry, ShardIndex};

use crate::{Chain, ChunkSpec, CodecError, EncodedSize, Registry, Result};
use tessarray_buffer::{DataType, Dims};

/// Entries of one shard index that are accepted: an index of 4 GiB.
const MAX_ENTRIES: u64 = 1 << 28;

/// A sharding codec, built for shards of one spec.
#[derive(Debug, Clone)]
pub struct Sharding {
    config: ShardingConfig,
    shard: ChunkSpec,
    /// Inner chunks along each axis.
    counts: Dims,
    inner: Chain,
    index: Chain,
    index_bytes: usize,
}

impl Sharding {
    pub(crate) fn build(
        registry: &Registry,
        config: ShardingConfig,
        shard: &ChunkSpec,
        depth: usize,
    ) -> Result<Self> {
        let counts = counts(&config.chunk_shape, &shard.shape)?;
        let inner_spec = ChunkSpec { shape: Dims::from_slice(&config.chunk_shape), ..shard.clone() };
        let inner = Chain::nested(registry, &config.codecs, inner_spec, depth)?;
        let mut index_shape = counts.clone();
        index_shape.push(2);
        let index_spec =
            ChunkSpec { shape: index_shape, data_type: DataType::UInt64, fill: Box::new([0xff; 8]) };
        let index = Chain::nested(registry, &config.index_codecs, index_spec, depth)?;
        let EncodedSize::Exact(index_bytes) = index.encoded_size() else {
            return Err(bad("index_codecs must have a fixed encoded size".into()));
        };
        if index.permutation().is_some() || index.addressable_sharding().is_some() {
            return Err(bad("index_codecs may not transpose or shard".into()));
        }
        Ok(Self { config, shard: shard.clone(), counts, inner, index, index_bytes })
    }

    /// Its settings.
    pub fn config(&self) -> &ShardingConfig {
        &self.config
    }

    /// Inner chunks along each axis.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The shape of an inner chunk.
    pub fn inner_shape(&self) -> &[u64] {
        &self.config.chunk_shape
    }

    /// The chain of the inner chunks.
    pub fn inner(&self) -> &Chain {
        &self.inner
    }

    /// Bytes of an encoded index.
    pub fn index_bytes(&self) -> usize {
        self.index_bytes
    }

    /// Whether the index stands before or after the inner chunks.
    pub fn location(&self) -> IndexLocation {
        self.config.index_location
    }

    fn entries(&self) -> usize {
        usize::try_from(self.counts.iter().product::<u64>()).unwrap_or(usize::MAX)
    }

    pub(crate) fn encoded_size(&self) -> EncodedSize {
        match self.inner.encoded_size() {
            EncodedSize::Exact(n) | EncodedSize::AtMost(n) => {
                EncodedSize::AtMost(n.saturating_mul(self.entries()).saturating_add(self.index_bytes))
            }
            EncodedSize::Unbounded => EncodedSize::Unbounded,
        }
    }
}

fn counts(inner: &[u64], shard: &[u64]) -> Result<Dims> {
    if inner.len() != shard.len() {
        return Err(bad(format!("chunk_shape has {} axes, the shard has {}", inner.len(), shard.len())));
    }
    let mut counts = Dims::new();
    for (axis, (&inner, &shard)) in inner.iter().zip(shard).enumerate() {
        if inner == 0 || shard % inner != 0 {
            return Err(bad(format!("chunk_shape[{axis}]: {inner} does not divide the shard's {shard}")));
        }
        counts.push(shard / inner);
    }
    match counts.iter().try_fold(1u64, |product, &n| product.checked_mul(n)) {
        Some(total) if total <= MAX_ENTRIES => Ok(counts),
        _ => Err(bad(format!("more than {MAX_ENTRIES} inner chunks a shard"))),
    }
}

fn bad(reason: String) -> CodecError {
    CodecError::Config { codec: "sharding_indexed".into(), reason }
}
