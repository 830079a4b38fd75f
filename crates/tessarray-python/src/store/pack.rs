//! A pack, one of its versions, or a transaction, as a store.

use super::PyStore;
use crate::errors::Failure;
use crate::pack::{PyPack, PyPackVersion, PyTransaction};
use pyo3::prelude::*;

/// The function that makes it again, and its arguments.
type Pickled<'py> = (Bound<'py, PyAny>, (String, Option<u64>));

/// The keys of the Zarr hierarchy in a pack.
#[pyclass(name = "PackStore", module = "tessarray._native", extends = PyStore, frozen)]
pub struct PyPackStore {
    /// Where the pack is, for other processes; `None` where they cannot reach it.
    address: Option<String>,
    version: Option<u64>,
}

#[pymethods]
impl PyPackStore {
    #[new]
    #[pyo3(signature = (source, address = None))]
    fn new(source: &Bound<'_, PyAny>, address: Option<String>) -> PyResult<PyClassInitializer<Self>> {
        let (inner, version, address) = if let Ok(pack) = source.cast::<PyPack>() {
            (pack.get().pack().auto_store(), None, address)
        } else if let Ok(version) = source.cast::<PyPackVersion>() {
            let version = version.get().version();
            (version.store(), Some(version.number()), address)
        } else {
            (source.cast::<PyTransaction>()?.get().transaction().store(), None, None)
        };
        Ok(PyClassInitializer::from(PyStore::new(inner)).add_subclass(Self { address, version }))
    }

    /// The version that it shows for ever; `None` for the latest, or a transaction.
    #[getter]
    fn version(&self) -> Option<u64> {
        self.version
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let Some(address) = &self.address else {
            let message =
                "a transaction, or a pack that is not in a local directory, lives in this process only";
            return Err(Failure::new("PickleError", message).raise(py));
        };
        let rebuild = py.import("tessarray.packs")?.getattr("_store")?;
        Ok((rebuild, (address.clone(), self.version)))
    }
}
