//! Strings and byte strings of any length: Python objects on one side, references into an arena on the other.

use crate::errors::{Failure, OrRaise, invalid};
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use tessarray::{Arena, ArrayError, DataType, VarItem};

/// Zeroed items of so many elements, for a read to fill.
///
/// # Errors
/// [`ArrayError::Memory`] where there is none for them.
pub fn items(elements: u64) -> Result<Vec<u8>, ArrayError> {
    let len = elements.saturating_mul(VarItem::SIZE as u64);
    let mut items = Vec::new();
    reserve(&mut items, len)?;
    items.resize(usize::try_from(len).unwrap_or(0), 0);
    Ok(items)
}

/// Makes room for `more` elements behind those that are there.
fn reserve<T>(values: &mut Vec<T>, more: u64) -> Result<(), ArrayError> {
    let bytes = more.saturating_mul(size_of::<T>() as u64);
    let none = ArrayError::Memory { what: "elements of any length", bytes };
    values.try_reserve(usize::try_from(more).unwrap_or(usize::MAX)).map_err(|_| none)
}

/// Items as Python objects, in an array of `descr` and this shape.
pub fn to_python<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    data_type: &DataType,
    items: &[u8],
    arena: &Arena,
    shape: &[u64],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = descr.py();
    let buffers = arena.buffers();
    let list = PyList::empty(py);
    for item in items.as_chunks::<{ VarItem::SIZE }>().0 {
        let bytes = match Arena::resolve(&buffers, VarItem::from_bytes(item)) {
            Some(bytes) => bytes,
            // The zero item, in chunks that hold nothing but empty elements.
            None if *item == [0; VarItem::SIZE] => &[],
            None => return Err(Failure::new("CorruptError", "an element points outside its chunk").raise(py)),
        };
        if *data_type == DataType::String {
            match std::str::from_utf8(bytes) {
                Ok(text) => list.append(PyString::from_bytes(py, text.as_bytes())?)?,
                Err(error) => {
                    let message = format!("a string is not valid UTF-8: {error}");
                    return Err(Failure::new("CorruptError", message).raise(py));
                }
            }
        } else {
            list.append(py_bytes(py, bytes)?)?;
        }
    }
    let numpy = py.import("numpy")?;
    let flat = numpy.call_method1("empty", (list.len(), descr))?;
    flat.set_item(pyo3::types::PySlice::full(py), list)?;
    Ok(flat.call_method1("reshape", (PyTuple::new(py, shape)?,))?.cast_into()?)
}

/// The elements of any array-like of `str` (or of `bytes`) as items in a new array of 16-byte raw elements, the bytes
/// themselves in `arena`.
pub fn from_python<'py>(
    value: &Bound<'py, PyAny>,
    data_type: &DataType,
    arena: &Arena,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = value.py();
    let numpy = py.import("numpy")?;
    let objects = if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        let array = numpy.call_method1("empty", (PyTuple::empty(py), "O"))?;
        array.set_item(PyTuple::empty(py), value)?;
        array
    } else {
        numpy.call_method1("asarray", (value, "O"))?
    };
    let flat = objects.call_method0("ravel")?.call_method0("tolist")?.cast_into::<PyList>()?;
    let mut bytes = Vec::new();
    let mut spans = Vec::new();
    reserve(&mut spans, flat.len() as u64).or_raise(py)?;
    let mut add = |value: &[u8]| {
        reserve(&mut bytes, value.len() as u64)?;
        spans.push((bytes.len(), value.len()));
        bytes.extend_from_slice(value);
        Ok::<_, ArrayError>(())
    };
    for element in flat.iter() {
        if *data_type == DataType::String {
            match element.cast::<PyString>() {
                Ok(text) => add(text.to_str()?.as_bytes()).or_raise(py)?,
                Err(_) => return Err(wrong(&element, "str")?),
            }
        } else {
            match element.cast::<PyBytes>() {
                Ok(value) => add(value.as_bytes()).or_raise(py)?,
                Err(_) => return Err(wrong(&element, "bytes")?),
            }
        }
    }
    let buffer = arena.push(bytes);
    let mut items = Vec::new();
    reserve(&mut items, spans.len().saturating_mul(VarItem::SIZE) as u64).or_raise(py)?;
    for (offset, len) in spans {
        let Ok(len) = u32::try_from(len) else {
            return Err(invalid(py, format!("an element of {len} bytes is over the limit of 4 GiB")));
        };
        items.extend_from_slice(&VarItem { buffer, len, offset: offset as u64 }.to_bytes());
    }
    // `frombuffer` refuses an empty buffer.
    let raw = if items.is_empty() {
        numpy.call_method1("empty", (0, "V16"))?
    } else {
        numpy.call_method1("frombuffer", (py_bytes(py, &items)?, "V16"))?
    };
    Ok(raw.call_method1("reshape", (objects.getattr("shape")?,))?.cast_into()?)
}

/// Python's bytes; a `MemoryError` where there is no memory for them, of which `PyBytes::new` makes a panic.
fn py_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |room| {
        room.copy_from_slice(bytes);
        Ok(())
    })
}

fn wrong(element: &Bound<'_, PyAny>, wanted: &str) -> PyResult<PyErr> {
    let found = element.get_type().qualname()?;

    Ok(Failure::new("InvalidTypeError", format!("elements of this array are {wanted}, found {found}"))
        .raise(element.py()))
}
