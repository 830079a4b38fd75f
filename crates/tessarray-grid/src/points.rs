//! Single elements by coordinates, grouped by the chunk they lie in.

use crate::Dims;
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
    pub groups: Vec<PointGroup>,
    /// (C-order index of the element in its chunk, index in the output), in output order inside a group, so that of
    /// two writes to one element the later wins.
    pub pairs: Vec<(u64, u64)>,
}

impl PointPlan {
    /// Groups checked coordinate lists (one an axis) by chunks of this shape. Costs one sort of the points.
    pub fn new(lists: &[Vec<u64>], chunk: &[u64]) -> Self {
        let n = lists.first().map_or(1, Vec::len);
        let mut keyed: Vec<(Dims, u64, u64)> = (0..n)
            .map(|point| {
                let coordinates = lists.iter().zip(chunk).map(|(list, &c)| (list[point], c.max(1)));
                let at = coordinates.clone().map(|(index, c)| index / c).collect();
                let inside =
                    coordinates.fold(0u64, |sum, (index, c)| sum.wrapping_mul(c).wrapping_add(index % c));
                (at, inside, point as u64)
            })
            .collect();
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.2.cmp(&b.2)));
        let mut groups: Vec<PointGroup> = Vec::new();
        for (position, (at, _, _)) in keyed.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if group.chunk == *at => group.range.end = position + 1,
                _ => groups.push(PointGroup { chunk: at.clone(), range: position..position + 1 }),
            }
        }
        Self { groups, pairs: keyed.into_iter().map(|(_, inside, out)| (inside, out)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_grouped_by_chunk_and_keep_their_output_order() {
        let plan = PointPlan::new(&[vec![5, 0, 5, 1], vec![0, 7, 0, 6]], &[2, 4]);
        let chunks: Vec<_> =
            plan.groups.iter().map(|g| (g.chunk.to_vec(), plan.pairs[g.range.clone()].to_vec())).collect();
        assert_eq!(chunks, vec![(vec![0, 1], vec![(3, 1), (6, 3)]), (vec![2, 0], vec![(4, 0), (4, 2)]),]);
        assert_eq!(PointPlan::new(&[], &[]).pairs, vec![(0, 0)]);
    }
}
