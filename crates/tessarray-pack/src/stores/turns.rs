//! Changes of many threads, gathered in batches that one thread commits for all who are in it.
//!
//! 1. A change is made in the batch that is open, or in a new one. Whoever makes it is counted until it is made, or has
//!    failed, or its thread has panicked.
//! 2. Whoever finds no commit under way closes its batch to newcomers, waits until nobody is counted, and commits it.
//! 3. The others wait until the batch has an outcome. Where the thread that commits panics, that is the outcome.
//!
//! All that is waited for changes under one mutex, and whoever changes it notifies before it lets the mutex go: a thread that
//! has looked and is about to wait misses nothing. The module is compiled twice: `sync` is the standard library's, or in
//! tests a scheduler's.

use super::sync::{Condvar, Mutex, MutexGuard};
use std::sync::{Arc, PoisonError};

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Committed,
    Conflict,
    Failed(String),
}

/// Who commits what.
#[derive(Debug)]
pub(crate) struct Turns<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    open: Option<Arc<Batch<T>>>,
    committing: bool,
}

#[derive(Debug)]
struct Batch<T> {
    work: T,
    /// Looked at and changed only by who holds the mutex of the turns.
    state: Mutex<BatchState>,
}

#[derive(Debug, Default)]
struct BatchState {
    /// Changes that are being made.
    active: usize,
    outcome: Option<Outcome>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Turns<T> {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { open: None, committing: false }), changed: Condvar::new() }
    }

    /// Makes a change in a batch, which `begin` makes where none is open, and sees that committed by this thread or
    /// another. Gives what `make` gave, the batch's outcome, and to the thread that committed what `commit` said of it.
    pub(crate) fn take_part<V, F, E>(
        &self,
        begin: impl FnOnce() -> Result<T, E>,
        make: impl FnOnce(&T) -> V,
        commit: impl FnOnce(&T) -> (Outcome, Option<F>),
    ) -> Result<(V, Outcome, Option<F>), E> {
        let batch = self.join(begin)?;
        let making = Making { turns: self, batch: &batch };
        let made = make(&batch.work);
        drop(making);
        let (outcome, said) = self.finish(&batch, commit);
        Ok((made, outcome, said))
    }

    /// Step 1.
    fn join<E>(&self, begin: impl FnOnce() -> Result<T, E>) -> Result<Arc<Batch<T>>, E> {
        let mut state = lock(&self.state);
        let batch = match &state.open {
            Some(batch) => Arc::clone(batch),
            None => Arc::new(Batch { work: begin()?, state: Mutex::new(BatchState::default()) }),
        };
        state.open = Some(Arc::clone(&batch));
        lock(&batch.state).active += 1;
        Ok(batch)
    }

    /// Steps 2 and 3.
    fn finish<F>(
        &self,
        batch: &Arc<Batch<T>>,
        commit: impl FnOnce(&T) -> (Outcome, Option<F>),
    ) -> (Outcome, Option<F>) {
        let mut state = lock(&self.state);
        loop {
            if let Some(outcome) = &lock(&batch.state).outcome {
                return (outcome.clone(), None);
            }
            if !state.committing {
                break;
            }
            state = self.wait(state);
        }
        state.committing = true;
        state.close(batch);
        while lock(&batch.state).active > 0 {
            state = self.wait(state);
        }
        drop(state);
        let unknown = "the thread that committed it panicked: it may or may not have taken place";
        let mut turn = Turn { turns: self, batch, outcome: Outcome::Failed(unknown.into()) };
        let (outcome, said) = commit(&batch.work);
        turn.outcome = outcome.clone();
        (outcome, said)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    /// Closes a batch to newcomers.
    fn close(&mut self, batch: &Arc<Batch<T>>) {
        if self.open.as_ref().is_some_and(|open| Arc::ptr_eq(open, batch)) {
            self.open = None;
        }
    }
}

/// A change that is being made.
struct Making<'a, T> {
    turns: &'a Turns<T>,
    batch: &'a Arc<Batch<T>>,
}

impl<T> Drop for Making<'_, T> {
    fn drop(&mut self) {
        let mut state = lock(&self.turns.state);
        lock(&self.batch.state).active -= 1;
        if std::thread::panicking() {
            // Half a change, which is not to be the beginning of somebody else's.
            state.close(self.batch);
        }
        self.turns.changed.notify_all();
    }
}

/// A commit that is under way.
struct Turn<'a, T> {
    turns: &'a Turns<T>,
    batch: &'a Batch<T>,
    outcome: Outcome,
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut state = lock(&self.turns.state);
        lock(&self.batch.state).outcome = Some(self.outcome.clone());
        state.committing = false;
        self.turns.changed.notify_all();
    }
}
