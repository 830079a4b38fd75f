//! From keys and ranges to what must be fetched.

use crate::Result;
use crate::content::{Content, Held, Piece, join};
use crate::fetch::{Check, Job, Place, fetch};
use crate::info::{Info, ShardMap, is_document};
use bytes::Bytes;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tessarray_store::{Blob, BlobBytes, ByteRange, Key, Meta, ReadRequest, ReadSink, StoreError, Version};

/// What a key names.
pub(crate) enum Named<'k> {
    /// A document, or a key that is no array's.
    Value { node: &'k str, name: &'k str },
    /// An object of an array.
    Object { node: &'k str, info: Arc<Info>, at: Vec<u64> },
}

/// Finds out what a key names: an object where some path above it is an array whose keys look like that.
pub(crate) fn named<'k>(content: &dyn Content, key: &'k str) -> Result<Named<'k>> {
    let (node, name) = key.rsplit_once('/').unwrap_or(("", key));
    let value = Named::Value { node, name };
    if is_document(name) {
        return Ok(value);
    }
    // `path/c/0/1`, as arrays are written by default.
    if let Some(at) = key.rfind("/c/").or_else(|| key.strip_suffix("/c").map(str::len)) {
        let (node, rest) = (&key[..at], &key[at + 1..]);
        if let Some(info) = content.info(node)?
            && let Some(at) = info.coordinates(rest)
        {
            return Ok(Named::Object { node, info, at });
        }
    }
    let mut end = key.len();
    loop {
        // The shortest rest first: `1`, `0/1`, `c/0/1`.
        let (node, rest) = match key[..end].rfind('/') {
            Some(at) => (&key[..at], &key[at + 1..]),
            None => ("", key),
        };
        if !rest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'c' | b'.' | b'/')) {
            return Ok(value);
        }
        if let Some(info) = content.info(node)?
            && let Some(at) = info.coordinates(rest)
        {
            return Ok(Named::Object { node, info, at });
        }
        if node.is_empty() {
            return Ok(value);
        }
        end = node.len();
    }
}

/// The value of a key, before its bytes are fetched.
enum Found {
    Here(Bytes, u64),
    Value(Piece, String),
    Chunk(Piece, Place),
    Shard(Arc<ShardMap<Piece>>, Place),
}

impl Found {
    fn size(&self) -> u64 {
        match self {
            Self::Here(bytes, _) => bytes.len() as u64,
            Self::Value(piece, _) | Self::Chunk(piece, _) => piece.length,
            Self::Shard(map, _) => map.size(),
        }
    }

    /// The version says what the bytes are: it stays the same while other keys change.
    fn meta(&self) -> Meta {
        let stamp = match self {
            Self::Here(_, stamp) => *stamp,
            Self::Value(piece, _) | Self::Chunk(piece, _) => piece.stamp,
            Self::Shard(map, _) => {
                let mut hasher = DefaultHasher::new();
                map.pieces.iter().for_each(|(number, piece)| (number, piece.stamp).hash(&mut hasher));
                hasher.finish()
            }
        };
        Meta { size: self.size(), version: Version(format!("{stamp:016x}").into()) }
    }
}

fn find(content: &dyn Content, key: &Key) -> Result<Option<Found>> {
    let (node, info, at) = match named(content, key.as_str())? {
        Named::Value { node, name } => return value(content, node, name, key),
        Named::Object { node, info, at } => (node, info, at),
    };
    let place = |at: Vec<u64>| Place { path: node.into(), node: info.id, at: at.into() };
    if info.sharding().is_some() {
        if let Some(map) = content.shard(node, &info, &at)? {
            return Ok(Some(Found::Shard(map, place(at))));
        }
    } else if let Some(piece) = content.chunk(node, &info, &at)? {
        return Ok(Some(Found::Chunk(piece, place(at))));
    }
    // Put before there was an array, or no shard.
    let (node, name) = key.as_str().rsplit_once('/').unwrap_or(("", key.as_str()));
    value(content, node, name, key)
}

fn value(content: &dyn Content, node: &str, name: &str, key: &Key) -> Result<Option<Found>> {
    Ok(content.value(node, name)?.map(|held| match held {
        Held::Here(bytes, stamp) => Found::Here(bytes, stamp),
        Held::There(piece) => Found::Value(piece, key.to_string()),
    }))
}

/// Size and version of a value, where there is one.
pub(crate) fn head(content: &dyn Content, key: &Key) -> Result<Option<Meta>> {
    Ok(find(content, key)?.map(|found| found.meta()))
}

/// Answers requests as [`tessarray_store::Store::read_many`] does.
pub(crate) fn read_many(content: &dyn Content, requests: &[ReadRequest], sink: &ReadSink<'_>) {
    let mut jobs = Vec::new();
    let mut first = 0;
    for run in requests.chunk_by(|a, b| a.key == b.key) {
        let key = &run[0].key;
        match find(content, key) {
            Err(error) => {
                let mut error = Some(StoreError::from(error));
                for i in 0..run.len() {
                    let again = || find(content, key).err().map_or_else(|| unanswered(key), StoreError::from);
                    sink(first + i, Err(error.take().unwrap_or_else(again)));
                }
            }
            Ok(found) => {
                for (i, request) in run.iter().enumerate() {
                    match begin(request, found.as_ref(), first + i) {
                        Ok(Begun::Answered(answer)) => sink(first + i, Ok(answer)),
                        Ok(Begun::Job(job)) => jobs.push(job),
                        Err(error) => sink(first + i, Err(error)),
                    }
                }
            }
        }
        first += run.len();
    }
    if !jobs.is_empty() {
        fetch(content, &jobs, sink);
    }
}

fn unanswered(key: &Key) -> StoreError {
    StoreError::Unanswered { key: key.to_string() }
}

enum Begun {
    Answered(Option<Blob<'static>>),
    Job(Job),
}

fn begin(request: &ReadRequest, found: Option<&Found>, number: usize) -> tessarray_store::Result<Begun> {
    let changed = || Err(StoreError::Changed { key: request.key.to_string() });
    let Some(found) = found else {
        return if request.expect.is_some() { changed() } else { Ok(Begun::Answered(None)) };
    };
    let meta = found.meta();
    if request.expect.as_ref().is_some_and(|expected| *expected != meta.version) {
        return changed();
    }
    let range = resolve(&request.key, request.range, meta.size)?;
    let (pieces, known) = match found {
        Found::Here(bytes, _) => {
            let bytes = bytes.slice(range.start as usize..range.end as usize);
            return Ok(Begun::Answered(Some(Blob { meta, bytes: BlobBytes::Shared(bytes) })));
        }
        Found::Value(piece, key) => (vec![(piece.clone(), Check::Value(key.clone()), 0)], None),
        Found::Chunk(piece, place) => (vec![(piece.clone(), Check::Chunk(place.clone(), 0), 0)], None),
        Found::Shard(map, place) => {
            let index_end = map.index_at + map.index.len() as u64;
            if map.index_at <= range.start && range.end <= index_end {
                let begin = (range.start - map.index_at) as usize;
                let bytes =
                    Bytes::copy_from_slice(&map.index[begin..begin + (range.end - range.start) as usize]);
                return Ok(Begun::Answered(Some(Blob { meta, bytes: BlobBytes::Shared(bytes) })));
            }
            let within = map.within(range.start, range.end);
            let piece = |i: usize| {
                let (inner, piece) = &map.pieces[i];
                (piece.clone(), Check::Chunk(place.clone(), *inner), map.starts[i])
            };
            let overlaps = map.index_at < range.end && range.start < index_end;
            let known = overlaps.then(|| (map.index_at, Bytes::copy_from_slice(&map.index)));
            (within.map(piece).collect(), known)
        }
    };
    Ok(Begun::Job(Job { request: number, meta, pieces, known, range }))
}

fn resolve(key: &Key, range: ByteRange, size: u64) -> tessarray_store::Result<std::ops::Range<u64>> {
    match range {
        ByteRange::All => Ok(0..size),
        ByteRange::Suffix { length } => Ok(size - length.min(size)..size),
        ByteRange::Span { offset, length } => match offset.checked_add(length) {
            Some(end) if end <= size => Ok(offset..end),
            _ => Err(StoreError::OutOfRange { key: key.to_string(), offset, length, size }),
        },
    }
}

/// The keys of the values of nodes at and under a path.
pub(crate) fn key_of(node: &str, name: &str) -> Result<Key> {
    Ok(Key::new(&join(node, name))?)
}
