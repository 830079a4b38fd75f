//! One zip file.

use super::PyStore;
use crate::errors::{Failure, OrRaise, invalid};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::Arc;
use tessarray::{Store, ZipStore};

/// One zip file: opened to read, or written and then closed.
#[pyclass(name = "ZipStore", module = "tessarray._native", extends = PyStore, subclass, frozen)]
pub struct PyZipStore {
    store: Arc<ZipStore>,
    path: PathBuf,
    mode: String,
}

#[pymethods]
impl PyZipStore {
    #[new]
    #[pyo3(signature = (path, mode = "r"))]
    fn new(py: Python<'_>, path: PathBuf, mode: &str) -> PyResult<PyClassInitializer<Self>> {
        let path = std::path::absolute(path)?;
        let found = path.exists();
        match mode {
            "r" | "r+" if !found => {
                return Err(
                    Failure::new("NotFoundError", format!("{}: no such zip file", path.display())).raise(py)
                );
            }
            "w-" | "x" if found => {
                return Err(
                    Failure::new("ExistsError", format!("{}: already exists", path.display())).raise(py)
                );
            }
            "r" | "r+" | "a" | "w" | "w-" | "x" => {}
            _ => return Err(invalid(py, format!("mode: expected r, r+, a, w or w-, found {mode:?}"))),
        }
        let opened = py.detach(|| match mode {
            "r" => ZipStore::open(&path),
            "w" => ZipStore::create(&path),
            "r+" => ZipStore::edit(&path),
            "a" if found => ZipStore::edit(&path),
            _ => ZipStore::create(&path),
        });
        let store = Arc::new(opened.or_raise(py)?);
        let base = PyStore::new(Arc::clone(&store) as _);
        Ok(PyClassInitializer::from(base).add_subclass(Self { store, path, mode: mode.to_owned() }))
    }

    /// The file, absolute.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The mode it was opened with.
    #[getter]
    fn mode(&self) -> &str {
        &self.mode
    }

    /// Names that the file has more than once: the last value of each counts.
    fn duplicates(&self) -> Vec<String> {
        self.store.duplicates().into_iter().map(str::to_owned).collect()
    }

    /// Writes the directory of the zip and moves the file into place; from here on the store only reads.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.store.close()).or_raise(py)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// A pickle reads what is in place: the store must have been closed, or opened to read.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, &'static str))> {
        let own = this.get();
        if !own.store.is_read_only() {
            let message = format!(
                "{}: a zip that is being written cannot be pickled: close it first",
                own.path.display()
            );
            return Err(Failure::new("PickleError", message).raise(this.py()));
        }
        Ok((this.get_type().into_any(), (own.path.clone(), "r")))
    }
}
