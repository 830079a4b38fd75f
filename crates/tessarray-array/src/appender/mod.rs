//! Appending frame by frame: gathered in memory, stored in the background, a row of chunks (or shards) at a time.
//!
//! 1. [`Appender::append`] copies frames into the *layer* that is being filled: as many rows of the axis as an object is
//!    long, cut into tiles as the array is, so that a chunk is encoded from where its elements were put.
//! 2. A full layer goes to a queue, and the next one begins, whose memory was made ready meanwhile. There are only so many;
//!    where the last one is being filled, each `append` waits its share of the time until another is stored (see [`pace`]).
//! 3. One thread takes the layers in order and appends each as [`Array::append`] does, with the session's workers: data
//!    first, metadata last. The rows of a layer come to be together; a kill leaves whole layers, and all that `flush` or
//!    `close` had said to be there.
//! 4. A layer that cannot be stored goes back to the head of the queue, and nothing is stored any more. The next call
//!    says why; the one after it, and any `flush` or `close`, tries again. Nothing that was taken is dropped.
//!
//! Other appenders may append to the same array: their rows come between the layers of this one.

mod layer;
mod memory;
mod pace;
mod queue;

use crate::array::Array;
use crate::error::{ArrayError, Result};
use layer::Frames;
use queue::Queue;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use tessarray_buffer::InputView;

/// Layers of no fewer bytes are made ready by a thread of their own before they are filled.
const PREPARED_BYTES: usize = 4 << 20;

/// Takes single frames, or a few, and appends them to an array in whole rows of chunks. Safe to use from many threads;
/// not in the child of a fork.
///
/// Rows are seen by readers when their chunks (shards, where there are any) are full, after [`flush`](Self::flush), or
/// after [`close`](Self::close). What is gathered is lost where the process dies; and from a last row of chunks that is
/// not full where the appender is dropped, not closed.
#[derive(Debug)]
pub struct Appender {
    queue: Arc<Queue>,
    /// Held while frames are taken, so that they keep their order.
    turn: Mutex<()>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    process: u32,
    taken: AtomicU64,
}

impl Appender {
    /// An appender along `axis` of an array whose elements have a fixed size. It gathers up to `max_bytes`, and no less
    /// than two rows of inner chunks, beside what one [`Array::append`] needs. Large layers are
    /// taken from the system ahead of time: the first at once, each of the others when the one before is begun.
    ///
    /// # Errors
    /// An axis that the array has not got, elements of variable length, a thread that cannot be started.
    pub fn new(array: &Array, axis: usize, max_bytes: usize) -> Result<Self> {
        let frames = Frames::new(array, axis, max_bytes)?;
        let queue = Arc::new(Queue::new(array.clone(), frames, max_bytes));
        let threads = Mutex::new(start(&queue)?);
        Ok(Self {
            queue,
            turn: Mutex::default(),
            threads,
            process: std::process::id(),
            taken: AtomicU64::new(0),
        })
    }

    /// Takes the rows of `input`, which has the array's lengths along all other axes; its memory is the caller's again
    /// when this returns. Costs the copy, and waits only where most of `max_bytes` is gathered and not yet
    /// stored: then a little at each row, at the rate at which rows are stored. While it is called again and again, a core
    /// is left to it, and workers have the others; memory that is used for the first time takes longer to fill.
    ///
    /// # Errors
    /// Input that does not fit, a closed appender; or what went wrong with rows that were taken before, where something
    /// did. Nothing is taken then. Where memory ends while rows of several layers are taken, those before stay taken.
    pub fn append(&self, input: &InputView<'_>) -> Result<()> {
        self.here()?;
        let rows = self.queue.frames.check(input)?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.ready()?;
        let mut taken = 0;
        while taken < rows {
            let mut layer = self.queue.room(rows - taken)?;
            let more = layer.take(&self.queue.frames, input, taken);
            self.taken.fetch_add(more, Ordering::Relaxed);
            taken += more;
            self.queue.give(layer);
        }
        self.queue.gate.leave();
        Ok(())
    }

    /// Rows that were taken in all.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Rows that were taken and are not stored yet.
    pub fn pending(&self) -> u64 {
        self.queue.pending()
    }

    /// Stores everything that was taken: when this returns, readers see it. Rows that end inside a row of chunks are
    /// stored, too, and their chunks are written again with those that follow; so a flush for each frame is slow.
    ///
    /// # Errors
    /// What went wrong; the rows are kept, and `flush` may be called again.
    pub fn flush(&self) -> Result<()> {
        self.here()?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.flush()
    }

    /// Flushes, and takes no more. May be called again, also after it failed.
    ///
    /// # Errors
    /// Those of [`flush`](Self::flush); it may be called again then.
    pub fn close(&self) -> Result<()> {
        self.here()?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.queue.flush()?;
        self.queue.end();
        for thread in self.threads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = thread.join();
        }
        Ok(())
    }

    /// The thread is the parent's, where this is the child of a fork.
    fn here(&self) -> Result<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        Err(queue::refusal("to be used by the process that made it", "the child of a fork"))
    }
}

/// The thread that stores, and one that prepares memory where that takes long enough to be seen: it can be done without.
fn start(queue: &Arc<Queue>) -> Result<Vec<JoinHandle<()>>> {
    let working = Arc::clone(queue);
    let thread = Builder::new().name("tessarray-appender".into()).spawn(move || working.work());
    let thread = thread.map_err(|error| ArrayError::Threads { threads: 1, reason: error.to_string() })?;
    let mut threads = vec![thread];
    if queue.frames.bytes() >= PREPARED_BYTES {
        let preparing = Arc::clone(queue);
        let thread = Builder::new().name("tessarray-memory".into()).spawn(move || preparing.prepare());
        threads.extend(thread);
    }
    Ok(threads)
}

impl Drop for Appender {
    /// Full layers are still stored, in the background; nobody is there to be told of an error.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.queue.end();
        }
    }
}
