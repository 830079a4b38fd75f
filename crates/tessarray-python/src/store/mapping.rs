//! Any mapping of Python's from keys to bytes, as a store: a dict, an fsspec mapper, a database table.
//!
//! Values are read and written whole, and the interpreter lock is taken for each; several are asked for at a time, as
//! the mapping may be a network away. Updates of one key in this process
//! happen one after the other; other processes are not kept out, as a mapping offers no way to.

use super::PyStore;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping};
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tessarray::{
    Blob, BlobBytes, ByteRange, Key, KeyLocks, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink,
    Store, StoreError, Update, UpdateFn, Version, owned,
};

type Result<T> = std::result::Result<T, StoreError>;

/// The function that makes it again, and its arguments.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, Py<PyAny>, bool));

/// Any mapping from `str` to `bytes`.
#[pyclass(name = "MappingStore", module = "tessarray._native", extends = PyStore, subclass, frozen)]
pub struct PyMappingStore {
    mapping: Py<PyAny>,
    read_only: bool,
}

#[pymethods]
impl PyMappingStore {
    #[new]
    #[pyo3(signature = (mapping, *, read_only = false))]
    fn new(mapping: Bound<'_, PyAny>, read_only: bool) -> PyResult<PyClassInitializer<Self>> {
        let py = mapping.py();
        if !mapping.hasattr("__getitem__")?
            || !mapping.hasattr("keys")? && mapping.cast::<PyMapping>().is_err()
        {
            let message =
                format!("expected a mapping from str to bytes, found {}", mapping.get_type().qualname()?);
            return Err(crate::errors::Failure::new("InvalidTypeError", message).raise(py));
        }
        let name = format!("{} mapping", mapping.get_type().qualname()?);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let store = MappingStore {
            mapping: mapping.clone().unbind(),
            name,
            read_only: read_only || !mapping.hasattr("__setitem__")?,
            concurrency: if mapping.is_exact_instance_of::<PyDict>() { cores } else { REMOTE_CONCURRENCY },
            locks: KeyLocks::default(),
        };
        let base = PyStore::new(Arc::new(store));
        Ok(PyClassInitializer::from(base).add_subclass(Self { mapping: mapping.unbind(), read_only }))
    }

    /// The mapping itself.
    #[getter]
    fn mapping(&self, py: Python<'_>) -> Py<PyAny> {
        self.mapping.clone_ref(py)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let py = this.py();
        let rebuild = py.import("tessarray.stores")?.getattr("_mapping")?;
        let own = this.get();
        Ok((rebuild, (this.get_type().into_any(), own.mapping.clone_ref(py), own.read_only)))
    }
}

/// Keys asked for at a time where a fetch may take a network round trip; as object stores take them.
const REMOTE_CONCURRENCY: usize = 16;

#[derive(Debug)]
struct MappingStore {
    mapping: Py<PyAny>,
    name: String,
    read_only: bool,
    /// Keys asked for at a time.
    concurrency: usize,
    /// Held over calls into Python. Nobody waits for one while attached to the interpreter: every call of the engine
    /// is made detached.
    locks: KeyLocks,
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn meta(bytes: &[u8]) -> Meta {
    Meta {
        size: bytes.len() as u64,
        version: Version(format!("{}-{:016x}", bytes.len(), hash(bytes)).into()),
    }
}

impl MappingStore {
    fn fail(key: impl ToString, error: &PyErr) -> StoreError {
        StoreError::Other { key: key.to_string(), message: error.to_string() }
    }

    fn writable(&self, action: &str, key: impl ToString) -> Result<()> {
        if self.read_only {
            let action = format!("{action} {}", key.to_string());
            return Err(StoreError::ReadOnly { store: self.name.clone(), action });
        }
        Ok(())
    }

    fn fetch(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        Python::attach(|py| match self.mapping.bind(py).get_item(key.as_str()) {
            Ok(value) => bytes_of(&value).map(Some),
            Err(error) if error.is_instance_of::<PyKeyError>(py) => Ok(None),
            Err(error) => Err(error),
        })
        .map_err(|error| Self::fail(key, &error))
    }

    fn store(&self, key: &Key, value: &[u8]) -> Result<()> {
        Python::attach(|py| self.mapping.bind(py).set_item(key.as_str(), PyBytes::new(py, value)))
            .map_err(|error| Self::fail(key, &error))
    }

    fn remove(&self, key: &Key) -> Result<bool> {
        Python::attach(|py| match self.mapping.bind(py).del_item(key.as_str()) {
            Ok(()) => Ok(true),
            Err(error) if error.is_instance_of::<PyKeyError>(py) => Ok(false),
            Err(error) => Err(Self::fail(key, &error)),
        })
    }

    /// Answers requests for one key, numbered from `begin`.
    fn read_run(&self, begin: usize, run: &[ReadRequest], sink: &ReadSink<'_>) {
        let Some(first) = run.first() else { return };
        match self.fetch(&first.key) {
            Ok(value) => {
                for (i, request) in run.iter().enumerate() {
                    sink(begin + i, Self::answer(request, value.as_deref()));
                }
            }
            Err(error) => {
                let message = match error {
                    StoreError::Other { message, .. } => message,
                    other => other.to_string(),
                };
                for i in 0..run.len() {
                    let key = first.key.to_string();
                    sink(begin + i, Err(StoreError::Other { key, message: message.clone() }));
                }
            }
        }
    }

    /// Every key under the prefix, sorted. Keys of the mapping that no store could hold are passed over.
    fn keys(&self, prefix: &Prefix) -> Result<BTreeSet<Key>> {
        let names = Python::attach(|py| {
            let names = self.mapping.bind(py).try_iter()?;
            names.map(|name| name?.extract::<String>()).collect::<PyResult<Vec<String>>>()
        });
        let names = names.map_err(|error| Self::fail(prefix, &error))?;
        Ok(names.iter().filter_map(|name| Key::new(name).ok()).filter(|key| prefix.contains(key)).collect())
    }

    fn answer(request: &ReadRequest, value: Option<&[u8]>) -> Result<Option<Blob<'static>>> {
        let found = value.map(meta);
        let key = || request.key.to_string();
        if request.expect.is_some() && request.expect != found.as_ref().map(|meta| meta.version.clone()) {
            return Err(StoreError::Changed { key: key() });
        }
        let (Some(bytes), Some(meta)) = (value, found) else { return Ok(None) };
        let part = match request.range {
            ByteRange::All => Some(bytes),
            ByteRange::Suffix { length } => {
                let from = bytes.len().saturating_sub(usize::try_from(length).unwrap_or(usize::MAX));
                bytes.get(from..)
            }
            ByteRange::Span { offset, length } => {
                let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
                end.and_then(|end| bytes.get(usize::try_from(offset).ok()?..end))
            }
        };
        match (part, request.range) {
            (Some(part), _) => {
                Ok(Some(Blob { meta, bytes: BlobBytes::Shared(joined(&request.key, &[part])?.into()) }))
            }
            (None, ByteRange::Span { offset, length }) => {
                Err(StoreError::OutOfRange { key: key(), offset, length, size: meta.size })
            }
            (None, _) => Err(StoreError::Unanswered { key: key() }),
        }
    }
}

/// The parts of a value, one behind the other.
fn joined<P: AsRef<[u8]>>(key: &Key, parts: &[P]) -> Result<Vec<u8>> {
    owned::joined(parts).map_err(|error| StoreError::io(key, "allocate", error))
}

/// The bytes of a value: `bytes`, or anything that `bytes()` takes.
fn bytes_of(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let bytes = value.py().get_type::<PyBytes>().call1((value,))?.cast_into::<PyBytes>()?;
    Ok(bytes.as_bytes().to_vec())
}

impl Store for MappingStore {
    fn describe(&self) -> String {
        self.name.clone()
    }

    fn is_local(&self) -> bool {
        false
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        // Runs of requests for one key share one fetch.
        let mut runs = Vec::new();
        let mut begin = 0;
        for run in requests.chunk_by(|a, b| a.key == b.key) {
            runs.push((begin, run));
            begin += run.len();
        }
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&(begin, run)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.read_run(begin, run, sink);
            }
        };
        std::thread::scope(|scope| {
            let threads = if runs.len() < 4 { 1 } else { runs.len().min(self.concurrency) };
            for _ in 1..threads {
                // Where no thread can be started, those that were, and this one, do all of it.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.writable("put", key)?;
        let value = joined(key, parts)?;
        self.locks.hold(key, || {
            match mode {
                PutMode::Overwrite => {}
                PutMode::Create => {
                    if self.fetch(key)?.is_some() {
                        return Err(StoreError::Exists { key: key.to_string() });
                    }
                }
                PutMode::IfMatch(expected) => {
                    if self.fetch(key)?.map(|value| meta(&value).version) != Some(expected) {
                        return Err(StoreError::Changed { key: key.to_string() });
                    }
                }
            }
            self.store(key, &value)?;
            Ok(meta(&value).version)
        })
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.writable("update", key)?;
        self.locks.hold(key, || {
            let current = if read { self.fetch(key)? } else { None };
            let blob =
                current.map(|value| Blob { meta: meta(&value), bytes: BlobBytes::Shared(value.into()) });
            match decide(blob)? {
                Update::Put(parts) => self.store(key, &joined(key, &parts)?),
                Update::PutOwned(parts) => self.store(key, &joined(key, &parts)?),
                Update::Delete => self.remove(key).map(drop),
                Update::Keep => Ok(()),
            }
        })
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.writable("delete", key)?;
        self.locks.hold(key, || self.remove(key))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.writable("delete", prefix)?;
        self.keys(prefix)?.iter().try_for_each(|key| self.delete(key).map(drop))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        Ok(self.fetch(key)?.map(|value| meta(&value)))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        let keys = self.keys(prefix)?.into_iter();
        keys.filter_map(|key| match self.fetch(&key) {
            Ok(value) => value.map(|value| Ok((key, value.len() as u64))),
            Err(error) => Some(Err(error)),
        })
        .collect()
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        let mut entries = BTreeSet::new();
        for key in self.keys(prefix)? {
            let rest = key.as_str().get(prefix.as_str().len()..).unwrap_or_default();
            match rest.split_once('/') {
                Some((segment, _)) => {
                    entries.insert(ListEntry::Prefix(prefix.join(segment)?));
                }
                None => {
                    let size = self.fetch(&key)?.map_or(0, |value| value.len() as u64);
                    entries.insert(ListEntry::Key(key, size));
                }
            }
        }
        Ok(entries.into_iter().collect())
    }
}
