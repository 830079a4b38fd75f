//! One row of the catalogue.

use super::template::Text;
use crate::names::is_document;
use bytes::Bytes;
use std::cmp::Ordering;
use std::sync::Arc;

/// The segment number of a chunk that is not stored any more.
pub(crate) const GONE: i32 = -1;

/// Where the bytes of one chunk (or value) lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The segment: a place in the table of segments of the part, or [`GONE`].
    pub segment: i32,
    /// Where in it.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Of the bytes and of what they are; see [`crate::chunk_checksum`].
    pub crc: u32,
}

/// A value that is in the catalogue itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A document.
    Text(Text),
    /// Any bytes.
    Bytes(Bytes),
}

impl Value {
    /// From the bytes of a key; those of a document are split.
    pub(crate) fn of(name: &str, bytes: &[u8]) -> Self {
        let text = if is_document(name) { Text::split(bytes) } else { None };
        text.map_or_else(|| Self::Bytes(Bytes::copy_from_slice(bytes)), Self::Text)
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Self::Text(text) => text.join().into(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Text(text) => {
                let own = [&text.shape, &text.attributes];
                let marks = own.iter().filter(|part| part.is_some()).count();
                text.template.len() - marks
                    + own.iter().map(|p| p.as_deref().map_or(0, str::len)).sum::<usize>()
            }
        }
    }
}

/// Where a row of a version is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPlace {
    /// The part: its place in the version's list.
    pub part: usize,
    /// The row group in the part.
    pub group: usize,
    /// The row in the group.
    pub row: usize,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Path of the node; for a value that belongs to none, its key up to the last slash.
    pub node: Arc<str>,
    /// Name of the value; empty for chunks.
    pub name: Arc<str>,
    /// Number of the first chunk.
    pub first: u64,
    /// See the top of the module.
    pub gone: bool,
    /// The node's own number, which it keeps when it is renamed.
    pub id: Option<u64>,
    /// Tells this value of the key from all others that it ever had.
    pub stamp: u64,
    /// A value in the row; a value without one is the only entry.
    pub value: Option<Value>,
    /// How chunks are numbered, as text; see [`super::numbering::Numbering`].
    pub grid: Option<Arc<str>>,
    /// Chunks by number, in order.
    pub entries: Vec<(u64, Entry)>,
}

impl Row {
    /// A row of a value.
    pub(crate) fn value(node: Arc<str>, name: Arc<str>) -> Self {
        Self {
            node,
            name,
            first: 0,
            gone: false,
            id: None,
            stamp: 0,
            value: None,
            grid: None,
            entries: Vec::new(),
        }
    }

    /// The order of rows.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }

    /// What rows are sorted by.
    pub(crate) fn key(&self) -> (&[u8], &[u8], u64) {
        (self.node.as_bytes(), self.name.as_bytes(), self.first)
    }
}
