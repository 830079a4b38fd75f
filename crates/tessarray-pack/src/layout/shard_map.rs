//! Shards, put together from inner chunks that are stored each by itself.

use tessarray_codec::Scratch;
use tessarray_codec::sharding::{ShardAssembly, Sharding};

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
        let mut assembly = ShardAssembly::new(sharding)?;
        let mut starts = Vec::with_capacity(pieces.len() + 1);
        starts.extend(pieces.iter().map(|(number, piece)| assembly.push(*number, length(piece))));
        starts.push(assembly.end());
        let mut index = Vec::new();
        let index_at = assembly.finish(&mut Scratch::default(), &mut index)?;
        Ok(Self { pieces, starts, index, index_at })
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
