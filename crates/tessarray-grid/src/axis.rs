//! One axis of a selection, cut at chunk boundaries.
//!
//! A range is cut by arithmetic, when a part is asked for, so that a plan of any number of chunks is three numbers an
//! axis, or a few for each run of chunks of one length where the lengths are listed; a list is sorted and cut once.

use crate::axis_groups::{AxisGroups, Groups};
use crate::edges::{EdgeRuns, Edges};
use crate::segments::Segments;
use crate::selection::AxisSelection;
use crate::strided::Strided;
use std::ops::Range;

/// The elements of one part: where they lie in the chunk, and where they go in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// `len` elements from `first` in the chunk, `step` apart, to consecutive places from `out`.
    #[allow(missing_docs, reason = "the line above names them")]
    Strided { first: u64, step: i64, len: u64, out: u64 },
    /// The pairs of this range of [`AxisPlan::pairs`].
    Listed(Range<usize>),
}

/// What an axis selects of one chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisPart {
    /// The chunk's index along the axis.
    pub chunk: u64,
    /// Which of its elements, and where they go.
    pub run: Run,
}

/// How the *output* of an axis is cut: which of its indices each part has. No two parts share one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputCut<'a> {
    /// `count` parts; number `i` begins at `(i * size - offset) / step`, rounded up, and the first at 0.
    Even {
        /// Length of a chunk.
        size: u64,
        /// Elements before the first that is selected, in its chunk.
        offset: u64,
        /// Elements between two that are selected.
        step: u64,
        /// How many parts.
        count: u64,
    },
    /// Parts that follow on one another, each where [`AxisPlan::part`] says.
    Runs,
    /// For each part a range of pairs (index in chunk, index in output).
    Listed {
        /// For each part its chunk, and its pairs.
        parts: &'a [(u64, Range<usize>)],
        /// The pairs of all parts.
        pairs: &'a [(u64, u64)],
    },
}

/// One axis of a selection, cut into parts, one a touched chunk, in the order of the chunks (descending for negative
/// steps).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisPlan {
    cut: Cut,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cut {
    /// Evenly spaced elements of chunks of one length.
    Strided { range: Strided, chunk: u64 },
    /// Evenly spaced elements of chunks whose lengths are listed.
    Runs { segments: Segments, edges: EdgeRuns },
    /// Pairs are (index in chunk, index in output), sorted by array index, then by output index.
    Listed { parts: Vec<(u64, Range<usize>)>, pairs: Vec<(u64, u64)>, edges: Edges },
}

impl AxisPlan {
    /// Cuts a checked selection at the chunks' boundaries. A list is sorted once; a range costs nothing where all chunks
    /// have one length, else a step for each run of chunks that it touches.
    pub fn new(selection: &AxisSelection, edges: &Edges) -> Self {
        let range = match selection {
            AxisSelection::Range { start, step, len } => Strided { start: *start, step: *step, len: *len },
            AxisSelection::List(list) => match progression(list) {
                Some((start, step)) => Strided { start, step, len: list.len() as u64 },
                None => return Self { cut: listed(list, edges) },
            },
        };
        let cut = match edges {
            Edges::Each(chunk) => Cut::Strided { range, chunk: (*chunk).max(1) },
            Edges::Runs(edges) => Cut::Runs { segments: Segments::new(&range, edges), edges: edges.clone() },
        };
        Self { cut }
    }

    /// How many parts there are.
    #[expect(clippy::cast_possible_truncation, reason = "pieces that a plan lists")]
    pub fn len(&self) -> usize {
        match &self.cut {
            Cut::Strided { range, chunk } => range.pieces(*chunk) as usize,
            Cut::Runs { segments, .. } => segments.pieces() as usize,
            Cut::Listed { parts, .. } => parts.len(),
        }
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Part number `i`, below [`len`](Self::len).
    pub fn part(&self, i: usize) -> AxisPart {
        match &self.cut {
            Cut::Strided { range, chunk } => {
                let piece = range.piece(i as u64, *chunk);
                let first = range.at(piece.first) % chunk;
                let run = Run::Strided { first, step: range.step, len: piece.len, out: piece.first };
                AxisPart { chunk: piece.index, run }
            }
            Cut::Runs { segments, .. } => {
                let (piece, first, step) = segments.piece(i as u64);
                let run = Run::Strided { first, step, len: piece.len, out: piece.first };
                AxisPart { chunk: piece.index, run }
            }
            Cut::Listed { parts, .. } => AxisPart { chunk: parts[i].0, run: Run::Listed(parts[i].1.clone()) },
        }
    }

    /// Which indices of the output each part has.
    pub fn output_cut(&self) -> OutputCut<'_> {
        match &self.cut {
            // Every element is a part of its own.
            Cut::Strided { range, chunk } if range.step.unsigned_abs() > *chunk => {
                OutputCut::Even { size: 1, offset: 0, step: 1, count: self.len() as u64 }
            }
            Cut::Strided { range, chunk } => {
                let inside = range.start % chunk;
                let offset = if range.step < 0 { chunk - 1 - inside } else { inside };
                let step = range.step.unsigned_abs().max(1);
                OutputCut::Even { size: *chunk, offset, step, count: self.len() as u64 }
            }
            Cut::Runs { .. } => OutputCut::Runs,
            Cut::Listed { parts, pairs, .. } => OutputCut::Listed { parts, pairs },
        }
    }

    /// The pairs of a listed run: (index in chunk, index in output).
    pub fn pairs(&self, range: &Range<usize>) -> &[(u64, u64)] {
        match &self.cut {
            Cut::Strided { .. } | Cut::Runs { .. } => &[],
            Cut::Listed { pairs, .. } => pairs.get(range.clone()).unwrap_or_default(),
        }
    }

    /// The parts of `range`, grouped by coarse chunks that span `ratio` chunks each.
    pub fn groups(&self, range: &Range<usize>, ratio: u64) -> AxisGroups {
        let ratio = ratio.max(1);
        match &self.cut {
            Cut::Strided { range: whole, chunk } => AxisGroups(Groups::Strided {
                elements: elements(whole, range, *chunk),
                base: range.start,
                chunk: *chunk,
                size: chunk.saturating_mul(ratio),
            }),
            Cut::Runs { segments, .. } if ratio == 1 => {
                AxisGroups(Groups::Parts { segments: segments.clone(), range: range.clone() })
            }
            _ => self.grouped(range, |chunk| chunk / ratio),
        }
    }

    /// The parts of `range`, grouped by coarse chunks of these lengths, each of whole chunks.
    pub fn groups_by(&self, range: &Range<usize>, coarse: &Edges) -> AxisGroups {
        match (&self.cut, coarse) {
            (Cut::Strided { chunk, .. }, Edges::Each(size)) => self.groups(range, size / chunk),
            (Cut::Strided { range: whole, chunk }, Edges::Runs(runs)) => {
                let elements = elements(whole, range, *chunk);
                let coarse = Segments::new(&elements, runs);
                AxisGroups(Groups::Runs { elements, base: range.start, chunk: *chunk, coarse })
            }
            (Cut::Runs { edges, .. }, coarse) => {
                let edges = Edges::Runs(edges.clone());
                self.grouped(range, |chunk| coarse.chunk_of(edges.begin(chunk)))
            }
            (Cut::Listed { edges, .. }, coarse) => {
                self.grouped(range, |chunk| coarse.chunk_of(edges.begin(chunk)))
            }
        }
    }

    /// Groups by the coarse chunk of each chunk, part by part.
    fn grouped(&self, range: &Range<usize>, coarse: impl Fn(u64) -> u64) -> AxisGroups {
        let mut groups: Vec<(u64, Range<usize>)> = Vec::new();
        for i in range.clone() {
            let coarse = coarse(self.part(i).chunk);
            match groups.last_mut() {
                Some((last, range)) if *last == coarse => range.end = i + 1,
                _ => groups.push((coarse, i..i + 1)),
            }
        }
        AxisGroups(Groups::Listed(groups))
    }

    /// Whether a part takes every element of its chunk that lies inside an axis of `extent` elements.
    pub fn covers(&self, part: &AxisPart, extent: u64) -> bool {
        let (begin, length) = match &self.cut {
            Cut::Strided { chunk, .. } => (part.chunk.saturating_mul(*chunk), *chunk),
            Cut::Runs { edges, .. } => edges.chunk(part.chunk),
            Cut::Listed { edges, .. } => (edges.begin(part.chunk), edges.length(part.chunk)),
        };
        let inside = length.min(extent.saturating_sub(begin));
        match &part.run {
            Run::Strided { step, len, .. } => *len == inside && (step.unsigned_abs() == 1 || inside == 1),
            Run::Listed(range) => {
                let pairs = self.pairs(range);
                let repeats = pairs.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
                (pairs.len() - repeats) as u64 == inside
            }
        }
    }
}

/// The elements of some parts of a range.
fn elements(whole: &Strided, range: &Range<usize>, chunk: u64) -> Strided {
    if range.is_empty() {
        return Strided { len: 0, ..*whole };
    }
    let first = whole.piece(range.start as u64, chunk).first;
    let last = whole.piece(range.end as u64 - 1, chunk);
    Strided { start: whole.at(first), step: whole.step, len: last.first + last.len - first }
}

fn listed(list: &[u64], edges: &Edges) -> Cut {
    let mut pairs: Vec<(u64, u64)> = list.iter().zip(0..).map(|(&index, out)| (index, out)).collect();
    pairs.sort_unstable();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < pairs.len() {
        let here = edges.chunk_of(pairs[at].0);
        let begin = edges.begin(here);
        let end = begin.saturating_add(edges.length(here).max(1));
        let n = pairs[at..].partition_point(|(index, _)| *index < end);
        pairs[at..at + n].iter_mut().for_each(|(index, _)| *index -= begin);
        parts.push((here, at..at + n));
        at += n;
    }
    Cut::Listed { parts, pairs, edges: edges.clone() }
}

/// Start and step of a list that is an arithmetic progression.
fn progression(list: &[u64]) -> Option<(u64, i64)> {
    match list {
        [] => Some((0, 1)),
        [only] => Some((*only, 1)),
        [first, second, ..] => {
            let step =
                i64::try_from(i128::from(*second) - i128::from(*first)).ok().filter(|&step| step != 0)?;
            let even =
                list.windows(2).all(|pair| i128::from(pair[1]) - i128::from(pair[0]) == i128::from(step));
            even.then_some((*first, step))
        }
    }
}

#[cfg(test)]
#[path = "axis_tests.rs"]
mod tests;
