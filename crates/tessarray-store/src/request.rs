//! What is asked of a store, and what it answers.

use crate::key::Key;
use bytes::Bytes;
use std::ops::Deref;

/// Which bytes of a value are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteRange {
    /// The whole value.
    All,
    /// `length` bytes from `offset`. Reaching past the end is [`StoreError::OutOfRange`](crate::StoreError).
    #[allow(missing_docs)]
    Span { offset: u64, length: u64 },
    /// The last `length` bytes, or the whole value where it is shorter.
    #[allow(missing_docs)]
    Suffix { length: u64 },
}

/// Which state of a value was seen: two equal versions mean the same bytes. Opaque to callers.
///
/// Local files: device, inode, size, and modification and change time in nanoseconds. Object stores: the etag.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version(pub Box<str>);

/// One range of one value, and the version the caller expects where it has seen the value before.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The value.
    pub key: Key,
    /// The bytes of it.
    pub range: ByteRange,
    /// `Some(v)`: answer [`StoreError::Changed`](crate::StoreError) where the value is no longer at `v`,
    /// also where it is absent by now.
    pub expect: Option<Version>,
}

/// Facts about a stored value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Bytes of the whole value.
    pub size: u64,
    /// The state it is in.
    pub version: Version,
}

/// Bytes that arrived, with facts about the value they are part of.
#[derive(Debug)]
pub struct Blob<'a> {
    /// Of the whole value.
    pub meta: Meta,
    /// Of the range.
    pub bytes: BlobBytes<'a>,
}

/// The bytes of a [`Blob`]: lent for the length of the call, or shared for as long as one likes.
#[derive(Debug)]
pub enum BlobBytes<'a> {
    /// Lent: gone when the call returns.
    Borrowed(&'a [u8]),
    /// Shared: kept or cut without a copy.
    Shared(Bytes),
}

impl Deref for BlobBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Blob<'_> {
    /// The bytes, to keep: a copy where they were only lent.
    ///
    /// # Errors
    /// [`OutOfMemory`](std::io::ErrorKind::OutOfMemory) where there is no memory for the copy.
    pub fn into_shared(self) -> std::io::Result<Bytes> {
        match self.bytes {
            BlobBytes::Borrowed(bytes) => crate::owned::copy(bytes),
            BlobBytes::Shared(bytes) => Ok(bytes),
        }
    }
}

/// When a put may replace what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutMode {
    /// Create or replace.
    Overwrite,
    /// Create; [`StoreError::Exists`](crate::StoreError) where the key is taken.
    Create,
    /// Replace exactly this version; [`StoreError::Changed`](crate::StoreError) otherwise.
    IfMatch(Version),
}

/// One entry of a directory-like listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListEntry {
    /// A value directly under the prefix, and its size in bytes.
    Key(Key, u64),
    /// A deeper level: the prefix ends in the next path segment.
    Prefix(crate::key::Prefix),
}
