//! Names of fields among what a user put between the brackets: `a["f"]`, `a["f", 1:3]`, `a[["f", "g"]]`.

use crate::errors::bad_selection;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyList, PyListMethods, PyString, PyTuple};
use tessarray::{DataType, Field};

/// The names in a key, and the key without them.
pub struct Named<'py> {
    /// One name, or a list of names.
    names: Bound<'py, PyAny>,
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
    let named = if is_names(key) {
        Named { names: key.clone(), rest: PyEllipsis::get(py).to_owned().into_any() }
    } else {
        let Ok(items) = key.cast::<PyTuple>() else { return Ok(None) };
        let (mut names, rest): (Vec<_>, Vec<_>) = items.iter().partition(is_names);
        match (names.pop(), names.is_empty()) {
            (None, _) => return Ok(None),
            (Some(names), true) => Named { names, rest: PyTuple::new(py, rest)?.into_any() },
            _ => return Err(bad_selection(py, "fields are named once: a name, or a list of names")),
        }
    };
    named.check(fields)?;
    Ok(Some(named))
}

impl<'py> Named<'py> {
    fn check(&self, fields: &[Field]) -> PyResult<()> {
        let names: Vec<String> = match self.names.extract::<String>() {
            Ok(name) => vec![name],
            Err(_) => self.names.extract()?,
        };
        let unknown = names.iter().find(|name| fields.iter().all(|field| field.name != **name));
        let Some(name) = unknown else { return Ok(()) };
        let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).take(20).collect();
        Err(bad_selection(self.names.py(), format!("no field {name:?}; there are {}", known.join(", "))))
    }

    /// These fields of elements that were read, as an array of its own.
    pub fn of(&self, values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = values.py();
        let found = values.get_item(&self.names)?;
        let repack = py.import("numpy.lib.recfunctions")?.getattr("repack_fields")?;
        let found = if is_name(&self.names) { found } else { repack.call1((found,))? };
        // Without the copy a field would keep the memory of all of them.
        found.call_method0("copy")
    }

    /// That a part of an element cannot be written.
    pub fn refuse_write(&self) -> PyErr {
        let names = self.names.repr().map_or_else(|_| "a field".to_owned(), |text| text.to_string());
        bad_selection(
            self.names.py(),
            format!(
                "{names} cannot be written alone, since elements are stored whole: read them, change the field, and \
                 write them back (values = a[...]; values[{names}] = new; a[...] = values)"
            ),
        )
    }
}
