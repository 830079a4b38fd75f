//! What can go wrong with arrays and groups.

use tessarray_buffer::{TilesError, ViewError};
use tessarray_codec::CodecError;
use tessarray_grid::GridError;
use tessarray_meta::MetaError;
use tessarray_store::{KeyError, StoreError};

/// The result of a call.
pub type Result<T> = std::result::Result<T, ArrayError>;

/// A failed call on an array or group. Every message names the store key or the coordinates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// Nothing is stored under this path.
    #[error("{store}: no array or group at {path:?}")]
    NotFound {
        /// The store, in words.
        store: String,
        /// The path in the store.
        path: String,
    },
    /// The node is there, but of the other kind.
    #[error("{store}: {path:?} is {found}, expected {expected}")]
    WrongNode {
        /// The store, in words.
        store: String,
        /// The path in the store.
        path: String,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: &'static str,
    },
    /// A node is there already.
    #[error("{store}: there is already {found} at {path:?}; pass overwrite to replace it")]
    Exists {
        /// The store, in words.
        store: String,
        /// The path in the store.
        path: String,
        /// What was found.
        found: &'static str,
    },
    /// The selection does not fit the array.
    #[error(transparent)]
    Selection(#[from] GridError),
    /// A buffer's shape or element size does not fit the selection.
    #[error("buffer of shape {found:?} does not fit a selection of shape {expected:?}")]
    BufferShape {
        /// What was expected.
        expected: Vec<u64>,
        /// What was found.
        found: Vec<u64>,
    },
    /// The element sizes differ.
    #[error("elements of {found} bytes were given, the array's have {expected}")]
    ItemSize {
        /// What was expected.
        expected: usize,
        /// What was found.
        found: usize,
    },
    /// A window on the caller's memory does not fit it.
    #[error(transparent)]
    View(#[from] ViewError),
    /// An output cannot be shared between workers.
    #[error(transparent)]
    Output(#[from] TilesError),
    /// A value of the call makes no sense for this array.
    #[error("{what}: expected {expected}, found {found}")]
    Argument {
        /// What it was for.
        what: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A metadata document is not acceptable.
    #[error("{key}: {source}")]
    Metadata {
        /// The key in the store.
        key: String,
        /// What is wrong.
        source: MetaError,
    },
    /// A codec cannot be built for this array.
    #[error("{path}: {source}")]
    Codec {
        /// The path in the store.
        path: String,
        /// What is wrong.
        source: CodecError,
    },
    /// A chunk's bytes cannot be decoded, or its values not encoded.
    #[error("{key}: chunk {chunk:?}: {source}")]
    Chunk {
        /// The key in the store.
        key: String,
        /// Coordinates of the chunk in its grid.
        chunk: Vec<u64>,
        /// What is wrong.
        source: CodecError,
    },
    /// A shard's index is torn or lies.
    #[error("{key}: shard {shard:?}: index: {reason}")]
    ShardIndex {
        /// The key in the store.
        key: String,
        /// Coordinates of the shard in its grid.
        shard: Vec<u64>,
        /// What is wrong.
        reason: String,
    },
    /// A chunk (or shard) is not stored, and the session's options say that this is no fill.
    #[error(
        "{store}: {key}: chunk {chunk:?} is not stored, and missing chunks are not to be read as the fill value"
    )]
    MissingChunk {
        /// The store, in words.
        store: String,
        /// The key in the store.
        key: String,
        /// Coordinates of the chunk in its grid.
        chunk: Vec<u64>,
    },
    /// Memory for this many bytes cannot be had.
    #[error("{what}: there is no memory for {bytes} bytes")]
    Memory {
        /// What it was for.
        what: &'static str,
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(StoreError),
    /// A path or a name that no key can have.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Another process changed the array at the same time, again and again.
    #[error("{key}: kept changing while it was read")]
    Unstable {
        /// The key in the store.
        key: String,
    },
    /// The worker pool cannot be made.
    #[error("cannot start {threads} worker threads: {reason}")]
    Threads {
        /// Threads that were asked for.
        threads: usize,
        /// What is wrong.
        reason: String,
    },
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
