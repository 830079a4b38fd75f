//! Chunk by chunk through an array, several at a time, with bounded memory.
//!
//! 1. Threads of the stream take the next chunk as long as fewer than `prefetch` are under way or waiting.
//! 2. Each reads its chunk into a buffer of its own, with no interpreter lock, and puts it into the queue.
//! 3. The iterator takes the next in order, or whichever is first, and makes a NumPy array of the buffer.
//! 4. A stream that is dropped or closed stops its threads; each ends after the chunk it is at.

use crate::array::PyArrayCore;
use crate::errors::{OrRaise, bad_selection, invalid, of_read};
use crate::memory;
use crate::recording;
use crate::selection::{self, Layout, Request};
use crate::variable;
use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use tessarray::recording::Op;
use tessarray::{Arena, Array, ArrayError, AxisSelection, Block, DataType, Edges, Selection};

/// A contiguous box, cut at chunk boundaries.
struct Boxes {
    start: Vec<u64>,
    end: Vec<u64>,
    edges: Vec<Edges>,
    /// Chunks touched along each axis.
    grid: Vec<u64>,
    total: u64,
}

impl Boxes {
    fn new(start: Vec<u64>, end: Vec<u64>, edges: Vec<Edges>) -> Self {
        let touched = |((&start, &end), edges): ((&u64, &u64), &Edges)| {
            if start < end { edges.chunk_of(end - 1) - edges.chunk_of(start) + 1 } else { 0 }
        };
        let grid: Vec<u64> = start.iter().zip(&end).zip(&edges).map(touched).collect();
        let total = grid.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        Self { start, end, edges, grid, total }
    }

    /// Start and shape of box number `index`, in C order.
    fn region(&self, mut index: u64) -> (Vec<u64>, Vec<u64>) {
        let rank = self.grid.len();
        let (mut start, mut shape) = (vec![0; rank], vec![0; rank]);
        for axis in (0..rank).rev() {
            let edges = &self.edges[axis];
            let at = edges.chunk_of(self.start[axis]) + index % self.grid[axis];
            index /= self.grid[axis];
            let from = edges.begin(at).max(self.start[axis]);
            let to = edges.begin(at).saturating_add(edges.length(at)).min(self.end[axis]);
            (start[axis], shape[axis]) = (from, to - from);
        }
        (start, shape)
    }
}

struct Read {
    start: Vec<u64>,
    shape: Vec<u64>,
    block: Block,
    arena: Arena,
}

#[derive(Default)]
struct State {
    started: u64,
    taken: u64,
    done: BTreeMap<u64, Result<Read, ArrayError>>,
    stop: bool,
}

struct Shared {
    array: Array,
    boxes: Boxes,
    item: usize,
    prefetch: u64,
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut state = self.lock();
            while !state.stop
                && state.started < self.boxes.total
                && state.started >= state.taken + self.prefetch
            {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.stop || state.started >= self.boxes.total {
                return;
            }
            let index = state.started;
            state.started += 1;
            drop(state);
            let read = self.read(index);
            let mut state = self.lock();
            state.done.insert(index, read);
            self.changed.notify_all();
        }
    }

    fn read(&self, index: u64) -> Result<Read, ArrayError> {
        let (start, shape) = self.boxes.region(index);
        let bytes = shape.iter().fold(self.item as u64, |product, &n| product.saturating_mul(n));
        let none = ArrayError::Memory { what: "chunk", bytes };
        let mut block = Block::zeroed(&shape, self.item).ok_or(none)?;
        let arena = Arena::new();
        self.array.read_into(&Selection::region(&start, &shape), &mut block.view(), &arena)?;
        Ok(Read { start, shape, block, arena })
    }

    /// The next result, or `None` where none came in a while.
    fn next(&self, ordered: bool, wait: Duration) -> Option<Result<Read, ArrayError>> {
        let mut state = self.lock();
        for _ in 0..2 {
            let taken = state.taken;
            let found = if ordered {
                state.done.remove(&taken)
            } else {
                state.done.pop_first().map(|(_, read)| read)
            };
            if found.is_some() {
                state.taken += 1;
                self.changed.notify_all();
                return found;
            }
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }
}

/// Iterates over `(region, values)`: the region as a tuple of slices of the array, and its elements.
#[pyclass(name = "ChunkStream", module = "tessarray._native", frozen)]
pub struct PyChunkStream {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    ordered: bool,
    data_type: DataType,
    descr: Py<PyArrayDescr>,
    process: u32,
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
    let (start, end) = corners(py, &request)?;
    let edges = if by_shard { core.inner.object_edges() } else { core.inner.chunk_edges() };
    let workers = core.inner.session().threads() as u64;
    let prefetch = prefetch.unwrap_or(workers.saturating_add(1));
    if prefetch == 0 {
        return Err(invalid(py, "prefetch: expected at least 1, found 0"));
    }
    let boxes = Boxes::new(start, end, edges);
    let workers = workers.min(prefetch).min(boxes.total);
    if recording::started().is_some() {
        recording::one(py, Op::Stream, &core.inner, &request, None);
    }
    let shared = Arc::new(Shared {
        array: core.inner.clone(),
        boxes,
        item: core.data_type.size(),
        prefetch,
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let stream = PyChunkStream {
        shared,
        threads: Mutex::default(),
        ordered,
        data_type: core.data_type.clone(),
        descr: core.descr(py)?.clone().unbind(),
        process: std::process::id(),
    };
    for i in 0..workers {
        let shared = Arc::clone(&stream.shared);
        let thread = Builder::new().name(format!("tessarray-stream-{i}")).spawn(move || shared.work());
        let threads = usize::try_from(workers).unwrap_or(usize::MAX);
        let thread = thread
            .map_err(|error| ArrayError::Threads { threads, reason: error.to_string() })
            .or_raise(py)?;
        stream.threads().push(thread);
    }
    Ok(stream)
}

/// The first element and the one after the last of a box.
fn corners(py: Python<'_>, request: &Request) -> PyResult<(Vec<u64>, Vec<u64>)> {
    let refuse = || bad_selection(py, "a stream goes over a box: integers and slices of step 1");
    let (Selection::Axes(axes), Layout::Axes(_)) = (&request.selection, &request.layout) else {
        return Err(refuse());
    };
    let mut corners = (Vec::new(), Vec::new());
    for axis in axes {
        match axis {
            AxisSelection::Range { start, step, len } if *step == 1 || *len <= 1 => {
                corners.0.push(*start);
                corners.1.push(start + len);
            }
            _ => return Err(refuse()),
        }
    }
    Ok(corners)
}

impl PyChunkStream {
    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the threads to stop and waits for them. To be called detached: they may need the interpreter.
    fn stop(&self) {
        let mut state = self.shared.lock();
        state.stop = true;
        state.done.clear();
        self.shared.changed.notify_all();
        drop(state);
        let threads = std::mem::take(&mut *self.threads());
        if self.process == std::process::id() {
            for thread in threads {
                // A thread that panicked has nothing more to say than the missing chunk has said already.
                drop(thread.join());
            }
        } else {
            // Threads of the parent process; there is nobody to wait for.
            std::mem::forget(threads);
        }
    }

    fn array<'py>(&self, py: Python<'py>, read: Read) -> PyResult<Bound<'py, PyUntypedArray>> {
        let descr = self.descr.bind(py);
        if self.data_type.is_variable() {
            return variable::to_python(descr, &self.data_type, read.block.bytes(), &read.arena, &read.shape);
        }
        memory::array_of(read.block, descr)
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
        if self.process != std::process::id() {
            return Err(invalid(py, "a chunk stream cannot be used in a forked process: start one there"));
        }
        let read = loop {
            let state = self.shared.lock();
            if state.stop || state.taken >= self.shared.boxes.total {
                return Ok(None);
            }
            drop(state);
            let next = py.detach(|| self.shared.next(self.ordered, Duration::from_millis(200)));
            match next {
                Some(read) => break read,
                None => py.check_signals()?,
            }
        };
        if read.is_err() {
            py.detach(|| self.stop());
        }
        let read = read.map_err(|error| of_read(&self.shared.array, error)).or_raise(py)?;
        let region = read.start.iter().zip(&read.shape);
        let region = region.map(|(&start, &n)| {
            Ok(PySlice::new(py, isize::try_from(start)?, isize::try_from(start + n)?, 1))
        });
        let region = PyTuple::new(py, region.collect::<PyResult<Vec<_>>>()?)?;
        Ok(Some((region, self.array(py, read)?)))
    }

    /// Chunks of the whole stream.
    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.shared.boxes.total)?)
    }

    /// Stops early: waits for the chunks under way, and drops what was read ahead.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.stop());
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
        // Where the interpreter is going away, the threads are left to end by themselves.
        if Python::try_attach(|py| py.detach(|| self.stop())).is_none() {
            let mut state = self.shared.lock();
            state.stop = true;
            self.shared.changed.notify_all();
        }
    }
}
