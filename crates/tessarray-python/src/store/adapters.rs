//! Stores around another store: to count, to slow down, to fail on purpose, to show a part, to protect.

use super::PyStore;
use crate::errors::{OrRaise, invalid};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::Duration;
use tessarray::Prefix;
use tessarray::adapters::{
    Count, Effect, Fault, FaultStore, Kind, PrefixStore, ReadOnlyStore, RecordStore, ThrottleStore,
    Throttling, When,
};

type Init<T> = PyResult<PyClassInitializer<T>>;

/// The wrapped store, kept for Python.
macro_rules! wrapper {
    ($class:ident, $name:literal, $doc:literal $(, $field:ident: $kind:ty)?) => {
        #[doc = $doc]
        #[pyclass(name = $name, module = "tessarray._native", extends = PyStore, subclass, frozen)]
        pub struct $class {
            wrapped: Py<PyStore>,
            $($field: Arc<$kind>,)?
        }
    };
}

wrapper!(PyRecordStore, "RecordStore", "Counts the calls of a store, their bytes and time.", store: RecordStore);
wrapper!(PyThrottleStore, "ThrottleStore", "Makes a store as slow as a network.");
wrapper!(PyFaultStore, "FaultStore", "Fails calls of a store on purpose.", store: FaultStore);
wrapper!(PyPrefixStore, "PrefixStore", "Shows what is below a path of a store.", path: str);
wrapper!(PyReadOnlyStore, "ReadOnlyStore", "Refuses changes to a store.");

fn count<'py>(py: Python<'py>, count: Count) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("calls", count.calls)?;
    dict.set_item("ranges", count.ranges)?;
    dict.set_item("runs", count.runs)?;
    dict.set_item("bytes_read", count.bytes_read)?;
    dict.set_item("bytes_written", count.bytes_written)?;
    dict.set_item("errors", count.errors)?;
    dict.set_item("seconds", count.time.as_secs_f64())?;
    Ok(dict)
}

const KINDS: [(&str, Kind); 8] = [
    ("read", Kind::Read),
    ("put", Kind::Put),
    ("update", Kind::Update),
    ("delete", Kind::Delete),
    ("delete_prefix", Kind::DeletePrefix),
    ("head", Kind::Head),
    ("list", Kind::List),
    ("list_dir", Kind::ListDir),
];

#[pymethods]
impl PyRecordStore {
    #[new]
    fn new(store: &Bound<'_, PyStore>) -> PyClassInitializer<Self> {
        let inner = Arc::new(RecordStore::new(Arc::clone(&store.get().inner)));
        let base = PyStore::new(Arc::clone(&inner) as _);
        PyClassInitializer::from(base).add_subclass(Self { wrapped: store.clone().unbind(), store: inner })
    }

    /// What was counted since the last reset: a dict of counts by kind of call, with their sum under `"total"`.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let recorded = self.store.snapshot();
        let dict = PyDict::new(py);
        for (name, kind) in KINDS {
            dict.set_item(name, count(py, recorded.of(kind))?)?;
        }
        dict.set_item("total", count(py, recorded.total())?)?;
        Ok(dict)
    }

    /// Counts from zero again.
    fn reset(&self) {
        self.store.reset();
    }

    /// The wrapped store.
    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyStore> {
        self.wrapped.clone_ref(py)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (Py<PyStore>,)) {
        (this.get_type().into_any(), (this.get().wrapped.clone_ref(this.py()),))
    }
}

#[pymethods]
impl PyThrottleStore {
    #[new]
    #[pyo3(signature = (store, *, first_byte = 0.02, bandwidth = 100_000_000, concurrency = 16))]
    fn new(store: &Bound<'_, PyStore>, first_byte: f64, bandwidth: u64, concurrency: usize) -> Init<Self> {
        let Ok(first_byte) = Duration::try_from_secs_f64(first_byte) else {
            return Err(invalid(store.py(), format!("first_byte: expected seconds, found {first_byte}")));
        };
        let how = Throttling { first_byte, bandwidth, concurrency };
        let inner = Arc::new(ThrottleStore::new(Arc::clone(&store.get().inner), how));
        Ok(PyClassInitializer::from(PyStore::new(inner))
            .add_subclass(Self { wrapped: store.clone().unbind() }))
    }

    /// The wrapped store.
    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyStore> {
        self.wrapped.clone_ref(py)
    }
}

#[pymethods]
impl PyFaultStore {
    #[new]
    fn new(store: &Bound<'_, PyStore>) -> PyClassInitializer<Self> {
        let inner = Arc::new(FaultStore::new(Arc::clone(&store.get().inner)));
        let base = PyStore::new(Arc::clone(&inner) as _);
        PyClassInitializer::from(base).add_subclass(Self { wrapped: store.clone().unbind(), store: inner })
    }

    /// Fails the `k`-th call from now (from 0), or with `when="from"` it and all later ones, or with `when="range"`
    /// the k-th range read. `effect`: `"fail"`, `"lost"` (done, then reported as failed) or `"torn"` (a read gives
    /// `kept` bytes at most). Counts start anew.
    #[pyo3(signature = (k, *, when = "call", effect = "fail", kept = 0))]
    fn fail(&self, py: Python<'_>, k: u64, when: &str, effect: &str, kept: usize) -> PyResult<()> {
        let when = match when {
            "call" => When::Call(k),
            "from" => When::FromCall(k),
            "range" => When::Range(k),
            _ => return Err(invalid(py, format!("when: expected call, from or range, found {when:?}"))),
        };
        let effect = match effect {
            "fail" => Effect::fail(),
            "lost" => Effect::LostResponse,
            "torn" => Effect::Torn(kept),
            _ => return Err(invalid(py, format!("effect: expected fail, lost or torn, found {effect:?}"))),
        };
        self.store.set(Some(Fault { when, effect }));
        Ok(())
    }

    /// Fails no more, and counts from zero.
    fn clear(&self) {
        self.store.set(None);
    }

    /// Calls since the fault was set or cleared.
    #[getter]
    fn calls(&self) -> u64 {
        self.store.calls()
    }

    /// Ranges read since the fault was set or cleared.
    #[getter]
    fn ranges(&self) -> u64 {
        self.store.ranges()
    }

    /// The wrapped store.
    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyStore> {
        self.wrapped.clone_ref(py)
    }
}

#[pymethods]
impl PyPrefixStore {
    #[new]
    fn new(store: &Bound<'_, PyStore>, path: &str) -> Init<Self> {
        let prefix = Prefix::from_path(path).or_raise(store.py())?;
        let inner = Arc::new(PrefixStore::new(Arc::clone(&store.get().inner), prefix));
        Ok(PyClassInitializer::from(PyStore::new(inner))
            .add_subclass(Self { wrapped: store.clone().unbind(), path: Arc::from(path.trim_matches('/')) }))
    }

    /// The wrapped store.
    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyStore> {
        self.wrapped.clone_ref(py)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (Py<PyStore>, String)) {
        let own = this.get();
        (this.get_type().into_any(), (own.wrapped.clone_ref(this.py()), own.path.to_string()))
    }
}

#[pymethods]
impl PyReadOnlyStore {
    #[new]
    fn new(store: &Bound<'_, PyStore>) -> PyClassInitializer<Self> {
        let inner = Arc::new(ReadOnlyStore::new(Arc::clone(&store.get().inner)));
        PyClassInitializer::from(PyStore::new(inner)).add_subclass(Self { wrapped: store.clone().unbind() })
    }

    /// The wrapped store.
    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyStore> {
        self.wrapped.clone_ref(py)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (Py<PyStore>,)) {
        (this.get_type().into_any(), (this.get().wrapped.clone_ref(this.py()),))
    }
}
