//! What a user put between the brackets, as the engine's selection and the shape the user sees.
//!
//! `basic` parses integers, slices, `...` and `None` with no call into Python; anything else goes to `fancy`.

mod basic;
mod fancy;
mod items;

pub use basic::parse;
pub use fancy::{parse_blocks, parse_orthogonal, parse_vectorized};

use tessarray::{AxisSelection, Dims, Selection, Strides};

/// How the dimensions the user sees relate to the engine's.
#[derive(Debug, Clone)]
pub enum Layout {
    /// For each dimension of the user: the axis of the array, or `None` for one that `None` put in. Axes that are
    /// not named were indexed with an integer.
    Axes(Vec<Option<usize>>),
    /// Single elements: the engine sees one dimension, the user the shape of the index arrays.
    Points,
}

/// A parsed selection.
#[derive(Debug, Clone)]
pub struct Request {
    pub selection: Selection,
    /// The shape of the result, as NumPy would give it.
    pub shape: Dims,
    pub layout: Layout,
}

impl Request {
    /// The whole array.
    pub fn all(shape: &[u64]) -> Self {
        let layout = Layout::Axes((0..shape.len()).map(Some).collect());
        Self { selection: Selection::all(shape), shape: Dims::from_slice(shape), layout }
    }

    /// Byte strides of the engine's dimensions over memory that has these strides along the user's. `None` where the
    /// points of a selection do not lie at equal distances.
    pub fn engine_strides(&self, strides: &[isize]) -> Option<Strides> {
        match (&self.layout, &self.selection) {
            (Layout::Axes(slots), Selection::Axes(axes)) => {
                let mut out = Strides::from_elem(0, axes.len());
                for (slot, &stride) in slots.iter().zip(strides) {
                    if let Some(axis) = slot.and_then(|axis| out.get_mut(axis)) {
                        *axis = stride;
                    }
                }
                Some(out)
            }
            _ => flat_stride(&self.shape, strides).map(|stride| Strides::from_slice(&[stride])),
        }
    }
}

/// The one distance between neighbours of an array seen as flat, if there is one.
fn flat_stride(shape: &[u64], strides: &[isize]) -> Option<isize> {
    let mut flat: Option<(isize, isize)> = None;
    for (&n, &stride) in shape.iter().zip(strides).rev() {
        let n = isize::try_from(n).ok()?;
        match flat {
            _ if n == 1 => {}
            None => flat = Some((stride, stride.checked_mul(n)?)),
            Some((_, expected)) if n > 0 && stride != expected => return None,
            Some((step, expected)) => flat = Some((step, expected.checked_mul(n)?)),
        }
    }
    Some(flat.map_or(0, |(step, _)| step))
}

/// Collects axes one after the other.
struct Builder<'a> {
    shape: &'a [u64],
    axes: Vec<AxisSelection>,
    slots: Vec<Option<usize>>,
    out: Dims,
}

impl<'a> Builder<'a> {
    fn new(shape: &'a [u64]) -> Self {
        let rank = shape.len();
        Self { shape, axes: Vec::with_capacity(rank), slots: Vec::with_capacity(rank), out: Dims::new() }
    }

    /// Takes the next axis; it stays a dimension of the result where `keep`.
    fn push(&mut self, selection: AxisSelection, keep: bool) {
        if keep {
            self.out.push(selection.len());
            self.slots.push(Some(self.axes.len()));
        }
        self.axes.push(selection);
    }

    fn new_axis(&mut self) {
        self.out.push(1);
        self.slots.push(None);
    }

    /// Takes whole axes until `rest` are left.
    fn whole(&mut self, rest: usize) {
        while self.axes.len() + rest < self.shape.len() {
            let n = self.shape[self.axes.len()];
            self.push(AxisSelection::run(0, n), true);
        }
    }

    fn finish(mut self) -> Request {
        self.whole(0);
        Request { selection: Selection::Axes(self.axes), shape: self.out, layout: Layout::Axes(self.slots) }
    }
}
