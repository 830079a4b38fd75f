//! The index of a shard: validated whole when it is read, so that nothing later trusts a number from the file.

use super::{IndexLocation, Sharding};
use crate::{CodecError, Result, Scratch, room};
use tessarray_buffer::Arena;

/// Where one inner chunk lies in the shard, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Where it begins, from the beginning of the shard.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
}

/// Marks an inner chunk that is not stored.
const MISSING: u64 = u64::MAX;

/// A shard's index: one entry per inner chunk, in C order; `None` where nothing is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShardIndex {
    entries: Vec<Option<Entry>>,
}

impl ShardIndex {
    /// An index of `n` chunks that are all missing.
    ///
    /// # Errors
    /// [`CodecError::Memory`] where there is no memory for it.
    pub fn missing(n: usize) -> Result<Self> {
        let mut entries = Vec::new();
        room::reserve(&mut entries, n)?;
        entries.resize(n, None);
        Ok(Self { entries })
    }

    /// Where inner chunk number `chunk` lies.
    pub fn get(&self, chunk: u64) -> Option<Entry> {
        self.entries.get(usize::try_from(chunk).ok()?).copied().flatten()
    }

    /// Notes where an inner chunk lies.
    pub fn set(&mut self, chunk: u64, entry: Option<Entry>) {
        let place = usize::try_from(chunk).unwrap_or(usize::MAX);
        if let Some(slot) = self.entries.get_mut(place) {
            *slot = entry;
        }
    }

    /// All entries in C order.
    pub fn entries(&self) -> &[Option<Entry>] {
        &self.entries
    }

    /// Whether no inner chunk is stored.
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(Option::is_none)
    }
}

impl Sharding {
    /// Decodes and validates an index. `encoded` is the index alone, and `shard_bytes` the size of the whole shard.
    ///
    /// # Errors
    /// A wrong size or checksum; an entry half missing, past the end, inside the index, wrapping around, or
    /// overlapping another.
    pub fn parse_index(&self, encoded: &[u8], shard_bytes: u64, scratch: &mut Scratch) -> Result<ShardIndex> {
        if encoded.len() != self.index_bytes || shard_bytes < self.index_bytes as u64 {
            let found = shard_bytes.min(encoded.len() as u64);
            let expected = self.index_bytes as u64;
            return Err(CodecError::Truncated { codec: "sharding_indexed index".into(), expected, found });
        }
        let mut raw = scratch.sized(self.entries() * 16)?;
        let decoded = self.index.decode(encoded, &mut raw, &Arena::new(), scratch);
        let index = decoded.and_then(|()| self.validate(&raw, shard_bytes));
        scratch.give(raw);
        index
    }

    fn validate(&self, raw: &[u8], shard_bytes: u64) -> Result<ShardIndex> {
        let index_bytes = self.index_bytes as u64;
        let (low, high) = match self.location() {
            IndexLocation::Start => (index_bytes, shard_bytes),
            IndexLocation::End => (0, shard_bytes - index_bytes),
        };
        let mut entries = Vec::new();
        room::reserve(&mut entries, self.entries())?;
        let mut previous_end = 0;
        let mut ascending = true;
        for (chunk, pair) in raw.chunks_exact(16).enumerate() {
            let (offset, length) = (number(&pair[..8]), number(&pair[8..]));
            if offset == MISSING && length == MISSING {
                entries.push(None);
                continue;
            }
            let end = offset.checked_add(length).filter(|&end| offset >= low && end <= high);
            let Some(end) = end.filter(|_| offset != MISSING && length != MISSING) else {
                return Err(corrupt(format!(
                    "inner chunk {chunk} claims {length} bytes at {offset}, where {low}..{high} hold the chunks"
                )));
            };
            ascending &= offset >= previous_end;
            previous_end = end;
            entries.push(Some(Entry { offset, length }));
        }
        if !ascending {
            refuse_overlaps(&entries)?;
        }
        Ok(ShardIndex { entries })
    }

    /// Encodes an index and appends it to `out`.
    ///
    /// # Errors
    /// [`CodecError::Memory`] if there is no memory for it.
    pub fn encode_index(&self, index: &ShardIndex, scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<()> {
        let mut raw = scratch.empty();
        room::reserve(&mut raw, index.entries.len().saturating_mul(16))?;
        for entry in &index.entries {
            let entry = entry.unwrap_or(Entry { offset: MISSING, length: MISSING });
            raw.extend_from_slice(&entry.offset.to_ne_bytes());
            raw.extend_from_slice(&entry.length.to_ne_bytes());
        }
        let result = self.index.encode(&raw, &Arena::new(), scratch, out);
        scratch.give(raw);
        result
    }
}

fn refuse_overlaps(entries: &[Option<Entry>]) -> Result<()> {
    let mut sorted: Vec<(Entry, usize)> =
        entries.iter().enumerate().filter_map(|(chunk, entry)| entry.map(|entry| (entry, chunk))).collect();
    sorted.sort_unstable_by_key(|(entry, _)| (entry.offset, entry.length));
    for pair in sorted.windows(2) {
        let ((a, first), (b, second)) = (pair[0], pair[1]);
        if a.offset + a.length > b.offset {
            return Err(corrupt(format!("inner chunks {first} and {second} overlap at byte {}", b.offset)));
        }
    }
    Ok(())
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_ne_bytes)
}

fn corrupt(reason: String) -> CodecError {
    CodecError::Corrupt { codec: "sharding_indexed index".into(), reason }
}
