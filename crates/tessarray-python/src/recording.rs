//! Logs of accesses: engine calls that are timed and noted where a log is on.

use crate::errors::invalid;
use crate::selection::{Layout, Request};
use pyo3::exceptions::{PyOSError, PyRuntimeWarning};
use pyo3::prelude::*;
use std::ffi::CString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tessarray::recording::{self, Access, Log, Op};
use tessarray::{Array, Selection};

pub use tessarray::recording::started;

/// A log that is on.
#[pyclass(name = "AccessLog", module = "tessarray._native", frozen)]
pub struct PyAccessLog {
    inner: Arc<Log>,
}

#[pymethods]
impl PyAccessLog {
    /// Begins to record into a file.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        // With the interpreter lock held, as every use of the logs: no fork comes in between.
        match recording::begin(&path) {
            Ok(inner) => Ok(Self { inner }),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(invalid(py, format!("{}: {error}", path.display())))
            }
            Err(error) => Err(match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, error.to_string(), path)),
                None => PyOSError::new_err(format!("{}: {error}", path.display())),
            }),
        }
    }

    /// Stops one recording into it.
    fn end(&self) {
        recording::end(&self.inner);
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.inner.path().to_path_buf()
    }

    /// Lines that this process appended.
    #[getter]
    fn lines(&self) -> u64 {
        self.inner.lines()
    }

    /// Lines that could not be written.
    #[getter]
    fn lost(&self) -> u64 {
        self.inner.lost()
    }
}

/// Makes an engine call on the elements of a request, and notes it where a log is on.
#[inline(always)]
pub fn noted<T>(
    py: Python<'_>,
    op: Op,
    array: &Array,
    request: &Request,
    act: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    if recording::is_on() { timed(py, op, array, request, act) } else { act() }
}

/// Apart, so that a call that is not recorded keeps nothing for it.
#[cold]
#[inline(never)]
fn timed<T>(
    py: Python<'_>,
    op: Op,
    array: &Array,
    request: &Request,
    act: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let started = Instant::now();
    let done = act()?;
    one(py, op, array, request, Some(started.elapsed()));
    Ok(done)
}

/// Notes a call on the elements of a request.
#[cold]
pub fn one(py: Python<'_>, op: Op, array: &Array, request: &Request, time: Option<Duration>) {
    let shape = array.shape();
    let drops = drops(request, shape.len());
    let selection = &request.selection;
    note(
        py,
        &Access { op, array, path: array.path(), shape: &shape, arrays: 1, selection, drops: &drops, time },
    );
}

/// Notes that elements were added to an array that ended at `start`.
#[cold]
pub fn appended(py: Python<'_>, array: &Array, axis: usize, start: u64, added: &[u64], began: Instant) {
    let mut shape = array.shape();
    if let Some(extent) = shape.get_mut(axis) {
        *extent = start;
    }
    let mut corner = vec![0; shape.len()];
    if let Some(first) = corner.get_mut(axis) {
        *first = start;
    }
    let selection = &Selection::region(&corner, added);
    let (op, time) = (Op::Append, Some(began.elapsed()));
    note(
        py,
        &Access { op, array, path: array.path(), shape: &shape, arrays: 1, selection, drops: &[], time },
    );
}

/// Axes of the array that were indexed with an integer.
pub fn drops(request: &Request, rank: usize) -> Vec<usize> {
    match &request.layout {
        Layout::Axes(slots) => (0..rank).filter(|axis| !slots.contains(&Some(*axis))).collect(),
        Layout::Points => Vec::new(),
    }
}

/// Notes an access; what cannot be written is a warning, once a log, and never an error.
pub fn note(py: Python<'_>, access: &Access<'_>) {
    for (log, error) in recording::note(access) {
        let text = format!("{}: accesses are not recorded: {error}", log.path().display());
        let Ok(text) = CString::new(text) else { continue };
        if let Err(refused) = PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1) {
            refused.write_unraisable(py, None);
        }
    }
}
