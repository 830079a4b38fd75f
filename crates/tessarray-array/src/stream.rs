//! Chunk by chunk through an array, several at a time, with bounded memory.
//!
//! 1. Threads of the stream take the next chunk as long as fewer than `prefetch` are under way or waiting.
//! 2. Each reads its chunk into memory of its own, and puts it into the queue.
//! 3. Who iterates takes the next in order, or whichever is first.
//! 4. A stream that is dropped or closed stops its threads; each ends after the chunk it is at.

use crate::array::Array;
use crate::error::{ArrayError, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use tessarray_buffer::{Arena, Block};
use tessarray_grid::{Edges, Selection};

/// How long an iterator sleeps before it looks again.
const LOOK: Duration = Duration::from_secs(1);

/// How a [`ChunkStream`] goes through an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamOptions {
    /// In the order of the grid (C order); otherwise each chunk as soon as it is there.
    pub ordered: bool,
    /// Chunks that are under way or wait to be taken, at least 1; without it one more than the session's threads.
    pub prefetch: Option<u64>,
    /// Whole shards in place of their inner chunks.
    pub by_shard: bool,
}

impl Default for StreamOptions {
    /// In order, inner chunks, one more than there are threads.
    fn default() -> Self {
        Self { ordered: true, prefetch: None, by_shard: false }
    }
}

/// One chunk of a stream, or what of it lies in the selected box.
#[derive(Debug)]
pub struct StreamedChunk {
    /// Its first element in the array.
    pub start: Vec<u64>,
    /// Its elements, C-ordered, in the machine's byte order.
    pub values: Block,
    /// What elements of variable length point into.
    pub arena: Arena,
}

/// What a stream has for who asks.
#[derive(Debug)]
pub enum Streamed {
    /// The next chunk, or why it cannot be read: nothing comes after that.
    Chunk(Result<StreamedChunk>),
    /// None is there yet.
    Waiting,
    /// There are no more.
    End,
}

/// Reads the chunks of a box of an array ahead, on threads of its own. Memory: `prefetch` chunks and one that was taken.
///
/// A stream goes over the array as its handle knew it when the stream was made. Beside writers each chunk is old or new. If a
/// chunk cannot be read, its error is the stream's last item. To drop the stream waits for the chunks under way.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use tessarray_array::{Array, ArraySpec, ChunkChoice, ChunkStream, Session, StreamOptions};
/// use tessarray_buffer::DataType;
/// use tessarray_grid::Selection;
/// use tessarray_store::MemoryStore;
///
/// let session = Session::new();
/// let mut spec = ArraySpec::new(&[4, 4], DataType::UInt8);
/// spec.chunks = ChunkChoice::Shape(vec![2, 4]);
/// let array = Array::create(&session, Arc::new(MemoryStore::new()), "image", &spec, false)?;
/// array.write_bytes(&Selection::all(&[4, 4]), &[1; 16])?;
/// let mut sum = 0;
/// for chunk in ChunkStream::new(&array, &Selection::all(&[4, 4]), StreamOptions::default())? {
///     sum += chunk?.values.bytes().iter().map(|&value| u32::from(value)).sum::<u32>();
/// }
/// assert_eq!(sum, 16);
/// # Ok::<(), tessarray_array::ArrayError>(())
/// ```
pub struct ChunkStream {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Threads do not survive a fork.
    process: u32,
}

impl ChunkStream {
    /// Starts to read the chunks that `selection`, a box, touches.
    ///
    /// # Errors
    /// A selection that is no box (ranges of step 1) or reaches out of the array; a `prefetch` of 0; threads that cannot be
    /// started.
    pub fn new(array: &Array, selection: &Selection, options: StreamOptions) -> Result<Self> {
        selection.check(&array.shape())?;
        let Some((start, shape)) = selection.as_region() else {
            return Err(argument("selection", "a box: ranges of step 1", format!("{selection:?}")));
        };
        let edges = if options.by_shard { array.object_edges() } else { array.chunk_edges() };
        let boxes = Boxes::new(&start, &shape, edges);
        let workers = array.session().threads() as u64;
        let prefetch = options.prefetch.unwrap_or(workers.saturating_add(1));
        if prefetch == 0 {
            return Err(argument("prefetch", "at least 1", "0".into()));
        }
        let workers = workers.min(prefetch).min(boxes.total);
        let stream = Self {
            shared: Arc::new(Shared {
                array: array.clone(),
                item: array.data_type().size(),
                boxes,
                prefetch,
                ordered: options.ordered,
                state: Mutex::default(),
                changed: Condvar::new(),
            }),
            threads: Mutex::default(),
            process: std::process::id(),
        };
        for i in 0..workers {
            let shared = Arc::clone(&stream.shared);
            let thread = Builder::new().name(format!("tessarray-stream-{i}")).spawn(move || shared.work());
            let threads = usize::try_from(workers).unwrap_or(usize::MAX);
            let failed = |error: std::io::Error| ArrayError::Threads { threads, reason: error.to_string() };
            stream.threads().push(thread.map_err(failed)?);
        }
        Ok(stream)
    }

    /// Chunks of the whole stream.
    pub fn len(&self) -> u64 {
        self.shared.boxes.total
    }

    /// Whether the selection touches no chunk.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next chunk, if it comes within `wait`.
    pub fn next_within(&self, wait: Duration) -> Streamed {
        let next = self.shared.next(wait);
        if matches!(next, Streamed::Chunk(Err(_))) {
            self.close();
        }
        next
    }

    /// Whether this process has started the stream: after a fork, the child has none of its threads.
    pub fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Stops early: waits for the chunks under way, and drops what was read ahead. There is no next chunk then.
    pub fn close(&self) {
        self.stop();
        let threads = std::mem::take(&mut *self.threads());
        if self.is_of_this_process() {
            for thread in threads {
                // A thread that panicked has nothing more to say than the missing chunk has said already.
                drop(thread.join());
            }
        } else {
            // Threads of the parent process; there is nobody to wait for.
            std::mem::forget(threads);
        }
    }

    /// Stops early, and waits for nobody, now or when the stream is dropped: each thread ends after the chunk it is at.
    pub fn abandon(&self) {
        self.stop();
        std::mem::forget(std::mem::take(&mut *self.threads()));
    }

    fn stop(&self) {
        let mut state = self.shared.lock();
        state.stop = true;
        state.done.clear();
        self.shared.changed.notify_all();
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Iterator for ChunkStream {
    type Item = Result<StreamedChunk>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_within(LOOK) {
                Streamed::Chunk(chunk) => return Some(chunk),
                Streamed::Waiting => {}
                Streamed::End => return None,
            }
        }
    }
}

impl Drop for ChunkStream {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for ChunkStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkStream")
            .field("path", &self.shared.array.path())
            .field("chunks", &self.len())
            .finish()
    }
}

/// A box of an array, cut at chunk boundaries.
struct Boxes {
    start: Vec<u64>,
    end: Vec<u64>,
    edges: Vec<Edges>,
    /// Chunks touched along each axis.
    grid: Vec<u64>,
    total: u64,
}

impl Boxes {
    fn new(start: &[u64], shape: &[u64], edges: Vec<Edges>) -> Self {
        let end: Vec<u64> = start.iter().zip(shape).map(|(&start, &n)| start.saturating_add(n)).collect();
        let touched = |((&start, &end), edges): ((&u64, &u64), &Edges)| {
            if start < end { edges.chunk_of(end - 1) - edges.chunk_of(start) + 1 } else { 0 }
        };
        let grid: Vec<u64> = start.iter().zip(&end).zip(&edges).map(touched).collect();
        let total = grid.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        Self { start: start.to_vec(), end, edges, grid, total }
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

#[derive(Default)]
struct State {
    started: u64,
    taken: u64,
    done: BTreeMap<u64, Result<StreamedChunk>>,
    stop: bool,
}

struct Shared {
    array: Array,
    boxes: Boxes,
    item: usize,
    prefetch: u64,
    ordered: bool,
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
                && state.started >= state.taken.saturating_add(self.prefetch)
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
            if state.stop {
                return;
            }
            state.done.insert(index, read);
            self.changed.notify_all();
        }
    }

    fn read(&self, index: u64) -> Result<StreamedChunk> {
        let (start, shape) = self.boxes.region(index);
        let bytes = shape.iter().fold(self.item as u64, |product, &n| product.saturating_mul(n));
        let none = ArrayError::Memory { what: "chunk", bytes };
        let mut values = Block::zeroed(&shape, self.item).ok_or(none)?;
        let arena = Arena::new();
        self.array.read_into(&Selection::region(&start, &shape), &mut values.view(), &arena)?;
        Ok(StreamedChunk { start, values, arena })
    }

    fn next(&self, wait: Duration) -> Streamed {
        let mut state = self.lock();
        for waited in [false, true] {
            if state.stop || state.taken >= self.boxes.total {
                return Streamed::End;
            }
            let taken = state.taken;
            let found = if self.ordered {
                state.done.remove(&taken)
            } else {
                state.done.pop_first().map(|(_, read)| read)
            };
            if let Some(found) = found {
                state.taken += 1;
                self.changed.notify_all();
                return Streamed::Chunk(found);
            }
            if !waited {
                state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        Streamed::Waiting
    }
}

fn argument(what: &str, expected: &str, found: String) -> ArrayError {
    ArrayError::Argument { what: what.into(), expected: expected.into(), found }
}
