//! Columns of a Parquet file, read as fast as a version is to be opened.

mod columns;
mod numbers;
mod pages;
mod texts;
mod values;

use parquet::errors::{ParquetError, Result};
use std::io;

pub(super) use columns::Column;
pub(super) use texts::{Numbered, Shared, Texts};

/// What is wrong with a file.
pub(super) fn general(reason: String) -> ParquetError {
    ParquetError::General(reason)
}

/// Where memory ends, which says nothing of the file.
pub(super) fn no_memory() -> ParquetError {
    ParquetError::External(Box::new(io::Error::from(io::ErrorKind::OutOfMemory)))
}

/// Parquet's reader gives up with a panic on some files that are none; here that is an error like any other.
pub(super) fn calmly<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    let read = std::panic::AssertUnwindSafe(read);
    std::panic::catch_unwind(read).unwrap_or_else(|_| Err(general("the file is no Parquet file".into())))
}
