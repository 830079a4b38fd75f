//! Tessarray stores N-dimensional arrays so that every slice is fast and every commit is safe.
//!
//! This crate is the face of the engine: it re-exports what users of the layers below need, and adds nothing.
//!
//! ```
//! use std::sync::Arc;
//! use tessarray::{Array, ArraySpec, DataType, MemoryStore, Selection, Session};
//!
//! let session = Session::new();
//! let spec = ArraySpec::new(&[100, 200], DataType::UInt8);
//! let array = Array::create(&session, Arc::new(MemoryStore::new()), "image", &spec, false)?;
//! array.write_bytes(&Selection::region(&[10, 20], &[2, 3]), &[1, 2, 3, 4, 5, 6])?;
//! let box_ = array.read_bytes(&Selection::region(&[11, 20], &[1, 3]))?;
//! assert_eq!(box_, [4, 5, 6]);
//! # Ok::<(), tessarray::ArrayError>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub use tessarray_array::{
    Appender, Array, ArrayError, ArraySpec, ChecksumChoice, ChunkChoice, ChunkStream, CodecChoice, Finding,
    FindingKind, Group, Member, Options, Result, Session, SessionBuilder, ShardChoice, StreamOptions,
    Streamed, StreamedChunk, THREADS_VARIABLE, check_store, codec_from_text, recording, repair_store,
};
pub use tessarray_buffer::{
    Arena, Block, DataType, Dims, Field, InputView, OutputView, SmallType, Strides, TimeUnit, VarItem,
    ViewError, c_strides, is_distinct,
};
pub use tessarray_codec::{
    AnyCodec, ArrayCodec, BlockCodec, BytesCodec, Chain, ChecksumCodec, ChunkSpec, CodecError, EncodedSize,
    InnerChecksum, NamedConfig, PieceEncoder, Pieces, Registry, Scratch, Serializer, Trailer, Window,
    sharding,
};
pub use tessarray_grid::{AxisSelection, AxisSlice, EdgeRuns, Edges, GridError, Selection};
pub use tessarray_meta::{
    ArrayMetadata, ChunkGrid, Endian, Format, GroupMetadata, KeyEncoding, Limits, MetaError, Node, Order,
    V2DataType, V2Extra, attributes_with_words, data_type_to_json, data_type_to_v2, fill_value_from_json,
    fill_value_from_json_v2, fill_value_to_json, fill_value_to_json_v2, non_finite, non_finite_value,
    parse_data_type, parse_json, parse_v2_data_type, v2_from_codecs,
};
pub use tessarray_store::{
    Blob, BlobBytes, ByteRange, FileOptions, FileStore, Key, KeyError, KeyLocks, KeyProblem, LOCK_SUFFIX,
    Leftover, ListEntry, MAX_KEY, MAX_SEGMENT, MemoryStore, Meta, Prefix, PutMode, ReadRequest, ReadSink,
    Store, StoreError, Update, UpdateFn, UpdateWithFn, Version, ZipStore, owned, waiting,
};

/// Stores around other stores: they count, slow down, fail on purpose, show a part, or refuse changes.
pub mod adapters {
    pub use tessarray_store::{
        Count, Effect, Fault, FaultStore, Kind, PrefixStore, ReadOnlyStore, RecordStore, Recorded,
        ThrottleStore, Throttling, When,
    };
}

/// What every codec and every store has to hold, as functions for the tests of other crates.
#[cfg(feature = "conformance")]
pub mod conformance {
    pub use tessarray_codec::conformance as codec;
    pub use tessarray_store::conformance as store;
}

/// Packs: a transactional, log-structured home for any Zarr hierarchy.
pub mod pack {
    pub use tessarray_pack::*;
}

/// Collections: the datasets of a pack, read across in one call.
pub mod collection {
    pub use tessarray_collection::*;
}
