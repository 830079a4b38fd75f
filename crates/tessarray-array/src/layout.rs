//! How an array is cut: objects in the store, shardings inside them, and the innermost chunks that are read.

use crate::error::{ArrayError, Result};
use std::sync::Arc;
use tessarray_codec::sharding::Sharding;
use tessarray_codec::{Chain, ChunkSpec, Registry};
use tessarray_grid::Dims;
use tessarray_meta::ArrayMetadata;

/// The levels of double partitioning, resolved from metadata.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Shape of what is stored under one key.
    pub object: Dims,
    /// Chain of the object.
    chain: Arc<Chain>,
    /// Shardings whose inner chunks can be addressed, outermost first.
    pub levels: Vec<Arc<Sharding>>,
    /// Shape of the innermost addressable chunk.
    pub inner: Dims,
    /// Bytes of one element in memory.
    pub item: usize,
}

impl Layout {
    pub(crate) fn new(registry: &Registry, metadata: &ArrayMetadata, path: &str) -> Result<Self> {
        let spec = ChunkSpec {
            shape: Dims::from_slice(&metadata.chunk_shape),
            data_type: metadata.data_type.clone(),
            fill: metadata.fill_value.clone(),
        };
        let chain = Chain::build(registry, &metadata.codecs, spec)
            .map_err(|source| ArrayError::Codec { path: path.into(), source })?;
        let chain = Arc::new(chain);
        let mut levels: Vec<Arc<Sharding>> = Vec::new();
        let mut current = chain.addressable_sharding().cloned();
        while let Some(sharding) = current {
            current = sharding.inner().addressable_sharding().cloned();
            levels.push(sharding);
        }
        let object = Dims::from_slice(&metadata.chunk_shape);
        let inner =
            levels.last().map_or_else(|| object.clone(), |level| Dims::from_slice(level.inner_shape()));
        Ok(Self { object, chain, levels, inner, item: metadata.data_type.size() })
    }

    /// The chain of the innermost addressable chunks.
    pub(crate) fn leaf(&self) -> &Chain {
        self.levels.last().map_or(&self.chain, |level| level.inner())
    }

    /// Innermost chunks along each axis of one object.
    pub(crate) fn object_ratio(&self) -> Dims {
        self.object.iter().zip(&self.inner).map(|(&object, &inner)| object / inner.max(1)).collect()
    }

    /// Innermost chunks along each axis of one child of sharding `level`.
    pub(crate) fn child_ratio(&self, level: usize) -> Dims {
        let child = self.levels[level].inner_shape();
        child.iter().zip(&self.inner).map(|(&child, &inner)| child / inner.max(1)).collect()
    }

    /// Bytes of an innermost chunk in memory.
    pub(crate) fn leaf_bytes(&self) -> usize {
        self.leaf().spec().byte_len()
    }
}
