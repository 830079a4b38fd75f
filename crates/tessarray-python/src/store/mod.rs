//! Stores: where named byte strings live.

mod adapters;
mod local;
mod mapping;
mod memory;
mod pack;
mod zip;

pub use adapters::{PyFaultStore, PyPrefixStore, PyReadOnlyStore, PyRecordStore, PyThrottleStore};
pub use local::PyLocalStore;
pub use mapping::PyMappingStore;
pub use memory::PyMemoryStore;
pub use pack::PyPackStore;
pub use zip::PyZipStore;

use crate::errors::OrRaise;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use tessarray::{ByteRange, Key, ListEntry, Prefix, PutMode, Store};

/// The base of all stores: a flat space of named byte strings.
#[pyclass(name = "Store", module = "tessarray._native", subclass, frozen)]
pub struct PyStore {
    pub inner: Arc<dyn Store>,
}

impl PyStore {
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl PyStore {
    /// Whether both are handles of the same keys, opened in the same way; nothing is read.
    fn __eq__(this: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
        if this.is(other) {
            return Ok(true);
        }
        let identity = this.py().import("tessarray.stores")?.getattr("_identity")?;
        identity.call1((this,))?.eq(identity.call1((other,))?)
    }

    fn __hash__(this: &Bound<'_, Self>) -> PyResult<isize> {
        let identity = this.py().import("tessarray.stores")?.getattr("_identity")?;
        identity.call1((this,))?.hash()
    }

    /// The value of a key, or a part of it; `None` where the key is absent.
    #[pyo3(signature = (key, offset = None, length = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        offset: Option<u64>,
        length: Option<u64>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let key = Key::new(key).or_raise(py)?;
        let value = py.detach(|| match (offset, length) {
            (None, None) => self.inner.get(&key),
            (None, Some(length)) => self.inner.get_range(&key, ByteRange::Suffix { length }),
            (Some(offset), length) => {
                let rest = |size: u64| size.saturating_sub(offset);
                let length = match length {
                    Some(length) => length,
                    None => match self.inner.head(&key)? {
                        Some(meta) => rest(meta.size),
                        None => return Ok(None),
                    },
                };
                self.inner.get_range(&key, ByteRange::Span { offset, length })
            }
        });
        Ok(value.or_raise(py)?.map(|(value, _)| PyBytes::new(py, &value)))
    }

    /// Stores a value, atomically; with `create`, only where the key is absent.
    #[pyo3(signature = (key, value, create = false))]
    fn put(&self, py: Python<'_>, key: &str, value: &[u8], create: bool) -> PyResult<()> {
        let key = Key::new(key).or_raise(py)?;
        let mode = if create { PutMode::Create } else { PutMode::Overwrite };
        py.detach(|| self.inner.put(&key, &[value], mode)).or_raise(py)?;
        Ok(())
    }

    /// Removes a value; `False` where there was none.
    fn delete(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        let key = Key::new(key).or_raise(py)?;
        py.detach(|| self.inner.delete(&key)).or_raise(py)
    }

    /// Removes every value below a path; `""` is the whole store.
    fn delete_prefix(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let prefix = Prefix::from_path(path).or_raise(py)?;
        py.detach(|| self.inner.delete_prefix(&prefix)).or_raise(py)
    }

    /// Size of a value in bytes; `None` where the key is absent.
    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        let key = Key::new(key).or_raise(py)?;
        Ok(py.detach(|| self.inner.head(&key)).or_raise(py)?.map(|meta| meta.size))
    }

    /// Keys and sizes in bytes of everything below a path, sorted.
    #[pyo3(signature = (path = ""))]
    fn list(&self, py: Python<'_>, path: &str) -> PyResult<Vec<(String, u64)>> {
        let prefix = Prefix::from_path(path).or_raise(py)?;
        let found = py.detach(|| self.inner.list(&prefix)).or_raise(py)?;
        Ok(found.into_iter().map(|(key, size)| (key.to_string(), size)).collect())
    }

    /// Names directly below a path, sorted: of values, and of what further values lie below.
    #[pyo3(signature = (path = ""))]
    fn list_dir(&self, py: Python<'_>, path: &str) -> PyResult<Vec<String>> {
        let prefix = Prefix::from_path(path).or_raise(py)?;
        let found = py.detach(|| self.inner.list_dir(&prefix)).or_raise(py)?;
        let name = |entry: ListEntry| match entry {
            ListEntry::Key(key, _) => key.name().to_string(),
            ListEntry::Prefix(deeper) => {
                let path = deeper.path();
                path.rsplit('/').next().unwrap_or(path).to_string()
            }
        };
        Ok(found.into_iter().map(name).collect())
    }

    /// Whether puts and deletes are refused.
    #[getter]
    fn read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    /// Where the store is, for people.
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn __contains__(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        Ok(self.size(py, key)?.is_some())
    }

    fn __repr__(this: &Bound<'_, Self>) -> PyResult<String> {
        Ok(format!("<{} {}>", this.get_type().name()?, this.get().inner.describe()))
    }
}
