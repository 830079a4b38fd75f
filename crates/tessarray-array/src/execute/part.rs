//! Reading a part of a chunk, or an inner chunk, that was verified before: the blocks that are needed, and no more.
//!
//! 1. A chunk that was read whole, and whose checksums held, is remembered with the version of its object.
//! 2. Where a later read needs less than three quarters of it, the spans of the blocks that it needs are read, expecting that
//!    version. Where the object changed, the chunk is read whole, as if it had never been seen.
//! 3. Each block is decoded as its bytes arrive, and of it what the read needs.

use super::costs;
use super::leaf::Leaves;
use super::marks::BlockParts;
use super::reader::{Failure, Reader};
use super::with_scratch;
use crate::error::{ArrayError, Result};
use crate::plan::{Cell, StoredLeaf};
use crate::target::Target;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tessarray_codec::{BlockTable, Scratch};
use tessarray_store::{Blob, ByteRange, Key, ReadRequest, StoreError, Version};

/// A chunk that was verified, where it begins in its object, and the version of that.
#[derive(Clone)]
pub(super) struct Seen {
    pub key: Key,
    pub version: Version,
    pub start: u64,
    pub known: Arc<BlockTable>,
}

/// What a leaf needs of such a chunk.
pub(super) struct Part {
    pub seen: Seen,
    runs: Vec<BlockRun>,
}

impl Part {
    /// Decoded bytes of the blocks that it needs.
    pub(super) fn bytes(&self) -> usize {
        let blocks: usize = self.runs.iter().map(|run| run.blocks.len()).sum();
        blocks * self.seen.known.block_bytes()
    }

    fn request(&self, run: &BlockRun) -> ReadRequest {
        let Seen { key, version, start, known } = &self.seen;
        let offset = start + (known.payload_start() + run.span.start) as u64;
        let range = ByteRange::Span { offset, length: run.span.len() as u64 };
        ReadRequest { key: key.clone(), range, expect: Some(version.clone()) }
    }
}

/// What a leaf needs of a chunk that is an object; `None` if the chunk is not known, or the leaf needs most of it.
pub(super) fn plan_object(target: &Target<'_>, leaves: &Leaves<'_>, cell: &Cell, key: &Key) -> Option<Part> {
    // Smaller ones are not remembered, or were so by a hair's breadth.
    if leaves.chunk_bytes() < costs::REMEMBERED {
        return None;
    }
    let (version, known) = target.session.process().verified.get(target.id, key.as_str())?;
    plan(leaves, cell, Seen { key: key.clone(), version, start: 0, known })
}

/// What a leaf needs of a chunk that was seen in a certain state.
pub(super) fn plan(leaves: &Leaves<'_>, cell: &Cell, seen: Seen) -> Option<Part> {
    // If the metadata have changed, what is known of the chunk is of another shape.
    if seen.known.decoded_bytes() != leaves.chunk_bytes() {
        return None;
    }
    let needed = leaves.needed(cell, seen.known.block_bytes())?;
    let runs = merged(&seen.known, needed);
    let bytes: usize = runs.iter().map(|run| run.span.len()).sum();
    let all = seen.known.payload_bytes();
    (costs::is_part(bytes, all) && bytes + costs::PART_SAVES <= all).then_some(Part { seen, runs })
}

impl Reader<'_> {
    /// Whether encoded chunks of so many bytes are remembered once they were verified.
    fn remembers(&self, bytes: usize) -> bool {
        bytes >= costs::REMEMBERED
            && self.target.store.is_local()
            && !self.target.session.options().always_verify
    }

    /// Remembers a chunk that was read whole, and decoded.
    pub(super) fn remember(&self, key: &Key, blob: &Blob<'_>) {
        if !self.remembers(blob.bytes.len()) {
            return;
        }
        let (verified, name) = (&self.target.session.process().verified, (self.target.id, key.as_str()));
        let seen = verified.get(name.0, name.1);
        if seen.is_some_and(|(version, _)| version == blob.meta.version) {
            return;
        }
        if let Some(known) = self.target.layout.leaf().block_table(&blob.bytes) {
            verified.put(name, &blob.meta.version, vec![(0, known)]);
        }
    }

    /// Remembers inner chunks that were read from these offsets of a shard, and decoded.
    pub(super) fn remember_inner(&self, key: &str, version: &Version, encoded: &[(u64, &[u8])]) {
        let mut encoded: Vec<_> = encoded.iter().filter(|(_, bytes)| self.remembers(bytes.len())).collect();
        if encoded.is_empty() {
            return;
        }
        let (verified, name) = (&self.target.session.process().verified, (self.target.id, key));
        let seen = verified.at(name, version, encoded.iter().map(|(offset, _)| *offset));
        let mut unseen = seen.iter().map(Option::is_none).chain(std::iter::repeat(true));
        encoded.retain(|_| unseen.next().unwrap_or(true));
        let chain = self.target.layout.leaf();
        let known = encoded.iter().filter_map(|(offset, bytes)| Some((*offset, chain.block_table(bytes)?)));
        verified.put(name, version, known.collect());
    }

    /// Reads what a leaf needs of a chunk that is known; `false` where it has to be read whole.
    pub(super) fn read_part(&self, cell: &Cell, key: &Key) -> Result<bool> {
        self.of_object(cell, |reader| {
            let Some(part) = plan_object(reader.target, reader.decoder.leaves(), cell, key) else {
                return Ok(false);
            };
            unless_changed(reader.read_parts(&[(cell, &part)]))
        })
    }

    /// Takes the leaves whose inner chunks are known, and of which a read needs a part only, out of `leaves`.
    pub(super) fn plan_inner(
        &self,
        key: &Key,
        version: &Version,
        leaves: &mut Vec<StoredLeaf>,
    ) -> Vec<(Cell, Part)> {
        // Where the first and the last are wanted whole, so are those between them, or nearly.
        let whole = |leaf: Option<&StoredLeaf>| {
            leaf.is_none_or(|leaf| self.decoder.leaves().of(&leaf.cell).is_whole())
        };
        if whole(leaves.first()) && whole(leaves.last()) {
            return Vec::new();
        }
        let verified = &self.target.session.process().verified;
        let offsets = leaves.iter().map(|leaf| leaf.span.offset);
        let known = verified.at((self.target.id, key.as_str()), version, offsets);
        let mut known = known.into_iter();
        let mut parts = Vec::new();
        leaves.retain(|leaf| {
            let Some(known) = known.next().flatten() else { return true };
            let seen = Seen { key: key.clone(), version: version.clone(), start: leaf.span.offset, known };
            let part = plan(self.decoder.leaves(), &leaf.cell, seen);
            part.map(|part| parts.push((leaf.cell.clone(), part))).is_none()
        });
        parts
    }

    /// Reads runs of blocks, and decodes each as its bytes arrive.
    ///
    /// # Errors
    /// [`StoreError::Changed`] where an object has.
    pub(super) fn read_parts(&self, parts: &[(&Cell, &Part)]) -> Result<()> {
        let runs =
            || parts.iter().enumerate().flat_map(|(i, (_, part))| part.runs.iter().map(move |run| (i, run)));
        let requests: Vec<ReadRequest> = runs().map(|(i, run)| parts[i].1.request(run)).collect();
        let runs: Vec<(usize, &BlockRun)> = runs().collect();
        with_scratch(|scratch| {
            let failure = Failure::default();
            let open = Mutex::new(Open { scratch, chunks: Vec::new() });
            self.target.read_many(&requests, &|i, answer| {
                let (number, run) = runs[i];
                let (cell, part) = parts[number];
                failure.note(match answer {
                    Ok(Some(blob)) => {
                        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                        let done = self.arrived(&mut open, number, parts[number], run, &blob.bytes);
                        done.map_err(|source| self.failed(cell, part.seen.key.as_str(), source))
                    }
                    Ok(None) => Err(StoreError::Changed { key: part.seen.key.to_string() }.into()),
                    Err(error) => Err(error.into()),
                });
            });
            let open = open.into_inner().unwrap_or_else(PoisonError::into_inner);
            open.chunks.into_iter().for_each(|(_, chunk, _)| open.scratch.give(chunk));
            failure.into_result()
        })
    }

    /// Decodes the blocks of a run that has arrived. The leaf's elements are put in their place with its last run.
    fn arrived(
        &self,
        open: &mut Open<'_>,
        number: usize,
        (cell, part): (&Cell, &Part),
        run: &BlockRun,
        bytes: &[u8],
    ) -> tessarray_codec::Result<()> {
        let found = open.chunks.iter().position(|(of, ..)| *of == number);
        let (_, mut chunk, left) = match found {
            Some(at) => open.chunks.swap_remove(at),
            None => (number, open.scratch.sized(part.seen.known.decoded_bytes())?, part.runs.len()),
        };
        let chain = self.target.layout.leaf();
        let blocks = chain.blocks_at(&part.seen.known, run.span.start, bytes);
        let decoded =
            run.blocks.iter().try_for_each(|(block, parts)| blocks.decode_parts(*block, parts, &mut chunk));
        if left > 1 {
            open.chunks.push((number, chunk, left - 1));
            return decoded;
        }
        if decoded.is_ok() {
            self.decoder.place(cell, &chunk);
        }
        open.scratch.give(chunk);
        decoded
    }
}

/// `false` where an object is no longer what was verified: then it is to be read whole.
pub(super) fn unless_changed(done: Result<()>) -> Result<bool> {
    match done {
        Err(ArrayError::Store(StoreError::Changed { .. } | StoreError::OutOfRange { .. })) => Ok(false),
        done => done.map(|()| true),
    }
}

/// Chunks of which some runs have arrived, and others have not: each with the number of its part, and how many are left.
struct Open<'s> {
    scratch: &'s mut Scratch,
    chunks: Vec<(usize, Vec<u8>, usize)>,
}

/// Blocks that are read together, and where their bytes lie in the payload.
struct BlockRun {
    span: Range<usize>,
    blocks: Vec<(usize, BlockParts)>,
}

/// The needed blocks in the order of their bytes, neighbours together.
fn merged(known: &BlockTable, needed: Vec<(usize, BlockParts)>) -> Vec<BlockRun> {
    let mut blocks: Vec<_> =
        needed.into_iter().map(|(block, parts)| (known.span(block, &parts), block, parts)).collect();
    blocks.sort_unstable_by_key(|(span, ..)| span.start);
    let mut found: Vec<BlockRun> = Vec::new();
    for (span, block, parts) in blocks {
        match found.last_mut() {
            Some(last) if span.start <= last.span.end.saturating_add(costs::PART_HOLE) => {
                last.span.end = last.span.end.max(span.end);
                last.blocks.push((block, parts));
            }
            _ => found.push(BlockRun { span, blocks: vec![(block, parts)] }),
        }
    }
    found
}
