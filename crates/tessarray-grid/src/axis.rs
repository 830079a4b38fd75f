//! One axis of a selection, cut at chunk boundaries.
//!
//! A range is cut by arithmetic, when a part is asked for, so that a plan of any number of chunks is three numbers an
//! axis; a list is sorted and cut once.

use crate::AxisSelection;
use crate::strided::Strided;
use std::ops::Range;

/// The elements of one part: where they lie in the chunk, and where they go in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// `len` elements from `first` in the chunk, `step` apart, to consecutive places from `out`.
    Strided { first: u64, step: i64, len: u64, out: u64 },
    /// The pairs of this range of [`AxisPlan::pairs`].
    Listed(Range<usize>),
}

/// What an axis selects of one chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisPart {
    /// The chunk's index along the axis.
    pub chunk: u64,
    pub run: Run,
}

/// One axis of a selection, cut into parts, one a touched chunk, in the order of the chunks (descending for negative
/// steps).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisPlan {
    chunk: u64,
    cut: Cut,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cut {
    Strided(Strided),
    /// Pairs are (index in chunk, index in output), sorted by array index, then by output index.
    Listed {
        parts: Vec<(u64, Range<usize>)>,
        pairs: Vec<(u64, u64)>,
    },
}

impl AxisPlan {
    /// Cuts a checked selection at multiples of `chunk`. A list is sorted once; a range costs nothing.
    pub fn new(selection: &AxisSelection, chunk: u64) -> Self {
        let chunk = chunk.max(1);
        let cut = match selection {
            AxisSelection::Range { start, step, len } => {
                Cut::Strided(Strided { start: *start, step: *step, len: *len })
            }
            AxisSelection::List(list) => match progression(list) {
                Some((start, step)) => Cut::Strided(Strided { start, step, len: list.len() as u64 }),
                None => listed(list, chunk),
            },
        };
        Self { chunk, cut }
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        match &self.cut {
            Cut::Strided(range) => range.pieces(self.chunk) as usize,
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
            Cut::Strided(range) => {
                let piece = range.piece(i as u64, self.chunk);
                let first = range.at(piece.first) % self.chunk;
                let run = Run::Strided { first, step: range.step, len: piece.len, out: piece.first };
                AxisPart { chunk: piece.index, run }
            }
            Cut::Listed { parts, .. } => AxisPart { chunk: parts[i].0, run: Run::Listed(parts[i].1.clone()) },
        }
    }

    /// The pairs of a listed run: (index in chunk, index in output).
    pub fn pairs(&self, range: &Range<usize>) -> &[(u64, u64)] {
        match &self.cut {
            Cut::Strided(_) => &[],
            Cut::Listed { pairs, .. } => pairs.get(range.clone()).unwrap_or_default(),
        }
    }

    /// The parts of `range`, grouped by coarse chunks that span `ratio` chunks each.
    pub fn groups(&self, range: &Range<usize>, ratio: u64) -> AxisGroups {
        let ratio = ratio.max(1);
        match &self.cut {
            Cut::Strided(whole) => {
                let elements = if range.is_empty() {
                    Strided { len: 0, ..*whole }
                } else {
                    let first = whole.piece(range.start as u64, self.chunk).first;
                    let last = whole.piece(range.end as u64 - 1, self.chunk);
                    Strided { start: whole.at(first), step: whole.step, len: last.first + last.len - first }
                };
                let size = self.chunk.saturating_mul(ratio);
                AxisGroups(Groups::Strided { elements, base: range.start, chunk: self.chunk, size })
            }
            Cut::Listed { parts, .. } => {
                let mut groups: Vec<(u64, Range<usize>)> = Vec::new();
                for i in range.clone() {
                    let coarse = parts[i].0 / ratio;
                    match groups.last_mut() {
                        Some((last, range)) if *last == coarse => range.end = i + 1,
                        _ => groups.push((coarse, i..i + 1)),
                    }
                }
                AxisGroups(Groups::Listed(groups))
            }
        }
    }

    /// Whether a part takes every element of its chunk that lies inside an axis of `extent` elements.
    pub fn covers(&self, part: &AxisPart, extent: u64) -> bool {
        let inside = self.chunk.min(extent.saturating_sub(part.chunk.saturating_mul(self.chunk)));
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

/// The parts of an axis, grouped by coarser chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisGroups(Groups);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Groups {
    Strided { elements: Strided, base: usize, chunk: u64, size: u64 },
    Listed(Vec<(u64, Range<usize>)>),
}

impl AxisGroups {
    /// How many groups there are.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Groups::Strided { elements, size, .. } => elements.pieces(*size),
            Groups::Listed(groups) => groups.len() as u64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Group number `i`: the coarse chunk's index, and its parts.
    pub fn get(&self, i: u64) -> (u64, Range<usize>) {
        match &self.0 {
            Groups::Strided { elements, base, chunk, size } => {
                let group = elements.piece(i, *size);
                let first = elements.piece_of(group.first, *chunk) as usize;
                let last = elements.piece_of(group.first + group.len - 1, *chunk) as usize;
                (group.index, base + first..base + last + 1)
            }
            Groups::Listed(groups) => groups[i as usize].clone(),
        }
    }

    /// The number of the group of a coarse chunk, where the selection touches it.
    pub fn find(&self, coarse: u64) -> Option<u64> {
        match &self.0 {
            Groups::Strided { elements, size, .. } => elements.find(coarse, *size),
            Groups::Listed(groups) => {
                groups.binary_search_by_key(&coarse, |(index, _)| *index).ok().map(|i| i as u64)
            }
        }
    }
}

fn listed(list: &[u64], chunk: u64) -> Cut {
    let mut pairs: Vec<(u64, u64)> = list.iter().zip(0..).map(|(&index, out)| (index, out)).collect();
    pairs.sort_unstable();
    let mut parts = Vec::new();
    let mut begin = 0;
    while begin < pairs.len() {
        let here = pairs[begin].0 / chunk;
        let n = pairs[begin..].partition_point(|(index, _)| index / chunk == here);
        parts.push((here, begin..begin + n));
        begin += n;
    }
    for (index, _) in &mut pairs {
        *index %= chunk;
    }
    Cut::Listed { parts, pairs }
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// (array index, output index) of everything a plan selects.
    fn elements(plan: &AxisPlan, chunk: u64) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        for part in (0..plan.len()).map(|i| plan.part(i)) {
            match &part.run {
                Run::Strided { first, step, len, out } => all.extend((0..*len).map(|i| {
                    let inside = (*first as i64 + i as i64 * step) as u64;
                    assert!(inside < chunk);
                    (part.chunk * chunk + inside, out + i)
                })),
                Run::Listed(range) => {
                    all.extend(plan.pairs(range).iter().map(|(i, o)| (part.chunk * chunk + i, *o)));
                }
            }
        }
        all.sort_by_key(|(_, out)| *out);
        all
    }

    proptest! {
        #[test]
        fn a_range_is_cut_without_losing_or_repeating_an_element(
            start in 0u64..60, step in -7i64..8, len in 0u64..30, chunk in 1u64..20,
        ) {
            let selection = AxisSelection::Range { start, step, len };
            prop_assume!(selection.check(0, 60).is_ok());
            let plan = AxisPlan::new(&selection, chunk);
            let expected: Vec<_> = (0..len).map(|i| ((start as i64 + i as i64 * step) as u64, i)).collect();
            prop_assert_eq!(elements(&plan, chunk), expected);
        }

        #[test]
        fn a_list_keeps_order_and_repeats(list in prop::collection::vec(0u64..60, 0..40), chunk in 1u64..20) {
            let plan = AxisPlan::new(&AxisSelection::List(list.clone()), chunk);
            let expected: Vec<_> = list.iter().zip(0..).map(|(&i, o)| (i, o)).collect();
            prop_assert_eq!(elements(&plan, chunk), expected);
        }

        #[test]
        fn a_part_covers_its_chunk_exactly_when_every_element_is_selected(
            list in prop::collection::vec(0u64..23, 0..80), chunk in 1u64..12,
        ) {
            let plan = AxisPlan::new(&AxisSelection::List(list.clone()), chunk);
            for part in (0..plan.len()).map(|i| plan.part(i)) {
                let begin = part.chunk * chunk;
                let all = (begin..(begin + chunk).min(23)).all(|index| list.contains(&index));
                prop_assert_eq!(plan.covers(&part, 23), all);
            }
        }
    }

    proptest! {
        #[test]
        fn groups_hold_the_parts_of_their_coarse_chunk_and_are_found_by_it(
            start in 0u64..60, step in -9i64..10, len in 1u64..30, list in prop::collection::vec(0u64..60, 1..20),
            as_list in any::<bool>(), chunk in 1u64..9, ratio in 1u64..5, outer in 1u64..3,
        ) {
            let selection = if as_list { AxisSelection::List(list) } else { AxisSelection::Range { start, step, len } };
            prop_assume!(selection.check(0, 60).is_ok());
            let plan = AxisPlan::new(&selection, chunk);
            let all = plan.groups(&(0..plan.len()), ratio * outer);
            let mut next = 0;
            for i in 0..all.len() {
                let (coarse, range) = all.get(i);
                prop_assert_eq!(range.start, next);
                next = range.end;
                prop_assert_eq!(all.find(coarse), Some(i));
                prop_assert!(range.clone().all(|part| plan.part(part).chunk / (ratio * outer) == coarse));
                let below = plan.groups(&range, ratio);
                let parts: Vec<usize> = (0..below.len()).flat_map(|j| below.get(j).1).collect();
                prop_assert_eq!(parts, range.collect::<Vec<_>>());
                for j in 0..below.len() {
                    let (coarse, range) = below.get(j);
                    prop_assert_eq!(below.find(coarse), Some(j));
                    prop_assert!(range.into_iter().all(|part| plan.part(part).chunk / ratio == coarse));
                }
            }
            prop_assert_eq!(next, plan.len());
            for coarse in 0..70 {
                let touched = (0..plan.len()).any(|part| plan.part(part).chunk / (ratio * outer) == coarse);
                prop_assert_eq!(all.find(coarse).is_some(), touched);
            }
        }
    }

    #[test]
    fn ranges_off_the_end_are_refused() {
        for (start, step, len) in
            [(0, 1, 11), (10, 1, 1), (5, -1, 7), (0, 0, 2), (u64::MAX, 1, 1), (1, i64::MIN, 2)]
        {
            assert!(AxisSelection::Range { start, step, len }.check(0, 10).is_err(), "{start} {step} {len}");
        }
        assert!(AxisSelection::Range { start: 9, step: -1, len: 10 }.check(0, 10).is_ok());
    }
}
