//! Integers, slices, `...` and `None`: the path every small read takes, so it makes no Python calls.

use super::fancy;
use super::items::{Item, exact_integer, range, wrap};
use super::{Builder, Request};
use crate::errors::bad_selection;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple};
use tessarray::AxisSelection;

/// Parses `a[key]`: NumPy's basic indexing in full, and as much of its index arrays and masks as zarr-python takes.
pub fn parse(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Request> {
    let mut builder = Builder::new(shape);
    let simple = match key.cast_exact::<PyTuple>() {
        Ok(tuple) => parse_tuple(tuple, &mut builder)?,
        Err(_) => parse_one(key, &mut builder)?,
    };
    if simple { Ok(builder.finish()) } else { fancy::parse_basic(key, shape) }
}

/// `false` where the tuple has parts that are not simple; the builder is then to be thrown away.
fn parse_tuple(tuple: &Bound<'_, PyTuple>, builder: &mut Builder<'_>) -> PyResult<bool> {
    let py = tuple.py();
    let ellipsis = PyEllipsis::get(py);
    let rank = builder.shape.len();
    let mut ellipses = 0;
    let mut new_axes = 0;
    for item in tuple.iter_borrowed() {
        ellipses += usize::from(item.is(ellipsis));
        new_axes += usize::from(item.is_none());
    }
    let given = tuple.len() - ellipses - new_axes;
    if ellipses > 1 {
        return Err(bad_selection(py, "an index can only have a single ellipsis ('...')"));
    }
    let mut left = given;
    for item in tuple.iter_borrowed() {
        if item.is(ellipsis) {
            builder.whole(left);
        } else if item.is_none() {
            builder.new_axis();
        } else {
            if builder.axes.len() == rank {
                // A mask may take several axes at once; everything else takes one.
                return if is_simple(&item) { Err(too_many(py, rank, given)) } else { Ok(false) };
            }
            if !push(&item, builder)? {
                return Ok(false);
            }
            left -= 1;
        }
    }
    Ok(true)
}

fn parse_one(item: &Bound<'_, PyAny>, builder: &mut Builder<'_>) -> PyResult<bool> {
    let py = item.py();
    if item.is(PyEllipsis::get(py)) {
        return Ok(true);
    }
    if item.is_none() {
        builder.new_axis();
        return Ok(true);
    }
    if builder.shape.is_empty() && is_simple(item) {
        return Err(too_many(py, 0, 1));
    }
    push(item, builder)
}

pub fn too_many(py: Python<'_>, rank: usize, given: usize) -> PyErr {
    bad_selection(py, format!("too many indices: the array has {rank} dimensions, {given} were indexed"))
}

fn is_simple(item: &Bound<'_, PyAny>) -> bool {
    item.is_instance_of::<PyInt>() || item.is_instance_of::<PySlice>()
}

/// Adds an integer or a slice for the next axis; `false` for anything else.
#[inline]
fn push(item: &Bound<'_, PyAny>, builder: &mut Builder<'_>) -> PyResult<bool> {
    let axis = builder.axes.len();
    let Some(&extent) = builder.shape.get(axis) else { return Ok(false) };
    if let Some(index) = exact_integer(item) {
        builder.push(AxisSelection::run(wrap(item.py(), index, axis, extent)?, 1), false);
    } else if let Ok(slice) = item.cast_exact::<PySlice>() {
        builder.push(range(slice, extent)?, true);
    } else if let Item::Integer(index) = Item::of(item)? {
        builder.push(AxisSelection::run(wrap(item.py(), index, axis, extent)?, 1), false);
    } else {
        return Ok(false);
    }
    Ok(true)
}
