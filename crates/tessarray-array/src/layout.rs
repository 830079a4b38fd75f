//! How an array is cut: objects in the store, shardings inside them, and the innermost chunks that are read.
//!
//! Where the objects have lengths of their own (a rectilinear grid), the array's layout is that of the largest, which bounds
//! what any takes, and [`Layout::of`] gives that of the object in hand. Inner chunks of shards are all of one shape.

use crate::error::{ArrayError, Result};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};
use tessarray_codec::sharding::Sharding;
use tessarray_codec::{Chain, ChunkSpec, Registry};
use tessarray_grid::{Dims, Edges};
use tessarray_meta::ArrayMetadata;

/// The levels of double partitioning, resolved from metadata.
#[derive(Debug)]
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
    /// Lengths of the objects along each axis.
    edges: Vec<Edges>,
    /// Lengths of the innermost chunks along each axis.
    leaf_edges: Vec<Edges>,
    /// Layouts of objects of other shapes, where there may be any.
    others: Option<Others>,
}

/// Layouts that were made for shapes that were met.
#[derive(Debug)]
struct Others {
    registry: Arc<Registry>,
    metadata: ArrayMetadata,
    path: Box<str>,
    known: RwLock<HashMap<Dims, Arc<Layout>>>,
}

/// Layouts that are remembered.
const KNOWN: usize = 1024;

/// A value that is borrowed where there is one for all, else shared.
pub(crate) enum Lent<'a, T> {
    Borrowed(&'a T),
    Shared(Arc<T>),
}

impl<T> Clone for Lent<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(value) => Self::Borrowed(value),
            Self::Shared(value) => Self::Shared(Arc::clone(value)),
        }
    }
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Shared(value) => value,
        }
    }
}

impl Layout {
    pub(crate) fn new(registry: &Arc<Registry>, metadata: &ArrayMetadata, path: &str) -> Result<Self> {
        let mut layout = Self::shaped(registry, metadata, metadata.chunk_grid.largest(), path)?;
        if metadata.chunk_grid.regular().is_none() {
            layout.others = Some(Others {
                registry: Arc::clone(registry),
                metadata: metadata.clone(),
                path: path.into(),
                known: RwLock::default(),
            });
        }
        Ok(layout)
    }

    /// For objects of this shape.
    fn shaped(registry: &Registry, metadata: &ArrayMetadata, object: Dims, path: &str) -> Result<Self> {
        let spec = ChunkSpec {
            shape: object.clone(),
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
        let inner =
            levels.last().map_or_else(|| object.clone(), |level| Dims::from_slice(level.inner_shape()));
        let edges = metadata.chunk_grid.edges();
        let leaf_edges = if levels.is_empty() {
            edges.clone()
        } else {
            inner.iter().map(|&length| Edges::Each(length)).collect()
        };
        let item = metadata.data_type.size();
        Ok(Self { object, chain, levels, inner, item, edges, leaf_edges, others: None })
    }

    /// Whether all objects have one shape.
    pub(crate) fn is_regular(&self) -> bool {
        self.others.is_none()
    }

    /// The layout of the object at these coordinates. Costs nothing where all have one shape.
    pub(crate) fn of(&self, at: &[u64]) -> Result<Lent<'_, Self>> {
        let Some(others) = &self.others else { return Ok(Lent::Borrowed(self)) };
        let shape: Dims = self.edges.iter().zip(at).map(|(edges, &at)| edges.length(at)).collect();
        let known = others.known.read().unwrap_or_else(PoisonError::into_inner).get(&shape).cloned();
        if let Some(known) = known {
            return Ok(Lent::Shared(known));
        }
        let made = Arc::new(Self::shaped(&others.registry, &others.metadata, shape.clone(), &others.path)?);
        let mut known = others.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(shape, Arc::clone(&made));
        Ok(Lent::Shared(made))
    }

    /// The chain of the innermost addressable chunks.
    pub(crate) fn leaf(&self) -> &Chain {
        self.levels.last().map_or(&self.chain, |level| level.inner())
    }

    /// Lengths of the objects along each axis.
    pub(crate) fn edges(&self) -> &[Edges] {
        &self.edges
    }

    /// Lengths of the innermost chunks along each axis.
    pub(crate) fn leaf_edges(&self) -> &[Edges] {
        &self.leaf_edges
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

    /// The object of an innermost chunk.
    pub(crate) fn object_of(&self, leaf: &[u64]) -> Dims {
        let axes = self.edges.iter().zip(&self.leaf_edges).zip(leaf);
        axes.map(|((object, inner), &leaf)| object.chunk_of(inner.begin(leaf))).collect()
    }

    /// The first innermost chunk of an object.
    pub(crate) fn first_leaf(&self, at: &[u64]) -> Dims {
        let axes = self.edges.iter().zip(&self.leaf_edges).zip(at);
        axes.map(|((object, inner), &at)| inner.chunk_of(object.begin(at))).collect()
    }

    /// The first child of a shard of sharding `level`.
    pub(crate) fn first_child(&self, level: usize, at: &[u64]) -> Dims {
        let sharding = &self.levels[level];
        if level > 0 {
            return at.iter().zip(sharding.counts()).map(|(&at, &n)| at * n).collect();
        }
        let axes = self.edges.iter().zip(sharding.inner_shape()).zip(at);
        axes.map(|((edges, &inner), &at)| edges.begin(at) / inner.max(1)).collect()
    }

    /// Bytes of an innermost chunk in memory.
    pub(crate) fn leaf_bytes(&self) -> usize {
        self.leaf().spec().byte_len()
    }
}
