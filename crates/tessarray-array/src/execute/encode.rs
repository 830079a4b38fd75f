//! One object: encoded from the input and, where that does not cover it, from its current bytes.

mod end;

pub(crate) use end::End;

use super::costs;
use super::fill::{fill_chunk, fill_item, is_fill};
use super::leaf::{Leaf, Leaves};
use super::whole::InputPieces;
use super::with_scratch;
use crate::error::{ArrayError, Result};
use crate::plan::{Cell, Child, Children, Picks, is_inside};
use crate::target::Target;
use std::borrow::Cow;
use std::ops::Range;
use tessarray_buffer::{Arena, InputView};
use tessarray_codec::sharding::{ShardAssembly, ShardIndex, Sharding};
use tessarray_codec::{EncodedSize, Pieces, Scratch};
use tessarray_grid::Dims;

/// An encoded object.
pub(crate) enum Encoded<'a> {
    /// It holds nothing but the fill value.
    Empty,
    /// Its bytes, one part after the other; those that are stored as they are lie in the input.
    Parts(Vec<Cow<'a, [u8]>>),
}

/// Everything that encoding the objects of one write has in common.
pub(crate) struct ObjectEncoder<'a> {
    target: &'a Target<'a>,
    leaves: Leaves<'a>,
    input: &'a InputView<'a>,
    arena: &'a Arena,
    end: End,
    fill: Vec<u8>,
    /// The bytes of an element that are written, where the others stay.
    fields: Option<&'a [Range<usize>]>,
}

/// Where a shard, or an inner chunk, stands: its coordinates, what of it is written, and its current bytes.
struct Place<'p> {
    at: &'p [u64],
    cell: &'p Cell,
    current: Option<&'p [u8]>,
}

impl<'a> ObjectEncoder<'a> {
    pub(crate) fn new(
        target: &'a Target<'a>,
        picks: &'a Picks,
        input: &'a InputView<'a>,
        arena: &'a Arena,
        end: End,
    ) -> Self {
        let leaves = Leaves::new(picks, target.layout);
        let fill = fill_item(leaves.chain.spec(), arena);
        Self { target, leaves, input, arena, end, fill, fields: None }
    }

    /// The same, of these bytes of every element: what is stored of the others stays.
    pub(crate) fn of_fields(self, fields: Option<&'a [Range<usize>]>) -> Self {
        Self { fields, ..self }
    }

    /// The same for an object of another shape.
    pub(crate) fn with<'t>(&self, target: &'t Target<'t>) -> ObjectEncoder<'t>
    where
        'a: 't,
    {
        let leaves = Leaves::new(self.leaves.picks, target.layout);
        let (input, arena, end, fill) = (self.input, self.arena, self.end, self.fill.clone());
        ObjectEncoder { target, leaves, input, arena, end, fill, fields: self.fields }
    }

    /// Encodes an object; `current` are the bytes it has now, where the write does not cover it. With `parallel`, the
    /// inner chunks of a shard are encoded by all workers.
    pub(crate) fn object(
        &self,
        child: &Child,
        key: &str,
        current: Option<&[u8]>,
        parallel: bool,
    ) -> Result<Encoded<'a>> {
        let place = Place { at: &child.at, cell: &child.cell, current };
        if let Some(sharding) = self.target.layout.levels.first() {
            return self.shard(0, sharding, &place, key, parallel);
        }
        with_scratch(|scratch| {
            let leaf = self.leaves.of(place.cell);
            if let Some(parts) = self.stored(&leaf, scratch) {
                return Ok(Encoded::Parts(parts));
            }
            let mut out = self.room(place.at, key, 1, scratch)?;
            Ok(if self.chunk(&place, &leaf, key, scratch, &mut out)? {
                Encoded::Parts(vec![out.into()])
            } else {
                Encoded::Empty
            })
        })
    }

    /// Bytes that this many encoded leaves take at most, where that is known.
    fn bound(&self, leaves: usize) -> usize {
        match self.leaves.chain.encoded_size() {
            EncodedSize::Exact(n) | EncodedSize::AtMost(n) => n.saturating_mul(leaves),
            EncodedSize::Unbounded => 0,
        }
    }

    /// A buffer for this many encoded leaves of an object.
    fn room(&self, at: &[u64], key: &str, leaves: usize, scratch: &mut Scratch) -> Result<Vec<u8>> {
        let failed = |source| ArrayError::Chunk { key: key.into(), chunk: at.to_vec(), source };
        scratch.object(self.bound(leaves)).map_err(failed)
    }

    /// Hands an object's buffers back for the next one.
    pub(crate) fn recycle(&self, encoded: Encoded<'_>) {
        let Encoded::Parts(parts) = encoded else { return };
        with_scratch(|scratch| {
            for part in parts {
                if let Cow::Owned(buffer) = part {
                    scratch.give_object(buffer);
                }
            }
        });
    }

    /// A large chunk that its chain stores as it is, from where it lies in the input.
    fn stored(&self, leaf: &Leaf<'_>, scratch: &mut Scratch) -> Option<Vec<Cow<'a, [u8]>>> {
        let pieces = self.pieces(leaf)?;
        let runs = pieces.runs(costs::STORED_RUN)?;
        if self.begins_with_fill(&pieces, scratch) {
            return None;
        }
        let (head, tail) = self.leaves.chain.stored_ends(&pieces, &runs)?;
        let runs = runs.into_iter().map(Cow::Borrowed);
        Some(std::iter::once(head.into()).chain(runs).chain([tail.into()]).collect())
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "inner chunks of a shard that is in memory, and places in its bytes"
    )]
    fn shard(
        &self,
        level: usize,
        sharding: &Sharding,
        place: &Place<'_>,
        key: &str,
        parallel: bool,
    ) -> Result<Encoded<'a>> {
        let total = sharding.counts().iter().product::<u64>();
        let old = self.old_index(level, sharding, place, key)?;
        let ratio = self.target.layout.child_ratio(level);
        let touched = self.leaves.picks.children(place.cell, &ratio);
        let first = self.target.layout.first_child(level, place.at);
        let job =
            ShardJob { level, sharding, place, key, first, old: &old, touched: &touched, ratio: &ratio };
        let pieces: Vec<Piece> = if parallel && total > 1 {
            let share = total.div_ceil(4 * self.target.session.threads() as u64).max(1);
            let ranges: Vec<Range<u64>> =
                (0..total).step_by(share as usize).map(|begin| begin..(begin + share).min(total)).collect();
            self.target.session.collect(ranges.len(), |i| self.piece(&job, ranges[i].clone()))?
        } else {
            vec![self.piece(&job, 0..total)?]
        };
        self.assemble(sharding, pieces, key, place)
    }

    /// Encodes a run of a shard's children, back to back.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "inner chunks of a shard that is in memory, and places in its bytes"
    )]
    fn piece(&self, job: &ShardJob<'_>, range: Range<u64>) -> Result<Piece> {
        with_scratch(|scratch| {
            let leaves = job.ratio.iter().product::<u64>() as usize;
            let leaves = (range.end - range.start) as usize * leaves;
            let bytes = self.room(job.place.at, job.key, leaves, scratch)?;
            let mut piece = Piece { bytes, children: Vec::new() };
            for number in range {
                let begin = piece.bytes.len();
                if self.child(job, number, scratch, &mut piece.bytes)? {
                    piece.children.push((number, (piece.bytes.len() - begin) as u64));
                }
            }
            Ok(piece)
        })
    }

    /// Appends one child; `false` where it is not stored.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "inner chunks of a shard that is in memory, and places in its bytes"
    )]
    fn child(
        &self,
        job: &ShardJob<'_>,
        number: u64,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let entry = job.old.as_ref().and_then(|index| index.get(number));
        let current = entry
            .zip(job.place.current)
            .map(|(entry, bytes)| &bytes[entry.offset as usize..(entry.offset + entry.length) as usize]);
        let at = super::child_at(number, &job.first, job.sharding.counts());
        let Some(child) = job.touched.find(&at) else {
            self.append(current.unwrap_or_default(), out)?;
            return Ok(current.is_some());
        };
        let first: Dims = child.at.iter().zip(job.ratio).map(|(&at, &ratio)| at * ratio).collect();
        let current = current.filter(|_| !self.covers(&child.cell, &first, job.ratio));
        let place = Place { at: &child.at, cell: &child.cell, current };
        match self.target.layout.levels.get(job.level + 1) {
            None => self.chunk(&place, &self.leaves.of(place.cell), job.key, scratch, out),
            Some(sharding) => match self.shard(job.level + 1, sharding, &place, job.key, false)? {
                Encoded::Empty => Ok(false),
                Encoded::Parts(parts) => {
                    parts.iter().try_for_each(|part| self.append(part, out))?;
                    Ok(true)
                }
            },
        }
    }

    /// Appends bytes that are encoded already.
    fn append(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let none = |_| ArrayError::Memory { what: "shard", bytes: bytes.len() as u64 };
        out.try_reserve(bytes.len()).map_err(none)?;
        out.extend_from_slice(bytes);
        Ok(())
    }

    fn assemble(
        &self,
        sharding: &Sharding,
        pieces: Vec<Piece>,
        key: &str,
        place: &Place<'_>,
    ) -> Result<Encoded<'a>> {
        if pieces.iter().all(|piece| piece.children.is_empty()) {
            return Ok(Encoded::Empty);
        }
        let failed = |source| ArrayError::Chunk { key: key.into(), chunk: place.at.to_vec(), source };
        let mut assembly = ShardAssembly::new(sharding).map_err(failed)?;
        let mut parts = Vec::with_capacity(pieces.len() + 1);
        for piece in pieces {
            for (number, length) in piece.children {
                assembly.push(number, length);
            }
            parts.push(piece.bytes.into());
        }
        let mut index = Vec::new();
        let at = with_scratch(|scratch| assembly.finish(scratch, &mut index)).map_err(failed)?;
        parts.insert(if at == 0 { 0 } else { parts.len() }, index.into());
        Ok(Encoded::Parts(parts))
    }

    /// Appends one innermost chunk; `false` where it holds nothing but the fill value.
    fn chunk(
        &self,
        place: &Place<'_>,
        leaf: &Leaf<'_>,
        key: &str,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let failed = |source| ArrayError::Chunk { key: key.into(), chunk: place.at.to_vec(), source };
        if self.fields.is_none()
            && let Some(run) = leaf.run_of(self.input)
        {
            return self.encode(run, scratch, out).map_err(failed);
        }
        if let Some(pieces) = self.pieces(leaf)
            && !self.begins_with_fill(&pieces, scratch)
            && self.leaves.chain.encode_pieces(&pieces, out).map_err(failed)?
        {
            return Ok(true);
        }
        let mut chunk = scratch.sized(self.leaves.chunk_bytes()).map_err(failed)?;
        let result =
            self.overlay(place, leaf, &mut chunk, scratch).and_then(|()| self.encode(&chunk, scratch, out));
        scratch.give(chunk);
        result.map_err(failed)
    }

    /// A large chunk that is the input's, piece by piece.
    fn pieces(&self, leaf: &Leaf<'_>) -> Option<InputPieces<'a>> {
        if self.fields.is_some() {
            return None;
        }
        InputPieces::new(leaf, self.input)
    }

    /// Whether a chunk may hold nothing but the fill value.
    fn begins_with_fill(&self, pieces: &InputPieces<'_>, scratch: &mut Scratch) -> bool {
        let mut room = scratch.empty();
        let begin = costs::LOOKED_AT.min(pieces.len()) / pieces.unit() * pieces.unit();
        let found = is_fill(
            self.leaves.chain.spec(),
            (pieces as &dyn Pieces).get(0..begin, &mut room),
            &self.fill,
            self.arena,
        );
        scratch.give(room);
        found
    }

    /// Makes the new chunk: its current values or the fill, and what is written of it on top.
    fn overlay(
        &self,
        place: &Place<'_>,
        leaf: &Leaf<'_>,
        chunk: &mut [u8],
        scratch: &mut Scratch,
    ) -> tessarray_codec::Result<()> {
        let ones = Dims::from_elem(1, place.at.len());
        let covered = self.covers(place.cell, place.at, &ones);
        match place.current {
            Some(current) if !covered => {
                match self.leaves.chain.decode(current, chunk, self.arena, scratch) {
                    Err(error) if error.is_damage() && self.replaces(place.cell, place.at, &ones) => {
                        fill_chunk(chunk, &self.fill);
                    }
                    other => other?,
                }
            }
            _ if covered && is_inside(place.at, self.target.layout, &self.target.metadata.shape) => {}
            _ => fill_chunk(chunk, &self.fill),
        }
        let Some(fields) = self.fields else {
            leaf.gather(self.input, chunk, &self.leaves.strides);
            return Ok(());
        };
        let mut changed = scratch.sized(chunk.len())?;
        changed.copy_from_slice(chunk);
        leaf.gather(self.input, &mut changed, &self.leaves.strides);
        let item = self.input.item();
        for (element, changed) in chunk.chunks_exact_mut(item).zip(changed.chunks_exact(item)) {
            fields.iter().for_each(|field| element[field.clone()].copy_from_slice(&changed[field.clone()]));
        }
        scratch.give(changed);
        Ok(())
    }

    fn encode(
        &self,
        chunk: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> tessarray_codec::Result<bool> {
        let stored = self.target.session.options().write_empty_chunks;
        if !stored && is_fill(self.leaves.chain.spec(), chunk, &self.fill, self.arena) {
            return Ok(false);
        }
        self.leaves.chain.encode(chunk, self.arena, scratch, out)?;
        Ok(true)
    }
}

/// A shard that is being encoded.
struct ShardJob<'p> {
    level: usize,
    sharding: &'p Sharding,
    place: &'p Place<'p>,
    key: &'p str,
    /// The shard's first child.
    first: Dims,
    old: &'p Option<ShardIndex>,
    touched: &'p Children,
    ratio: &'p [u64],
}

/// Some of a shard's children, encoded back to back, with the number and the length of each.
struct Piece {
    bytes: Vec<u8>,
    children: Vec<(u64, u64)>,
}
