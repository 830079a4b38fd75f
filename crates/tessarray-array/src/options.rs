//! How the arrays of a handle are read and written, whatever their metadata say.

/// Settings of a [`Session`](crate::Session) as one caller sees it: see
/// [`with_options`](crate::Session::with_options). They cost nothing where they are left as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Every read reads the chunks (inner chunks of shards) that it touches whole, and verifies their checksums, each time.
    /// Otherwise a chunk of 16 KiB or more that was verified is remembered with the version of its object, and a
    /// later read of a part takes the blocks it needs: it notices every write, but neither a bit that turns on the
    /// medium nor a change through a memory map that leaves the file's times as they were. Default: `false`.
    pub always_verify: bool,
    /// Chunks that hold nothing but the fill value are stored like others. Default: `false`, they are left out, and one
    /// that was stored is deleted.
    pub write_empty_chunks: bool,
    /// Chunks (shards) that are not stored read as the fill value. Otherwise they are an
    /// [`ArrayError::MissingChunk`](crate::ArrayError). An inner chunk that its shard leaves out is fill in any case.
    /// Default: `true`.
    pub read_missing_chunks: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { always_verify: false, write_empty_chunks: false, read_missing_chunks: true }
    }
}
