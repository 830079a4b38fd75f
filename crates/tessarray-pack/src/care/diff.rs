//! What differs between two versions.

use crate::catalogue::merge::merge;
use crate::catalogue::{GONE, Numbering, Row};
use crate::error::Result;
use crate::id::Id;
use crate::names::{STATISTICS, is_document, join};
use crate::pack::Pack;
use crate::version::PackVersion;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A node that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Path of the node; of a value that belongs to none, its key.
    pub path: String,
    /// What became of it.
    pub change: Change,
    /// Chunks that differ.
    pub chunks: u64,
}

/// What became of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is in the second only.
    Created,
    /// It is in the first only.
    Deleted,
    /// Its metadata differ, and maybe its chunks.
    Metadata,
    /// Its chunks differ, and nothing else.
    Chunks,
}

/// Where a chunk lies: what is compared, since stored bytes do not change.
type StoredAt = (Id, u64, u64, u32);

#[derive(Default)]
struct NodeContent {
    path: Arc<str>,
    values: BTreeMap<String, (bytes::Bytes, Option<StoredAt>)>,
    /// How the chunks are numbered.
    grid: Option<Arc<str>>,
    chunks: BTreeMap<u64, StoredAt>,
}

/// How many chunks of a node differ. A chunk has another number where the array was resized along an axis other than the
/// first: then it is known by its coordinates.
fn differing(old: &NodeContent, new: &NodeContent) -> Result<u64> {
    fn count<K: Ord>(old: &BTreeMap<K, StoredAt>, new: &BTreeMap<K, StoredAt>) -> u64 {
        let added = new.iter().filter(|(chunk, place)| old.get(chunk) != Some(place)).count();
        let removed = old.keys().filter(|chunk| !new.contains_key(chunk)).count();
        (added + removed) as u64
    }
    fn placed(node: &NodeContent) -> Result<BTreeMap<(Vec<u64>, u64), StoredAt>> {
        let Some(grid) = &node.grid else { return Ok(BTreeMap::new()) };
        let numbering = Numbering::of_row(&node.path, grid)?;
        Ok(node.chunks.iter().map(|(number, place)| (numbering.coordinates(*number), *place)).collect())
    }
    if old.grid == new.grid {
        return Ok(count(&old.chunks, &new.chunks));
    }
    Ok(count(&placed(old)?, &placed(new)?))
}

impl Pack {
    /// Compares two versions, node by node. Costs a look at both catalogues, and none at data.
    ///
    /// # Errors
    /// There is no such version, or a part of its catalogue is damaged.
    pub fn diff(&self, from: u64, to: u64) -> Result<Vec<Difference>> {
        let (mut before, after) = (self.nodes(&self.version(from)?)?, self.nodes(&self.version(to)?)?);
        let mut found = Vec::new();
        for (path, new) in after {
            let old = before.remove(&path);
            let (change, chunks) = match &old {
                None => (Change::Created, new.chunks.len() as u64),
                Some(old) if old.values != new.values => (Change::Metadata, differing(old, &new)?),
                Some(old) => (Change::Chunks, differing(old, &new)?),
            };
            if change != Change::Chunks || chunks > 0 {
                found.push(Difference { path, change, chunks });
            }
        }
        found.extend(before.into_iter().map(|(path, old)| Difference {
            path,
            change: Change::Deleted,
            chunks: old.chunks.len() as u64,
        }));
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn nodes(&self, version: &PackVersion) -> Result<BTreeMap<String, NodeContent>> {
        let parts = version.commit().parts.iter().map(|file| self.parts_cache().get(file));
        let (rows, segments) = merge(&parts.collect::<Result<Vec<_>>>()?, true)?;
        let mut nodes: BTreeMap<String, NodeContent> = BTreeMap::new();
        // What is known of values changes with them, and is no change of its own.
        for row in rows.iter().filter(|row| *row.name != *STATISTICS) {
            let path = if row.name.is_empty() || is_document(&row.name) {
                row.node.to_string()
            } else {
                join(&row.node, &row.name)
            };
            add(nodes.entry(path).or_default(), row, &segments);
        }
        Ok(nodes)
    }
}

fn add(node: &mut NodeContent, row: &Row, segments: &[Id]) {
    let mut places =
        row.entries.iter().filter(|(_, entry)| entry.segment != GONE).filter_map(|(number, entry)| {
            let id = segments.get(usize::try_from(entry.segment).ok()?)?;
            Some((*number, (*id, entry.offset, entry.length, entry.crc)))
        });
    if row.name.is_empty() {
        node.path = Arc::clone(&row.node);
        node.grid.clone_from(&row.grid);
        node.chunks.extend(places);
        return;
    }
    let value = row.value.as_ref().map(crate::catalogue::Value::bytes).unwrap_or_default();
    node.values.insert(row.name.to_string(), (value, places.next().map(|(_, place)| place)));
}
