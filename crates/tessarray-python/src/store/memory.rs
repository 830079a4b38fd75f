//! Memory of this process.

use super::PyStore;
use crate::errors::Failure;
use pyo3::prelude::*;
use std::sync::Arc;
use tessarray::MemoryStore;

/// Memory of this process; gone when the last reference to it is.
#[pyclass(name = "MemoryStore", module = "tessarray._native", extends = PyStore, subclass, frozen)]
pub struct PyMemoryStore {}

#[pymethods]
impl PyMemoryStore {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        PyClassInitializer::from(PyStore::new(Arc::new(MemoryStore::new()))).add_subclass(Self {})
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let message = "a memory store cannot be pickled: its values live in this process only; \
                       use a LocalStore or a ZipStore to share arrays between processes";
        Err(Failure::new("PickleError", message).raise(py))
    }
}
