//! Sessions: worker threads, codecs and caches that calls share.

use crate::codec;
use crate::errors::invalid;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tessarray::{Options, Session, THREADS_VARIABLE};

/// Worker threads, registered codecs and caches. Cheap to make: the threads start at the first call that needs them.
#[pyclass(name = "Session", module = "tessarray._native", frozen)]
pub struct PySession {
    pub inner: Session,
    /// As given, for pickling: `None` leaves the choice to the process that unpickles.
    given: Option<usize>,
}

/// A callable, and the arguments that make the session again.
type Pickled<'py> = (Bound<'py, PyAny>, (Option<usize>, &'static str));

/// The session of calls that name none.
static DEFAULT: PyOnceLock<Py<PySession>> = PyOnceLock::new();

#[pymethods]
impl PySession {
    #[new]
    #[pyo3(signature = (threads = None, *, verify = "first"))]
    fn new(py: Python<'_>, threads: Option<usize>, verify: &str) -> PyResult<Self> {
        let always = match verify {
            "first" => false,
            "always" => true,
            _ => return Err(invalid(py, format!("verify: expected 'first' or 'always', found {verify:?}"))),
        };
        if threads == Some(0) {
            return Err(invalid(py, "threads: expected at least 1, found 0"));
        }
        if threads.is_none()
            && let Ok(text) = std::env::var(THREADS_VARIABLE)
            && !text.trim().is_empty()
            && text.trim().parse::<usize>().is_err()
        {
            let message =
                format!("{THREADS_VARIABLE}: expected a number of threads, found {text:?}: it is ignored");
            let message = std::ffi::CString::new(message)?;
            PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), &message, 1)?;
        }
        let builder = Session::builder();
        let builder = match threads {
            Some(threads) => builder.threads(threads),
            None => builder,
        };
        let mut options = Options::default();
        options.always_verify = always;
        Ok(Self { inner: builder.build().with_options(options), given: threads })
    }

    /// Worker threads of this session.
    #[getter]
    fn threads(&self) -> usize {
        self.inner.threads()
    }

    /// `"always"` if every read verifies checksums, `"first"` if what was verified is remembered.
    #[getter]
    fn verify(&self) -> &'static str {
        if self.inner.options().always_verify { "always" } else { "first" }
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
        let verify = if self.inner.options().always_verify { ", verify='always'" } else { "" };
        format!("Session(threads={}{verify})", self.inner.threads())
    }

    /// Codecs registered by the user are not carried along: register them where the pickle is opened.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let rebuild = this.py().import("tessarray.sessions")?.getattr("_session")?;
        Ok((rebuild, (this.get().given, this.get().verify())))
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
    let session = DEFAULT.get_or_try_init(py, || Py::new(py, PySession::new(py, None, "first")?))?;
    Ok(session.bind(py).clone())
}
