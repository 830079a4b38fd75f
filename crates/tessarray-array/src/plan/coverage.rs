//! Whether a write replaces every element of a chunk, so that the old value need not be read.

use super::{Cell, Picks};
use tessarray_grid::chunk_count;

impl Picks {
    /// Whether a cell at `at` takes every element of its chunk that lies inside the array. The chunk spans `ratio`
    /// innermost chunks of shape `inner` along each axis. Points never count as covering.
    pub(crate) fn covers(
        &self,
        cell: &Cell,
        at: &[u64],
        ratio: &[u64],
        inner: &[u64],
        shape: &[u64],
    ) -> bool {
        let (Self::Axes(axes), Cell::Axes(ranges)) = (self, cell) else { return false };
        axes.iter().zip(ranges).enumerate().all(|(axis, (plan, range))| {
            let total = chunk_count(shape[axis], inner[axis]);
            let begin = at[axis] * ratio[axis];
            let inside = ratio[axis].min(total.saturating_sub(begin));
            range.len() as u64 == inside
                && range.clone().all(|part| plan.covers(&plan.part(part), shape[axis]))
        })
    }
}

/// Whether a chunk at `at` of shape `chunk` lies wholly inside the array.
pub(crate) fn is_inside(at: &[u64], chunk: &[u64], shape: &[u64]) -> bool {
    at.iter()
        .zip(chunk)
        .zip(shape)
        .all(|((&at, &chunk), &n)| (at + 1).checked_mul(chunk).is_some_and(|end| end <= n))
}
