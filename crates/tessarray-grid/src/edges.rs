//! How an axis is cut into chunks: all of one length, or runs of chunks of one length each (the `rectilinear` chunk
//! grid of zarr-extensions).

use crate::error::GridError;
use std::sync::Arc;

/// The lengths of the chunks along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edges {
    /// Every chunk has this length, as many as the axis needs.
    Each(u64),
    /// Lengths that are listed.
    Runs(EdgeRuns),
}

/// Chunks of one length, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeRun {
    /// Elements of a chunk.
    pub length: u64,
    /// How many chunks.
    pub count: u64,
    /// The first element of the first of them.
    pub begin: u64,
    /// The number of the first of them.
    pub first: u64,
}

impl EdgeRun {
    /// The element after the last of the run.
    pub fn end(&self) -> u64 {
        self.begin + self.length * self.count
    }
}

/// Listed lengths: at least one, all positive, below 2^63 in sum; neighbours of one length are one run. Takes memory by the
/// run, however many chunks it has. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeRuns(Arc<[EdgeRun]>);

impl EdgeRuns {
    /// From lengths, each with the number of chunks that have it.
    ///
    /// # Errors
    /// None at all, a length or number of zero, or 2^63 elements or more in sum; names the place in the list.
    pub fn new(list: impl IntoIterator<Item = (u64, u64)>) -> Result<Self, GridError> {
        let mut runs: Vec<EdgeRun> = Vec::new();
        let (mut begin, mut first) = (0u64, 0u64);
        for (index, (length, count)) in list.into_iter().enumerate() {
            if length == 0 || count == 0 {
                return Err(GridError::Edge { index, length, count });
            }
            let end = length.checked_mul(count).and_then(|all| begin.checked_add(all));
            let Some(end) = end.filter(|&end| end <= i64::MAX as u64) else {
                return Err(GridError::EdgeSum { index });
            };
            match runs.last_mut() {
                Some(run) if run.length == length => run.count += count,
                _ => runs.push(EdgeRun { length, count, begin, first }),
            }
            begin = end;
            first += count;
        }
        if runs.is_empty() {
            return Err(GridError::NoEdges);
        }
        Ok(Self(runs.into()))
    }

    /// The runs, first to last.
    pub fn runs(&self) -> &[EdgeRun] {
        &self.0
    }

    /// Elements of all chunks together: the longest axis that they can cover.
    pub fn sum(&self) -> u64 {
        self.0.last().map_or(0, EdgeRun::end)
    }

    /// The run that holds an element; the last for what is behind all of them.
    pub(crate) fn run_of(&self, index: u64) -> EdgeRun {
        let after = self.0.partition_point(|run| run.begin <= index);
        self.0[after.saturating_sub(1)]
    }

    fn run_of_chunk(&self, chunk: u64) -> EdgeRun {
        let after = self.0.partition_point(|run| run.first <= chunk);
        self.0[after.saturating_sub(1)]
    }

    /// The first element of a chunk, and its length.
    pub(crate) fn chunk(&self, chunk: u64) -> (u64, u64) {
        let run = self.run_of_chunk(chunk);
        (run.begin.saturating_add((chunk - run.first).saturating_mul(run.length)), run.length)
    }

    fn with(&self, length: u64) -> Result<Self, GridError> {
        Self::new(self.0.iter().map(|run| (run.length, run.count)).chain([(length, 1)]))
    }
}

impl Edges {
    /// Listed lengths, each with the number of chunks that have it; see [`EdgeRuns::new`].
    ///
    /// # Errors
    /// The list is empty, has a length or a number of 0, or lengths of 2^63 or more together.
    pub fn listed(list: impl IntoIterator<Item = (u64, u64)>) -> Result<Self, GridError> {
        EdgeRuns::new(list).map(Self::Runs)
    }

    /// The length of all chunks, where it is one.
    pub fn each(&self) -> Option<u64> {
        match self {
            Self::Each(length) => Some(*length),
            Self::Runs(_) => None,
        }
    }

    /// The number of the chunk that holds an element.
    pub fn chunk_of(&self, index: u64) -> u64 {
        match self {
            Self::Each(length) => index / (*length).max(1),
            Self::Runs(runs) => {
                let run = runs.run_of(index);
                run.first + (index - run.begin) / run.length
            }
        }
    }

    /// The first element of a chunk.
    pub fn begin(&self, chunk: u64) -> u64 {
        match self {
            Self::Each(length) => chunk.saturating_mul(*length),
            Self::Runs(runs) => runs.chunk(chunk).0,
        }
    }

    /// Elements of a chunk, of which the last may reach over the end of the axis.
    pub fn length(&self, chunk: u64) -> u64 {
        match self {
            Self::Each(length) => *length,
            Self::Runs(runs) => runs.chunk(chunk).1,
        }
    }

    /// Elements of the longest chunk.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Each(length) => *length,
            Self::Runs(runs) => runs.0.iter().map(|run| run.length).max().unwrap_or(0),
        }
    }

    /// Elements of the last chunk that is listed: how an axis that grows by whole chunks goes on.
    pub fn last(&self) -> u64 {
        match self {
            Self::Each(length) => *length,
            Self::Runs(runs) => runs.0.last().map_or(0, |run| run.length),
        }
    }

    /// How many chunks cover the first `extent` elements.
    pub fn count(&self, extent: u64) -> u64 {
        match self {
            Self::Each(length) => crate::dims::chunk_count(extent, *length),
            Self::Runs(_) if extent == 0 => 0,
            Self::Runs(_) => self.chunk_of(extent - 1) + 1,
        }
    }

    /// The same chunks, with one more behind them where they do not cover `extent` elements. Its length is a multiple of
    /// `unit`. Elements keep their chunks.
    ///
    /// # Errors
    /// 2^63 elements or more.
    pub fn grown(&self, extent: u64, unit: u64) -> Result<Self, GridError> {
        match self {
            Self::Runs(runs) if runs.sum() < extent => {
                let more = (extent - runs.sum()).checked_next_multiple_of(unit.max(1));
                runs.with(more.unwrap_or(u64::MAX)).map(Self::Runs)
            }
            same => Ok(same.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_that_cut_nothing_are_refused() {
        assert_eq!(EdgeRuns::new([]), Err(GridError::NoEdges));
        assert!(matches!(EdgeRuns::new([(3, 1), (0, 1)]), Err(GridError::Edge { index: 1, .. })));
        assert!(matches!(EdgeRuns::new([(3, 0)]), Err(GridError::Edge { index: 0, .. })));
        for list in [vec![(u64::MAX, 2)], vec![(1 << 62, 1), (1 << 62, 1)], vec![(3, u64::MAX)]] {
            assert!(matches!(EdgeRuns::new(list), Err(GridError::EdgeSum { .. })));
        }
    }

    #[test]
    fn runs_of_any_number_of_chunks_are_one_entry() {
        let edges = EdgeRuns::new([(1, 1 << 60), (1, 5), (7, 1)]).unwrap();
        assert_eq!(edges.runs().len(), 2);
        let edges = Edges::Runs(edges);
        assert_eq!(edges.count((1 << 60) + 6), (1 << 60) + 6);
        assert_eq!(edges.begin((1 << 60) + 5), (1 << 60) + 5);
        assert_eq!((edges.longest(), edges.last()), (7, 7));
    }

    proptest! {
        #[test]
        fn chunks_follow_on_one_another_and_every_element_is_in_one(
            list in prop::collection::vec((1u64..5, 1u64..4), 1..6), more in 0u64..9, unit in 1u64..4,
        ) {
            let edges = Edges::listed(list.clone()).unwrap();
            let lengths: Vec<u64> =
                list.iter().flat_map(|&(length, count)| (0..count).map(move |_| length)).collect();
            let mut begin = 0;
            for (chunk, &length) in (0..).zip(&lengths) {
                prop_assert_eq!((edges.begin(chunk), edges.length(chunk)), (begin, length));
                for index in begin..begin + length {
                    prop_assert_eq!(edges.chunk_of(index), chunk);
                    prop_assert_eq!(edges.count(index + 1), chunk + 1);
                }
                begin += length;
            }
            prop_assert_eq!(edges.longest(), lengths.iter().copied().max().unwrap());
            let grown = edges.grown(begin + more, unit).unwrap();
            prop_assert_eq!(grown.count(begin + more), lengths.len() as u64 + u64::from(more > 0));
            prop_assert!((0..begin).all(|index| grown.chunk_of(index) == edges.chunk_of(index)));
            let last = lengths.len() as u64;
            prop_assert!(more == 0 || (grown.length(last) >= more && grown.length(last).is_multiple_of(unit)));
        }
    }
}
