//! What a transaction has changed so far.

use super::segments::Location;
use crate::catalogue::{Entry, GONE, Numbering, Row, SegmentTable, Value, chunk_rows};
use crate::id::Id;
use crate::layout::PackedArray;
use crate::names::{STATISTICS, is_under};
use crate::version::{ListedChunks, Listing};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A chunk that was put, or kept from before under a new shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    pub at: Location,
    pub segment: Id,
    pub length: u64,
    pub crc: u32,
}

/// The new value of a key.
#[derive(Debug, Clone)]
pub(crate) enum NewValue {
    /// In the catalogue.
    Here(Value),
    /// In a segment.
    There(Stored),
    /// None.
    Gone,
}

/// A key that was changed.
#[derive(Debug, Clone)]
pub(crate) struct ValueChange {
    pub value: NewValue,
    pub id: Option<u64>,
    pub stamp: u64,
}

/// The chunks of one array that were changed.
#[derive(Debug, Clone)]
pub(crate) struct ChunkChanges {
    /// How they are numbered: as the array's grid is, or further.
    pub numbering: Numbering,
    /// No chunk from before counts.
    pub reset: bool,
    pub entries: BTreeMap<u64, Option<Stored>>,
}

impl ChunkChanges {
    /// The number of an object's first chunk. Where it lies outside the grid (an append writes before the array
    /// grows), the numbering grows; `None` where there are no numbers that large.
    pub(crate) fn object(&mut self, at: &[u64]) -> Option<u64> {
        if let Some(number) = self.numbering.object(at) {
            return Some(number);
        }
        let grown = self.numbering.grown(at);
        let number = grown.object(at)?;
        let moved = self.entries.iter().map(|(number, stored)| {
            let (at, inner) = self.numbering.coordinates(*number);
            Some((grown.object(&at)? + inner, *stored))
        });
        self.entries = moved.collect::<Option<_>>()?;
        self.numbering = grown;
        Some(number)
    }

    /// Chunk `number` is not stored any more.
    pub(crate) fn remove(&mut self, number: u64) {
        if self.reset {
            self.entries.remove(&number);
        } else {
            self.entries.insert(number, None);
        }
    }

    /// Nothing of the object whose first chunk is `begin` is stored any more.
    pub(crate) fn clear(&mut self, begin: u64) {
        (begin..begin + self.numbering.inner()).for_each(|number| self.remove(number));
    }
}

/// All changes.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    pub values: BTreeMap<(Arc<str>, Arc<str>), ValueChange>,
    pub chunks: BTreeMap<Arc<str>, ChunkChanges>,
    /// Arrays of this transaction's documents; `None` where there is none any more.
    pub arrays: HashMap<Arc<str>, Option<Arc<PackedArray>>>,
}

impl Overlay {
    /// Whether nothing was changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.chunks.is_empty()
    }

    /// What this transaction said of an array's values does not hold any more.
    pub(crate) fn forget_statistics(&mut self, node: &str) {
        if let Some(change) = self.values.get_mut(&(Arc::from(node), Arc::from(STATISTICS))) {
            change.value = NewValue::Gone;
        }
    }

    /// The changes of an array's chunks.
    pub(crate) fn chunks_of(&mut self, node: &str, array: &PackedArray) -> &mut ChunkChanges {
        let new =
            || ChunkChanges { numbering: array.numbering().clone(), reset: false, entries: BTreeMap::new() };
        let changes = self.chunks.entry(node.into()).or_insert_with(new);
        if !changes.numbering.is_like(array.numbering()) {
            // Another array by now, whose chunks are others.
            *changes = ChunkChanges { reset: true, ..new() };
        }
        changes
    }

    /// No chunk of an array is stored any more.
    pub(crate) fn forget_chunks(&mut self, node: &str, array: &PackedArray) {
        let changes = self.chunks_of(node, array);
        changes.reset = true;
        changes.entries.clear();
    }

    /// Puts the changes under a path into a listing.
    pub(crate) fn list(&self, path: &str, into: &mut Listing) {
        for ((node, name), change) in &self.values {
            if is_under(node, path) {
                let size = match &change.value {
                    NewValue::Here(value) => Some(value.len() as u64),
                    NewValue::There(stored) => Some(stored.length),
                    NewValue::Gone => None,
                };
                into.values.insert(((**node).into(), (**name).into()), size);
            }
        }
        for (node, changes) in &self.chunks {
            if is_under(node, path) {
                let sizes = changes.entries.iter().map(|(number, stored)| {
                    (changes.numbering.coordinates(*number), stored.as_ref().map(|stored| stored.length))
                });
                let chunks = ListedChunks { closed: changes.reset, sizes: sizes.collect() };
                into.chunks.insert((**node).into(), chunks);
            }
        }
    }

    /// The rows of the delta, sorted, and the segments that they name by number.
    pub(crate) fn rows(&self, place: impl Fn(Location) -> (Id, u64)) -> (Vec<Row>, Vec<Id>) {
        let mut segments = SegmentTable::default();
        let mut entry = |stored: &Stored| {
            let (id, offset) = place(stored.at);
            Entry { segment: segments.number(id), offset, length: stored.length, crc: stored.crc }
        };
        let mut rows = Vec::with_capacity(self.values.len() + self.chunks.len());
        for ((node, name), change) in &self.values {
            let mut row = Row::value(Arc::clone(node), Arc::clone(name));
            row.id = change.id;
            row.stamp = change.stamp;
            match &change.value {
                NewValue::Here(value) => row.value = Some(value.clone()),
                NewValue::There(stored) => row.entries.push((0, entry(stored))),
                NewValue::Gone => row.gone = true,
            }
            rows.push(row);
        }
        let gone = Entry { segment: GONE, offset: 0, length: 0, crc: 0 };
        for (node, changes) in &self.chunks {
            let entries: Vec<(u64, Entry)> = changes
                .entries
                .iter()
                .map(|(number, stored)| (*number, stored.as_ref().map_or(gone, &mut entry)))
                .collect();
            let grid = changes.numbering.to_string().into();
            rows.extend(chunk_rows(node, &grid, changes.reset, &entries));
        }
        rows.sort_by(Row::order);
        (rows, segments.ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_no_number_reaches_together_are_none_and_lose_nothing() {
        let mut changes =
            ChunkChanges { numbering: Numbering::new(&[1, 1], 1), reset: false, entries: BTreeMap::new() };
        let far = changes.object(&[1 << 40, 0]).unwrap();
        changes.remove(far);
        assert_eq!(changes.object(&[0, 1 << 40]), None);
        assert_eq!(changes.entries.keys().collect::<Vec<_>>(), [&far]);
        assert_eq!(changes.numbering.object(&[1 << 40, 0]), Some(far));
        assert_eq!(changes.object(&[3, 1]), Some(7));
        assert_eq!(changes.entries.keys().collect::<Vec<_>>(), [&(1 << 41)]);
    }
}
