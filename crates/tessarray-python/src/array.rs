//! Arrays: the part of `tessarray.Array` that talks to the engine.
//!
//! Every call of the engine is made with the interpreter lock released. No lock of this crate is held while the
//! interpreter's is taken.

use crate::chunk_sizes::{one_shape, sizes};
use crate::errors::{Failure, OrRaise, invalid, of_read};
use crate::fields::Named;
use crate::indexer::{Kind, PyIndexer};
use crate::json::{from_map, to_map};
use crate::node::{PlainOptions, PyNode, documents, plain_options};
use crate::selection::{self, Request};
use crate::{check, dtype, fields, memory, recording, variable};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use tessarray::recording::Op;
use tessarray::{Arena, Array, ChunkGrid, DataType, Dims, Format, InputView, Member, VarItem};

/// The engine's side of an array.
#[pyclass(name = "ArrayCore", module = "tessarray._native", subclass, frozen)]
pub struct PyArrayCore {
    pub inner: Array,
    pub data_type: DataType,
    store: Py<PyAny>,
    descr: PyOnceLock<Py<PyArrayDescr>>,
}

impl PyArrayCore {
    /// The NumPy dtype, made when it is first needed: an array of bfloat16 can be listed without ml_dtypes.
    pub fn descr<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyArrayDescr>> {
        let made = || Ok::<_, PyErr>(dtype::descr(py, &self.data_type)?.unbind());
        Ok(self.descr.get_or_try_init(py, made)?.bind(py))
    }

    /// Reads into a new array, allocated once and not zeroed.
    pub fn read_request<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        if self.data_type.is_variable() {
            return self.read_variable(py, request);
        }
        let bytes = request.shape.iter().fold(u128::from(self.data_type.size() as u64), |product, &n| {
            product.saturating_mul(u128::from(n))
        });
        if bytes > isize::MAX as u128 {
            let message =
                format!("a selection of shape {:?}: {bytes} bytes are more than any memory", request.shape);
            return Err(Failure::new("OutOfMemoryError", message).raise(py));
        }
        let out = memory::empty(py, self.descr(py)?, &request.shape)?;
        self.read_into(py, request, &out)?;
        Ok(out)
    }

    /// Reads into the caller's array, which must have the dtype and shape of the result; into a new one without it.
    pub fn read_to<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let Some(out) = out else { return self.read_request(py, request) };
        let Ok(out) = out.cast::<PyUntypedArray>() else {
            return Err(invalid(
                py,
                format!("out: expected a NumPy array, found {}", out.get_type().qualname()?),
            ));
        };
        memory::check_out(out, self.descr(py)?, &request.shape)?;
        if self.data_type.is_variable() {
            let read = self.read_variable(py, request)?;
            out.set_item(pyo3::types::PyEllipsis::get(py), read)?;
        } else {
            self.read_into(py, request, out)?;
        }
        Ok(out.clone())
    }

    fn read_into(&self, py: Python<'_>, request: &Request, out: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
        let view = memory::output_view(request, out)?;
        let arena = Arena::new();
        recording::noted(py, Op::Read, &self.inner, request, || {
            py.detach(|| self.inner.read_into(&request.selection, &view, &arena))
                .map_err(|error| of_read(&self.inner, error))
                .or_raise(py)
        })
    }

    fn read_variable<'py>(&self, py: Python<'py>, request: &Request) -> PyResult<Bound<'py, PyUntypedArray>> {
        let elements = request.shape.iter().product::<u64>();
        let mut items = variable::items(elements).or_raise(py)?;
        let arena = Arena::new();
        let shape = request.selection.shape();
        recording::noted(py, Op::Read, &self.inner, request, || {
            py.detach(|| {
                let view = tessarray::OutputView::new(&mut items, &shape, VarItem::SIZE)?;
                self.inner.read_into(&request.selection, &view, &arena)
            })
            .map_err(|error| of_read(&self.inner, error))
            .or_raise(py)
        })?;
        variable::to_python(self.descr(py)?, &self.data_type, &items, &arena, &request.shape)
    }

    /// Writes any array-like, broadcast to the selection and cast as NumPy's assignment casts.
    pub fn write_request(&self, py: Python<'_>, request: &Request, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let arena = Arena::new();
        let array = self.input(value, &arena)?;
        self.write_array(py, request, &array, &arena, None)
    }

    /// Writes some fields of elements, and leaves the others as they are stored.
    pub fn write_fields<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        named: &Named<'py>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let array = named.elements(value, self.descr(py)?, || self.fill_value(py))?;
        self.write_array(py, request, &array, &Arena::new(), Some(&named.places))
    }

    fn write_array<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        array: &Bound<'py, PyUntypedArray>,
        arena: &Arena,
        fields: Option<&[usize]>,
    ) -> PyResult<()> {
        if let Some(view) = memory::input_view(request, array)? {
            return self.write_view(py, request, &view, arena, fields);
        }
        // Points taken from an array whose elements do not lie at equal distances: one copy puts them in a row.
        let numpy = py.import("numpy")?;
        let shape = PyTuple::new(py, &request.shape[..])?;
        let flat = numpy
            .call_method1("ascontiguousarray", (numpy.call_method1("broadcast_to", (array, shape))?,))?;
        match memory::input_view(request, flat.cast::<PyUntypedArray>()?)? {
            Some(view) => self.write_view(py, request, &view, arena, fields),
            None => Err(invalid(py, "the input cannot be laid out for this selection")),
        }
    }

    fn write_view(
        &self,
        py: Python<'_>,
        request: &Request,
        view: &InputView<'_>,
        arena: &Arena,
        fields: Option<&[usize]>,
    ) -> PyResult<()> {
        let write = || match fields {
            None => self.inner.write_from(&request.selection, view, arena),
            Some(fields) => self.inner.write_fields(&request.selection, fields, view, arena),
        };
        recording::noted(py, Op::Write, &self.inner, request, || py.detach(write).or_raise(py))
    }

    /// An array-like as an array of this array's dtype; without a copy where it is one.
    fn input<'py>(&self, value: &Bound<'py, PyAny>, arena: &Arena) -> PyResult<Bound<'py, PyUntypedArray>> {
        let py = value.py();
        if self.data_type.is_variable() {
            return variable::from_python(value, &self.data_type, arena);
        }
        memory::as_array(&self.unmasked(value)?, self.descr(py)?)
    }

    /// Masked elements of a masked array become the array's fill value.
    pub fn unmasked<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        memory::filled(value, || self.fill_value(py))
    }

    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyBytes::new(py, &self.inner.metadata().fill_value);
        py.import("numpy")?.call_method1("frombuffer", (bytes, self.descr(py)?))?.get_item(0)
    }

    /// The number of an axis that may be counted from the end.
    pub fn axis(&self, py: Python<'_>, axis: isize) -> PyResult<usize> {
        let rank = self.inner.shape().len();
        let wrapped =
            if axis < 0 { rank.checked_sub(axis.unsigned_abs()) } else { Some(axis.unsigned_abs()) };
        let found = wrapped.filter(|&axis| axis < rank);
        found.ok_or_else(|| invalid(py, format!("axis: expected one of the {rank} axes, found {axis}")))
    }
}

pub fn tuple<'py>(py: Python<'py>, numbers: &[u64]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, numbers)
}

#[pymethods]
impl PyArrayCore {
    #[new]
    fn new(py: Python<'_>, node: &Bound<'_, PyNode>, store: Py<PyAny>) -> PyResult<Self> {
        match &node.get().member {
            Member::Array(array) => Ok(Self {
                inner: array.clone(),
                data_type: array.data_type(),
                store,
                descr: PyOnceLock::new(),
            }),
            Member::Group(_) => Err(invalid(py, "the node is a group, expected an array")),
        }
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(named) = fields::split(&self.data_type, key)? {
            return named.of(&self.__getitem__(py, &named.rest)?);
        }
        let shape = self.inner.shape();
        let request = selection::parse(key, &shape)?;
        let out = self.read_request(py, &request)?;
        // As zarr-python: a zero-dimensional array gives a scalar, an element of any other a 0-d array.
        if shape.is_empty() && out.ndim() == 0 {
            out.get_item(PyTuple::empty(py))
        } else {
            Ok(out.into_any())
        }
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(named) = fields::split(&self.data_type, key)? {
            let request = selection::parse(&named.rest, &self.inner.shape())?;
            return self.write_fields(py, &request, &named, value);
        }
        let request = selection::parse(key, &self.inner.shape())?;
        self.write_request(py, &request, value)
    }

    /// Reads a selection, into `out` where it is given.
    #[pyo3(signature = (selection = None, /, *, out = None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        selection: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let shape = self.inner.shape();
        let request = match selection {
            Some(key) => selection::parse(key, &shape)?,
            None => Request::all(&shape),
        };
        self.read_to(py, &request, out)
    }

    /// Writes to a selection; the same as assigning to it.
    #[pyo3(signature = (selection, value, /))]
    fn write(&self, py: Python<'_>, selection: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.__setitem__(py, selection, value)
    }

    /// Adds elements at the end of an axis and returns the new shape.
    #[pyo3(signature = (data, axis = 0))]
    fn append<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        axis: isize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let axis = self.axis(py, axis)?;
        let arena = Arena::new();
        let array = self.input(data, &arena)?;
        let added = memory::shape(&array);
        let view = memory::whole_view(&array);
        let began = recording::started();
        let start = py.detach(|| self.inner.append(axis, &view, &arena)).or_raise(py)?;
        if let Some(began) = began {
            recording::appended(py, &self.inner, axis, start, &added, began);
        }
        let mut shape: Dims = self.inner.shape().into_iter().collect();
        if let (Some(extent), Some(n)) = (shape.get_mut(axis), added.get(axis)) {
            *extent = start.saturating_add(*n);
        }
        tuple(py, &shape)
    }

    /// Changes the shape; elements outside the new one are dropped.
    fn _resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        py.detach(|| self.inner.resize(&shape)).or_raise(py)
    }

    /// Rereads the metadata: what other processes appended becomes visible.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.refresh()).or_raise(py)
    }

    /// `oindex`, `vindex` and `blocks`, by name.
    #[getter]
    fn oindex(this: &Bound<'_, Self>) -> PyIndexer {
        PyIndexer::new(this, Kind::Orthogonal)
    }

    #[getter]
    fn vindex(this: &Bound<'_, Self>) -> PyIndexer {
        PyIndexer::new(this, Kind::Vectorized)
    }

    #[getter]
    fn blocks(this: &Bound<'_, Self>) -> PyIndexer {
        PyIndexer::new(this, Kind::Blocks)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.inner.shape())
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        self.descr(py).cloned()
    }

    /// The engine's name of the data type, as in Zarr v3.
    #[getter]
    fn data_type(&self) -> String {
        self.data_type.to_string()
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.inner.shape().len()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> u128 {
        self.inner.shape().iter().map(|&n| u128::from(n)).product()
    }

    /// Bytes of one element in memory (16 for elements of variable length).
    #[getter]
    fn itemsize(&self) -> usize {
        self.data_type.size()
    }

    /// Bytes of all elements in memory, uncompressed.
    #[getter]
    fn nbytes(&self) -> u128 {
        self.size().saturating_mul(self.data_type.size() as u128)
    }

    /// Shape of the inner chunk where the array is sharded, else of the chunk.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        one_shape(py, ("chunks", "read_chunk_sizes"), &self.inner.chunk_edges())
    }

    /// Shape of the shard, `None` where there are none.
    #[getter]
    fn shards<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let sharded = self.inner.shard_shape().is_some();
        let shape = || one_shape(py, ("shards", "write_chunk_sizes"), &self.inner.object_edges());
        sharded.then(shape).transpose()
    }

    /// The kind of the grid of chunks (of shards, where there are any): `regular` or `rectilinear`.
    #[getter]
    fn chunk_grid(&self) -> &'static str {
        match self.inner.metadata().chunk_grid {
            ChunkGrid::Regular(_) => "regular",
            ChunkGrid::Rectilinear(_) => "rectilinear",
        }
    }

    /// Lengths along each axis of the chunks that are read on their own, clipped at the array's end.
    #[getter]
    fn read_chunk_sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        sizes(py, &self.inner.chunk_edges(), &self.inner.shape())
    }

    /// The same of what is stored as one object.
    #[getter]
    fn write_chunk_sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        sizes(py, &self.inner.object_edges(), &self.inner.shape())
    }

    /// Chunks along each axis (inner chunks, where sharded).
    #[getter]
    fn cdata_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shape = self.inner.shape();
        let counts = self.inner.chunk_edges().into_iter().zip(shape).map(|(edges, n)| edges.count(n));
        tuple(py, &counts.collect::<Vec<u64>>())
    }

    #[getter]
    fn path(&self) -> &str {
        self.inner.path()
    }

    #[getter]
    fn store(&self, py: Python<'_>) -> Py<PyAny> {
        self.store.clone_ref(py)
    }

    /// 2 or 3.
    #[getter]
    fn zarr_format(&self) -> u8 {
        if self.inner.metadata().format == Format::V2 { 2 } else { 3 }
    }

    #[getter]
    fn dimension_names<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let metadata = self.inner.metadata();
        metadata.dimension_names.as_ref().map(|names| PyTuple::new(py, names)).transpose()
    }

    /// One element's bytes: the value of what was never written.
    fn _fill_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.metadata().fill_value)
    }

    fn _attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        from_map(py, &self.inner.metadata().attributes)
    }

    fn _set_attributes(&self, py: Python<'_>, attributes: &Bound<'_, PyAny>) -> PyResult<()> {
        let attributes = to_map(attributes, "attributes")?;
        py.detach(|| self.inner.set_attributes(attributes)).or_raise(py)
    }

    fn _codecs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let metadata = self.inner.metadata();
        metadata.codecs.iter().map(|codec| crate::json::from_json(py, &codec.to_json())).collect()
    }

    fn _documents<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        documents(py, &self.inner.metadata())
    }

    fn _check<'py>(&self, py: Python<'py>, deep: bool) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let findings = py.detach(|| self.inner.check(deep)).or_raise(py)?;
        findings.iter().map(|finding| check::finding(py, finding)).collect()
    }

    /// How this handle reads and writes: `(always_verify, write_empty_chunks, read_missing_chunks)`.
    #[getter]
    fn _options(&self) -> PlainOptions {
        plain_options(self.inner.session().options())
    }

    /// Chunk (or shard) objects in the grid.
    #[getter]
    fn nobjects(&self) -> u64 {
        self.inner.object_count()
    }

    /// Chunk (or shard) objects in the store; costs a listing.
    fn nobjects_stored(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.inner.stored_objects()).or_raise(py)
    }

    /// Bytes the array takes in its store, metadata included; costs a listing.
    fn nbytes_stored(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.inner.stored_bytes()).or_raise(py)
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.inner.shape().first() {
            Some(&n) => Ok(usize::try_from(n)?),
            None => Err(pyo3::exceptions::PyTypeError::new_err("len() of a zero-dimensional array")),
        }
    }
}
