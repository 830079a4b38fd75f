//! What a pack must know of an array to cut its objects into chunks: enough to read keys, and shard indexes.

use crate::numbering::Numbering;
use std::sync::Arc;
use tessarray_buffer::Dims;
use tessarray_codec::sharding::{Entry, IndexLocation, ShardIndex, Sharding};
use tessarray_codec::{Chain, ChunkSpec, Registry, Scratch};
use tessarray_meta::{ArrayMetadata, KeyEncoding, Limits};

/// Names of the documents that make a node.
pub(crate) const V3: &str = "zarr.json";
pub(crate) const V2_ARRAY: &str = ".zarray";
const DOCUMENTS: [&str; 5] = [V3, V2_ARRAY, ".zgroup", ".zattrs", ".zmetadata"];

/// Whether a key ends in the name of a metadata document.
pub(crate) fn is_document(name: &str) -> bool {
    DOCUMENTS.contains(&name)
}

/// An array as the pack sees it.
#[derive(Debug)]
pub(crate) struct Info {
    /// The array's own number.
    pub id: u64,
    rank: usize,
    encoding: KeyEncoding,
    sharding: Option<Arc<Sharding>>,
    numbering: Numbering,
    text: Arc<str>,
    pub shape: Vec<u64>,
}

impl Info {
    /// From a metadata document; `None` where it is no array's that this release can read.
    pub(crate) fn parse(name: &str, document: &[u8], id: u64, registry: &Registry) -> Option<Self> {
        let limits = Limits::default();
        let metadata = match name {
            V3 => ArrayMetadata::from_v3(document, &limits).ok()?,
            V2_ARRAY => ArrayMetadata::from_v2(document, None, &limits).ok()?,
            _ => return None,
        };
        Some(Self::of(&metadata, id, registry))
    }

    fn of(metadata: &ArrayMetadata, id: u64, registry: &Registry) -> Self {
        let sharding = sharding(metadata, registry);
        let inner = sharding.as_ref().map_or(1, |sharding| sharding.counts().iter().product());
        let numbering = Numbering::new(&metadata.grid_shape(), inner);
        Self {
            id,
            rank: metadata.shape.len(),
            encoding: metadata.key_encoding,
            sharding,
            text: numbering.to_string().into(),
            numbering,
            shape: metadata.shape.clone(),
        }
    }

    /// The coordinates in a key below the array's path.
    pub(crate) fn coordinates(&self, key: &str) -> Option<Vec<u64>> {
        self.encoding.decode(key, self.rank)
    }

    /// The key of an object, below the array's path.
    pub(crate) fn key(&self, at: &[u64]) -> String {
        self.encoding.encode(at)
    }

    /// How its chunks are numbered.
    pub(crate) fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// The same as text.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The sharding of its objects, where the inner chunks are what a pack stores.
    pub(crate) fn sharding(&self) -> Option<&Arc<Sharding>> {
        self.sharding.as_ref()
    }

    /// Where each inner chunk lies in a shard of `size` bytes, which `get` has; `None` where it is no shard of this
    /// array's.
    pub(crate) fn index<'a>(
        &self,
        size: u64,
        get: impl Fn(std::ops::Range<u64>) -> Option<&'a [u8]>,
    ) -> Option<ShardIndex> {
        let sharding = self.sharding.as_ref()?;
        let (at, length) = sharding.index_span(size)?;
        sharding.parse_index(get(at..at + length)?, size, &mut Scratch::default()).ok()
    }
}

fn sharding(metadata: &ArrayMetadata, registry: &Registry) -> Option<Arc<Sharding>> {
    if metadata.codecs.first()?.name != "sharding_indexed" {
        return None;
    }
    let spec = ChunkSpec {
        shape: Dims::from_slice(&metadata.chunk_shape),
        data_type: metadata.data_type.clone(),
        fill: metadata.fill_value.clone(),
    };
    Chain::build(registry, &metadata.codecs, spec).ok()?.addressable_sharding().cloned()
}

/// A shard as it is put together from its inner chunks: one after the other in C order, and the index.
#[derive(Debug)]
pub(crate) struct ShardMap<P> {
    /// The inner chunks that are stored: number, and where the bytes are.
    pub pieces: Vec<(u64, P)>,
    /// Where each begins in the shard; one more for the end of the last.
    pub starts: Vec<u64>,
    /// The encoded index.
    pub index: Vec<u8>,
    /// Where that begins.
    pub index_at: u64,
}

impl<P> ShardMap<P> {
    /// Puts the pieces, with their lengths in bytes, one after the other.
    pub(crate) fn new(
        sharding: &Sharding,
        pieces: Vec<(u64, P)>,
        length: impl Fn(&P) -> u64,
    ) -> tessarray_codec::Result<Self> {
        let mut entries = ShardIndex::missing(sharding.counts().iter().product::<u64>() as usize);
        let at_start = sharding.location() == IndexLocation::Start;
        let mut offset = if at_start { sharding.index_bytes() as u64 } else { 0 };
        let mut starts = Vec::with_capacity(pieces.len() + 1);
        for (number, piece) in &pieces {
            starts.push(offset);
            entries.set(*number, Some(Entry { offset, length: length(piece) }));
            offset += length(piece);
        }
        starts.push(offset);
        let mut index = Vec::new();
        sharding.encode_index(&entries, &mut Scratch::default(), &mut index)?;
        Ok(Self { pieces, starts, index, index_at: if at_start { 0 } else { offset } })
    }

    /// Bytes of the whole shard.
    pub(crate) fn size(&self) -> u64 {
        let end = self.starts.last().copied().unwrap_or(0);
        end.max(self.index_at + self.index.len() as u64)
    }

    /// The pieces that lie in a range of the shard, by their places in the list.
    pub(crate) fn within(&self, begin: u64, end: u64) -> std::ops::Range<usize> {
        let pieces = self.pieces.len();
        let first = self.starts[1..].partition_point(|&stop| stop <= begin);
        let last = self.starts[..pieces].partition_point(|&start| start < end);
        first..last.max(first)
    }
}
