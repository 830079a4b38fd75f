//! What can go wrong with arrays and groups.

use tessarray_buffer::{TilesError, ViewError};
use tessarray_codec::CodecError;
use tessarray_grid::GridError;
use tessarray_meta::MetaError;
use tessarray_store::{KeyError, StoreError};

pub type Result<T> = std::result::Result<T, ArrayError>;

/// A failed call on an array or group. Every message names the store key or the coordinates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// Nothing is stored under this path.
    #[error("{store}: no array or group at {path:?}")]
    NotFound { store: String, path: String },
    /// The node is there, but of the other kind.
    #[error("{store}: {path:?} is {found}, expected {expected}")]
    WrongNode { store: String, path: String, expected: &'static str, found: &'static str },
    /// A node is there already.
    #[error("{store}: there is already {found} at {path:?}; pass overwrite to replace it")]
    Exists { store: String, path: String, found: &'static str },
    /// The selection does not fit the array.
    #[error(transparent)]
    Selection(#[from] GridError),
    /// A buffer's shape or element size does not fit the selection.
    #[error("buffer of shape {found:?} does not fit a selection of shape {expected:?}")]
    BufferShape { expected: Vec<u64>, found: Vec<u64> },
    /// The element sizes differ.
    #[error("elements of {found} bytes were given, the array's have {expected}")]
    ItemSize { expected: usize, found: usize },
    #[error(transparent)]
    View(#[from] ViewError),
    /// An output cannot be shared between workers.
    #[error(transparent)]
    Output(#[from] TilesError),
    /// A value of the call makes no sense for this array.
    #[error("{what}: expected {expected}, found {found}")]
    Argument { what: String, expected: String, found: String },
    /// A metadata document is not acceptable.
    #[error("{key}: {source}")]
    Metadata { key: String, source: MetaError },
    /// A codec cannot be built for this array.
    #[error("{path}: {source}")]
    Codec { path: String, source: CodecError },
    /// A chunk's bytes cannot be decoded, or its values not encoded.
    #[error("{key}: chunk {chunk:?}: {source}")]
    Chunk { key: String, chunk: Vec<u64>, source: CodecError },
    /// A shard's index is torn or lies.
    #[error("{key}: shard {shard:?}: index: {reason}")]
    ShardIndex { key: String, shard: Vec<u64>, reason: String },
    /// A chunk (or shard) is not stored, and the session's options say that this is no fill.
    #[error(
        "{store}: {key}: chunk {chunk:?} is not stored, and missing chunks are not to be read as the fill value"
    )]
    MissingChunk { store: String, key: String, chunk: Vec<u64> },
    /// Memory for this many bytes cannot be had.
    #[error("{what}: there is no memory for {bytes} bytes")]
    Memory { what: &'static str, bytes: u64 },
    /// The store refused or failed.
    #[error(transparent)]
    Store(StoreError),
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Another process changed the array at the same time, again and again.
    #[error("{key}: kept changing while it was read")]
    Unstable { key: String },
    /// The worker pool cannot be made.
    #[error("cannot start {threads} worker threads: {reason}")]
    Threads { threads: usize, reason: String },
}

impl From<StoreError> for ArrayError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Decision(inner) => match inner.downcast::<ArrayError>() {
                Ok(own) => *own,
                Err(other) => Self::Store(StoreError::Decision(other)),
            },
            other => Self::Store(other),
        }
    }
}

impl From<ArrayError> for StoreError {
    /// Carries an array error out of an update's decision function; the way back unwraps it.
    fn from(error: ArrayError) -> Self {
        Self::Decision(Box::new(error))
    }
}
