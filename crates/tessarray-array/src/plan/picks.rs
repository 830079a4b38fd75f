//! A selection cut at innermost-chunk boundaries, and its parts per object, shard and chunk.

use crate::layout::Layout;
use smallvec::SmallVec;
use std::ops::Range;
use tessarray_grid::{AxisGroups, AxisPlan, Dims, Odometer, PointPlan, Selection};

/// The part of a selection that lies in one object, shard or chunk.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// One range of parts an axis.
    Axes(SmallVec<[Range<usize>; 4]>),
    /// A range of point groups.
    Points(Range<usize>),
}

/// A cell one level down, with the coordinates (in units of that level's chunks, over the whole array) it lies at.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub at: Dims,
    pub cell: Cell,
}

/// A selection, cut.
#[derive(Debug)]
pub(crate) enum Picks {
    Axes(Vec<AxisPlan>),
    Points(PointPlan),
}

impl Picks {
    /// Cuts a checked selection for this layout.
    pub(crate) fn new(selection: &Selection, layout: &Layout) -> Self {
        match selection {
            Selection::Axes(axes) => Self::Axes(
                axes.iter()
                    .zip(layout.leaf_edges())
                    .map(|(axis, edges)| AxisPlan::new(axis, edges))
                    .collect(),
            ),
            Selection::Points(lists) => {
                let mut plan = PointPlan::new(lists, layout.leaf_edges());
                // Groups of one object, and of each shard in it, must be neighbours.
                let ratios: Vec<Dims> =
                    (0..layout.levels.len()).map(|level| layout.child_ratio(level)).collect();
                let coarse = |at: &Dims, ratio: &Dims| -> Dims {
                    at.iter().zip(ratio).map(|(&i, &r)| i / r).collect()
                };
                if !layout.levels.is_empty() {
                    plan.groups.sort_by_cached_key(|group| -> SmallVec<[Dims; 2]> {
                        let shards = ratios.iter().map(|ratio| coarse(&group.chunk, ratio));
                        std::iter::once(layout.object_of(&group.chunk)).chain(shards).collect()
                    });
                }
                Self::Points(plan)
            }
        }
    }

    /// How many innermost chunks are touched.
    pub(crate) fn leaf_count(&self) -> u64 {
        match self {
            Self::Axes(axes) => axes.iter().fold(1, |n: u64, axis| n.saturating_mul(axis.len() as u64)),
            Self::Points(plan) => plan.groups.len() as u64,
        }
    }

    fn everything(&self) -> Cell {
        match self {
            Self::Axes(axes) => Cell::Axes(axes.iter().map(|axis| 0..axis.len()).collect()),
            Self::Points(plan) => Cell::Points(0..plan.groups.len()),
        }
    }

    /// The objects that are touched, as a list that is made piece by piece.
    pub(crate) fn objects(&self, layout: &Layout) -> Children {
        let all = self.everything();
        if layout.is_regular() || layout.levels.is_empty() {
            return self.children(&all, &layout.object_ratio());
        }
        match (self, &all) {
            (Self::Axes(axes), Cell::Axes(ranges)) => {
                let groups = axes.iter().zip(ranges).zip(layout.edges());
                Children::Axes(groups.map(|((axis, range), edges)| axis.groups_by(range, edges)).collect())
            }
            (Self::Points(plan), Cell::Points(range)) => {
                Children::Points(point_groups(plan, range, |leaf| layout.object_of(leaf)))
            }
            _ => Children::Points(Vec::new()),
        }
    }

    /// Splits a cell into children that span `ratio` innermost chunks along each axis.
    pub(crate) fn children(&self, cell: &Cell, ratio: &[u64]) -> Children {
        match (self, cell) {
            (Self::Axes(axes), Cell::Axes(ranges)) => {
                let groups =
                    axes.iter().zip(ranges).zip(ratio).map(|((axis, range), &r)| axis.groups(range, r));
                Children::Axes(groups.collect())
            }
            (Self::Points(plan), Cell::Points(range)) => {
                let coarse =
                    |leaf: &Dims| -> Dims { leaf.iter().zip(ratio).map(|(&c, &r)| c / r.max(1)).collect() };
                Children::Points(point_groups(plan, range, coarse))
            }
            _ => Children::Points(Vec::new()),
        }
    }

    /// The innermost chunk of a leaf.
    pub(crate) fn leaf_chunk(&self, cell: &Cell) -> Dims {
        match (self, cell) {
            (Self::Axes(axes), Cell::Axes(ranges)) => {
                axes.iter().zip(ranges).map(|(axis, range)| axis.part(range.start).chunk).collect()
            }
            (Self::Points(plan), Cell::Points(range)) => plan.groups[range.start].chunk.clone(),
            _ => Dims::new(),
        }
    }
}

/// The children of a cell.
#[derive(Debug)]
pub(crate) enum Children {
    /// Groups of parts an axis; the children are their outer product.
    Axes(Vec<AxisGroups>),
    Points(Vec<Child>),
}

impl Children {
    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Axes(groups) => groups.iter().fold(1u64, |n, axis| n.saturating_mul(axis.len())),
            Self::Points(list) => list.len() as u64,
        }
    }

    /// Number `index`, counted in C order.
    #[expect(clippy::cast_possible_truncation, reason = "a place in a list")]
    pub(crate) fn get(&self, index: u64) -> Child {
        match self {
            Self::Axes(groups) => {
                let shape: Dims = groups.iter().map(|axis| axis.len()).collect();
                let mut which = Dims::new();
                tessarray_grid::unravel(index, &shape, &mut which);
                Self::pick(groups, &which)
            }
            Self::Points(list) => list[index as usize].clone(),
        }
    }

    /// The child at these coordinates, where the selection touches it.
    pub(crate) fn find(&self, at: &[u64]) -> Option<Child> {
        match self {
            Self::Axes(groups) => {
                let which: Option<Dims> = groups.iter().zip(at).map(|(axis, &at)| axis.find(at)).collect();
                which.map(|which| Self::pick(groups, &which))
            }
            Self::Points(list) => {
                // Points are sorted by object, shard and chunk, so the children of one cell are in C order.
                list.binary_search_by(|child| child.at[..].cmp(at)).ok().map(|i| list[i].clone())
            }
        }
    }

    fn pick(groups: &[AxisGroups], which: &[u64]) -> Child {
        let mut child = Child { at: Dims::new(), cell: Cell::Axes(SmallVec::new()) };
        if let Cell::Axes(ranges) = &mut child.cell {
            for (axis, &i) in groups.iter().zip(which) {
                let (at, range) = axis.get(i);
                child.at.push(at);
                ranges.push(range);
            }
        }
        child
    }

    /// Visits all of them.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Child)) {
        match self {
            Self::Axes(groups) => {
                let shape: Dims = groups.iter().map(|axis| axis.len()).collect();
                let mut odometer = Odometer::new(&shape);
                while let Some(which) = odometer.current() {
                    visit(Self::pick(groups, which));
                    odometer.advance();
                }
            }
            Self::Points(list) => list.iter().cloned().for_each(visit),
        }
    }
}

fn point_groups(plan: &PointPlan, range: &Range<usize>, coarse: impl Fn(&Dims) -> Dims) -> Vec<Child> {
    let mut children: Vec<Child> = Vec::new();
    for i in range.clone() {
        let at = coarse(&plan.groups[i].chunk);
        match children.last_mut() {
            Some(Child { at: last, cell: Cell::Points(points) }) if *last == at => points.end = i + 1,
            _ => children.push(Child { at, cell: Cell::Points(i..i + 1) }),
        }
    }
    children
}
