//! The engine's chunk streams as Python iterators of `(region, values)`.

use crate::array::PyArrayCore;
use crate::errors::{OrRaise, bad_selection, invalid, of_read};
use crate::memory;
use crate::recording;
use crate::selection::{self, Layout, Request};
use crate::variable;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};
use std::time::Duration;
use tessarray::recording::Op;
use tessarray::{Array, ChunkStream, DataType, StreamOptions, Streamed, StreamedChunk};

/// How often a wait is interrupted to look for signals.
const LOOK: Duration = Duration::from_millis(200);

/// Iterates over `(region, values)`: the region as a tuple of slices of the array, and its elements.
#[pyclass(name = "ChunkStream", module = "tessarray._native", frozen)]
pub struct PyChunkStream {
    stream: ChunkStream,
    array: Array,
    data_type: DataType,
    descr: Py<PyArrayDescr>,
}

/// Starts a stream over `selection` (a contiguous box) of an array.
#[pyfunction]
#[pyo3(signature = (array, selection, ordered, prefetch, by_shard))]
pub fn chunk_stream(
    py: Python<'_>,
    array: &Bound<'_, PyArrayCore>,
    selection: Option<&Bound<'_, PyAny>>,
    ordered: bool,
    prefetch: Option<u64>,
    by_shard: bool,
) -> PyResult<PyChunkStream> {
    let core = array.get();
    let shape = core.inner.shape();
    let request = match selection {
        Some(key) => selection::parse(key, &shape)?,
        None => Request::all(&shape),
    };
    if !matches!(request.layout, Layout::Axes(_)) || request.selection.as_region().is_none() {
        return Err(bad_selection(py, "a stream goes over a box: integers and slices of step 1"));
    }
    let options = StreamOptions { ordered, prefetch, by_shard };
    let stream = py.detach(|| ChunkStream::new(&core.inner, &request.selection, options)).or_raise(py)?;
    if recording::started().is_some() {
        recording::one(py, Op::Stream, &core.inner, &request, None);
    }
    Ok(PyChunkStream {
        stream,
        array: core.inner.clone(),
        data_type: core.data_type.clone(),
        descr: core.descr(py)?.clone().unbind(),
    })
}

impl PyChunkStream {
    fn values<'py>(&self, py: Python<'py>, chunk: StreamedChunk) -> PyResult<Bound<'py, PyUntypedArray>> {
        let descr = self.descr.bind(py);
        if self.data_type.is_variable() {
            let StreamedChunk { values, arena, .. } = &chunk;
            return variable::to_python(descr, &self.data_type, values.bytes(), arena, values.shape());
        }
        memory::array_of(chunk.values, descr)
    }
}

#[pymethods]
impl PyChunkStream {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyTuple>, Bound<'py, PyUntypedArray>)>> {
        if !self.stream.is_of_this_process() {
            return Err(invalid(py, "a chunk stream cannot be used in a forked process: start one there"));
        }
        let chunk = loop {
            match py.detach(|| self.stream.next_within(LOOK)) {
                Streamed::Chunk(chunk) => break chunk,
                Streamed::Waiting => py.check_signals()?,
                Streamed::End => return Ok(None),
            }
        };
        let chunk = chunk.map_err(|error| of_read(&self.array, error)).or_raise(py)?;
        let region = chunk.start.iter().zip(chunk.values.shape());
        let region = region.map(|(&start, &n)| {
            Ok(PySlice::new(py, isize::try_from(start)?, isize::try_from(start + n)?, 1))
        });
        let region = PyTuple::new(py, region.collect::<PyResult<Vec<_>>>()?)?;
        Ok(Some((region, self.values(py, chunk)?)))
    }

    /// Chunks of the whole stream.
    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.stream.len())?)
    }

    /// Stops early: waits for the chunks under way, and drops what was read ahead.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.stream.close());
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }
}

impl Drop for PyChunkStream {
    fn drop(&mut self) {
        // Detached, for threads may need the interpreter. If it is going away, they are left to end by themselves.
        if Python::try_attach(|py| py.detach(|| self.stream.close())).is_none() {
            self.stream.abandon();
        }
    }
}
