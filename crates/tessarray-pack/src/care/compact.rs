//! The same content, stored anew: the chunks of each variable one after the other, and nothing that is dead.
//!
//! 1. All parts of the latest version are merged.
//! 2. Every chunk is read, checked and put into new segments, variable by variable, dataset by dataset.
//! 3. A commit of kind `compact` replaces the catalogue. What others committed meanwhile goes on top: their deltas are
//!    still true, since they name segments of their own.
//!
//! The old segments stay for the older versions, until those are expired.

use super::chunks::ids_of;
use crate::catalogue::merge::merge;
use crate::catalogue::{Entry, Numbering, Row, SegmentTable};
use crate::chunk_checksum::{self, ChunkId};
use crate::commit::outlived;
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::{Added, Commit, CommitKind, Link, PartFile};
use crate::pack::Pack;
use crate::transaction::{Location, Segments};
use crate::version::fetch;
use crate::version::fetch::Check;
use std::sync::Arc;

/// The level of a part that holds everything: it is not merged with small ones.
const LEVEL: u8 = 64;
/// Bytes read at once.
const BATCH: u64 = 16 << 20;
/// How often the commit is tried.
const ATTEMPTS: usize = 1000;

/// What a compaction did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compacted {
    /// The new version.
    pub version: u64,
    /// Chunks stored anew.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Parts of the catalogue before.
    pub parts: u64,
}

impl Pack {
    /// Rewrites the latest version; see the top of the file. Memory: a batch of 16 MiB, and the catalogue's rows.
    /// `progress` is told the chunks that are done and all.
    ///
    /// # Errors
    /// A chunk is damaged ([`PackError::Corrupt`], or [`PackError::Store`]): nothing is changed. Another writer made a
    /// version that has to be compacted anew ([`PackError::Conflict`]), or an expiry took the new files
    /// ([`PackError::Outlived`]): run it again.
    pub fn compact(&self, message: &str, progress: &mut dyn FnMut(u64, u64)) -> Result<Compacted> {
        let base = self.latest()?;
        let files = &base.commit().parts;
        let open = files.iter().map(|file| self.parts_cache().get(file)).collect::<Result<Vec<_>>>()?;
        let (mut rows, old) = merge(&open, true)?;
        let segments = Segments::new(Arc::clone(self.store()), self.clock());
        let mut done = Compacted { parts: files.len() as u64, ..Compacted::default() };
        let places = self.rewrite(&mut rows, &old, &segments, &mut done, progress)?;
        segments.finish()?;
        let ids = settle(&mut rows, &places, &segments);
        let parts: Vec<PartFile> = self.put_rows(&rows, &ids, LEVEL)?.into_iter().collect();
        done.version = self.replace(base.commit(), &parts, &segments, message)?;
        Ok(done)
    }

    /// Step 2. Where each chunk went, row by row: its final place is known once all are stored.
    fn rewrite(
        &self,
        rows: &mut [Row],
        old: &[Id],
        segments: &Segments,
        done: &mut Compacted,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Vec<Location>>> {
        let mut places: Vec<Vec<Location>> = vec![Vec::new(); rows.len()];
        let all = rows.iter().map(|row| row.entries.len() as u64).sum();
        let ids = ids_of(rows);
        // Variable by variable.
        let mut order: Vec<usize> = (0..rows.len()).filter(|&i| !rows[i].entries.is_empty()).collect();
        order.sort_by(|&a, &b| {
            let key = |i: usize| (variable(&rows[i]), rows[i].key());
            key(a).cmp(&key(b))
        });
        for i in order {
            let row = &mut rows[i];
            let node = ids.get(&row.node).copied().unwrap_or(0);
            let mut begin = 0;
            while begin < row.entries.len() {
                let end = batch_end(&row.entries, begin);
                self.move_chunks(row, begin..end, old, node, segments, &mut places[i])?;
                done.chunks += (end - begin) as u64;
                done.bytes += row.entries[begin..end].iter().map(|(_, entry)| entry.length).sum::<u64>();
                progress(done.chunks, all);
                begin = end;
            }
        }
        Ok(places)
    }

    fn move_chunks(
        &self,
        row: &mut Row,
        range: std::ops::Range<usize>,
        old: &[Id],
        node: u64,
        segments: &Segments,
        places: &mut Vec<Location>,
    ) -> Result<()> {
        let numbering = row.grid.as_deref().and_then(Numbering::parse);
        let checks = self.pieces(row, range.clone(), node, numbering.as_ref(), old)?;
        let values = fetch::fetch_all(self.store(), &checks)?;
        for (at, (bytes, (_, check))) in range.zip(values.into_iter().zip(&checks)) {
            let (segment, location) = segments.put(variable(row), &[&bytes])?;
            let (number, entry) = &mut row.entries[at];
            entry.crc = match (check, &numbering) {
                (Check::Value(key), _) => chunk_checksum::of_value(&bytes, key, segment),
                (_, Some(numbering)) => {
                    let (at, inner) = numbering.coordinates(*number);
                    chunk_checksum::of_chunk(&[&bytes], ChunkId { node, at: &at, inner }, segment)
                }
                (_, None) => entry.crc,
            };
            places.push(location);
        }
        Ok(())
    }

    /// Step 3.
    fn replace(&self, base: &Commit, parts: &[PartFile], segments: &Segments, message: &str) -> Result<u64> {
        let transaction = self.clock().id()?;
        for _ in 0..ATTEMPTS {
            let (latest, crc) = self.log().latest()?;
            let mut all = Vec::new();
            for number in (base.number + 1..=latest.number).rev() {
                let conflict = || PackError::overlaps_all(number, "the whole pack");
                let (theirs, _) = self.log().get(number)?.ok_or_else(conflict)?;
                if let Some(moment) = theirs.swept {
                    let stored = segments.stored();
                    let own = stored.iter().map(|one| one.id).chain(parts.iter().map(|part| part.id));
                    outlived(own, moment, number)?;
                    continue;
                }
                match (theirs.kind, theirs.delta) {
                    (CommitKind::Write, Some(delta)) => all.push(delta),
                    _ => return Err(conflict()),
                }
            }
            all.extend_from_slice(parts);
            let parent = Some(Link { number: latest.number, crc32c: crc });
            let draft = self.draft(latest.number + 1, parent, CommitKind::Compact, message)?;
            let commit = Commit { transaction, parts: all, segments: segments.stored(), ..draft };
            if matches!(self.log().add(&commit)?, Added::Yes) {
                return Ok(commit.number);
            }
        }
        Err(PackError::overlaps_all(base.number, "the whole pack"))
    }
}

/// The last part of a path: what is stored together.
fn variable(row: &Row) -> &str {
    if row.name.is_empty() { row.node.rsplit('/').next().unwrap_or(&row.node) } else { &row.name }
}

fn batch_end(entries: &[(u64, Entry)], begin: usize) -> usize {
    let mut bytes = 0;
    let fits = |(_, entry): &&(u64, Entry)| {
        bytes += entry.length;
        bytes <= BATCH
    };
    begin + entries[begin..].iter().take_while(fits).count().max(1)
}

/// Gives every entry its final place, and the segments that they name by number.
fn settle(rows: &mut [Row], places: &[Vec<Location>], segments: &Segments) -> Vec<Id> {
    let mut table = SegmentTable::default();
    for (row, places) in rows.iter_mut().zip(places) {
        for ((_, entry), location) in row.entries.iter_mut().zip(places) {
            let (id, offset) = segments.stored_at(*location);
            (entry.segment, entry.offset) = (table.number(id), offset);
        }
    }
    table.ids
}
