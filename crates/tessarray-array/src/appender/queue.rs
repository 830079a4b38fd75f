//! Layers between those who fill them and the thread that stores them.

use super::layer::{Frames, Layer};
use super::memory::Memory;
use super::pace::Pace;
use crate::array::Array;
use crate::error::{ArrayError, Result};
use crate::gate::Gate;
use crate::session::Session;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tessarray_store::waiting::{self, Call};

/// What an appender cannot do.
pub(super) fn refusal(expected: &str, found: &str) -> ArrayError {
    ArrayError::Argument { what: "appender".into(), expected: expected.into(), found: found.into() }
}

pub(super) struct Queue {
    array: Array,
    /// The array's, behind the gate.
    session: Session,
    pub gate: Arc<Gate>,
    pub frames: Frames,
    /// How many layers there may be.
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    filling: Option<Layer>,
    full: VecDeque<Layer>,
    spare: Vec<Layer>,
    /// Layers in existence.
    layers: usize,
    pace: Pace,
    /// Where the next layer begins, counted from the last boundary of layers.
    begin: u64,
    /// Whether the thread is storing a layer.
    busy: bool,
    /// Ends the thread's wait for another writer.
    call: Call,
    /// Rows of that layer.
    storing: u64,
    /// Whether the first layer in the queue could not be stored.
    stalled: bool,
    /// Why, until somebody was told.
    failure: Option<ArrayError>,
    ended: bool,
}

impl Queue {
    pub(super) fn new(array: Array, frames: Frames, max_bytes: usize) -> Self {
        let most = max_bytes.checked_div(frames.bytes()).unwrap_or(2).max(2);
        let begin = array.shape()[frames.axis()] % frames.rows();
        let state = State {
            filling: None,
            full: VecDeque::new(),
            spare: Vec::new(),
            layers: 0,
            pace: Pace::default(),
            begin,
            busy: false,
            call: Call::default(),
            storing: 0,
            stalled: false,
            failure: None,
            ended: false,
        };
        let gate = Arc::new(Gate::new(array.session().threads()));
        let session = array.session().behind(Arc::clone(&gate));
        Self { array, session, gate, frames, most, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new layer, whose pages nobody has touched.
    fn layer(&self, begin: u64) -> Result<Layer> {
        Ok(Layer::new(Memory::new(&self.frames)?, begin))
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The same for who called the appender: where the thread waits for another writer, and the user wants the call to
    /// end, storing the layer fails, and the layer is kept.
    fn wait_for_thread<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, waiting::LOOK);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if !timeout.timed_out() || !state.call.waits() {
            return state;
        }
        let call = state.call.clone();
        drop(state);
        if waiting::is_interrupted() {
            call.call_off();
        }
        self.lock()
    }

    /// Whether frames may be taken: nothing has failed, or what failed is stored now.
    pub(super) fn ready(&self) -> Result<()> {
        let mut state = self.lock();
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        if state.ended {
            return Err(refusal("an open one", "one that is closed"));
        }
        if state.stalled {
            state.stalled = false;
            self.changed.notify_all();
            return self.drain(state);
        }
        Ok(())
    }

    /// A layer with room, for up to `rows`. Waits where there may be no more layers; not once storing has failed, as the
    /// call that is under way was promised to take all of its rows. Where there is no memory for another layer, those that
    /// there are have to do.
    ///
    /// # Errors
    /// [`ArrayError::Memory`] where there is none for a layer, and none that will be free.
    pub(super) fn room(&self, rows: u64) -> Result<Layer> {
        let mut state = self.lock();
        let layer = loop {
            if let Some(layer) = state.filling.take() {
                break layer;
            }
            if let Some(mut layer) = state.spare.pop() {
                layer.begin = state.begin;
                if state.layers < self.most {
                    self.changed.notify_all();
                }
                break layer;
            }
            let forced = state.stalled || state.ended;
            if forced || state.layers < self.most {
                match self.layer(state.begin) {
                    Ok(layer) => {
                        state.layers += 1;
                        self.changed.notify_all();
                        break layer;
                    }
                    Err(error) if forced || (!state.busy && state.full.is_empty()) => return Err(error),
                    // One that is stored will be free.
                    Err(_) => {}
                }
            }
            self.gate.wait();
            state = self.wait_for_thread(state);
        };
        self.keep_pace(state, rows, layer.left(&self.frames));
        Ok(layer)
    }

    /// Where only one layer has room, which holds `left` rows more: waits for their share of the time that the next
    /// one will take to be free.
    fn keep_pace(&self, mut state: MutexGuard<'_, State>, rows: u64, left: u64) {
        let begun = Instant::now();
        let share = state.pace.share(rows, left);
        while let Some(ahead) = share.checked_sub(begun.elapsed()).filter(|_| state.is_last(self.most)) {
            self.gate.wait();
            let waited = self.changed.wait_timeout(state, ahead);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.gate.enter();
    }

    /// Takes back what `room` gave; a full one goes to be stored.
    pub(super) fn give(&self, layer: Layer) {
        let mut state = self.lock();
        if layer.is_full(&self.frames) {
            state.begin = 0;
            state.full.push_back(layer);
            self.changed.notify_all();
        } else {
            state.filling = Some(layer);
        }
    }

    /// Stores everything; tries again what failed.
    pub(super) fn flush(&self) -> Result<()> {
        let mut state = self.lock();
        if let Some(layer) = state.filling.take() {
            if layer.filled > 0 {
                state.begin = (layer.begin + layer.filled) % self.frames.rows();
                state.full.push_back(layer);
            } else {
                state.spare.push(layer);
            }
        }
        state.stalled = false;
        state.failure = None;
        self.changed.notify_all();
        self.drain(state)
    }

    fn drain<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<()> {
        self.gate.wait();
        while (state.busy || !state.full.is_empty()) && !state.stalled {
            if state.ended && !state.busy {
                return Err(refusal("a thread that stores", "that it has ended"));
            }
            state = self.wait_for_thread(state);
        }
        state.failure.take().map_or(Ok(()), Err)
    }

    /// Rows that were taken and are not stored yet; those of an `append` that is under way are counted when it ends.
    pub(super) fn pending(&self) -> u64 {
        let state = self.lock();
        let gathered = state.filling.iter().chain(&state.full).map(|layer| layer.filled).sum::<u64>();
        gathered + state.storing
    }

    /// No more is taken. The thread stores what is full, and ends.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        self.changed.notify_all();
    }

    /// The thread that makes layers ready, one ahead of whoever fills them, until there are as many as may be. To back
    /// fresh pages takes as long as to copy frames into them, and longer on a virtual machine whose host has to find them.
    /// Nobody waits for that: a layer may be filled while it is made ready.
    pub(super) fn prepare(&self) {
        let mut state = self.lock();
        self.gate.prepare(true);
        while state.layers < self.most && !state.ended {
            if !state.spare.is_empty() {
                state = self.wait(state);
                continue;
            }
            state.layers += 1;
            drop(state);
            let memory = Memory::new(&self.frames);
            state = self.lock();
            // Whoever needs a layer asks again, and is told.
            let Ok(memory) = memory else {
                state.layers -= 1;
                self.changed.notify_all();
                break;
            };
            let unready = memory.unready();
            state.spare.push(Layer::new(memory, 0));
            self.changed.notify_all();
            drop(state);
            unready.populate(self.frames.rows());
            state = self.lock();
        }
        self.gate.prepare(false);
    }

    /// The thread that stores.
    pub(super) fn work(&self) {
        let _ending = Ending(self);
        loop {
            let mut state = self.lock();
            let mut layer = loop {
                match state.full.pop_front() {
                    Some(layer) if !state.stalled => break layer,
                    Some(layer) => state.full.push_front(layer),
                    None => {}
                }
                if state.ended {
                    return;
                }
                state = self.wait(state);
            };
            state.busy = true;
            state.storing = layer.filled;
            drop(state);
            while !self.gate.passes(0) {}
            let call = Call::default();
            let mut state = self.lock();
            state.pace.begin(layer.filled);
            state.call = call.clone();
            drop(state);
            let entered = call.enter();
            let stored = layer.store(&self.session, &self.array, &self.frames);
            drop(entered);
            let mut state = self.lock();
            state.busy = false;
            state.storing = 0;
            state.pace.end(stored.is_ok());
            match stored {
                Ok(()) => {
                    if state.layers > self.most {
                        state.layers -= 1;
                    } else {
                        state.spare.push(layer);
                    }
                }
                Err(error) => {
                    state.full.push_front(layer);
                    state.stalled = true;
                    state.failure = Some(error);
                }
            }
            self.changed.notify_all();
        }
    }
}

impl State {
    /// Whether the layer that is being filled is the last, and another will be free when one is stored.
    fn is_last(&self, most: usize) -> bool {
        let more = self.layers < most || !self.spare.is_empty();
        !more && self.busy && !self.stalled && !self.ended
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("array", &self.array).field("most", &self.most).finish_non_exhaustive()
    }
}

/// Says that the thread is gone, also where it panicked: nobody is to wait for it.
struct Ending<'a>(&'a Queue);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        if state.busy {
            state.busy = false;
            state.stalled = true;
            state.failure =
                Some(refusal("a thread that stores", "that it panicked, with rows that are lost"));
        }
        self.0.changed.notify_all();
    }
}
