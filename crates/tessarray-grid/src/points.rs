//! Single elements by coordinates, grouped by the chunk they lie in.

use crate::dims::Dims;
use crate::edges::Edges;
use std::ops::Range;

/// The points of one chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointGroup {
    /// The chunk's coordinates.
    pub chunk: Dims,
    /// Which of [`PointPlan::pairs`] lie in it.
    pub range: Range<usize>,
}

/// A point selection, sorted by chunk; chunks in C order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PointPlan {
    /// The chunks that are touched.
    pub groups: Vec<PointGroup>,
    /// (C-order index of the element in its chunk, index in the output), in output order inside a group, so that of
    /// two writes to one element the later wins.
    pub pairs: Vec<(u64, u64)>,
}

impl PointPlan {
    /// Groups checked coordinate lists (one an axis) by chunks of these lengths. Costs one sort of the points.
    pub fn new(lists: &[Vec<u64>], edges: &[Edges]) -> Self {
        match edges.iter().map(Edges::each).collect::<Option<Dims>>() {
            Some(chunk) => Self::equal(lists, &chunk),
            None => Self::listed(lists, edges),
        }
    }

    fn equal(lists: &[Vec<u64>], chunk: &[u64]) -> Self {
        let n = lists.first().map_or(1, Vec::len);
        let axes = || lists.iter().zip(chunk).map(|(list, &c)| (list, c.max(1)));
        let chunk_of = |point: u64| axes().map(move |(list, c)| list[point as usize] / c);
        let mut order: Vec<u64> = (0..n as u64).collect();
        match numbers(lists, chunk) {
            // Points of one chunk stay in their order.
            Some(numbers) => order.sort_by_key(|&point| numbers[point as usize]),
            None => order.sort_by(|&a, &b| chunk_of(a).cmp(chunk_of(b))),
        }
        let inside = |point: u64| {
            axes().fold(0u64, |sum, (list, c)| sum.wrapping_mul(c).wrapping_add(list[point as usize] % c))
        };
        Self::grouped(order, chunk_of, inside)
    }

    /// The same for listed lengths: every coordinate is looked up once.
    fn listed(lists: &[Vec<u64>], edges: &[Edges]) -> Self {
        let n = lists.first().map_or(1, Vec::len);
        let chunks: Vec<Vec<u64>> = lists
            .iter()
            .zip(edges)
            .map(|(list, edges)| list.iter().map(|&index| edges.chunk_of(index)).collect())
            .collect();
        let chunk_of = |point: u64| chunks.iter().map(move |list| list[point as usize]);
        let mut order: Vec<u64> = (0..n as u64).collect();
        order.sort_by(|&a, &b| chunk_of(a).cmp(chunk_of(b)));
        let inside = |point: u64| {
            lists.iter().zip(edges).zip(chunk_of(point)).fold(0u64, |sum, ((list, edges), chunk)| {
                let at = list[point as usize] - edges.begin(chunk);
                sum.wrapping_mul(edges.length(chunk)).wrapping_add(at)
            })
        };
        Self::grouped(order, chunk_of, inside)
    }

    /// Groups points that are sorted by their chunks.
    fn grouped<I: Iterator<Item = u64>>(
        order: Vec<u64>,
        chunk_of: impl Fn(u64) -> I,
        inside: impl Fn(u64) -> u64,
    ) -> Self {
        let mut groups: Vec<PointGroup> = Vec::new();
        for (position, &point) in order.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if chunk_of(point).eq(group.chunk.iter().copied()) => {
                    group.range.end = position + 1
                }
                _ => {
                    groups
                        .push(PointGroup { chunk: chunk_of(point).collect(), range: position..position + 1 });
                }
            }
        }
        Self { groups, pairs: order.into_iter().map(|point| (inside(point), point)).collect() }
    }
}

/// The number in C order of each point's chunk, among those up to the last along each axis; `None` where there are too many.
fn numbers(lists: &[Vec<u64>], chunk: &[u64]) -> Option<Vec<u64>> {
    let mut numbers = vec![0; lists.first().map_or(1, Vec::len)];
    let mut all = 1u64;
    for (list, &c) in lists.iter().zip(chunk) {
        let c = c.max(1);
        let n = (list.iter().max().copied().unwrap_or(0) / c).checked_add(1)?;
        all = all.checked_mul(n)?;
        numbers.iter_mut().zip(list).for_each(|(number, index)| *number = *number * n + index / c);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn each(chunk: &[u64]) -> Vec<Edges> {
        chunk.iter().map(|&n| Edges::Each(n)).collect()
    }

    proptest! {
        #[test]
        fn equal_lengths_that_are_listed_give_the_same_plan(
            points in prop::collection::vec((0u64..20, 0u64..15), 0..30), chunk in 1u64..7,
        ) {
            let lists = vec![points.iter().map(|p| p.0).collect(), points.iter().map(|p| p.1).collect()];
            let listed = [Edges::listed([(chunk, 20)]).unwrap(), Edges::Each(4)];
            prop_assert_eq!(PointPlan::new(&lists, &listed), PointPlan::new(&lists, &each(&[chunk, 4])));
        }
    }

    #[test]
    fn points_are_grouped_by_chunk_and_keep_their_output_order() {
        let plan = PointPlan::new(&[vec![5, 0, 5, 1], vec![0, 7, 0, 6]], &each(&[2, 4]));
        let chunks: Vec<_> =
            plan.groups.iter().map(|g| (g.chunk.to_vec(), plan.pairs[g.range.clone()].to_vec())).collect();
        assert_eq!(chunks, vec![(vec![0, 1], vec![(3, 1), (6, 3)]), (vec![2, 0], vec![(4, 0), (4, 2)]),]);
        assert_eq!(PointPlan::new(&[], &[]).pairs, vec![(0, 0)]);
        assert_eq!(PointPlan::new(&[vec![], vec![]], &each(&[2, 4])), PointPlan::default());
    }

    #[test]
    fn chunks_that_have_no_number_are_in_the_same_order() {
        let far = u64::MAX / 2;
        let lists = [vec![far, 3, far, 0], vec![1, far, 0, far], vec![far, 2, far, 2]];
        assert_eq!(numbers(&lists, &[2, 4, 1]), None);
        let plan = PointPlan::new(&lists, &each(&[2, 4, 1]));
        let points: Vec<u64> = plan.pairs.iter().map(|&(_, point)| point).collect();
        assert_eq!(points, [3, 1, 0, 2]);
        let near = lists.map(|list| list.iter().map(|&index| index.min(9)).collect::<Vec<_>>());
        assert!(numbers(&near, &[2, 4, 1]).is_some());
        let near: Vec<u64> =
            PointPlan::new(&near, &each(&[2, 4, 1])).pairs.iter().map(|&(_, point)| point).collect();
        assert_eq!(near, points);
        assert_eq!(plan.groups.len(), 3);
    }
}
