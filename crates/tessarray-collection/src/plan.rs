//! What is read of each of some arrays, and how its elements lie in one flat output.

use crate::collection::Collection;
use crate::error::Result;
use crate::find::{ReadPart, VariableArrays};
use std::collections::HashMap;
use tessarray_array::ArrayError;
use tessarray_buffer::{Arena, OutputView, Strides, c_strides};
use tessarray_grid::{AxisSlice, GridError, Selection};

/// A selection of arrays of one shape.
#[derive(Debug, Clone)]
pub struct Selected {
    selection: Selection,
    strides: Strides,
    elements: u64,
}

impl Selected {
    /// A selection whose axes have these strides, in elements, among the elements of one array.
    pub fn new(selection: Selection, strides: Strides) -> Self {
        let elements = selection.shape().iter().fold(1, |product: u64, &n| product.saturating_mul(n));
        Self { selection, strides, elements }
    }

    /// A selection whose elements lie in C order.
    pub fn c_ordered(selection: Selection) -> Self {
        let strides = c_strides(&selection.shape(), 1);
        Self::new(selection, strides)
    }

    /// The selection.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// How many elements it has.
    pub fn elements(&self) -> u64 {
        self.elements
    }
}

/// A read of many arrays of one variable, one after the other into one flat output. A selection is made once for all arrays
/// of one shape.
///
/// # Examples
/// ```no_run
/// # use tessarray_collection::{Collection, ReadPlan};
/// # use tessarray_grid::AxisSlice;
/// # use tessarray_buffer::{Arena, OutputView};
/// # fn example(collection: &Collection) -> tessarray_collection::Result<()> {
/// // The first ten values of "temperature" of every dataset that has it.
/// let found = collection.find("temperature", None)?;
/// let members: Vec<usize> = (0..found.members.len()).collect();
/// let plan = ReadPlan::strict(&found, &members, &[AxisSlice::run(0, 10)])?;
/// let mut bytes = vec![0; plan.total() as usize * 4];
/// let out = OutputView::new(&mut bytes, &[plan.total()], 4).map_err(tessarray_array::ArrayError::from)?;
/// collection.read(&found, &plan, out, &Arena::new())?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct ReadPlan {
    /// For each array: its number in [`VariableArrays::members`], and that of its selection.
    reads: Vec<(usize, usize)>,
    selected: Vec<Selected>,
    total: u64,
}

impl ReadPlan {
    /// Plans a read of `members`, numbers in [`VariableArrays::members`]. `key` says of each place which of several selections it
    /// gets; `select` is asked once for each key and shape, of the first member that has both.
    ///
    /// # Errors
    /// Those of `select`.
    pub fn new<E>(
        found: &VariableArrays,
        members: &[usize],
        key: impl Fn(usize) -> usize,
        mut select: impl FnMut(usize, usize) -> std::result::Result<Selected, E>,
    ) -> std::result::Result<Self, E> {
        let mut known: HashMap<(usize, usize), usize> = HashMap::new();
        let mut plan = Self::default();
        for (place, &member) in members.iter().enumerate() {
            let like = (key(place), found.members[member].shape);
            let number = match known.get(&like) {
                Some(&number) => number,
                None => {
                    plan.selected.push(select(like.0, member)?);
                    known.insert(like, plan.selected.len() - 1);
                    plan.selected.len() - 1
                }
            };
            plan.reads.push((member, number));
            plan.total = plan.total.saturating_add(plan.selected[number].elements);
        }
        Ok(plan)
    }

    /// The same slices of every array, in C order; whole axes for those that are not named. Nothing is clipped.
    ///
    /// # Errors
    /// Names the dataset, the variable and the shape of an array that has fewer axes, or that a slice reaches beyond.
    pub fn strict(found: &VariableArrays, members: &[usize], slices: &[AxisSlice]) -> Result<Self> {
        Self::new(
            found,
            members,
            |_| 0,
            |_, number| {
                let member = &found.members[number];
                let shape = &found.shapes[member.shape];
                let selection = select(slices, shape).map_err(|error| ArrayError::Argument {
                    what: format!("{}/{}, of shape {shape:?}", member.dataset, found.variable),
                    expected: "an array that has all that is selected".into(),
                    found: error.to_string(),
                })?;
                Ok(Selected::c_ordered(selection))
            },
        )
    }

    /// Elements in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// For each array, in the order of the output: its number in [`VariableArrays::members`], and that of its selection.
    pub fn reads(&self) -> &[(usize, usize)] {
        &self.reads
    }

    /// The selections, each once.
    pub fn selected(&self) -> &[Selected] {
        &self.selected
    }
}

fn select(slices: &[AxisSlice], shape: &[u64]) -> std::result::Result<Selection, GridError> {
    if slices.len() > shape.len() {
        return Err(GridError::Rank { expected: shape.len(), found: slices.len() });
    }
    let all = slices.iter().chain(std::iter::repeat(&AxisSlice::ALL));
    let axes = all.zip(shape).enumerate().map(|(axis, (slice, &extent))| slice.of_axis(axis, extent));
    Ok(Selection::Axes(axes.collect::<std::result::Result<_, _>>()?))
}

impl Collection {
    /// Reads what a plan says on the session's threads, one array after the other into `out`, which is flat and has
    /// [`ReadPlan::total`] elements of the arrays' size. Elements of variable length are put into `arena`.
    ///
    /// # Errors
    /// An output that does not fit; stored bytes that are damaged; a store that fails.
    pub fn read(
        &self,
        found: &VariableArrays,
        plan: &ReadPlan,
        out: OutputView<'_>,
        arena: &Arena,
    ) -> Result<()> {
        let item = isize::try_from(out.item()).unwrap_or(isize::MAX);
        let in_bytes =
            |selected: &Selected| selected.strides.iter().map(|n| n.saturating_mul(item)).collect();
        let strides: Vec<Strides> = plan.selected.iter().map(in_bytes).collect();
        let part = |place: usize| {
            let (member, number) = plan.reads[place];
            let Selected { selection, elements, .. } = &plan.selected[number];
            ReadPart { member, selection, strides: &strides[number], elements: *elements }
        };
        self.read_each(found, plan.reads.len(), &part, out, arena)
    }
}
