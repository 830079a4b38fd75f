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

pub use tessarray_array::{
    Appender, Array, ArrayError, ArraySpec, ChecksumChoice, ChunkChoice, CodecChoice, Finding, FindingKind,
    Group, Member, Options, Result, Session, SessionBuilder, ShardChoice, THREADS_VARIABLE, check_store,
    codec_from_text, recording, repair_store,
};
pub use tessarray_buffer::{
    Arena, Block, DataType, Dims, Field, InputView, OutputView, SmallType, Strides, TimeUnit, VarItem,
    ViewError, c_strides, is_distinct,
};
pub use tessarray_codec::{
    AnyCodec, ArrayCodec, BytesCodec, Chain, ChunkSpec, CodecError, EncodedSize, NamedConfig, Registry,
    Scratch, Serializer, sharding,
};
pub use tessarray_grid::{AxisSelection, EdgeRuns, Edges, GridError, Selection};
pub use tessarray_meta::*;
pub use tessarray_store::*;

/// Packs: a transactional, log-structured home for any Zarr hierarchy.
pub mod pack {
    pub use tessarray_pack::*;
}

/// Collections: the datasets of a pack, read across in one call.
pub mod collection {
    pub use tessarray_collection::*;
}
