//! Groups: the part of `tessarray.Group` that talks to the engine.

use crate::errors::{OrRaise, bad_selection};
use crate::json::{from_json, from_map, to_map};
use crate::node::{PlainOptions, PyNode, plain_options};
use crate::spec::SpecArguments;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Map;
use tessarray::{Format, Group, Member};

/// The engine's side of a group.
#[pyclass(name = "GroupCore", module = "tessarray._native", subclass, frozen)]
pub struct PyGroup {
    inner: Group,
    store: Py<PyAny>,
}

#[pymethods]
impl PyGroup {
    #[new]
    fn new(py: Python<'_>, node: &Bound<'_, PyNode>, store: Py<PyAny>) -> PyResult<Self> {
        match &node.get().member {
            Member::Group(group) => Ok(Self { inner: group.clone(), store }),
            Member::Array(_) => Err(bad_selection(py, "the node is an array, expected a group")),
        }
    }

    /// The store the group lives in.
    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyAny> {
        self.store.clone_ref(py)
    }

    /// The group's path in the store; empty for the root.
    #[getter]
    fn path(&self) -> &str {
        self.inner.path()
    }

    /// 2 or 3.
    #[getter]
    fn zarr_format(&self) -> u8 {
        if self.inner.metadata().format == Format::V2 { 2 } else { 3 }
    }

    fn _attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        from_map(py, &self.inner.metadata().attributes)
    }

    fn _set_attributes(&self, py: Python<'_>, attributes: &Bound<'_, PyAny>) -> PyResult<()> {
        let attributes = to_map(attributes, "attributes")?;
        py.detach(|| self.inner.set_attributes(attributes)).or_raise(py)
    }

    /// The metadata documents as they would be written now.
    fn _documents<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let metadata = self.inner.metadata();
        if metadata.format == Format::V3 {
            return vec![PyBytes::new(py, &metadata.to_v3())];
        }
        let (zgroup, zattrs) = metadata.to_v2();
        vec![PyBytes::new(py, &zgroup), PyBytes::new(py, &zattrs)]
    }

    /// Rereads the metadata.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.refresh()).or_raise(py)
    }

    /// Writes a copy of the metadata of every node below into the group's own.
    fn _consolidate(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.consolidate()).or_raise(py)
    }

    /// Whether the group's document, as it was opened, has a copy of the metadata of every node below.
    fn _is_consolidated(&self) -> bool {
        self.inner.metadata().consolidated.is_some()
    }

    /// Makes this handle look at every node itself, whatever copy the group's document has.
    fn _look_directly(&self) {
        self.inner.look_directly();
    }

    fn _look(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        looked(py, py.detach(|| self.inner.look()).or_raise(py)?)
    }

    fn _look_below(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<PyAny>)>> {
        looked(py, py.detach(|| self.inner.look_below()).or_raise(py)?)
    }

    fn _get(&self, py: Python<'_>, path: &str) -> PyResult<Option<PyNode>> {
        Ok(py.detach(|| self.inner.get(path)).or_raise(py)?.map(Into::into))
    }

    #[pyo3(signature = (path, attributes = None, overwrite = false))]
    fn _create_group(
        &self,
        py: Python<'_>,
        path: &str,
        attributes: Option<&Bound<'_, PyAny>>,
        overwrite: bool,
    ) -> PyResult<PyNode> {
        let attributes = attributes.map_or_else(|| Ok(Map::new()), |map| to_map(map, "attributes"))?;
        Ok(py.detach(|| self.inner.create_group(path, attributes, overwrite)).or_raise(py)?.into())
    }

    fn _create_array(
        &self,
        py: Python<'_>,
        path: &str,
        arguments: SpecArguments<'_>,
        overwrite: bool,
    ) -> PyResult<PyNode> {
        let spec = arguments.spec(py)?;
        Ok(py.detach(|| self.inner.create_array(path, &spec, overwrite)).or_raise(py)?.into())
    }

    /// The group again, to be configured.
    fn _node(&self) -> PyNode {
        self.inner.clone().into()
    }

    /// How its members are read and written: `(always_verify, write_empty_chunks, read_missing_chunks)`.
    #[getter]
    fn _options(&self) -> PlainOptions {
        plain_options(self.inner.session().options())
    }

    fn _delete(&self, py: Python<'_>, path: &str) -> PyResult<bool> {
        py.detach(|| self.inner.delete(path)).or_raise(py)
    }
}

/// A metadata document as Python objects; numbers keep their 64 bits, and NaN in attributes is a float.
#[pyfunction]
pub fn parse_json<'py>(py: Python<'py>, document: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // As `.zattrs`, since NaN is read there wherever it stands; the engine has refused it elsewhere.
    match tessarray::parse_json(document, &tessarray::Limits::default(), ".zattrs") {
        Ok(value) => from_json(py, &value),
        Err(error) => Err(crate::errors::invalid(py, error.to_string())),
    }
}

/// Nodes, and exceptions in the place of those that cannot be opened.
fn looked(
    py: Python<'_>,
    found: Vec<(String, tessarray::Result<Member>)>,
) -> PyResult<Vec<(String, Py<PyAny>)>> {
    let one = |(path, member): (String, tessarray::Result<Member>)| {
        let node = match member.or_raise(py) {
            Ok(member) => Py::new(py, PyNode::from(member))?.into_any(),
            Err(error) => error.into_value(py).into_any(),
        };
        Ok((path, node))
    };
    found.into_iter().map(one).collect()
}
