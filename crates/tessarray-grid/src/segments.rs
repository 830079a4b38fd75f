//! Evenly spaced indices on an axis of listed chunks, cut by arithmetic run by run: a plan of any number of chunks is a few
//! numbers a run.

use crate::edges::{EdgeRun, EdgeRuns};
use crate::strided::{Piece, Strided};
use std::sync::Arc;

/// The part of the indices that lies in one run of chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    run: EdgeRun,
    /// The indices, counted from the run's first element.
    local: Strided,
    /// Pieces, and indices, before these.
    pieces: u64,
    before: u64,
}

/// Indices, cut at the chunks of an axis; chunks in the order of the indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segments(Arc<[Segment]>);

impl Segments {
    /// Cuts indices that are checked to be in range. Costs a step for each run that they touch.
    pub fn new(range: &Strided, edges: &EdgeRuns) -> Self {
        let mut segments = Vec::new();
        let (mut before, mut pieces) = (0, 0);
        while before < range.len {
            let at = range.at(before);
            let run = edges.run_of(at);
            let start = at - run.begin;
            let room = if range.step < 0 { start } else { run.end().saturating_sub(at + 1) };
            let len = (room / range.step.unsigned_abs().max(1) + 1).min(range.len - before);
            let local = Strided { start, step: range.step, len };
            segments.push(Segment { run, local, pieces, before });
            pieces += local.pieces(run.length);
            before += len;
        }
        Self(segments.into())
    }

    /// How many chunks hold any of them.
    pub fn pieces(&self) -> u64 {
        self.0.last().map_or(0, |last| last.pieces + last.local.pieces(last.run.length))
    }

    /// Piece number `i`, with the place in its chunk of its first index, and the step between its indices.
    pub fn piece(&self, i: u64) -> (Piece, u64, i64) {
        let after = self.0.partition_point(|segment| segment.pieces <= i);
        let Segment { run, local, pieces, before } = &self.0[after.saturating_sub(1)];
        let piece = local.piece(i - pieces, run.length);
        let first = local.at(piece.first) % run.length;
        (Piece { index: run.first + piece.index, first: before + piece.first, ..piece }, first, local.step)
    }

    /// The number of the piece of a chunk, where it has one.
    pub fn find(&self, chunk: u64) -> Option<u64> {
        let backwards = self.0.first().is_some_and(|segment| segment.local.step < 0);
        let found = self.0.binary_search_by(|Segment { run, .. }| {
            let order = if chunk < run.first {
                std::cmp::Ordering::Greater
            } else if chunk - run.first >= run.count {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Equal
            };
            if backwards { order.reverse() } else { order }
        });
        let segment = &self.0[found.ok()?];
        Some(segment.pieces + segment.local.find(chunk - segment.run.first, segment.run.length)?)
    }
}
