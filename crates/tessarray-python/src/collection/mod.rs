//! Collections: the part of `tessarray.Collection` that talks to the engine.

mod adding;
mod found;

pub use adding::{PyKind, add_dataset, describe_array};
pub use found::PyFound;

use crate::errors::{Failure, OrRaise};
use crate::pack::PyPackVersion;
use crate::session::{PySession, pick};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use tessarray::collection::{Collection, CollectionError, Number, Statistics};

impl From<CollectionError> for Failure {
    fn from(error: CollectionError) -> Self {
        let message = error.to_string();
        match error {
            CollectionError::Pack(error) => error.into(),
            CollectionError::Array(error) => error.into(),
            CollectionError::Exists { name } => Failure::new("ExistsError", message).text("path", name),
            _ => Failure::new("InvalidArgumentError", message),
        }
    }
}

/// The engine's side of a collection, at one version.
#[pyclass(name = "CollectionCore", module = "tessarray._native", frozen)]
pub struct PyCollection {
    inner: Arc<Collection>,
}

/// Count, nulls, minimum, maximum, sum, distinct texts.
type Known<'py> = (u64, u64, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<f64>, Option<Vec<String>>);

fn known<'py>(py: Python<'py>, found: &Statistics) -> PyResult<Known<'py>> {
    let number = |number: Option<Number>| {
        Ok::<_, PyErr>(match number {
            None => py.None().into_bound(py),
            Some(Number::Integer(value)) => value.into_pyobject(py)?.into_any(),
            Some(Number::Unsigned(value)) => value.into_pyobject(py)?.into_any(),
            Some(Number::Float(value)) => value.into_pyobject(py)?.into_any(),
        })
    };
    Ok((found.count, found.nulls, number(found.min)?, number(found.max)?, found.sum, found.texts.clone()))
}

#[pymethods]
impl PyCollection {
    #[new]
    #[pyo3(signature = (version, session = None))]
    fn new(
        py: Python<'_>,
        version: &Bound<'_, PyPackVersion>,
        session: Option<&Bound<'_, PySession>>,
    ) -> PyResult<Self> {
        let session = pick(py, session)?;
        Ok(Self { inner: Arc::new(Collection::new(&session, version.get().version().clone())) })
    }

    /// The number of the version.
    #[getter]
    fn version(&self) -> u64 {
        self.inner.version().number()
    }

    /// Names of the datasets, sorted as bytes.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let index = py.detach(|| self.inner.index()).or_raise(py)?;
        Ok(index.names().iter().map(|name| name.to_string()).collect())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(py.detach(|| self.inner.index()).or_raise(py)?.names().len())
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        py.detach(|| self.inner.contains(name)).or_raise(py)
    }

    /// Names of the variables, and how many datasets have each.
    fn variables(&self, py: Python<'_>) -> PyResult<Vec<(String, usize)>> {
        let index = py.detach(|| self.inner.index()).or_raise(py)?;
        Ok(index.variables().iter().map(|variable| (variable.name.to_string(), variable.len())).collect())
    }

    /// The arrays of a variable.
    #[pyo3(signature = (variable, names = None))]
    fn find(&self, py: Python<'_>, variable: &str, names: Option<Vec<String>>) -> PyResult<PyFound> {
        let found = py.detach(|| self.inner.find(variable, names.as_deref())).or_raise(py)?;
        Ok(PyFound { collection: Arc::clone(&self.inner), found })
    }

    /// The bytes of a value of a node, by its last name; `None` where there is none.
    fn value<'py>(&self, py: Python<'py>, node: &str, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let value = py.detach(|| self.inner.version().value(node, name)).or_raise(py)?;
        Ok(value.map(|value| PyBytes::new(py, &value)))
    }

    /// The attributes of every dataset, as JSON, in the order of the names.
    fn dataset_attributes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| self.inner.dataset_attributes()).or_raise(py)
    }

    /// Names of the dimensions that only letters have, and have last.
    fn letter_dimensions(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = py.detach(|| self.inner.letter_dimensions()).or_raise(py)?;
        Ok(found.iter().cloned().collect())
    }

    /// What is known of the values of these arrays; `None` where nothing is.
    fn statistics<'py>(&self, py: Python<'py>, found: &PyFound) -> PyResult<Vec<Option<Known<'py>>>> {
        let all = py.detach(|| self.inner.statistics(&found.found)).or_raise(py)?;
        all.iter().map(|one| one.as_ref().map(|one| known(py, one)).transpose()).collect()
    }
}
