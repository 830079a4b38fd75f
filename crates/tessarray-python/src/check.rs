//! Looking for damage in stores.

use crate::errors::OrRaise;
use crate::session::{PySession, pick};
use crate::store::PyStore;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;
use tessarray::Finding;

/// A finding as a dict of the fields of `tessarray.Finding`.
pub fn finding<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("kind", finding.kind.name())?;
    dict.set_item("key", &finding.key)?;
    let chunk = finding.chunk.as_ref().map(|chunk| PyTuple::new(py, chunk)).transpose()?;
    dict.set_item("chunk", chunk)?;
    dict.set_item("message", &finding.message)?;
    dict.set_item("offset", finding.offset)?;
    Ok(dict)
}

/// Checks every node below a path; `deep` decodes every chunk. With `repair`, removes what is harmless: objects outside an
/// array's grid.
#[pyfunction]
#[pyo3(signature = (store, path, deep, repair, session = None))]
pub fn check_store<'py>(
    py: Python<'py>,
    store: &Bound<'py, PyStore>,
    path: &str,
    deep: bool,
    repair: bool,
    session: Option<&Bound<'py, PySession>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let session = pick(py, session)?;
    let store = Arc::clone(&store.get().inner);
    let search = if repair { tessarray::repair_store } else { tessarray::check_store };
    let findings = py.detach(|| search(&session, &store, path, deep)).or_raise(py)?;
    findings.iter().map(|found| finding(py, found)).collect()
}
