//! What reading needs of a version, or of a transaction on top of one.

use crate::catalogue::{Entry, GONE, Numbering, Part};
use crate::error::Result;
use crate::id::Id;
use crate::layout::{PackedArray, ShardMap};
use crate::names::{is_under, join};
use bytes::Bytes;
use std::collections::{BTreeMap, btree_map};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tessarray_store::Store;

/// Keys and what they hold.
pub(crate) trait Content: Debug + Send + Sync {
    /// For people: where, and which version.
    fn describe(&self) -> String;

    /// The store in which the segments are.
    fn base(&self) -> &Arc<dyn Store>;

    /// The array at a path; `None` where there is none.
    fn array(&self, node: &str) -> Result<Option<Arc<PackedArray>>>;

    /// The value of a key that is no chunk's.
    fn value(&self, node: &str, name: &str) -> Result<Option<Held>>;

    /// An object that is one chunk.
    fn chunk(&self, node: &str, array: &PackedArray, at: &[u64]) -> Result<Option<Piece>>;

    /// An object that is a shard.
    fn shard(&self, node: &str, array: &PackedArray, at: &[u64]) -> Result<Option<Arc<ShardMap<Piece>>>>;
}

/// A number for where bytes were put: no two puts go to one place.
pub(crate) fn stamp_of(place: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    hasher.finish()
}

/// The value of a key.
#[derive(Debug)]
pub(crate) enum Held {
    /// In the catalogue; with what tells it from other values of the key.
    Here(Bytes, u64),
    /// In a segment.
    There(Piece),
}

/// The bytes of one chunk, wherever they are.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Where.
    pub place: Spot,
    /// How many.
    pub length: u64,
    /// See [`crate::chunk_checksum`].
    pub crc: u32,
    /// Tells it from all that was ever put.
    pub stamp: u64,
}

/// Where bytes are.
#[derive(Debug, Clone)]
pub(crate) enum Spot {
    /// In a segment that is stored, from this offset.
    #[allow(missing_docs)]
    Segment { id: Id, offset: u64 },
    /// In one that is still being filled.
    #[allow(missing_docs)]
    Memory { id: Id, bytes: Bytes },
}

impl Piece {
    pub(crate) fn stored(id: Id, entry: Entry) -> Self {
        let stamp = stamp_of(&(id, entry.offset));
        let place = Spot::Segment { id, offset: entry.offset };
        Self { place, length: entry.length, crc: entry.crc, stamp }
    }

    /// The segment it belongs to.
    pub(crate) fn segment(&self) -> Id {
        match &self.place {
            Spot::Segment { id, .. } | Spot::Memory { id, .. } => *id,
        }
    }
}

/// Everything under a prefix, newest changes first.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Bytes of each value by node and name; `None` where it is gone.
    pub values: BTreeMap<(Box<str>, Box<str>), Option<u64>>,
    /// ListedChunks of each node.
    pub chunks: BTreeMap<Box<str>, ListedChunks>,
}

/// ListedChunks of one node.
#[derive(Debug, Default)]
pub(crate) struct ListedChunks {
    /// Later parts do not count.
    pub closed: bool,
    /// Bytes of each chunk, by object and place in it; `None` where it is gone.
    pub sizes: BTreeMap<(Vec<u64>, u64), Option<u64>>,
}

impl Listing {
    /// Adds what an older part says.
    pub(crate) fn add_part(&mut self, part: &Part, path: &str) -> Result<()> {
        let end = format!("{path}0");
        let mut closing: Vec<Box<str>> = Vec::new();
        part.walk((path.as_bytes(), b"", 0), &mut |group, row| {
            let (node, name, first) = group.key(row);
            if !path.is_empty() && node > end.as_bytes() {
                return Ok(false);
            }
            let node = String::from_utf8_lossy(node);
            if !is_under(&node, path) {
                return Ok(true);
            }
            if !name.is_empty() {
                let place = (Box::from(&*node), Box::from(&*String::from_utf8_lossy(name)));
                if let btree_map::Entry::Vacant(entry) = self.values.entry(place) {
                    let size = match group.value(row)? {
                        Some(bytes) => bytes.len() as u64,
                        None => group.entries(row).map(|(_, entry)| entry.length).sum(),
                    };
                    entry.insert((!group.gone(row)).then_some(size));
                }
                return Ok(true);
            }
            let chunks = self.chunks.entry(Box::from(&*node)).or_default();
            if chunks.closed && !closing.iter().any(|closed| **closed == *node) {
                return Ok(true);
            }
            if first == 0 && group.gone(row) && !chunks.closed {
                chunks.closed = true;
                closing.push(Box::from(&*node));
            }
            if let Some(numbering) = group.grid(row).and_then(|text| Numbering::parse(text)) {
                for (number, entry) in group.entries(row) {
                    let size = (entry.segment != GONE).then_some(entry.length);
                    chunks.sizes.entry(numbering.coordinates(number)).or_insert(size);
                }
            }
            Ok(true)
        })
    }

    /// The keys and sizes, of nodes whose arrays `array` tells.
    pub(crate) fn keys(
        &self,
        mut array: impl FnMut(&str) -> Result<Option<Arc<PackedArray>>>,
    ) -> Result<BTreeMap<String, u64>> {
        let mut keys = BTreeMap::new();
        for ((node, name), size) in &self.values {
            if let Some(size) = size {
                keys.insert(join(node, name), *size);
            }
        }
        for (node, chunks) in &self.chunks {
            let Some(array) = array(node)? else { continue };
            for ((at, _), size) in &chunks.sizes {
                let Some(size) = size else { continue };
                let index = array.sharding().map_or(0, |sharding| sharding.index_bytes() as u64);
                *keys.entry(join(node, &array.key(at))).or_insert(index) += size;
            }
        }
        Ok(keys)
    }
}
