//! What a pack must know of an array to cut its objects into chunks: enough to read keys, and shard indexes.

use crate::catalogue::{Numbering, RowPlace};
use std::sync::Arc;
use tessarray_codec::Scratch;
use tessarray_codec::sharding::{ShardIndex, Sharding};
use tessarray_meta::{ChunkGrid, KeyEncoding};

/// What arrays have in common whose documents differ in shape and attributes only.
#[derive(Debug)]
pub(super) struct ArrayKind {
    pub rank: usize,
    pub encoding: KeyEncoding,
    pub sharding: Option<Arc<Sharding>>,
    /// How it is cut into objects.
    pub grid: ChunkGrid,
}

/// What arrays of one kind and one shape have in common.
#[derive(Debug)]
pub(super) struct Layout {
    kind: Arc<ArrayKind>,
    numbering: Numbering,
    text: Arc<str>,
    shape: Vec<u64>,
}

/// An array as the pack sees it.
#[derive(Debug)]
pub(crate) struct PackedArray {
    /// The array's own number.
    pub id: u64,
    pub(super) layout: Arc<Layout>,
    /// The row of its document, where it was found in one: the rows of its chunks are near.
    pub row: Option<RowPlace>,
}

impl Layout {
    pub(super) fn new(kind: Arc<ArrayKind>, shape: &str) -> Option<Self> {
        let shape: Vec<u64> = serde_json::from_str(shape).ok()?;
        if shape.len() != kind.rank {
            return None;
        }
        let grid = kind.grid.counts(&shape);
        let inner = kind.sharding.as_ref().map_or(1, |sharding| sharding.counts().iter().product());
        let numbering = Numbering::new(&grid, inner);
        Some(Self { text: numbering.to_string().into(), numbering, kind, shape })
    }
}

impl PackedArray {
    /// The lengths of its axes.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// The coordinates in a key below the array's path.
    pub(crate) fn coordinates(&self, key: &str) -> Option<Vec<u64>> {
        self.layout.kind.encoding.decode(key, self.layout.kind.rank)
    }

    /// The key of an object, below the array's path.
    pub(crate) fn key(&self, at: &[u64]) -> String {
        self.layout.kind.encoding.encode(at)
    }

    /// How its chunks are numbered.
    pub(crate) fn numbering(&self) -> &Numbering {
        &self.layout.numbering
    }

    /// The same as text.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.layout.text
    }

    /// The sharding of its objects, where the inner chunks are what a pack stores.
    pub(crate) fn sharding(&self) -> Option<&Arc<Sharding>> {
        self.layout.kind.sharding.as_ref()
    }

    /// Where each inner chunk lies in a shard of `size` bytes, which `get` has; `None` where it is no shard of this
    /// array's.
    pub(crate) fn index<'a>(
        &self,
        size: u64,
        get: impl Fn(std::ops::Range<u64>) -> Option<&'a [u8]>,
    ) -> Option<ShardIndex> {
        let sharding = self.sharding()?;
        let (at, length) = sharding.index_span(size)?;
        sharding.parse_index(get(at..at + length)?, size, &mut Scratch::default()).ok()
    }
}
