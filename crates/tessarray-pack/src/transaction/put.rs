//! The changes of a transaction: values and objects that are put and removed.

use super::overlay::{Change, NewValue, Stored};
use super::segments::Location;
use super::work::Work;
use crate::catalogue::Value;
use crate::checksum::{self, Chunk};
use crate::layout::{Info, ShardMap};
use crate::names::{V2_ARRAY, V3, is_document};
use crate::version::lookup::{Named, named, shard_stamp};
use crate::version::{Content, Piece, stamp_of};
use crate::{PackError, Result};
use std::collections::HashSet;
use std::sync::Arc;
use tessarray_codec::sharding::ShardIndex;
use tessarray_store::{Key, Prefix, StoreError, owned};

/// Values up to this size are kept in the catalogue.
const INLINE: usize = 16 << 10;

/// The parts of a value, one behind the other.
fn together(of: &str, parts: &[&[u8]]) -> Result<Vec<u8>> {
    owned::joined(parts).map_err(|error| StoreError::io(of, "allocate", error).into())
}

impl Work {
    /// Puts the value of a key. Of a shard whose `old` value is known, only inner chunks that differ are changed. Gives the
    /// stamp of what was put, where it is known without a look.
    pub(crate) fn put(&self, key: &Key, parts: &[&[u8]], old: Old<'_>) -> Result<Option<u64>> {
        self.open()?;
        match named(self, key)? {
            Named::Value { node, name } => self.put_value(key, node, name, parts).map(Some),
            Named::Object { node, info, at } => self.put_object(key, node, &info, &at, parts, old),
        }
    }

    fn put_value(&self, key: &Key, node: &str, name: &str, parts: &[&[u8]]) -> Result<u64> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let joined;
        let bytes: &[u8] = match parts {
            [one] => one,
            _ => {
                joined = together(name, parts)?;
                &joined
            }
        };
        let value = if length > INLINE && !is_document(name) {
            let (segment, at) = self.segments().put(name, &[bytes])?;
            let crc = checksum::of_value(bytes, key.as_str(), segment);
            NewValue::There(Stored { at, segment, length: length as u64, crc })
        } else {
            NewValue::Here(Value::of(name, bytes))
        };
        let known = if name == V3 || name == V2_ARRAY { Some(self.node_id(node, name)?) } else { None };
        let new = known == Some(None);
        let before = if matches!(known, Some(Some(_))) { self.info(node)? } else { None };
        let id = known.map(|known| known.unwrap_or_else(|| self.number()));
        let info = match (id, &value) {
            (Some(id), NewValue::Here(Value::Text(text))) => {
                let layouts = self.base_version().layouts();
                layouts.info(name, &text.template, text.shape.as_deref(), id).map(Arc::new)
            }
            _ => None,
        };
        let number = self.number();
        let stamp = match &value {
            NewValue::There(stored) => stamp_of(&stored.at),
            _ => number,
        };
        let mut overlay = self.edit()?;
        overlay.values.insert((node.into(), name.into()), Change { value, id, stamp: number });
        if is_document(name) {
            overlay.forget_statistics(node);
        }
        if id.is_some() {
            // What lies about from an array that was there before is not this one's.
            if let Some(info) = &info
                && (new || before.is_some_and(|before| !before.numbering().is_like(info.numbering())))
            {
                overlay.forget_chunks(node, info);
            }
            overlay.infos.insert(node.into(), info);
        }
        Ok(stamp)
    }

    /// The number that a node has.
    fn node_id(&self, node: &str, name: &str) -> Result<Option<u64>> {
        let known = {
            let overlay = self.changes();
            overlay.values.get(&(Arc::from(node), Arc::from(name))).map(|change| match change.value {
                NewValue::Gone => None,
                _ => change.id,
            })
        };
        let known = match known {
            Some(known) => known,
            None => self.base_version().value_row(node, name)?.and_then(|found| found.group.id(found.row)),
        };
        Ok(known)
    }

    fn put_object(
        &self,
        key: &Key,
        node: &str,
        info: &Arc<Info>,
        at: &[u64],
        parts: &[&[u8]],
        old: Old<'_>,
    ) -> Result<Option<u64>> {
        let variable = node.rsplit('/').next().unwrap_or(node);
        let before = match (info.sharding(), &old) {
            (Some(_), Old::Bytes(_)) => self.shard(node, info, at)?,
            _ => None,
        };
        let pieces = match info.sharding() {
            None => vec![(0, self.put_chunk(variable, info, at, 0, parts)?)],
            Some(_) => match self.put_shard(variable, info, at, parts, &old, before.as_deref())? {
                Some(pieces) => pieces,
                // No shard: kept as a value, so that a reader of the key sees what was put.
                None => {
                    self.remove_object(key, node, info, at)?;
                    let (node, name) = key.split();
                    return self.put_value(key, node, name, parts).map(Some);
                }
            },
        };
        let stamp = match (info.sharding(), &pieces[..]) {
            (None, [(_, Some(stored))]) => Some(stamp_of(&stored.at)),
            // Of a shard, all of whose chunks are new.
            (Some(_), [_, ..]) if matches!(old, Old::Unknown) => {
                let stamps =
                    pieces.iter().map(|(inner, stored)| Some((*inner, stamp_of(&stored.as_ref()?.at))));
                stamps.collect::<Option<Vec<_>>>().map(|stamps| shard_stamp(stamps.into_iter()))
            }
            _ => None,
        };
        let mut overlay = self.edit()?;
        overlay.forget_statistics(node);
        let changes = overlay.chunks_of(node, info);
        let begin = changes.object(at).ok_or_else(|| too_large(key))?;
        match (&old, before) {
            (Old::Unknown, _) => changes.clear(begin),
            (_, Some(before)) => {
                let now: HashSet<u64> = pieces.iter().map(|(inner, _)| *inner).collect();
                for (inner, _) in before.pieces.iter().filter(|(inner, _)| !now.contains(inner)) {
                    changes.remove(begin + inner);
                }
            }
            (_, None) => {}
        }
        for (inner, stored) in pieces {
            if let Some(stored) = stored {
                changes.entries.insert(begin + inner, Some(stored));
            }
        }
        Ok(stamp)
    }

    fn put_chunk(
        &self,
        variable: &str,
        info: &Info,
        at: &[u64],
        inner: u64,
        parts: &[&[u8]],
    ) -> Result<Option<Stored>> {
        let (segment, location) = self.segments().put(variable, parts)?;
        let crc = checksum::of_chunk(parts, Chunk { node: info.id, at, inner }, segment);
        let length = parts.iter().map(|part| part.len() as u64).sum();
        Ok(Some(Stored { at: location, segment, length, crc }))
    }

    /// Stores the inner chunks of a shard that differ from what they were: their numbers, and where those that are
    /// new lie. `None` where the bytes are no shard.
    fn put_shard(
        &self,
        variable: &str,
        info: &Arc<Info>,
        at: &[u64],
        parts: &[&[u8]],
        old: &Old<'_>,
        before: Option<&ShardMap<Piece>>,
    ) -> Result<Option<Pieces>> {
        let joined;
        let whole: [&[u8]; 1];
        let mut shard = Spans::new(parts);
        let mut index = info.index(shard.size(), |span| shard.get(span));
        if index.is_none() && parts.len() > 1 {
            // An inner chunk may lie across two parts.
            joined = together(variable, parts)?;
            whole = [&joined];
            shard = Spans::new(&whole);
            index = info.index(shard.size(), |span| shard.get(span));
        }
        let Some(index) = index else { return Ok(None) };
        let same = match (old, before) {
            (Old::Bytes(old), Some(before)) => unchanged(&index, &shard, old, before),
            _ => HashSet::new(),
        };
        let numbered = (0u64..).zip(index.entries()).filter_map(|(number, entry)| Some((number, (*entry)?)));
        let fresh: Option<Vec<(u64, &[u8])>> = numbered
            .filter(|(number, _)| !same.contains(number))
            .map(|(number, entry)| Some((number, shard.get(entry.offset..entry.offset + entry.length)?)))
            .collect();
        let Some(fresh) = fresh else { return Ok(None) };
        let mut pieces: Pieces = same.into_iter().map(|number| (number, None)).collect();
        let bytes: Vec<&[u8]> = fresh.iter().map(|(_, bytes)| *bytes).collect();
        if !bytes.is_empty() {
            let (segment, location) = self.segments().put(variable, &bytes)?;
            let mut passed = 0;
            for (number, bytes) in fresh {
                let crc = checksum::of_chunk(&[bytes], Chunk { node: info.id, at, inner: number }, segment);
                let at = after(location, passed);
                pieces.push((number, Some(Stored { at, segment, length: bytes.len() as u64, crc })));
                passed += bytes.len() as u64;
            }
        }
        Ok(Some(pieces))
    }

    fn remove_object(&self, key: &Key, node: &str, info: &Arc<Info>, at: &[u64]) -> Result<()> {
        let mut overlay = self.edit()?;
        overlay.forget_statistics(node);
        let changes = overlay.chunks_of(node, info);
        let begin = changes.object(at).ok_or_else(|| too_large(key))?;
        changes.clear(begin);
        Ok(())
    }

    /// Removes the value of a key; `false` where there was none.
    pub(crate) fn delete(&self, key: &Key) -> Result<bool> {
        self.open()?;
        let there = crate::version::lookup::head(self, key)?.is_some();
        if !there {
            return Ok(false);
        }
        if let Named::Object { node, info, at } = named(self, key)? {
            self.remove_object(key, node, &info, &at)?;
        }
        let (node, name) = key.split();
        if is_document(name) || Content::value(self, node, name)?.is_some() {
            self.remove_value(node, name)?;
        }
        Ok(true)
    }

    fn remove_value(&self, node: &str, name: &str) -> Result<()> {
        let document = name == V3 || name == V2_ARRAY;
        let before = if document { self.info(node)? } else { None };
        let mut overlay = self.edit()?;
        // Chunks without an array could be read by nobody, and checked against nothing.
        if let Some(info) = before {
            overlay.forget_chunks(node, &info);
        }
        overlay.values.insert(
            (node.into(), name.into()),
            Change { value: NewValue::Gone, id: None, stamp: self.number() },
        );
        if document {
            overlay.infos.insert(node.into(), None);
        }
        Ok(())
    }

    /// Removes everything under a prefix.
    pub(crate) fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.open()?;
        let listing = self.listing(prefix.path())?;
        for ((node, name), size) in &listing.values {
            // The prefix `a/` holds `a/x`, and not the key `a`.
            if size.is_some() && prefix.contains(&crate::version::lookup::key_of(node, name)?) {
                self.remove_value(node, name)?;
            }
        }
        let mut overlay = self.edit()?;
        for node in listing.chunks.keys() {
            if !overlay.chunks.contains_key(&**node) {
                let Some(info) = self.base_version().info(node)? else { continue };
                overlay.forget_chunks(node, &info);
            } else if let Some(changes) = overlay.chunks.get_mut(&**node) {
                changes.reset = true;
                changes.entries.clear();
            }
        }
        Ok(())
    }
}

/// Chunks of an object by number: where they lie, or `None` where they are what they were.
type Pieces = Vec<(u64, Option<Stored>)>;

/// What is known of the value that an object had.
pub(crate) enum Old<'a> {
    /// Nothing: all of it is replaced.
    Unknown,
    /// There was none.
    None,
    /// Its bytes.
    Bytes(&'a [u8]),
}

/// The inner chunks whose bytes are what they were.
fn unchanged(index: &ShardIndex, shard: &Spans<'_>, old: &[u8], before: &ShardMap<Piece>) -> HashSet<u64> {
    let same = |(i, (number, piece)): (usize, &(u64, Piece))| {
        let entry = index.get(*number)?;
        let now = shard.get(entry.offset..entry.offset + entry.length)?;
        let begin = usize::try_from(before.starts[i]).ok()?;
        let was = old.get(begin..begin + usize::try_from(piece.length).ok()?)?;
        (now == was).then_some(*number)
    };
    before.pieces.iter().enumerate().filter_map(same).collect()
}

fn too_large(key: &Key) -> PackError {
    PackError::TooLarge { path: key.to_string(), reason: "more than 2^63 chunks".into() }
}

/// A value in several parts, to take ranges from that lie within one.
struct Spans<'a> {
    parts: Vec<(u64, &'a [u8])>,
    size: u64,
}

impl<'a> Spans<'a> {
    fn new(parts: &[&'a [u8]]) -> Self {
        let mut size = 0;
        let mut begins = Vec::with_capacity(parts.len());
        for &part in parts {
            begins.push((size, part));
            size += part.len() as u64;
        }
        Self { parts: begins, size }
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn get(&self, span: std::ops::Range<u64>) -> Option<&'a [u8]> {
        let number = self.parts.partition_point(|(begin, _)| *begin <= span.start).checked_sub(1)?;
        let (begin, part) = self.parts[number];
        let at = usize::try_from(span.start - begin).ok()?;
        part.get(at..usize::try_from(span.end.checked_sub(begin)?).ok()?)
    }
}

/// So many bytes further on.
fn after(location: Location, passed: u64) -> Location {
    match location {
        Location::Stored { id, offset } => Location::Stored { id, offset: offset + passed },
        Location::Batch { batch, variable, offset } => {
            Location::Batch { batch, variable, offset: offset + passed }
        }
    }
}
