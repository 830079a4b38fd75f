//! What decides how a call is done, each with its unit. Nothing else in the executor is tuned.
//!
//! None changes what a call gives or stores: they say who does what, in which pieces. Most were set by hand on two cores with
//! whole calls (`benchmarks/engine_bars.py`); a bench named here shows what happens when its figure is moved. The benches are
//! those of this crate, and `engine.rs` of the crate `tessarray`.

// ---- who works: threads, and batches of requests

/// Bytes, decoded, below which a read stays on the caller's thread: to wake another costs more than it saves.
/// `engine.rs`, `small_reads`.
pub(super) const READ_ALONE: u64 = 96 << 10;

/// Bytes below which a write stays on the caller's thread. Less than for a read, since to encode takes longer than to decode.
/// `engine.rs`, `small_writes`.
pub(super) const WRITE_ALONE: u64 = 64 << 10;

/// Bytes, decoded, that a slab of a read of parts has to have. `engine.rs`, `planes_of_large_chunks`.
pub(super) const SLAB: usize = 64 << 10;

/// Chunks per thread up to which a read of known chunks is cut into slabs; more are shared one by one.
pub(super) const FEW_CHUNKS: u64 = 4;

/// Objects per thread from which each is read by one thread, which does all steps for it. Of fewer, the steps are shared.
pub(super) const MANY_OBJECTS: u64 = 8;

/// Objects whose requests go to a remote store together. A bound on memory, not a tuned figure.
pub(super) const REMOTE_BATCH: u64 = 256;

/// How often a batch is tried again while its objects keep changing. A bound, not a tuned figure.
pub(super) const ATTEMPTS: usize = 16;

// ---- what is fetched: byte ranges of one object

/// Ranges of inner chunks so many bytes apart are read together, up to so many bytes: on a local disk the next range is one
/// system call away, in a remote store a request. `engine.rs`, `rows_across_shards`; remotely, the latency of a request.
pub(super) struct Merge {
    /// Bytes between two ranges.
    pub hole: u64,
    /// Bytes of them all.
    pub most: u64,
}

pub(super) const LOCAL_MERGE: Merge = Merge { hole: 4 << 10, most: 256 << 10 };
pub(super) const REMOTE_MERGE: Merge = Merge { hole: 256 << 10, most: 8 << 20 };

// ---- parts of chunks that were verified before (see `part.rs`)

/// Bytes of an encoded chunk from which its blocks are remembered: a smaller one is read whole at nearly the cost of a part.
pub(super) const REMEMBERED: usize = 16 << 10;

/// Bytes that a part has to save, since neighbours that are read whole are read together.
pub(super) const PART_SAVES: usize = 16 << 10;

/// Bytes between two spans of blocks that are read together: one page.
pub(super) const PART_HOLE: usize = 4 << 10;

/// Whether so many bytes of a chunk are few enough to read or decode them by themselves: three quarters of all.
pub(super) fn is_part(needed: usize, all: usize) -> bool {
    needed.saturating_mul(4) <= all.saturating_mul(3)
}

// ---- what is decoded of a chunk that was read whole

/// Whether so many bytes of a chunk are few enough to decode only their blocks. Its bytes are here, so that only the time of
/// the codec is saved: seven tenths. `benches/transfer.rs`.
pub(super) fn is_worth_blocks(needed: usize, all: usize) -> bool {
    needed as f64 <= all as f64 * 0.7
}

/// Needed bytes of a block that lie no further apart are one part: to decode what lies between them costs less than to begin
/// again. `tessarray-codec/benches/lz4.rs`, parts of a block.
pub(super) const BLOCK_HOLE: usize = 2 << 10;

/// The most parts of one block: then the last takes all that is left.
pub(super) const BLOCK_PARTS: usize = 16;

// ---- how elements are moved

/// Bytes of a chunk from which it is moved block by block between the codec and the caller's memory; a smaller one stays in
/// the processor's cache whatever is done. `benches/transfer.rs`.
pub(super) const LARGE_CHUNK: usize = 256 << 10;

/// Bytes of an output from which rows are written past the processor's cache, which does not hold it.
/// `tessarray-buffer/benches/memory.rs`, rows scattered.
pub(super) const LARGE_OUTPUT: u64 = 32 << 20;

/// Bytes of a run of the input from which it is stored from where it lies; shorter ones are gathered first.
pub(super) const STORED_RUN: usize = 16 << 10;

/// Bytes of a large chunk that are compared to the fill value before it is encoded piece by piece.
pub(super) const LOOKED_AT: usize = 4 << 10;
