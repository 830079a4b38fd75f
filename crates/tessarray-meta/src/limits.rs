//! How large a document, and the array it declares, may be.

/// Bounds on what a metadata document may ask for. A document over a limit is refused when it is parsed, before
/// anything is allocated on its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one document, consolidated metadata included (64 MiB).
    pub max_document_bytes: usize,
    /// Levels of nested JSON objects and arrays (32).
    pub max_depth: usize,
    /// Dimensions of an array (64, NumPy's own bound).
    pub max_rank: usize,
    /// Bytes in memory of one chunk or, where sharded, one inner chunk (8 GiB).
    pub max_chunk_bytes: u64,
    /// Bytes in memory of one whole shard (just under 1 TiB).
    pub max_shard_bytes: u64,
    /// Inner chunks of one shard, which is entries of its index (2^28).
    pub max_inner_chunks_per_shard: u64,
    /// Shardings inside one another (4).
    pub max_shardings: usize,
    /// Codecs in one chain (32).
    pub max_codecs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_document_bytes: 64 << 20,
            max_depth: 32,
            max_rank: 64,
            max_chunk_bytes: 8 << 30,
            max_shard_bytes: (1 << 40) - 1,
            max_inner_chunks_per_shard: 1 << 28,
            max_shardings: 4,
            max_codecs: 32,
        }
    }
}
