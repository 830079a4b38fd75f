//! Whether a write replaces every element of a chunk, so that the old value need not be read.

use super::{Cell, Picks};
use crate::layout::Layout;

impl Picks {
    /// Whether a cell takes every element of its chunk, or of what of it lies before the `end`, if one is given. The chunk
    /// spans `ratio` innermost chunks of `layout` along each axis, from `first` on. Points never count as covering.
    pub(crate) fn covers(
        &self,
        cell: &Cell,
        first: &[u64],
        ratio: &[u64],
        layout: &Layout,
        end: Option<&[u64]>,
    ) -> bool {
        let (Self::Axes(axes), Cell::Axes(ranges)) = (self, cell) else { return false };
        axes.iter().zip(ranges).enumerate().all(|(axis, (plan, range))| {
            let inside = match end {
                Some(end) => {
                    let total = layout.leaf_edges()[axis].count(end[axis]);
                    ratio[axis].min(total.saturating_sub(first[axis]))
                }
                None => ratio[axis],
            };
            let extent = end.map_or(u64::MAX, |end| end[axis]);
            range.len() as u64 == inside && range.clone().all(|part| plan.covers(&plan.part(part), extent))
        })
    }
}

/// Whether the innermost chunk at `at` lies wholly inside the array.
pub(crate) fn is_inside(at: &[u64], layout: &Layout, shape: &[u64]) -> bool {
    let axes = layout.leaf_edges().iter().zip(at).zip(shape);
    axes.into_iter()
        .all(|((edges, &at), &n)| edges.begin(at).checked_add(edges.length(at)).is_some_and(|end| end <= n))
}
