//! Reading inner chunks of shards.
//!
//! 1. The indexes of touched shards are read, or taken from the cache.
//! 2. Stored leaves become byte ranges; neighbours are merged; leaves that are not stored are filled.
//! 3. Ranges are read expecting the version the index belonged to. A shard that was replaced in between is noticed, and the
//!    batch starts again at step 1, without the cache.
//! 4. Each leaf is decoded as its bytes arrive.

use super::costs;
use super::indexes::{ObjectLeaves, resolve};
use super::part::Part;
use super::reader::{Failure, Reader};
use crate::error::{ArrayError, Result};
use crate::plan::{Cell, Child, Span, StoredLeaf, merge};
use std::ops::Range;
use tessarray_store::{Blob, ByteRange, ReadRequest, StoreError};

/// One byte range to read, and the leaves it serves.
struct Unit<'a> {
    object: usize,
    span: Span,
    leaves: &'a [StoredLeaf],
}

impl Reader<'_> {
    /// Reads leaves of a batch of shards; with `parallel`, on all threads.
    pub(super) fn read_shards(&self, objects: &[Child], parallel: bool) -> Result<()> {
        for attempt in 0..costs::ATTEMPTS {
            let cached = attempt == 0 && !self.target.session.options().always_verify;
            match self.once(objects, parallel, cached) {
                Err(ArrayError::Store(StoreError::Changed { .. })) => {}
                done => return done,
            }
        }
        let key = objects.first().map(|child| self.target.chunk_key(&child.at)).transpose()?;
        Err(ArrayError::Unstable { key: key.map_or_else(String::new, |key| key.to_string()) })
    }

    #[expect(clippy::cast_possible_truncation, reason = "places in lists, and in bytes that were read")]
    fn once(&self, objects: &[Child], parallel: bool, cached: bool) -> Result<()> {
        let mut resolved =
            resolve(self.target, self.picks(), objects, cached, |cell| self.decoder.missing(cell))?;
        let parts = self.known_parts(&mut resolved);
        let near = if self.target.store.is_local() { costs::LOCAL_MERGE } else { costs::REMOTE_MERGE };
        let merged: Vec<Vec<(Span, Range<usize>)>> =
            resolved.iter_mut().map(|object| merge(&mut object.leaves, near.hole, near.most)).collect();
        let units: Vec<Unit<'_>> = merged
            .iter()
            .enumerate()
            .flat_map(|(object, spans)| {
                let leaves = &resolved[object].leaves;
                spans.iter().map(move |(span, range)| Unit {
                    object,
                    span: *span,
                    leaves: &leaves[range.clone()],
                })
            })
            .collect();
        let parts: Vec<(&Cell, &Part)> = parts.iter().map(|(cell, part)| (cell, part)).collect();
        let bytes = parts.iter().map(|(_, part)| part.bytes()).sum::<usize>()
            + units.iter().map(|unit| unit.leaves.len() * self.target.layout.leaf_bytes()).sum::<usize>();
        if !parallel || units.len() + parts.len() < 2 || bytes as u64 <= costs::READ_ALONE {
            return self.read_parts(&parts).and_then(|()| self.units(&resolved, &units));
        }
        let session = self.target.session;
        let units: Vec<&[Unit<'_>]> = units.chunks(session.job_of(units.len())).collect();
        let parts: Vec<&[(&Cell, &Part)]> = parts.chunks(session.job_of(parts.len())).collect();
        session.share((units.len() + parts.len()) as u64, |i| match parts.get(i as usize) {
            Some(parts) => self.read_parts(parts),
            None => self.units(&resolved, units[i as usize - parts.len()]),
        })
    }

    /// What is needed of inner chunks that were verified before, taken out of the leaves that are to be read whole.
    fn known_parts(&self, objects: &mut [ObjectLeaves]) -> Vec<(Cell, Part)> {
        if !self.target.store.is_local() {
            return Vec::new();
        }
        let mut parts = Vec::new();
        for object in objects {
            if let Some(version) = &object.version {
                parts.append(&mut self.plan_inner(&object.key, version, &mut object.leaves));
            }
        }
        parts
    }

    fn units(&self, objects: &[ObjectLeaves], units: &[Unit<'_>]) -> Result<()> {
        let requests: Vec<ReadRequest> = units
            .iter()
            .map(|unit| ReadRequest {
                key: objects[unit.object].key.clone(),
                range: ByteRange::Span { offset: unit.span.offset, length: unit.span.length },
                expect: objects[unit.object].version.clone(),
            })
            .collect();
        let failure = Failure::default();
        self.target.read_many(&requests, &|i, answer| {
            let key = &requests[i].key;
            failure.note(match answer {
                Ok(Some(blob)) => self.unit(&units[i], key.as_str(), &blob),
                Ok(None) => Err(StoreError::Changed { key: key.to_string() }.into()),
                Err(error) => Err(error.into()),
            });
        });
        failure.into_result()
    }

    #[expect(clippy::cast_possible_truncation, reason = "places in lists, and in bytes that were read")]
    fn unit(&self, unit: &Unit<'_>, key: &str, blob: &Blob<'_>) -> Result<()> {
        let mut decoded = Vec::with_capacity(unit.leaves.len());
        for leaf in unit.leaves {
            let begin = (leaf.span.offset - unit.span.offset) as usize;
            let encoded = blob.bytes.get(begin..begin + leaf.span.length as usize).unwrap_or_default();
            self.decode(&leaf.cell, key, encoded)?;
            decoded.push((leaf.span.offset, encoded));
        }
        self.remember_inner(key, &blob.meta.version, &decoded);
        Ok(())
    }
}
