//! The output of a selection, cut into a tile per innermost chunk, so that workers may fill it together.

use super::Picks;
use crate::error::{ArrayError, Result};
use tessarray_buffer::{OutputView, Parts, Tiles};
use tessarray_grid::{AxisPlan, OutputCut, Run};

impl Picks {
    /// Cuts an output of the selection's shape. Part number `i` of an axis has the tiles of number `i` there; of single
    /// points, group number `i`. Costs a byte per innermost chunk.
    ///
    /// # Errors
    /// An output of another shape; no memory.
    pub(crate) fn tiles<'a>(&'a self, out: OutputView<'a>, streams: bool) -> Result<Tiles<'a>> {
        let tiles = match self {
            Self::Axes(axes) => Tiles::new(out, axes.iter().map(parts), streams),
            Self::Points(plan) => {
                let ranges = plan.groups.iter().map(|group| group.range.clone()).collect();
                Tiles::new(out, [Parts::Pairs { pairs: &plan.pairs, ranges }], streams)
            }
        };
        tiles.map_err(ArrayError::from)
    }
}

fn parts(axis: &AxisPlan) -> Parts<'_> {
    match axis.output_cut() {
        OutputCut::Even { size, offset, step, count } => Parts::Even { size, offset, step, count },
        OutputCut::Runs => Parts::Begins(
            (0..axis.len())
                .map(|i| match axis.part(i).run {
                    Run::Strided { out, .. } => out,
                    Run::Listed(_) => 0,
                })
                .collect(),
        ),
        OutputCut::Listed { parts, pairs } => {
            Parts::Pairs { pairs, ranges: parts.iter().map(|(_, range)| range.clone()).collect() }
        }
    }
}
