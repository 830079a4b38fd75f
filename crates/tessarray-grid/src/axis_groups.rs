//! Chunks of an axis, grouped by coarser ones.

use crate::segments::Segments;
use crate::strided::Strided;
use std::ops::Range;

/// The parts of an axis, grouped by coarser chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisGroups(pub(crate) Groups);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Groups {
    /// Fine and coarse chunks of one length each.
    Strided {
        elements: Strided,
        base: usize,
        chunk: u64,
        size: u64,
    },
    /// Every part of a range on listed lengths is a group.
    Parts {
        segments: Segments,
        range: Range<usize>,
    },
    /// Fine chunks of one length, coarse ones of listed lengths.
    Runs {
        elements: Strided,
        base: usize,
        chunk: u64,
        coarse: Segments,
    },
    Listed(Vec<(u64, Range<usize>)>),
}

impl AxisGroups {
    /// How many groups there are.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Groups::Strided { elements, size, .. } => elements.pieces(*size),
            Groups::Parts { range, .. } => range.len() as u64,
            Groups::Runs { coarse, .. } => coarse.pieces(),
            Groups::Listed(groups) => groups.len() as u64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Group number `i`: the coarse chunk's index, and its parts.
    #[expect(clippy::cast_possible_truncation, reason = "numbers of pieces that a plan lists")]
    pub fn get(&self, i: u64) -> (u64, Range<usize>) {
        let (group, elements, base, chunk) = match &self.0 {
            Groups::Strided { elements, base, chunk, size } => {
                (elements.piece(i, *size), elements, base, chunk)
            }
            Groups::Runs { elements, base, chunk, coarse } => (coarse.piece(i).0, elements, base, chunk),
            Groups::Parts { segments, range } => {
                let number = range.start + i as usize;
                return (segments.piece(number as u64).0.index, number..number + 1);
            }
            Groups::Listed(groups) => return groups[i as usize].clone(),
        };
        let first = elements.piece_of(group.first, *chunk) as usize;
        let last = elements.piece_of(group.first + group.len - 1, *chunk) as usize;
        (group.index, base + first..base + last + 1)
    }

    /// The number of the group of a coarse chunk, where the selection touches it.
    #[expect(clippy::cast_possible_truncation, reason = "numbers of pieces that a plan lists")]
    pub fn find(&self, coarse: u64) -> Option<u64> {
        match &self.0 {
            Groups::Strided { elements, size, .. } => elements.find(coarse, *size),
            Groups::Parts { segments, range } => {
                let number = segments.find(coarse)? as usize;
                range.contains(&number).then(|| (number - range.start) as u64)
            }
            Groups::Runs { coarse: groups, .. } => groups.find(coarse),
            Groups::Listed(groups) => {
                let backwards = groups.len() > 1 && groups[0].0 > groups[1].0;
                let found =
                    groups.binary_search_by(
                        |(index, _)| {
                            if backwards { coarse.cmp(index) } else { index.cmp(&coarse) }
                        },
                    );
                found.ok().map(|i| i as u64)
            }
        }
    }
}
