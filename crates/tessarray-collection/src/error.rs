//! Errors.

use tessarray_array::ArrayError;
use tessarray_pack::PackError;
use tessarray_store::{KeyError, StoreError};

/// The result of a call.
pub type Result<T> = std::result::Result<T, CollectionError>;

/// What can go wrong with a collection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectionError {
    /// The pack cannot be read, or written.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// One of its arrays cannot.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// There is a dataset of this name already.
    #[error("dataset {name:?} is there already: choose another name, or update it")]
    Exists {
        /// Its name.
        name: String,
    },
    /// A name that no dataset can have.
    #[error("dataset name: expected one part of a path that does not begin with \"__\", found {name:?}")]
    Name {
        /// What was given.
        name: String,
    },
}

impl From<StoreError> for CollectionError {
    fn from(error: StoreError) -> Self {
        Self::Array(error.into())
    }
}

impl From<KeyError> for CollectionError {
    fn from(error: KeyError) -> Self {
        Self::Array(error.into())
    }
}
