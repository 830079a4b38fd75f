//! One axis of a selection, cut at chunk boundaries.

use crate::AxisSelection;
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

impl AxisPart {
    /// Elements of the part.
    pub fn len(&self) -> u64 {
        match &self.run {
            Run::Strided { len, .. } => *len,
            Run::Listed(range) => range.len() as u64,
        }
    }

    /// Never: a part has at least one element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One axis of a selection, cut into parts, one a touched chunk, in the order of the chunks (descending for negative
/// steps).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AxisPlan {
    pub parts: Vec<AxisPart>,
    /// For lists: (index in chunk, index in output), sorted by array index, then by output index.
    pub pairs: Vec<(u64, u64)>,
}

impl AxisPlan {
    /// Cuts a checked selection at multiples of `chunk`. Costs one part a touched chunk; a list is sorted once.
    pub fn new(selection: &AxisSelection, chunk: u64) -> Self {
        let chunk = chunk.max(1);
        match selection {
            AxisSelection::Range { start, step, len } => Self::strided(*start, *step, *len, chunk),
            AxisSelection::List(list) => match progression(list) {
                Some((start, step)) => Self::strided(start, step, list.len() as u64, chunk),
                None => Self::listed(list, chunk),
            },
        }
    }

    fn strided(start: u64, step: i64, len: u64, chunk: u64) -> Self {
        let stride = step.unsigned_abs().max(1);
        let mut parts = Vec::new();
        let mut position = start;
        let mut out = 0;
        while out < len {
            let first = position % chunk;
            let fits = if step > 0 { (chunk - 1 - first) / stride + 1 } else { first / stride + 1 };
            let n = fits.min(len - out);
            parts.push(AxisPart { chunk: position / chunk, run: Run::Strided { first, step, len: n, out } });
            out += n;
            let moved = n.saturating_mul(stride);
            position = if step > 0 { position.saturating_add(moved) } else { position.saturating_sub(moved) };
        }
        Self { parts, pairs: Vec::new() }
    }

    fn listed(list: &[u64], chunk: u64) -> Self {
        let mut sorted: Vec<(u64, u64)> = list.iter().zip(0..).map(|(&index, out)| (index, out)).collect();
        sorted.sort_unstable();
        let mut parts: Vec<AxisPart> = Vec::new();
        let mut begin = 0;
        while begin < sorted.len() {
            let here = sorted[begin].0 / chunk;
            let n = sorted[begin..].partition_point(|(index, _)| index / chunk == here);
            parts.push(AxisPart { chunk: here, run: Run::Listed(begin..begin + n) });
            begin += n;
        }
        for (index, _) in &mut sorted {
            *index %= chunk;
        }
        Self { parts, pairs: sorted }
    }

    /// Whether a part takes every element of its chunk that lies inside an axis of `extent` elements.
    pub fn covers(&self, part: &AxisPart, extent: u64, chunk: u64) -> bool {
        let inside = chunk.min(extent.saturating_sub(part.chunk.saturating_mul(chunk)));
        match &part.run {
            Run::Strided { step, len, .. } => *len == inside && (step.unsigned_abs() == 1 || inside == 1),
            Run::Listed(range) => {
                let pairs = &self.pairs[range.clone()];
                let repeats = pairs.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
                (pairs.len() - repeats) as u64 == inside
            }
        }
    }
}

/// How many of the leading `parts` lie in the same coarse chunk, which spans `ratio` chunks of the plan.
pub fn group_len(parts: &[AxisPart], ratio: u64) -> usize {
    let ratio = ratio.max(1);
    match parts.first() {
        None => 0,
        Some(first) => parts.iter().take_while(|part| part.chunk / ratio == first.chunk / ratio).count(),
    }
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
        for part in &plan.parts {
            match &part.run {
                Run::Strided { first, step, len, out } => all.extend((0..*len).map(|i| {
                    let inside = (*first as i64 + i as i64 * step) as u64;
                    assert!(inside < chunk);
                    (part.chunk * chunk + inside, out + i)
                })),
                Run::Listed(range) => {
                    all.extend(plan.pairs[range.clone()].iter().map(|(i, o)| (part.chunk * chunk + i, *o)));
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
            for part in &plan.parts {
                let begin = part.chunk * chunk;
                let all = (begin..(begin + chunk).min(23)).all(|index| list.contains(&index));
                prop_assert_eq!(plan.covers(part, 23, chunk), all);
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
