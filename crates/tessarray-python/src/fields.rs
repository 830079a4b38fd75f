//! Names of fields among what a user put between the brackets: `a["f"]`, `a["f", 1:3]`, `a[["f", "g"]]`.

use crate::errors::bad_selection;
use crate::memory;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyList, PyListMethods, PyString, PyTuple};
use tessarray::{DataType, Field};

/// The names in a key, and the key without them.
pub struct Named<'py> {
    /// One name, or a list of names.
    names: Bound<'py, PyAny>,
    /// Their places in the type.
    pub places: Vec<usize>,
    pub rest: Bound<'py, PyAny>,
}

fn is_names(item: &Bound<'_, PyAny>) -> bool {
    let all_text = |list: &Bound<'_, PyList>| !list.is_empty() && list.iter().all(|item| is_name(&item));
    is_name(item) || item.cast::<PyList>().is_ok_and(all_text)
}

fn is_name(item: &Bound<'_, PyAny>) -> bool {
    item.is_instance_of::<PyString>()
}

/// Takes the names out of a key for an array of this type; `None` where there are none.
///
/// # Errors
/// A name that no field has, or names in two places.
pub fn split<'py>(data_type: &DataType, key: &Bound<'py, PyAny>) -> PyResult<Option<Named<'py>>> {
    let DataType::Struct(fields) = data_type else { return Ok(None) };
    let py = key.py();
    let (names, rest) = if is_names(key) {
        (key.clone(), PyEllipsis::get(py).to_owned().into_any())
    } else {
        let Ok(items) = key.cast::<PyTuple>() else { return Ok(None) };
        let (mut names, rest): (Vec<_>, Vec<_>) = items.iter().partition(is_names);
        match (names.pop(), names.is_empty()) {
            (None, _) => return Ok(None),
            (Some(names), true) => (names, PyTuple::new(py, rest)?.into_any()),
            _ => return Err(bad_selection(py, "fields are named once: a name, or a list of names")),
        }
    };
    let places = places(fields, &names)?;
    Ok(Some(Named { names, places, rest }))
}

/// The places in a type of the fields with these names.
fn places(fields: &[Field], names: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let wanted: Vec<String> = match names.extract::<String>() {
        Ok(name) => vec![name],
        Err(_) => names.extract()?,
    };
    let place = |name: &String| {
        fields.iter().position(|field| field.name == *name).ok_or_else(|| {
            let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).take(20).collect();
            bad_selection(names.py(), format!("no field {name:?}; there are {}", known.join(", ")))
        })
    };
    wanted.iter().map(place).collect()
}

impl<'py> Named<'py> {
    /// These fields of elements that were read, as an array of its own.
    pub fn of(&self, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = values.py();
        let found = values.get_item(&self.names)?;
        let repack = py.import("numpy.lib.recfunctions")?.getattr("repack_fields")?;
        let found = if is_name(&self.names) { found } else { repack.call1((found,))? };
        // Without the copy a field would keep the memory of all of them.
        found.call_method0("copy")
    }

    /// A value for these fields as elements of the whole type, of which only these count: of the value's shape, converted as
    /// NumPy's assignment does. Masked elements become the fields' part of `fill`.
    pub fn elements(
        &self,
        value: &Bound<'py, PyAny>,
        descr: &Bound<'py, PyArrayDescr>,
        fill: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let py = value.py();
        let numpy = py.import("numpy")?;
        let part = descr.get_item(&self.names)?;
        let part = if is_name(&self.names) {
            part
        } else {
            py.import("numpy.lib.recfunctions")?.getattr("repack_fields")?.call1((part,))?
        };
        let value = memory::filled(value, || fill()?.get_item(&self.names))?;
        let value = memory::as_array(&value, part.cast::<PyArrayDescr>()?)?;
        let elements = numpy.call_method1("zeros", (value.getattr("shape")?, descr))?;
        elements.set_item(&self.names, value)?;
        Ok(elements.cast_into()?)
    }
}
