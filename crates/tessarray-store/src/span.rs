//! A range asked for, against the size found.

use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::request::{ByteRange, ReadRequest, Version};

impl ReadRequest {
    /// Offset and length of the range in a value of `size` bytes; `OutOfRange` before anything is allocated.
    ///
    /// # Errors
    /// The range reaches past the end ([`StoreError::OutOfRange`](crate::StoreError::OutOfRange)).
    pub fn resolve(&self, size: u64) -> Result<(u64, u64)> {
        match self.range {
            ByteRange::All => Ok((0, size)),
            ByteRange::Suffix { length } => {
                let length = length.min(size);
                Ok((size - length, length))
            }
            ByteRange::Span { offset, length } => match offset.checked_add(length) {
                Some(end) if end <= size => Ok((offset, length)),
                _ => Err(StoreError::OutOfRange { key: self.key.to_string(), offset, length, size }),
            },
        }
    }

    /// Refuses a value that is not at the version the caller saw (an absent one has none).
    ///
    /// # Errors
    /// It is at another version ([`StoreError::Changed`](crate::StoreError::Changed)).
    pub fn check_version(&self, found: Option<&Version>) -> Result<()> {
        match &self.expect {
            Some(expected) if found != Some(expected) => {
                Err(StoreError::Changed { key: self.key.to_string() })
            }
            _ => Ok(()),
        }
    }
}

/// The same in memory.
pub(crate) fn resolve_in_memory(request: &ReadRequest, size: usize) -> Result<std::ops::Range<usize>> {
    let (offset, length) = request.resolve(as_u64(size))?;
    let offset = to_usize(&request.key, offset)?;
    Ok(offset..offset + to_usize(&request.key, length)?)
}

/// A length that must fit the address space; `Io` with `OutOfMemory` where it does not.
pub(crate) fn to_usize(key: &Key, length: u64) -> Result<usize> {
    usize::try_from(length).map_err(|_| StoreError::Io {
        key: key.to_string(),
        action: "allocate",
        source: std::io::ErrorKind::OutOfMemory.into(),
    })
}

/// A length in memory as a length in a file.
pub(crate) fn as_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Calls `answer(first, run)` for each run of requests for equal keys.
pub(crate) fn by_key(requests: &[ReadRequest], mut answer: impl FnMut(usize, &[ReadRequest])) {
    let mut first = 0;
    for run in requests.chunk_by(|a, b| a.key == b.key) {
        answer(first, run);
        first += run.len();
    }
}
