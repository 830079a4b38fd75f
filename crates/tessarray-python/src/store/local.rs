//! A local directory.

use super::PyStore;
use crate::errors::OrRaise;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use tessarray::{FileOptions, FileStore, Prefix, Store};

/// The function that makes it again, and its arguments.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, PathBuf, bool, bool, bool));

/// A local directory; it is made by the first write.
#[pyclass(name = "LocalStore", module = "tessarray._native", extends = PyStore, subclass, frozen)]
pub struct PyLocalStore {
    store: Arc<FileStore>,
}

#[pymethods]
impl PyLocalStore {
    #[new]
    #[pyo3(signature = (root, *, durable = false, follow_links = false, read_only = false))]
    fn new(
        py: Python<'_>,
        root: PathBuf,
        durable: bool,
        follow_links: bool,
        read_only: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = FileOptions::new().durable(durable).follow_links(follow_links).read_only(read_only);
        let store = Arc::new(FileStore::with_options(root, options).or_raise(py)?);
        let base = PyStore::new(Arc::clone(&store) as _);
        Ok(PyClassInitializer::from(base).add_subclass(Self { store }))
    }

    /// The directory, absolute.
    #[getter]
    fn root(&self) -> PathBuf {
        self.store.root().to_path_buf()
    }

    /// Temporary files that killed writers left below a path, as (file, bytes); removed with `remove`.
    #[pyo3(signature = (path = "", remove = false))]
    fn leftovers(&self, py: Python<'_>, path: &str, remove: bool) -> PyResult<Vec<(PathBuf, u64)>> {
        let prefix = Prefix::from_path(path).or_raise(py)?;
        let found = py.detach(|| {
            if remove { self.store.remove_leftovers(&prefix) } else { self.store.leftovers(&prefix) }
        });
        Ok(found.or_raise(py)?.into_iter().map(|leftover| (leftover.path, leftover.size)).collect())
    }

    /// Makes everything below a path survive a loss of power, whoever wrote it.
    #[pyo3(signature = (path = ""))]
    fn sync(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let prefix = Prefix::from_path(path).or_raise(py)?;
        let synced = py.detach(|| {
            let keys: Vec<_> = self.store.list(&prefix)?.into_iter().map(|(key, _)| key).collect();
            self.store.make_durable(&keys)
        });
        synced.or_raise(py)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let store = &this.get().store;
        let options = store.options();
        let rebuild = this.py().import("tessarray.stores")?.getattr("_local")?;
        let arguments = (
            this.get_type().into_any(),
            store.root().to_path_buf(),
            options.durable,
            options.follow_links,
            options.read_only,
        );
        Ok((rebuild, arguments))
    }
}
