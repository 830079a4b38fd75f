//! Layers between those who fill them and the thread that stores them.

use super::layer::{Frames, Layer};
use crate::array::Array;
use crate::error::{ArrayError, Result};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What an appender cannot do.
pub(super) fn refusal(expected: &str, found: &str) -> ArrayError {
    ArrayError::Argument { what: "appender".into(), expected: expected.into(), found: found.into() }
}

pub(super) struct Queue {
    array: Array,
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
    /// Where the next layer begins, counted from the last boundary of layers.
    begin: u64,
    /// Whether the thread is storing a layer.
    busy: bool,
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
            begin,
            busy: false,
            stalled: false,
            failure: None,
            ended: false,
        };
        Self { array, frames, most, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
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

    /// A layer with room for a row. Waits where there may be no more layers; not once storing has failed, as the call
    /// that is under way was promised to take all of its rows.
    pub(super) fn room(&self) -> Layer {
        let mut state = self.lock();
        loop {
            if let Some(layer) = state.filling.take() {
                return layer;
            }
            if let Some(mut layer) = state.spare.pop() {
                layer.begin = state.begin;
                return layer;
            }
            if state.layers < self.most || state.stalled || state.ended {
                state.layers += 1;
                return Layer::new(&self.frames, state.begin);
            }
            state = self.wait(state);
        }
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

    fn drain(&self, mut state: MutexGuard<'_, State>) -> Result<()> {
        while (state.busy || !state.full.is_empty()) && !state.stalled {
            if state.ended && !state.busy {
                return Err(refusal("a thread that stores", "that it has ended"));
            }
            state = self.wait(state);
        }
        state.failure.take().map_or(Ok(()), Err)
    }

    /// No more is taken. The thread stores what is full, and ends.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// The thread.
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
            drop(state);
            let stored = layer.store(&self.array, &self.frames);
            let mut state = self.lock();
            state.busy = false;
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
            drop(state);
            self.changed.notify_all();
        }
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
        drop(state);
        self.0.changed.notify_all();
    }
}
