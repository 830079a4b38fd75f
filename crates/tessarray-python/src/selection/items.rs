//! The parts of an index: integers, slices, and arrays of indices.

use crate::errors::bad_selection;
use numpy::{PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PySliceMethods, PyTuple};
use tessarray::AxisSelection;

/// One part of an index.
pub enum Item<'py> {
    Integer(i64),
    Slice(Bound<'py, PySlice>),
    Ellipsis,
    NewAxis,
    /// 64-bit integers, any shape of at least one dimension.
    Indices(Bound<'py, PyUntypedArray>),
    /// Booleans, any shape.
    Mask(Bound<'py, PyUntypedArray>),
}

/// An exact Python integer; `None` for anything else, `bool` included.
#[inline]
pub fn exact_integer(item: &Bound<'_, PyAny>) -> Option<i64> {
    item.cast_exact::<PyInt>().ok().and_then(|value| value.extract().ok())
}

impl<'py> Item<'py> {
    /// Sorts out what `item` is; lists and array-likes become NumPy arrays.
    pub fn of(item: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = item.py();
        if let Some(value) = exact_integer(item) {
            return Ok(Self::Integer(value));
        }
        if let Ok(slice) = item.cast::<PySlice>() {
            return Ok(Self::Slice(slice.clone()));
        }
        if item.is_none() {
            return Ok(Self::NewAxis);
        }
        if item.is(PyEllipsis::get(py)) {
            return Ok(Self::Ellipsis);
        }
        if item.is_instance_of::<PyBool>() {
            return Err(bad_selection(py, "a single bool is not an index"));
        }
        if let Ok(array) = item.cast::<PyUntypedArray>() {
            return Self::of_array(array, item);
        }
        if let Ok(value) = item.extract::<i64>() {
            return Ok(Self::Integer(value));
        }
        if item.is_instance_of::<PyInt>() {
            return Err(bad_selection(py, format!("index {} is out of bounds for any axis", item.str()?)));
        }
        if item.hasattr("__len__")? && !item.is_instance_of::<pyo3::types::PyString>() {
            let array = py.import("numpy")?.call_method1("asarray", (item,));
            if let Ok(array) = array.and_then(|array| Ok(array.cast_into::<PyUntypedArray>()?)) {
                return Self::of_array(&array, item);
            }
        }
        Err(bad_selection(
            py,
            format!(
                "an index is an integer, slice, ..., None, or an array of integers or bools; found {}",
                item.repr()?
            ),
        ))
    }

    fn of_array(array: &Bound<'py, PyUntypedArray>, item: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = item.py();
        match numpy::PyArrayDescrMethods::kind(&array.dtype()) {
            b'b' => Ok(Self::Mask(array.clone())),
            b'i' | b'u' if array.ndim() == 0 => Ok(Self::Integer(item.call_method0("item")?.extract()?)),
            b'i' | b'u' => Ok(Self::Indices(as_int64(array)?)),
            b'f' if array.len() == 0 && array.ndim() == 1 => Ok(Self::Indices(as_int64(array)?)),
            _ => Err(bad_selection(
                py,
                format!("index arrays hold integers or bools; found dtype {}", array.dtype().as_any()),
            )),
        }
    }

    /// Whether this is an array of indices or a mask.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Indices(_) | Self::Mask(_))
    }
}

fn as_int64<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = array.py();
    let int64 = py.import("numpy")?.getattr("int64")?;
    if numpy::PyArrayDescrMethods::kind(&array.dtype()) == b'u' && array.len() > 0 {
        // Unsigned numbers over 2^63 must not come out negative.
        let largest: u64 = array.call_method0("max")?.extract()?;
        if i64::try_from(largest).is_err() {
            return Err(bad_selection(py, format!("index {largest} is out of bounds for any axis")));
        }
    }
    Ok(array.call_method1("astype", (int64,))?.cast_into()?)
}

/// The parts of an index; one that is not a tuple has one part.
pub fn items<'py>(key: &Bound<'py, PyAny>) -> PyResult<Vec<Item<'py>>> {
    match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|item| Item::of(&item)).collect(),
        Err(_) => Ok(vec![Item::of(key)?]),
    }
}

/// An index into an axis of `extent` elements; negative ones count from the end.
#[inline]
pub fn wrap(py: Python<'_>, index: i64, axis: usize, extent: u64) -> PyResult<u64> {
    let wrapped =
        if index < 0 { extent.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()) };
    match wrapped {
        Some(wrapped) if wrapped < extent => Ok(wrapped),
        _ => Err(bad_selection(
            py,
            format!("index {index} is out of bounds for axis {axis} with size {extent}"),
        )),
    }
}

/// A slice of an axis of `extent` elements, clipped as Python clips.
#[inline]
pub fn range(slice: &Bound<'_, PySlice>, extent: u64) -> PyResult<AxisSelection> {
    let clipped = slice.indices(isize::try_from(extent)?)?;
    let len = clipped.slicelength as u64;
    if len == 0 {
        return Ok(AxisSelection::run(0, 0));
    }
    Ok(AxisSelection::Range { start: clipped.start as u64, step: clipped.step as i64, len })
}

/// A flat copy of an index array, wrapped and in bounds.
pub fn indices(array: &Bound<'_, PyAny>, axis: usize, extent: u64) -> PyResult<Vec<u64>> {
    let py = array.py();
    let flat = array.call_method0("ravel")?.cast_into::<PyArray1<i64>>()?;
    let flat = flat.readonly();
    flat.as_slice()?.iter().map(|&index| wrap(py, index, axis, extent)).collect()
}

/// The positions at which a mask of one dimension is true.
pub fn mask_positions(mask: &Bound<'_, PyUntypedArray>, axis: usize, extent: u64) -> PyResult<Vec<u64>> {
    let py = mask.py();
    if mask.shape() != [usize::try_from(extent)?] {
        return Err(bad_selection(
            py,
            format!("a mask of shape {:?} does not fit axis {axis} with size {extent}", mask.shape()),
        ));
    }
    let positions = mask.call_method0("nonzero")?.get_item(0)?;
    indices(&positions, axis, extent)
}
