//! Packs: the part of `tessarray.Pack` that talks to the engine.

use crate::errors::{Failure, OrRaise};
use crate::json::from_json;
use crate::session::{PySession, pick};
use crate::store::PyStore;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use std::time::Duration;
use tessarray::pack::{Change, Damage, Keep, Pack, PackError, PackOptions, PackVersion, Transaction};

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        let message = error.to_string();
        match error {
            PackError::Store(error) => error.into(),
            PackError::NotAPack { .. } | PackError::NoVersion { .. } => {
                Failure::new("NotFoundError", message)
            }
            PackError::Exists { .. } => Failure::new("ExistsError", message),
            PackError::Corrupt { file, .. } => Failure::new("CorruptError", message).text("key", file),
            PackError::Conflict { path, region, .. } => {
                Failure::new("ConflictError", message).text("path", path).text("region", region)
            }
            PackError::Outlived { .. } => Failure::new("ConflictError", message),
            PackError::NewerFormat { .. } => Failure::new("MetadataError", message),
            PackError::Unknown { .. } => Failure::new("UnknownOutcomeError", message),
            PackError::Ended { .. } => Failure::new("InvalidArgumentError", message),
            _ => Failure::new("StoreError", message),
        }
    }
}

/// The engine's side of a pack.
#[pyclass(name = "PackCore", module = "tessarray._native", frozen)]
pub struct PyPack {
    inner: Pack,
}

/// What a progress function is told: what is done, and all.
fn tell<'a>(progress: Option<&'a Py<PyAny>>, failure: &'a mut Option<PyErr>) -> impl FnMut(u64, u64) + 'a {
    move |done, all| {
        if let Some(progress) = progress
            && failure.is_none()
        {
            *failure = Python::attach(|py| progress.call1(py, (done, all)).err());
        }
    }
}

/// The progress function's own failure first.
fn first<T>(py: Python<'_>, failure: Option<PyErr>, result: Result<T, PackError>) -> PyResult<T> {
    match failure {
        Some(failure) => Err(failure),
        None => result.or_raise(py),
    }
}

/// File, offset, path, problem and versions.
type Found = (String, Option<u64>, Option<String>, String, Vec<u64>);

fn found(damage: Vec<Damage>) -> Vec<Found> {
    damage.into_iter().map(|one| (one.file, one.offset, one.path, one.problem, one.versions)).collect()
}

impl PyPack {
    pub fn pack(&self) -> &Pack {
        &self.inner
    }
}

impl PyPackVersion {
    pub fn version(&self) -> &PackVersion {
        &self.inner
    }
}

impl PyTransaction {
    pub fn transaction(&self) -> &Transaction {
        &self.inner
    }
}

#[pymethods]
impl PyPack {
    /// Makes (`create`) or opens the pack in a store; hints of the latest version go to `hints`.
    #[new]
    #[pyo3(signature = (store, create = false, hints = None, session = None))]
    fn new(
        py: Python<'_>,
        store: &Bound<'_, PyStore>,
        create: bool,
        hints: Option<&Bound<'_, PyStore>>,
        session: Option<&Bound<'_, PySession>>,
    ) -> PyResult<Self> {
        let hints = hints.map(|hints| Arc::clone(&hints.get().inner));
        let options =
            PackOptions { registry: pick(py, session)?.registry(), hints, ..PackOptions::default() };
        let store = Arc::clone(&store.get().inner);
        let make = if create { Pack::create } else { Pack::open };
        Ok(Self { inner: py.detach(|| make(store, options)).or_raise(py)? })
    }

    /// The number of the latest version.
    fn latest(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(py.detach(|| self.inner.latest()).or_raise(py)?.number())
    }

    /// A version; the latest without a number.
    #[pyo3(signature = (number = None))]
    fn version(&self, py: Python<'_>, number: Option<u64>) -> PyResult<PyPackVersion> {
        let found = py.detach(|| match number {
            Some(number) => self.inner.version(number),
            None => self.inner.latest(),
        });
        Ok(PyPackVersion { inner: found.or_raise(py)? })
    }

    /// The latest version that was committed at or before a moment.
    fn version_at(&self, py: Python<'_>, time: &str) -> PyResult<u64> {
        py.detach(|| self.inner.version_at(time)).or_raise(py)
    }

    /// The commits that are there, oldest first, as dicts.
    fn versions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let commits = py.detach(|| self.inner.versions()).or_raise(py)?;
        commits.iter().map(|commit| commit_dict(py, commit)).collect()
    }

    fn begin(&self, py: Python<'_>) -> PyResult<PyTransaction> {
        Ok(PyTransaction { inner: py.detach(|| self.inner.begin()).or_raise(py)? })
    }

    /// Calls `act` while nobody else runs under this name.
    fn exclusive(&self, py: Python<'_>, name: &str, act: Py<PyAny>) -> PyResult<Py<PyAny>> {
        let mut failure = None;
        let done = py.detach(|| {
            self.inner.exclusive(name, &mut || {
                Python::attach(|py| act.call0(py)).map_err(|error| {
                    let message = error.to_string();
                    failure = Some(error);
                    tessarray::StoreError::Other { key: name.into(), message }
                })
            })
        });
        match failure {
            Some(failure) => Err(failure),
            None => done.or_raise(py),
        }
    }

    fn tag(&self, py: Python<'_>, name: &str, version: u64) -> PyResult<()> {
        py.detach(|| self.inner.tag(name, version)).or_raise(py)
    }

    fn untag(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        py.detach(|| self.inner.untag(name)).or_raise(py)
    }

    fn tags(&self, py: Python<'_>) -> PyResult<Vec<(String, u64)>> {
        py.detach(|| self.inner.tags()).or_raise(py)
    }

    fn tagged(&self, py: Python<'_>, name: &str) -> PyResult<Option<u64>> {
        py.detach(|| self.inner.tagged(name)).or_raise(py)
    }

    /// Path, kind of change, and chunks that differ.
    fn diff(&self, py: Python<'_>, before: u64, after: u64) -> PyResult<Vec<(String, &'static str, u64)>> {
        let found = py.detach(|| self.inner.diff(before, after)).or_raise(py)?;
        let kind = |change| match change {
            Change::Created => "created",
            Change::Deleted => "deleted",
            Change::Metadata => "metadata",
            Change::Chunks => "chunks",
        };
        Ok(found.into_iter().map(|one| (one.path, kind(one.change), one.chunks)).collect())
    }

    fn rollback(&self, py: Python<'_>, version: u64, message: &str) -> PyResult<u64> {
        py.detach(|| self.inner.rollback(version, message)).or_raise(py)
    }

    /// The new version, chunks and bytes stored anew, and parts of the catalogue before.
    #[pyo3(signature = (message, progress = None))]
    fn compact(
        &self,
        py: Python<'_>,
        message: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(u64, u64, u64, u64)> {
        let mut failure = None;
        let done = py.detach(|| self.inner.compact(message, &mut tell(progress.as_ref(), &mut failure)));
        let done = first(py, failure, done)?;
        Ok((done.version, done.chunks, done.bytes, done.parts))
    }

    /// Versions, files and bytes that were, or with `dry` would be, removed.
    fn expire(
        &self,
        py: Python<'_>,
        versions: usize,
        retention: f64,
        dry: bool,
    ) -> PyResult<(Vec<u64>, u64, u64)> {
        let retention = Duration::try_from_secs_f64(retention)
            .map_err(|error| crate::errors::invalid(py, format!("retention: {error}")))?;
        let done = py.detach(|| self.inner.expire(&Keep { versions, retention }, dry)).or_raise(py)?;
        Ok((done.versions, done.files, done.bytes))
    }

    /// Files, and their bytes, that killed writers left half written.
    fn leftovers(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let found = py.detach(|| self.inner.leftovers()).or_raise(py)?;
        Ok((found.files, found.bytes))
    }

    #[pyo3(signature = (deep, progress = None))]
    fn check(&self, py: Python<'_>, deep: bool, progress: Option<Py<PyAny>>) -> PyResult<Vec<Found>> {
        let mut failure = None;
        let damage = py.detach(|| self.inner.check(deep, &mut tell(progress.as_ref(), &mut failure)));
        Ok(found(first(py, failure, damage)?))
    }

    /// The damage, the version that was made, and how many chunks and values are lost.
    #[pyo3(signature = (apply, progress = None))]
    fn repair(
        &self,
        py: Python<'_>,
        apply: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Found>, Option<u64>, u64)> {
        let mut failure = None;
        let done = py.detach(|| self.inner.repair(apply, &mut tell(progress.as_ref(), &mut failure)));
        let done = first(py, failure, done)?;
        Ok((found(done.damage), done.version, done.lost))
    }
}

fn commit_dict<'py>(py: Python<'py>, commit: &tessarray::pack::Commit) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(commit)
        .map_err(|error| Failure::new("CorruptError", error.to_string()).raise(py))?;
    from_json(py, &value)
}

/// One version of a pack.
#[pyclass(name = "PackVersionCore", module = "tessarray._native", frozen)]
pub struct PyPackVersion {
    inner: PackVersion,
}

#[pymethods]
impl PyPackVersion {
    #[getter]
    fn number(&self) -> u64 {
        self.inner.number()
    }

    /// The commit that made it.
    fn commit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        commit_dict(py, self.inner.commit())
    }

    /// Its catalogue as one Parquet file.
    fn catalogue<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &py.detach(|| self.inner.catalogue()).or_raise(py)?))
    }
}

/// A transaction of a pack.
#[pyclass(name = "TransactionCore", module = "tessarray._native", frozen)]
pub struct PyTransaction {
    inner: Transaction,
}

#[pymethods]
impl PyTransaction {
    /// The number of the version it is on top of.
    #[getter]
    fn base(&self) -> u64 {
        self.inner.base()
    }

    /// The number of the new version; `None` where nothing was changed.
    fn commit(&self, py: Python<'_>, message: &str) -> PyResult<Option<u64>> {
        py.detach(|| self.inner.commit(message)).or_raise(py)
    }

    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.abandon()).or_raise(py)
    }
}
