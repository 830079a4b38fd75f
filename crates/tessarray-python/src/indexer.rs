//! `a.oindex`, `a.vindex` and `a.blocks`.

use crate::array::PyArrayCore;
use crate::fields;
use crate::selection::{Request, parse_blocks, parse_orthogonal, parse_vectorized};
use numpy::PyUntypedArray;
use pyo3::prelude::*;

/// How an index is understood.
#[derive(Clone, Copy)]
pub enum Kind {
    Orthogonal,
    Vectorized,
    Blocks,
}

/// Selects elements of an array in another way than `a[...]` does.
#[pyclass(name = "Indexer", module = "tessarray._native", frozen)]
pub struct PyIndexer {
    array: Py<PyArrayCore>,
    kind: Kind,
}

impl PyIndexer {
    pub fn new(array: &Bound<'_, PyArrayCore>, kind: Kind) -> Self {
        Self { array: array.clone().unbind(), kind }
    }

    fn parse(&self, key: &Bound<'_, PyAny>) -> PyResult<Request> {
        let array = self.array.get();
        let shape = array.inner.shape();
        match self.kind {
            Kind::Orthogonal => parse_orthogonal(key, &shape),
            Kind::Vectorized => parse_vectorized(key, &shape),
            Kind::Blocks => parse_blocks(key, &shape, &array.inner.object_edges()),
        }
    }
}

#[pymethods]
impl PyIndexer {
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array.get();
        match fields::split(&array.data_type, key)? {
            Some(named) => named.of(array.read_request(py, &self.parse(&named.rest)?)?.as_any()),
            None => Ok(array.read_request(py, &self.parse(key)?)?.into_any()),
        }
    }

    /// Reads a selection, into `out` where it is given.
    #[pyo3(signature = (selection, /, *, out = None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        selection: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        self.array.get().read_to(py, &self.parse(selection)?, out)
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match fields::split(&self.array.get().data_type, key)? {
            Some(named) => {
                let request = self.parse(&named.rest)?;
                self.array.get().write_fields(py, &request, &named, value)
            }
            None => self.array.get().write_request(py, &self.parse(key)?, value),
        }
    }
}
