//! Datasets on their way into a transaction.

use crate::dtype;
use crate::errors::OrRaise;
use crate::json::to_map;
use crate::memory;
use crate::pack::PyTransaction;
use crate::session::{PySession, pick};
use crate::spec::SpecArguments;
use crate::variable;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::prelude::*;
use std::sync::Arc;
use tessarray::collection::{NewVariable, add, describe};
use tessarray::{Arena, Array, DataType, MemoryStore};

/// What arrays have in common that differ in shape and attributes only.
#[pyclass(name = "KindCore", module = "tessarray._native", frozen)]
pub struct PyKind {
    array: Array,
    data_type: DataType,
    descr: Py<PyArrayDescr>,
}

#[pymethods]
impl PyKind {
    /// From the arguments of `create_array` in their plain forms.
    #[new]
    #[pyo3(signature = (arguments, session = None))]
    fn new(
        py: Python<'_>,
        arguments: SpecArguments<'_>,
        session: Option<&Bound<'_, PySession>>,
    ) -> PyResult<Self> {
        let session = pick(py, session)?;
        let metadata = arguments.spec(py)?.metadata(&session).or_raise(py)?;
        let store = Arc::new(MemoryStore::new());
        let array = Array::from_metadata(&session, store, "", metadata).or_raise(py)?;
        let data_type = array.data_type();
        let descr = dtype::descr(py, &data_type)?.unbind();
        Ok(Self { array, data_type, descr })
    }
}

/// Name, kind, attributes, values, the bytes of one element that stands for no value, and distinct texts.
type Given<'py> = (
    String,
    Bound<'py, PyKind>,
    Option<Bound<'py, PyAny>>,
    Bound<'py, PyAny>,
    Option<Vec<u8>>,
    Option<Vec<String>>,
);

/// Puts a dataset into a transaction.
#[pyfunction]
#[pyo3(signature = (transaction, name, attributes, groups, variables, session = None))]
pub fn add_dataset<'py>(
    py: Python<'py>,
    transaction: &Bound<'py, PyTransaction>,
    name: &str,
    attributes: Option<&Bound<'py, PyAny>>,
    groups: Vec<(String, Bound<'py, PyAny>)>,
    variables: Vec<Given<'py>>,
    session: Option<&Bound<'py, PySession>>,
) -> PyResult<()> {
    let session = pick(py, session)?;
    let attributes = attributes.map(|map| to_map(map, "attributes")).transpose()?.unwrap_or_default();
    let groups = groups
        .into_iter()
        .map(|(path, attributes)| Ok((path, to_map(&attributes, "attributes")?)))
        .collect::<PyResult<Vec<_>>>()?;
    let arena = Arena::new();
    let mut arrays: Vec<Bound<'py, PyUntypedArray>> = Vec::with_capacity(variables.len());
    for (_, kind, _, values, ..) in &variables {
        let kind = kind.get();
        arrays.push(if kind.data_type.is_variable() {
            variable::from_python(values, &kind.data_type, &arena)?
        } else {
            memory::as_array(values, kind.descr.bind(py))?
        });
    }
    let mut new = Vec::with_capacity(variables.len());
    for ((name, kind, attributes, _, missing, texts), array) in variables.iter().zip(&arrays) {
        let kind = kind.get();
        let place = || format!("attributes of {name}");
        new.push(NewVariable {
            name: name.clone(),
            kind: &kind.array,
            shape: memory::shape(array).to_vec(),
            attributes: attributes.as_ref().map(|map| to_map(map, &place())).transpose()?.unwrap_or_default(),
            values: memory::whole_view(array),
            bytes: memory::bytes(array),
            missing: missing.clone(),
            texts: texts.clone(),
            arena: &arena,
        });
    }
    let store = transaction.get().transaction().store();
    py.detach(|| add(&session, &store, name, attributes, &groups, &new)).or_raise(py)
}

/// Stores what the values of an array of a transaction are; `false` for types without an order.
#[pyfunction]
#[pyo3(signature = (transaction, path, missing = None, texts = None, session = None))]
pub fn describe_array(
    py: Python<'_>,
    transaction: &Bound<'_, PyTransaction>,
    path: &str,
    missing: Option<Vec<u8>>,
    texts: Option<Vec<String>>,
    session: Option<&Bound<'_, PySession>>,
) -> PyResult<bool> {
    let session = pick(py, session)?;
    let store = transaction.get().transaction().store();
    py.detach(|| describe(&session, &store, path, missing.as_deref(), texts)).or_raise(py)
}
