//! The streaming writer of arrays. Every call of the engine is made with the interpreter lock released.

use crate::array::PyArrayCore;
use crate::errors::{OrRaise, invalid};
use crate::memory;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use tessarray::Appender;

/// Gathers frames and appends them to an array in the background. Made by `Array.appender`.
#[pyclass(name = "ArrayAppender", module = "tessarray._native", frozen)]
pub struct PyArrayAppender {
    array: Py<PyArrayCore>,
    inner: Appender,
    axis: usize,
}

#[pymethods]
impl PyArrayAppender {
    #[new]
    fn new(py: Python<'_>, array: Py<PyArrayCore>, axis: isize, max_bytes: usize) -> PyResult<Self> {
        let axis = array.get().axis(py, axis)?;
        let inner = py.detach(|| Appender::new(&array.get().inner, axis, max_bytes)).or_raise(py)?;
        Ok(Self { array, inner, axis })
    }

    /// Takes a frame, or several along the axis.
    fn append(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let array = self.array.get();
        let values: Bound<'_, PyUntypedArray> = memory::as_array(&array.unmasked(values)?, array.descr(py)?)?;
        let rank = array.inner.shape().len();
        let view = memory::whole_view(&values);
        let view = if values.ndim() + 1 == rank { view.with_axis(self.axis) } else { view };
        py.detach(|| self.inner.append(&view)).or_raise(py)
    }

    /// Rows that were taken in all.
    #[getter]
    fn taken(&self) -> u64 {
        self.inner.taken()
    }

    /// Rows that were taken and are not stored yet.
    #[getter]
    fn pending(&self) -> u64 {
        self.inner.pending()
    }

    /// Stores everything that was taken.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.flush()).or_raise(py)
    }

    /// Stores everything that was taken, and takes no more.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.close()).or_raise(py)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_failure))]
    fn __exit__(&self, py: Python<'_>, _failure: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        // Frames that were taken are kept, whatever went wrong after them.
        self.close(py)
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        Err(invalid(py, "an appender cannot be pickled: it has frames that are not stored yet"))
    }
}
