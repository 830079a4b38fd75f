//! Objects of arrays that are put and removed: a chunk, or a shard of which each inner chunk is stored by itself.
//!
//! What is done with a shard depends on what is known of the one that was there:
//!
//! - Nothing is known ([`Old::Unknown`]): all of it is replaced.
//! - There was none ([`Old::None`]), or what was there was no shard: its chunks are added.
//! - Its bytes are known ([`Old::Bytes`]): only chunks that differ are stored, and those that it lacks are removed.
//!
//! Bytes that are no shard of the array are kept as a value, so that a reader of the key sees what was put.

use super::overlay::{ChunkChanges, Overlay, Stored};
use super::shard::NewShard;
use super::work::Work;
use crate::chunk_checksum::{self, ChunkId};
use crate::error::{PackError, Result};
use crate::layout::{PackedArray, ShardMap};
use crate::version::lookup::shard_stamp;
use crate::version::{Content, Piece, stamp_of};
use std::sync::Arc;
use tessarray_store::{Key, StoreError, owned};

/// What is known of the value that an object had.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Old<'a> {
    /// Nothing: all of it is replaced.
    Unknown,
    /// There was none.
    None,
    /// Its bytes.
    Bytes(&'a [u8]),
}

/// An object of an array.
pub(super) struct Object<'a> {
    pub key: &'a Key,
    pub node: &'a str,
    pub array: Arc<PackedArray>,
    /// Its coordinates in the grid.
    pub at: Vec<u64>,
}

/// Chunks of an object by number, and where they are stored.
type StoredChunks = Vec<(u64, Stored)>;

/// The parts of a value, one behind the other.
pub(super) fn together(of: &str, parts: &[&[u8]]) -> Result<Vec<u8>> {
    owned::joined(parts).map_err(|error| StoreError::io(of, "allocate", error).into())
}

impl Object<'_> {
    /// What is stored together: the last part of the array's path.
    fn variable(&self) -> &str {
        self.node.rsplit('/').next().unwrap_or(self.node)
    }

    /// What the transaction has changed of the array's chunks, and the number of this object's first.
    fn changes<'o>(&self, overlay: &'o mut Overlay) -> Result<(&'o mut ChunkChanges, u64)> {
        overlay.forget_statistics(self.node);
        let changes = overlay.chunks_of(self.node, &self.array);
        let begin = changes.object(&self.at).ok_or_else(|| PackError::TooLarge {
            path: self.key.to_string(),
            reason: "more than 2^63 chunks".into(),
        })?;
        Ok((changes, begin))
    }
}

impl Work {
    /// Puts an object. Gives its stamp, if that is known without a look.
    pub(super) fn put_object(
        &self,
        object: &Object<'_>,
        parts: &[&[u8]],
        old: Old<'_>,
    ) -> Result<Option<u64>> {
        if object.array.sharding().is_none() {
            return self.put_chunk(object, parts).map(Some);
        }
        let joined;
        let shard = match NewShard::read(&object.array, parts) {
            None if parts.len() > 1 => {
                joined = together(object.variable(), parts)?;
                NewShard::read(&object.array, &[&joined])
            }
            shard => shard,
        };
        let Some(shard) = shard else {
            self.remove_object(object)?;
            let (node, name) = object.key.split();
            return self.put_value(object.key, node, name, parts).map(Some);
        };
        let Old::Bytes(bytes) = old else {
            let replaced = matches!(old, Old::Unknown);
            let stamp = self.add_shard(object, &shard, replaced)?;
            return Ok(replaced.then_some(stamp));
        };
        match self.shard(object.node, &object.array, &object.at)? {
            Some(before) => self.change_shard(object, &shard, bytes, &before)?,
            None => drop(self.add_shard(object, &shard, false)?),
        }
        Ok(None)
    }

    /// Stores an object that is one chunk; its stamp.
    fn put_chunk(&self, object: &Object<'_>, parts: &[&[u8]]) -> Result<u64> {
        let (segment, at) = self.segments().put(object.variable(), parts)?;
        let chunk = ChunkId { node: object.array.id, at: &object.at, inner: 0 };
        let crc = chunk_checksum::of_chunk(parts, chunk, segment);
        let length = parts.iter().map(|part| part.len() as u64).sum();
        let mut overlay = self.edit()?;
        let (changes, begin) = object.changes(&mut overlay)?;
        changes.entries.insert(begin, Some(Stored { at, segment, length, crc }));
        Ok(stamp_of(&at))
    }

    /// Stores a shard all of whose chunks are new; with `replace`, nothing that was there counts any more. Its stamp.
    fn add_shard(&self, object: &Object<'_>, shard: &NewShard<'_>, replace: bool) -> Result<u64> {
        let stored = self.store_chunks(object, &shard.chunks)?;
        let stamp = shard_stamp(stored.iter().map(|(number, stored)| (*number, stamp_of(&stored.at))));
        let mut overlay = self.edit()?;
        let (changes, begin) = object.changes(&mut overlay)?;
        if replace {
            changes.clear(begin);
        }
        changes.entries.extend(stored.into_iter().map(|(number, stored)| (begin + number, Some(stored))));
        Ok(stamp)
    }

    /// Stores the chunks of a shard that are not what they were in `old`, which `before` describes.
    fn change_shard(
        &self,
        object: &Object<'_>,
        shard: &NewShard<'_>,
        old: &[u8],
        before: &ShardMap<Piece>,
    ) -> Result<()> {
        let was = |number: u64| {
            let at = before.pieces.binary_search_by_key(&number, |(own, _)| *own).ok()?;
            let (begin, end) = (before.starts.get(at)?, before.starts.get(at + 1)?);
            old.get(usize::try_from(*begin).ok()?..usize::try_from(*end).ok()?)
        };
        let differs = |(number, bytes): &&(u64, &[u8])| was(*number) != Some(*bytes);
        let fresh: Vec<(u64, &[u8])> = shard.chunks.iter().filter(differs).copied().collect();
        let stored = self.store_chunks(object, &fresh)?;
        let mut overlay = self.edit()?;
        let (changes, begin) = object.changes(&mut overlay)?;
        for (number, _) in before.pieces.iter().filter(|(number, _)| !shard.has(*number)) {
            changes.remove(begin + number);
        }
        changes.entries.extend(stored.into_iter().map(|(number, stored)| (begin + number, Some(stored))));
        Ok(())
    }

    /// Stores inner chunks, one after the other in one segment.
    fn store_chunks(&self, object: &Object<'_>, chunks: &[(u64, &[u8])]) -> Result<StoredChunks> {
        let bytes: Vec<&[u8]> = chunks.iter().map(|(_, bytes)| *bytes).collect();
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let (segment, mut location) = self.segments().put(object.variable(), &bytes)?;
        let store = |(inner, bytes): &(u64, &[u8])| {
            let chunk = ChunkId { node: object.array.id, at: &object.at, inner: *inner };
            let crc = chunk_checksum::of_chunk(&[bytes], chunk, segment);
            let (at, length) = (location, bytes.len() as u64);
            location = location.after(length);
            (*inner, Stored { at, segment, length, crc })
        };
        Ok(chunks.iter().map(store).collect())
    }

    /// Nothing of an object is stored any more.
    pub(super) fn remove_object(&self, object: &Object<'_>) -> Result<()> {
        let mut overlay = self.edit()?;
        let (changes, begin) = object.changes(&mut overlay)?;
        changes.clear(begin);
        Ok(())
    }
}
