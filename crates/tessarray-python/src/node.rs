//! Arrays and groups on their way from the engine to the Python classes that wrap them.

use crate::errors::OrRaise;
use crate::session::{PySession, pick};
use crate::spec::{SpecArguments, format};
use crate::store::PyStore;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use tessarray::{Array, ArrayMetadata, Format, Group, Member, Options};

/// An array or a group, opened; `tessarray.Array(node, store)` or `tessarray.Group(node, store)` makes it usable.
#[pyclass(name = "Node", module = "tessarray._native", frozen)]
pub struct PyNode {
    pub member: Member,
}

impl From<Member> for PyNode {
    fn from(member: Member) -> Self {
        Self { member }
    }
}

impl From<Array> for PyNode {
    fn from(array: Array) -> Self {
        Self { member: Member::Array(array) }
    }
}

impl From<Group> for PyNode {
    fn from(group: Group) -> Self {
        Self { member: Member::Group(group) }
    }
}

#[pymethods]
impl PyNode {
    #[getter]
    fn is_array(&self) -> bool {
        matches!(self.member, Member::Array(_))
    }

    /// The same node with other options: `(always_verify, write_empty_chunks, read_missing_chunks)`.
    fn configured(&self, options: PlainOptions) -> Self {
        let options = engine_options(options);
        match &self.member {
            Member::Array(array) => array.with_options(options).into(),
            Member::Group(group) => group.with_options(options).into(),
        }
    }

    #[getter]
    fn options(&self) -> PlainOptions {
        plain_options(match &self.member {
            Member::Array(array) => array.session().options(),
            Member::Group(group) => group.session().options(),
        })
    }

    #[getter]
    fn path(&self) -> &str {
        match &self.member {
            Member::Array(array) => array.path(),
            Member::Group(group) => group.path(),
        }
    }
}

/// Options as plain values: `(always_verify, write_empty_chunks, read_missing_chunks)`.
pub type PlainOptions = (bool, bool, bool);

/// The same for the engine.
pub fn engine_options((always_verify, write_empty_chunks, read_missing_chunks): PlainOptions) -> Options {
    let mut options = Options::default();
    options.always_verify = always_verify;
    options.write_empty_chunks = write_empty_chunks;
    options.read_missing_chunks = read_missing_chunks;
    options
}

/// The engine's as plain values.
pub fn plain_options(options: &Options) -> PlainOptions {
    (options.always_verify, options.write_empty_chunks, options.read_missing_chunks)
}

type Session<'a, 'py> = Option<&'a Bound<'py, PySession>>;

/// Creates an array from the arguments of `create_array` in their plain forms.
#[pyfunction]
#[pyo3(signature = (store, path, arguments, overwrite, session = None))]
pub fn create_array(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    path: &str,
    arguments: SpecArguments<'_>,
    overwrite: bool,
    session: Session<'_, '_>,
) -> PyResult<PyNode> {
    let session = pick(py, session)?;
    let spec = arguments.spec(py)?;
    let store = Arc::clone(&store.get().inner);
    let array = py.detach(|| Array::create(&session, store, path, &spec, overwrite)).or_raise(py)?;
    Ok(array.into())
}

/// Creates a group.
#[pyfunction]
#[pyo3(signature = (store, path, zarr_format, attributes, overwrite, session = None))]
pub fn create_group(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    path: &str,
    zarr_format: u8,
    attributes: Option<&Bound<'_, PyAny>>,
    overwrite: bool,
    session: Session<'_, '_>,
) -> PyResult<PyNode> {
    let session = pick(py, session)?;
    let format = format(py, zarr_format)?;
    let attributes = match attributes {
        Some(attributes) => crate::json::to_map(attributes, "attributes")?,
        None => serde_json::Map::new(),
    };
    let store = Arc::clone(&store.get().inner);
    let group =
        py.detach(|| Group::create(&session, store, path, format, attributes, overwrite)).or_raise(py)?;
    Ok(group.into())
}

/// Opens what is at a path: with `kind` `"array"` or `"group"` only that, else whatever is there.
#[pyfunction]
#[pyo3(signature = (store, path, kind = None, session = None))]
pub fn open_node(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    path: &str,
    kind: Option<&str>,
    session: Session<'_, '_>,
) -> PyResult<PyNode> {
    let session = pick(py, session)?;
    let store = Arc::clone(&store.get().inner);
    let member = py.detach(|| match kind {
        Some("array") => Array::open(&session, store, path).map(Member::Array),
        Some("group") => Group::open(&session, store, path).map(Member::Group),
        _ => Group::open_member(&session, store, path),
    });
    Ok(member.or_raise(py)?.into())
}

/// The array with this metadata, with no I/O; for unpickling. `documents` are `zarr.json`, or `.zarray` and `.zattrs`.
#[pyfunction]
#[pyo3(signature = (store, path, documents, session = None))]
pub fn array_from_documents(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    path: &str,
    documents: Vec<Bound<'_, PyBytes>>,
    session: Session<'_, '_>,
) -> PyResult<PyNode> {
    let session = pick(py, session)?;
    let limits = session.limits();
    let metadata = match documents.as_slice() {
        [zarr_json] => ArrayMetadata::from_v3(zarr_json.as_bytes(), limits),
        [zarray, zattrs, ..] => ArrayMetadata::from_v2(zarray.as_bytes(), Some(zattrs.as_bytes()), limits),
        [] => return Err(crate::errors::invalid(py, "no metadata document")),
    };
    let metadata = metadata.or_raise(py)?;
    let store = Arc::clone(&store.get().inner);
    Ok(Array::from_metadata(&session, store, path, metadata).or_raise(py)?.into())
}

/// The metadata documents of an array, as they would be written now.
pub fn documents<'py>(py: Python<'py>, metadata: &ArrayMetadata) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    if metadata.format == Format::V3 {
        return Ok(vec![PyBytes::new(py, &metadata.to_v3())]);
    }
    let (zarray, zattrs) = metadata.to_v2().or_raise(py)?;
    Ok(vec![PyBytes::new(py, &zarray), PyBytes::new(py, &zattrs)])
}
