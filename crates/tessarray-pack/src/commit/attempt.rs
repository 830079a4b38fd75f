//! Committing a transaction: the steps of the protocol at the top of the commit module.

use super::conflict;
use super::draft::outlived;
use crate::catalogue::{Row, merge};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::{Added, Commit, CommitKind, Link, PartFile, Summary};
use crate::names::is_document;
use crate::pack::{Pack, Transaction};
use crate::transaction::{NewValue, Work, statistics};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How often a commit is tried again after another writer was faster.
const ATTEMPTS: usize = 1000;
/// Names kept in a commit's summary.
const NAMED: usize = 20;

impl Pack {
    /// See the protocol at the top of the commit module.
    fn commit(&self, work: &Work, message: &str) -> Result<Option<u64>> {
        let began = work.base_version().commit().number;
        self.try_commit(work, message).or_else(|error| match error {
            // What it reads of the version it began from went with that version.
            PackError::Corrupt { .. } if !self.log().has(began)? => {
                let reason = format!("version {began}, from which the transaction began, was expired");
                Err(PackError::Outlived { version: began, reason })
            }
            error => Err(error),
        })
    }

    fn try_commit(&self, work: &Work, message: &str) -> Result<Option<u64>> {
        work.open()?;
        if work.changes().is_empty() {
            work.end(true)?;
            return Ok(None);
        }
        // 1. Segments.
        work.segments().finish()?;
        // 2. The delta.
        statistics::drop_old(&mut *work.edit()?, work.base_version(), || work.number())?;
        let (mut rows, ids) = work.changes().rows(|location| work.segments().stored_at(location));
        let mut delta = self.put_part(&rows, &ids, 0)?;
        let summary = self.summary(work)?;
        let mut base = Arc::clone(work.base_version());
        for _ in 0..ATTEMPTS {
            // 4. The new version, on top of the latest that we know of.
            let parts = self.parts(&delta, base.commit())?;
            let number = base.commit().number;
            let parent = Some(Link { number, crc32c: base.crc() });
            let commit = Commit {
                transaction: work.id,
                summary: summary.clone(),
                delta: Some(delta.clone()),
                parts,
                segments: work.segments().stored(),
                ..self.draft(number + 1, parent, CommitKind::Write, message)?
            };
            // 5 to 8.
            if let Added::Yes = self.log().add(&commit)? {
                work.end(true)?;
                return Ok(Some(commit.number));
            }
            // 3. Others were faster: do their changes overlap ours?
            let (latest, crc) = self.log().latest()?;
            let mut again = false;
            for number in base.commit().number + 1..=latest.number {
                again |= self.compare(work, &mut rows, delta.id, number)?;
            }
            if again {
                delta = self.put_part(&rows, &ids, 0)?;
            }
            base = self.snapshot(latest, crc);
        }
        Err(PackError::overlaps_all(base.commit().number, "the pack"))
    }

    /// `true` where our delta has to be put again: rows of it had to be changed, or its file is removed.
    fn compare(&self, work: &Work, rows: &mut Vec<Row>, delta: Id, number: u64) -> Result<bool> {
        let Some((theirs, _)) = self.log().get(number)? else {
            let region = "a version that is expired by now, so everything it may have changed,";
            return Err(PackError::overlaps_all(number, region));
        };
        if let Some(moment) = theirs.swept {
            outlived(work.segments().stored().iter().map(|segment| segment.id), moment, number)?;
            return Ok(delta.millis() <= moment);
        }
        match (theirs.kind, theirs.delta) {
            (CommitKind::Compact, _) => Ok(false),
            (_, Some(file)) => {
                let theirs = self.parts_cache().get(&file)?;
                conflict::check(work.base_version(), rows, &theirs, number)?;
                statistics::drop_shared(rows, &theirs)
            }
            (_, None) => Err(PackError::overlaps_all(number, "everything")),
        }
    }

    /// The parts of a version with this delta on top of `base`.
    fn parts(&self, delta: &PartFile, base: &Commit) -> Result<Vec<PartFile>> {
        let mut parts = Vec::with_capacity(base.parts.len() + 1);
        parts.push(delta.clone());
        parts.extend(base.parts.iter().cloned());
        let Some((count, level)) = merge::due(&parts) else { return Ok(parts) };
        let open =
            parts[..count].iter().map(|file| self.parts_cache().get(file)).collect::<Result<Vec<_>>>()?;
        let (rows, ids) = match merge::merge(&open, count == parts.len()) {
            // They stay apart: each by itself has numbers for its chunks.
            Err(PackError::TooLarge { .. }) => return Ok(parts),
            merged => merged?,
        };
        parts.splice(..count, self.put_rows(&rows, &ids, level)?);
        Ok(parts)
    }

    fn summary(&self, work: &Work) -> Result<Summary> {
        let overlay = work.changes();
        let mut summary = Summary::default();
        let base = work.base_version();
        let mut nodes: BTreeSet<&Arc<str>> = BTreeSet::new();
        for ((node, name), change) in &overlay.values {
            if !is_document(name) {
                continue;
            }
            match (&change.value, base.value_row(node, name)?.is_some()) {
                (NewValue::Gone, true) => summary.deleted += 1,
                (NewValue::Gone, false) => continue,
                (_, false) => summary.created += 1,
                (_, true) => summary.changed += 1,
            }
            nodes.insert(node);
        }
        for (node, changes) in &overlay.chunks {
            summary.changed += u64::from(nodes.insert(node));
            summary.chunks += changes.entries.values().flatten().count() as u64;
        }
        summary.bytes = work.segments().stored().iter().map(|segment| segment.bytes).sum();
        summary.nodes = nodes.into_iter().take(NAMED).map(|node| node.to_string()).collect();
        Ok(summary)
    }
}

impl Transaction {
    /// Makes the changes a version, and returns its number; `None` where nothing was changed. All of them or, on any
    /// error but [`PackError::Unknown`], none.
    ///
    /// # Errors
    /// [`PackError::Conflict`]: another writer's change overlaps. [`PackError::Outlived`]: an expiry removed what it needs.
    /// Both mean: run the transaction again. [`PackError::Unknown`]: it took place or it did not; open the pack again and
    /// look. [`PackError::Ended`]: it was committed or given up before. [`PackError::Store`]: the store failed.
    pub fn commit(&self, message: &str) -> Result<Option<u64>> {
        self.pack().commit(self.work(), message)
    }
}
