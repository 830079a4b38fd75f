//! Sessions: worker threads, codecs and caches that calls share.

use crate::codec;
use crate::errors::invalid;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tessarray::Session;

/// Worker threads, registered codecs and caches. Cheap to make: the threads start at the first call that needs them.
#[pyclass(name = "Session", module = "tessarray._native", frozen)]
pub struct PySession {
    pub inner: Session,
    /// As given, for pickling: `None` leaves the choice to the process that unpickles.
    given: Option<usize>,
}

/// The session of calls that name none.
static DEFAULT: PyOnceLock<Py<PySession>> = PyOnceLock::new();

#[pymethods]
impl PySession {
    #[new]
    #[pyo3(signature = (threads = None))]
    fn new(py: Python<'_>, threads: Option<usize>) -> PyResult<Self> {
        if threads == Some(0) {
            return Err(invalid(py, "threads: expected at least 1, found 0"));
        }
        let builder = Session::builder();
        let builder = match threads {
            Some(threads) => builder.threads(threads),
            None => builder,
        };
        Ok(Self { inner: builder.build(), given: threads })
    }

    /// Worker threads of this session.
    #[getter]
    fn threads(&self) -> usize {
        self.inner.threads()
    }

    /// Names of the codecs that metadata may use, sorted.
    fn codecs(&self) -> Vec<String> {
        self.inner.registry().names().map(str::to_owned).collect()
    }

    /// Adds a codec under a name, for arrays opened from now on.
    fn register_codec(&self, name: &str, cls: Bound<'_, PyAny>) {
        codec::register(&self.inner, name, cls.unbind());
    }

    fn __repr__(&self) -> String {
        format!("Session(threads={})", self.inner.threads())
    }

    /// Codecs registered by the user are not carried along: register them where the pickle is opened.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (Option<usize>,)) {
        (this.get_type().into_any(), (this.get().given,))
    }
}

/// The given session, or the default one.
pub fn pick(py: Python<'_>, session: Option<&Bound<'_, PySession>>) -> PyResult<Session> {
    match session {
        Some(session) => Ok(session.get().inner.clone()),
        None => Ok(default_session(py)?.get().inner.clone()),
    }
}

/// The session of calls that name none: one thread a core, or as `TESSARRAY_THREADS` said when it was first needed.
#[pyfunction]
pub fn default_session(py: Python<'_>) -> PyResult<Bound<'_, PySession>> {
    let session = DEFAULT.get_or_try_init(py, || Py::new(py, PySession::new(py, None)?))?;
    Ok(session.bind(py).clone())
}
