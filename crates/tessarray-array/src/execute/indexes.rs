//! From objects to leaves: the indexes of touched shards, level by level, from the cache or in one batch of reads.

use super::with_scratch;
use crate::cache::IndexKey;
use crate::error::{ArrayError, Result};
use crate::layout::{Layout, Lent};
use crate::plan::{Cell, Child, Picks, Span, StoredLeaf};
use crate::target::Target;
use std::sync::{Arc, Mutex, PoisonError};
use tessarray_codec::sharding::{IndexLocation, ShardIndex};
use tessarray_grid::{Dims, ravel, unravel};
use tessarray_store::{Blob, ByteRange, Key, ReadRequest, StoreError, Version};

/// A shard that is touched: an object, or a shard inside one.
struct Node<'a> {
    /// Which object of the batch, and its layout.
    object: usize,
    layout: Lent<'a, Layout>,
    at: Dims,
    cell: Cell,
    /// Where the shard lies in the object; `None`: it is the object.
    span: Option<Span>,
}

/// The leaves of one object that are stored, and the version of the object that their spans belong to.
pub(crate) struct ObjectLeaves {
    pub key: Key,
    pub version: Option<Version>,
    pub leaves: Vec<StoredLeaf>,
    /// Whether an index came from the cache.
    from_cache: bool,
}

type Loaded = Option<(Version, Arc<ShardIndex>)>;

/// Finds the stored leaves of a batch of objects; `missing` is told of those that are not stored. Reads every index
/// that is not cached, one batch a level; all of them unless `cached`.
///
/// # Errors
/// [`StoreError::Changed`] where cached indexes would answer without any read that proves them current.
pub(crate) fn resolve(
    target: &Target<'_>,
    picks: &Picks,
    objects: &[Child],
    cached: bool,
    mut missing: impl FnMut(&Cell),
) -> Result<Vec<ObjectLeaves>> {
    let mut out = Vec::with_capacity(objects.len());
    let mut nodes = Vec::with_capacity(objects.len());
    for (object, child) in objects.iter().enumerate() {
        out.push(ObjectLeaves {
            key: target.chunk_key(&child.at)?,
            version: None,
            leaves: Vec::new(),
            from_cache: false,
        });
        let (layout, at, cell) = (target.layout.of(&child.at)?, child.at.clone(), child.cell.clone());
        nodes.push(Node { object, layout, at, cell, span: None });
    }
    for level in 0..target.layout.levels.len() {
        let indexes = load(target, level, &nodes, &out, cached)?;
        let last = level + 1 == target.layout.levels.len();
        let ratio = target.layout.child_ratio(level);
        let mut next = Vec::new();
        for (node, (loaded, from_cache)) in nodes.into_iter().zip(indexes) {
            let object = &mut out[node.object];
            let Some((version, index)) = loaded else {
                target.missing(&object.key, &node.at)?;
                picks
                    .children(&node.cell, &ratio)
                    .for_each(|child| all_missing(picks, target, level, &child, &mut missing));
                continue;
            };
            object.version = Some(version);
            object.from_cache |= from_cache;
            let base = node.span.map_or(0, |span| span.offset);
            let (sharding, first) = (&node.layout.levels[level], node.layout.first_child(level, &node.at));
            picks.children(&node.cell, &ratio).for_each(|child| {
                match index.get(child_number(&child.at, &first, sharding.counts())) {
                    None => all_missing(picks, target, level, &child, &mut missing),
                    Some(entry) => {
                        let span = Span { offset: base + entry.offset, length: entry.length };
                        if last {
                            object.leaves.push(StoredLeaf { cell: child.cell, span });
                        } else {
                            next.push(Node {
                                object: node.object,
                                layout: node.layout.clone(),
                                at: child.at,
                                cell: child.cell,
                                span: Some(span),
                            });
                        }
                    }
                }
            });
        }
        nodes = next;
    }
    // A read of a leaf expects the version of the index, and so proves it current. Where no leaf is read, nothing does.
    match out.iter().find(|object| object.from_cache && object.leaves.is_empty()) {
        Some(object) => Err(StoreError::Changed { key: object.key.to_string() }.into()),
        None => Ok(out),
    }
}

/// The number of a child in its shard's index; `first` is the shard's first child.
pub(crate) fn child_number(child: &[u64], first: &[u64], counts: &[u64]) -> u64 {
    let local: Dims = child.iter().zip(first).map(|(&c, &first)| c - first).collect();
    ravel(&local, counts)
}

/// The coordinates of child `number` of a shard; the inverse of [`child_number`].
pub(crate) fn child_at(number: u64, first: &[u64], counts: &[u64]) -> Dims {
    let mut local = Dims::new();
    unravel(number, counts, &mut local);
    local.iter().zip(first).map(|(&l, &first)| first + l).collect()
}

/// Tells `missing` of every leaf below a child of sharding `level` that is not stored.
fn all_missing(
    picks: &Picks,
    target: &Target<'_>,
    level: usize,
    child: &Child,
    missing: &mut impl FnMut(&Cell),
) {
    if level + 1 == target.layout.levels.len() {
        return missing(&child.cell);
    }
    let ones = Dims::from_elem(1, target.layout.inner.len());
    picks.children(&child.cell, &ones).for_each(|leaf| missing(&leaf.cell));
}

fn index_key(target: &Target<'_>, level: usize, key: &Key, node: &Node<'_>) -> IndexKey {
    IndexKey {
        store: target.id,
        key: key.as_str().into(),
        level,
        offset: node.span.map_or(0, |span| span.offset),
    }
}

fn load(
    target: &Target<'_>,
    level: usize,
    nodes: &[Node<'_>],
    objects: &[ObjectLeaves],
    cached: bool,
) -> Result<Vec<(Loaded, bool)>> {
    let cache = &target.session.process().indexes;
    let known = |node: &Node<'_>| {
        cache.get(&index_key(target, level, &objects[node.object].key, node)).filter(|_| cached)
    };
    let mut loaded: Vec<(Loaded, bool)> = nodes.iter().map(|node| (known(node), true)).collect();
    let wanted: Vec<usize> = (0..nodes.len()).filter(|&i| loaded[i].0.is_none()).collect();
    if wanted.is_empty() {
        return Ok(loaded);
    }
    let requests: Vec<ReadRequest> = wanted.iter().map(|&i| request(level, &nodes[i], objects)).collect();
    let answers: Mutex<Vec<Result<Loaded>>> = Mutex::new(wanted.iter().map(|_| Ok(None)).collect());
    target.read_many(&requests, &|number, answer| {
        let node = &nodes[wanted[number]];
        let key = &objects[node.object].key;
        let parsed = parse(level, node, key, answer);
        if let Some(slot) = answers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(number) {
            *slot = parsed;
        }
    });
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (number, answer) in wanted.into_iter().zip(answers) {
        let answer = answer?;
        if let Some((version, index)) = &answer {
            let node = &nodes[number];
            cache.put(
                index_key(target, level, &objects[node.object].key, node),
                version.clone(),
                index.clone(),
            );
        }
        loaded[number] = (answer, false);
    }
    Ok(loaded)
}

fn request(level: usize, node: &Node<'_>, objects: &[ObjectLeaves]) -> ReadRequest {
    let sharding = &node.layout.levels[level];
    let object = &objects[node.object];
    let length = sharding.index_bytes() as u64;
    let range = match (node.span, sharding.location()) {
        (None, IndexLocation::End) => ByteRange::Suffix { length },
        (None, IndexLocation::Start) => ByteRange::Span { offset: 0, length },
        (Some(span), _) => {
            // A shard shorter than its index is caught when the (short) bytes are parsed.
            let (at, length) = sharding.index_span(span.length).unwrap_or((0, span.length));
            ByteRange::Span { offset: span.offset + at, length }
        }
    };
    ReadRequest { key: object.key.clone(), range, expect: object.version.clone() }
}

fn parse(
    level: usize,
    node: &Node<'_>,
    key: &Key,
    answer: tessarray_store::Result<Option<Blob<'_>>>,
) -> Result<Loaded> {
    let sharding = &node.layout.levels[level];
    let lying =
        |reason: String| ArrayError::ShardIndex { key: key.to_string(), shard: node.at.to_vec(), reason };
    let blob = match answer {
        Ok(Some(blob)) => blob,
        Ok(None) if node.span.is_some() => return Err(StoreError::Changed { key: key.to_string() }.into()),
        Ok(None) => return Ok(None),
        Err(StoreError::OutOfRange { size, .. }) => {
            return Err(lying(format!(
                "truncated: expected {} bytes, the shard has {size}",
                sharding.index_bytes()
            )));
        }
        Err(error) => return Err(error.into()),
    };
    let shard_bytes = node.span.map_or(blob.meta.size, |span| span.length);
    let index = with_scratch(|scratch| sharding.parse_index(&blob.bytes, shard_bytes, scratch));
    let index = index.map_err(|error| lying(error.to_string()))?;
    Ok(Some((blob.meta.version.clone(), Arc::new(index))))
}
