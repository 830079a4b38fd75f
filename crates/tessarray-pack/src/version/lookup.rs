//! From keys and ranges to what must be fetched.

use super::content::{Content, Held, Piece};
use super::fetch::{Check, Job, ObjectId, fetch};
use crate::error::Result;
use crate::layout::{PackedArray, ShardMap};
use crate::names::{is_document, join};
use bytes::Bytes;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tessarray_store::{Blob, BlobBytes, Key, Meta, ReadRequest, ReadSink, StoreError, Version, owned};

/// What a key names.
pub(crate) enum Named<'k> {
    /// A document, or a key that is no array's.
    Value { node: &'k str, name: &'k str },
    /// An object of an array.
    Object { node: &'k str, array: Arc<PackedArray>, at: Vec<u64> },
}

/// Finds out what a key names: an object where some path above it is an array whose keys look like that.
pub(crate) fn named<'k>(content: &dyn Content, key: &'k Key) -> Result<Named<'k>> {
    let (node, name) = key.split();
    if !is_document(name) {
        let key = key.as_str();
        // Where the segments begin that a chunk's key may be made of. The longest such rest first: `c/0/1`, `0/1`, `1`.
        let like_a_chunk = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'c' | b'.'));
        let mut begins = Vec::new();
        let mut end = key.len() + 1;
        for segment in key.rsplit('/').take_while(|segment| like_a_chunk(segment)) {
            end -= segment.len() + 1;
            begins.push(end);
        }
        for begin in begins.into_iter().rev() {
            let node = &key[..begin.saturating_sub(1)];
            if let Some(array) = content.array(node)?
                && let Some(at) = array.coordinates(&key[begin..])
            {
                return Ok(Named::Object { node, array, at });
            }
        }
    }
    Ok(Named::Value { node, name })
}

/// The value of a key, before its bytes are fetched.
enum Located {
    Here(Bytes, u64),
    Value(Piece, String),
    Chunk(Piece, ObjectId),
    Shard(Arc<ShardMap<Piece>>, ObjectId),
}

impl Located {
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
                shard_stamp(map.pieces.iter().map(|(number, piece)| (*number, piece.stamp)))
            }
        };
        Meta { size: self.size(), version: version_of(stamp) }
    }
}

/// The stamp of a shard, from the numbers and stamps of its chunks, in order.
pub(crate) fn shard_stamp(chunks: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut hasher = DefaultHasher::new();
    chunks.for_each(|chunk| chunk.hash(&mut hasher));
    hasher.finish()
}

/// The version of what has this stamp.
pub(crate) fn version_of(stamp: u64) -> Version {
    Version(format!("{stamp:016x}").into())
}

fn find(content: &dyn Content, key: &Key) -> Result<Option<Located>> {
    let (node, array, at) = match named(content, key)? {
        Named::Value { node, name } => return value(content, node, name, key),
        Named::Object { node, array, at } => (node, array, at),
    };
    let object = |at: Vec<u64>| ObjectId { path: node.into(), node: array.id, at: at.into() };
    if array.sharding().is_some() {
        if let Some(map) = content.shard(node, &array, &at)? {
            return Ok(Some(Located::Shard(map, object(at))));
        }
    } else if let Some(piece) = content.chunk(node, &array, &at)? {
        return Ok(Some(Located::Chunk(piece, object(at))));
    }
    // Put before there was an array, or no shard.
    let (node, name) = key.split();
    value(content, node, name, key)
}

fn value(content: &dyn Content, node: &str, name: &str, key: &Key) -> Result<Option<Located>> {
    Ok(content.value(node, name)?.map(|held| match held {
        Held::Here(bytes, stamp) => Located::Here(bytes, stamp),
        Held::There(piece) => Located::Value(piece, key.to_string()),
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

fn begin(request: &ReadRequest, found: Option<&Located>, number: usize) -> tessarray_store::Result<Begun> {
    let meta = found.map(Located::meta);
    request.check_version(meta.as_ref().map(|meta| &meta.version))?;
    let (Some(found), Some(meta)) = (found, meta) else { return Ok(Begun::Answered(None)) };
    let (offset, length) = request.resolve(meta.size)?;
    let range = offset..offset + length;
    let keep =
        |bytes: &[u8]| owned::copy(bytes).map_err(|error| StoreError::io(&request.key, "allocate", error));
    let (pieces, known) = match found {
        Located::Here(bytes, _) => {
            let bytes = bytes.slice(range.start as usize..range.end as usize);
            return Ok(Begun::Answered(Some(Blob { meta, bytes: BlobBytes::Shared(bytes) })));
        }
        Located::Value(piece, key) => (vec![(piece.clone(), Check::Value(key.clone()), 0)], None),
        Located::Chunk(piece, object) => (vec![(piece.clone(), Check::Chunk(object.clone(), 0), 0)], None),
        Located::Shard(map, object) => {
            let index_end = map.index_at + map.index.len() as u64;
            if map.index_at <= range.start && range.end <= index_end {
                let begin = (range.start - map.index_at) as usize;
                let bytes = keep(&map.index[begin..begin + (range.end - range.start) as usize])?;
                return Ok(Begun::Answered(Some(Blob { meta, bytes: BlobBytes::Shared(bytes) })));
            }
            let within = map.within(range.start, range.end);
            let piece = |i: usize| {
                let (inner, piece) = &map.pieces[i];
                (piece.clone(), Check::Chunk(object.clone(), *inner), map.starts[i])
            };
            let overlaps = map.index_at < range.end && range.start < index_end;
            let known = if overlaps { Some((map.index_at, keep(&map.index)?)) } else { None };
            (within.map(piece).collect(), known)
        }
    };
    Ok(Begun::Job(Job { request: number, meta, pieces, known, range }))
}

/// The keys of the values of nodes at and under a path.
pub(crate) fn key_of(node: &str, name: &str) -> Result<Key> {
    Ok(Key::new(&join(node, name))?)
}
