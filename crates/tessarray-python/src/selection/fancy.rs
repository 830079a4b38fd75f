//! Index arrays and masks, in the three ways zarr-python knows: mixed into `[]`, orthogonal, and by coordinates; and
//! selections by whole chunks.

use super::basic::too_many;
use super::items::{Item, indices, items, mask_positions, range, wrap};
use super::{Builder, Layout, Request};
use crate::errors::bad_selection;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple, PyTupleMethods};
use tessarray::{AxisSelection, Dims, Edges, Selection};

/// `a[key]` with an index array or a mask in it.
///
/// 1. A mask of the array's own shape selects single elements, in C order.
/// 2. Integers and integer arrays for every axis, at least one an array: single elements, as `vindex`.
/// 3. One array, or one for each axis, among integers and slices: orthogonal, as `oindex`.
///
/// Anything else is refused rather than guessed at.
pub fn parse_basic(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Request> {
    let py = key.py();
    let parts = items(key)?;
    if let [Item::Mask(mask)] = parts.as_slice()
        && mask.ndim() == shape.len()
    {
        return by_mask(mask, shape);
    }
    let arrays = parts.iter().filter(|part| part.is_array()).count();
    let pointlike = |part: &Item<'_>| matches!(part, Item::Integer(_) | Item::Indices(_));
    if arrays > 0 && parts.len() == shape.len() && parts.iter().all(pointlike) {
        return by_points(py, &parts, shape);
    }
    if arrays <= 1 || (parts.len() == shape.len() && arrays == parts.len()) {
        return orthogonal(py, &parts, shape);
    }
    Err(bad_selection(
        py,
        "several index arrays mixed with slices are ambiguous: use oindex for their product, vindex for their pairs",
    ))
}

/// `a.oindex[key]`: each axis on its own; integers, slices, integer arrays and masks of one dimension.
pub fn parse_orthogonal(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Request> {
    orthogonal(key.py(), &items(key)?, shape)
}

/// `a.vindex[key]`: single elements by integer arrays for all axes, broadcast together; or a mask of the array's shape.
pub fn parse_vectorized(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Request> {
    let py = key.py();
    let parts = items(key)?;
    if let [Item::Mask(mask)] = parts.as_slice() {
        return by_mask(mask, shape);
    }
    if parts.len() == shape.len()
        && parts.iter().all(|part| matches!(part, Item::Integer(_) | Item::Indices(_)))
    {
        return by_points(py, &parts, shape);
    }
    Err(bad_selection(
        py,
        format!(
            "vindex takes one array of integers for each of the {} axes, or a mask of the array's shape",
            shape.len()
        ),
    ))
}

/// `a.blocks[key]`: whole chunks (shards, where the array has them) by their place in the grid; integers and slices.
pub fn parse_blocks(key: &Bound<'_, PyAny>, shape: &[u64], edges: &[Edges]) -> PyResult<Request> {
    let py = key.py();
    let parts = items(key)?;
    let mut builder = Builder::new(shape);
    let mut left = parts.iter().filter(|part| !matches!(part, Item::Ellipsis)).count();
    if left > shape.len() {
        return Err(too_many(py, shape.len(), left));
    }
    for part in &parts {
        let axis = builder.axes.len();
        let extent = shape.get(axis).copied().unwrap_or(0);
        let edges = edges.get(axis).unwrap_or(&Edges::Each(1));
        let blocks = edges.count(extent);
        let (first, count) = match part {
            Item::Ellipsis => {
                builder.whole(left);
                continue;
            }
            Item::Integer(index) => (wrap(py, *index, axis, blocks)?, 1),
            Item::Slice(slice) => match range(slice, blocks)? {
                AxisSelection::Range { start, step: 1, len } => {
                    starts_in_grid(slice, axis, blocks)?;
                    (start, len)
                }
                _ => return Err(bad_selection(py, "slices of blocks have step 1")),
            },
            _ => return Err(bad_selection(py, "blocks are selected by integers and slices")),
        };
        let start = edges.begin(first);
        let end = edges.begin(first.saturating_add(count)).min(extent);
        builder.push(AxisSelection::run(start, end.saturating_sub(start)), true);
        left -= 1;
    }
    Ok(builder.finish())
}

/// Refuses a slice of blocks whose start, where it is written out, is no block of the grid: there is nothing to read,
/// and what is written would be lost. The end is cut off at the grid, as zarr-python cuts it.
fn starts_in_grid(slice: &Bound<'_, PySlice>, axis: usize, blocks: u64) -> PyResult<()> {
    let start = slice.getattr("start")?;
    let unsaid = start.is_none() || start.eq(0)?;
    if unsaid || (start.lt(blocks)? && start.ge(-i128::from(blocks))?) {
        return Ok(());
    }
    let message = format!("axis {axis}: a slice of blocks starts at {start}, but there are {blocks} blocks");
    Err(bad_selection(slice.py(), message))
}

fn orthogonal(py: Python<'_>, parts: &[Item<'_>], shape: &[u64]) -> PyResult<Request> {
    let given = parts.iter().filter(|part| !matches!(part, Item::Ellipsis | Item::NewAxis)).count();
    if given > shape.len() {
        return Err(too_many(py, shape.len(), given));
    }
    if parts.iter().filter(|part| matches!(part, Item::Ellipsis)).count() > 1 {
        return Err(bad_selection(py, "an index can only have a single ellipsis ('...')"));
    }
    let mut builder = Builder::new(shape);
    let mut left = given;
    for part in parts {
        let axis = builder.axes.len();
        let extent = shape.get(axis).copied().unwrap_or(0);
        match part {
            Item::Ellipsis => {
                builder.whole(left);
                continue;
            }
            Item::NewAxis => {
                builder.new_axis();
                continue;
            }
            Item::Integer(index) => {
                builder.push(AxisSelection::run(wrap(py, *index, axis, extent)?, 1), false)
            }
            Item::Slice(slice) => builder.push(range(slice, extent)?, true),
            Item::Indices(array) if array.ndim() == 1 => {
                builder.push(AxisSelection::List(indices(array, axis, extent)?), true);
            }
            Item::Mask(mask) if mask.ndim() == 1 => {
                builder.push(AxisSelection::List(mask_positions(mask, axis, extent)?), true);
            }
            Item::Indices(array) | Item::Mask(array) => {
                return Err(bad_selection(
                    py,
                    format!(
                        "axis {axis}: an index array of {} dimensions where one is expected",
                        array.ndim()
                    ),
                ));
            }
        }
        left -= 1;
    }
    Ok(builder.finish())
}

fn by_mask(mask: &Bound<'_, PyUntypedArray>, shape: &[u64]) -> PyResult<Request> {
    let py = mask.py();
    if !mask.shape().iter().map(|&n| n as u64).eq(shape.iter().copied()) {
        let message = format!("a mask of shape {:?} does not fit an array of shape {shape:?}", mask.shape());
        return Err(bad_selection(py, message));
    }
    let found = mask.call_method0("nonzero")?.cast_into::<PyTuple>()?;
    let lists: Vec<Vec<u64>> = found
        .iter()
        .zip(shape)
        .enumerate()
        .map(|(axis, (list, &extent))| indices(&list, axis, extent))
        .collect::<PyResult<_>>()?;
    let count = lists.first().map_or(0, Vec::len) as u64;
    Ok(Request {
        selection: Selection::Points(lists),
        shape: Dims::from_slice(&[count]),
        layout: Layout::Points,
    })
}

fn by_points(py: Python<'_>, parts: &[Item<'_>], shape: &[u64]) -> PyResult<Request> {
    let mut arrays = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Item::Integer(index) => arrays.push(index.into_pyobject(py)?.into_any()),
            Item::Indices(array) => arrays.push(array.clone().into_any()),
            _ => return Err(bad_selection(py, "coordinates are integers")),
        }
    }
    let numpy = py.import("numpy")?;
    let broadcast = numpy.call_method1("broadcast_arrays", PyTuple::new(py, arrays)?);
    let broadcast =
        broadcast.map_err(|error| bad_selection(py, format!("coordinates: {}", error.value(py))))?;
    let mut lists = Vec::with_capacity(shape.len());
    let mut seen = Dims::from_slice(&[1]);
    for (axis, (list, &extent)) in broadcast.try_iter()?.zip(shape).enumerate() {
        let list = list?;
        lists.push(indices(&list, axis, extent)?);
        let list = list.cast::<PyUntypedArray>()?;
        if list.ndim() > 0 {
            seen = list.shape().iter().map(|&n| n as u64).collect();
        }
    }
    Ok(Request { selection: Selection::Points(lists), shape: seen, layout: Layout::Points })
}
