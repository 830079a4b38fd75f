//! A pack as a store that is always at its latest version, and in which each call is a transaction.
//!
//! For those who know nothing of packs: `Array::write` on it is as safe as on any other store. Changes that arrive
//! while another commit is under way share the next one, so many threads do not pay for a commit each.
//!
//! 1. A change is made in the transaction that is gathering, or in a new one on top of the latest version.
//! 2. Whoever finds no commit under way closes that transaction to newcomers, waits for changes that are being made in
//!    it, and commits it for all who are in it.
//! 3. Where another writer's commit overlaps it, each of them makes its change again.

use crate::pack::{Pack, Transaction};
use crate::read;
use crate::view::VersionStore;
use crate::{PackError, Result};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tessarray_store::{
    Key, KeyLocks, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Store, StoreError, Update,
    UpdateFn, Version,
};

type StoreResult<T> = tessarray_store::Result<T>;

/// How often a change is made again after another writer was faster.
const ATTEMPTS: usize = 100;

/// The store.
#[derive(Debug)]
pub(crate) struct AutoStore {
    pack: Pack,
    gathering: Mutex<Gathering>,
    done: Condvar,
    locks: KeyLocks,
}

#[derive(Debug, Default)]
struct Gathering {
    batch: Option<Arc<Batch>>,
    committing: bool,
}

#[derive(Debug)]
struct Batch {
    transaction: Transaction,
    state: Mutex<BatchState>,
}

#[derive(Debug, Default)]
struct BatchState {
    /// Changes that are being made.
    active: usize,
    outcome: Option<Outcome>,
}

#[derive(Debug, Clone)]
enum Outcome {
    Committed,
    Conflict,
    Failed(String),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AutoStore {
    pub(crate) fn new(pack: Pack) -> Self {
        Self { pack, gathering: Mutex::default(), done: Condvar::new(), locks: KeyLocks::default() }
    }

    /// The latest version.
    fn latest(&self) -> Result<VersionStore> {
        Ok(VersionStore(Arc::clone(self.pack.latest()?.snapshot())))
    }

    /// Makes a change and sees it committed.
    fn change<T>(&self, message: &str, make: &dyn Fn(&dyn Store) -> StoreResult<T>) -> StoreResult<T> {
        for _ in 0..ATTEMPTS {
            let batch = self.join()?;
            let made = make(&*batch.transaction.store());
            let mut state = lock(&batch.state);
            state.active -= 1;
            drop(state);
            self.done.notify_all();
            // Its own failure is the caller's; what others have changed in the batch is committed all the same.
            let (outcome, failure) = self.finish(&batch, message);
            match (made, outcome) {
                (Err(error), _) => return Err(error),
                (Ok(value), Outcome::Committed) => return Ok(value),
                (Ok(_), Outcome::Conflict) => {}
                (Ok(_), Outcome::Failed(message)) => {
                    let other = || StoreError::Other { key: self.pack.store().describe(), message };
                    return Err(failure.map_or_else(other, StoreError::from));
                }
            }
        }
        Err(StoreError::Changed { key: self.pack.store().describe() })
    }

    /// Step 1.
    fn join(&self) -> Result<Arc<Batch>> {
        let mut gathering = lock(&self.gathering);
        let batch = match &gathering.batch {
            Some(batch) => Arc::clone(batch),
            None => {
                let base = Arc::clone(&self.latest()?.0);
                let transaction = self.pack.begin_at(base)?;
                let batch = Arc::new(Batch { transaction, state: Mutex::default() });
                gathering.batch = Some(Arc::clone(&batch));
                batch
            }
        };
        lock(&batch.state).active += 1;
        Ok(batch)
    }

    /// Step 2: commits the batch, or waits until another thread has. Who commits gets the error itself.
    fn finish(&self, batch: &Arc<Batch>, message: &str) -> (Outcome, Option<PackError>) {
        let mut gathering = lock(&self.gathering);
        loop {
            if let Some(outcome) = &lock(&batch.state).outcome {
                return (outcome.clone(), None);
            }
            if !gathering.committing {
                break;
            }
            gathering = self.done.wait(gathering).unwrap_or_else(PoisonError::into_inner);
        }
        gathering.committing = true;
        if gathering.batch.as_ref().is_some_and(|current| Arc::ptr_eq(current, batch)) {
            gathering.batch = None;
        }
        while lock(&batch.state).active > 0 {
            gathering = self.done.wait(gathering).unwrap_or_else(PoisonError::into_inner);
        }
        drop(gathering);
        let (outcome, failure) = match batch.transaction.commit(message) {
            Ok(_) => (Outcome::Committed, None),
            Err(PackError::Conflict { .. } | PackError::Outlived { .. }) => (Outcome::Conflict, None),
            Err(error) => (Outcome::Failed(error.to_string()), Some(error)),
        };
        lock(&batch.state).outcome = Some(outcome.clone());
        lock(&self.gathering).committing = false;
        self.done.notify_all();
        (outcome, failure)
    }
}

impl Store for AutoStore {
    fn describe(&self) -> String {
        self.pack.store().describe()
    }

    fn is_local(&self) -> bool {
        self.pack.store().is_local()
    }

    fn is_read_only(&self) -> bool {
        self.pack.store().is_read_only()
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        match self.latest() {
            Ok(version) => version.read_many(requests, sink),
            Err(error) => {
                let message = error.to_string();
                let mut error = Some(StoreError::from(error));
                for (i, request) in requests.iter().enumerate() {
                    let other =
                        || StoreError::Other { key: request.key.to_string(), message: message.clone() };
                    sink(i, Err(error.take().unwrap_or_else(other)));
                }
            }
        }
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> StoreResult<Version> {
        self.change(&format!("put {key}"), &|store| store.put(key, parts, mode.clone()))
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> StoreResult<()> {
        // Others, in this process and in others, wait: a decision may take long, and write other keys before it is made.
        let name = format!("update {key}");
        self.locks.hold(key, || {
            self.pack.exclusive(key.as_str(), &mut || {
                for _ in 0..ATTEMPTS {
                    let base = self.latest()?;
                    let current = if read { base.get(key)? } else { None };
                    let before = match &current {
                        Some((_, meta)) => Some(meta.version.clone()),
                        None if read => None,
                        None => base.head(key)?.map(|meta| meta.version),
                    };
                    let blob = current.map(|(bytes, meta)| tessarray_store::Blob {
                        meta,
                        bytes: tessarray_store::BlobBytes::Shared(bytes),
                    });
                    let decided = decide(blob)?;
                    let parts: Vec<&[u8]> = match &decided {
                        Update::Put(parts) => parts.clone(),
                        Update::PutOwned(parts) => parts.iter().map(Vec::as_slice).collect(),
                        Update::Delete => {
                            return self.change(&name, &|store| store.delete(key)).map(|_| ());
                        }
                        Update::Keep => return Ok(()),
                    };
                    // Whoever changed the key in a transaction of its own did not wait for us.
                    let made = self.change(&name, &|store| {
                        let now = store.head(key)?.map(|meta| meta.version);
                        if now != before {
                            return Err(StoreError::Changed { key: key.to_string() });
                        }
                        store.update(key, true, &mut |_| Ok(Update::Put(parts.clone())))
                    });
                    match made {
                        Err(StoreError::Changed { .. }) if read => {}
                        other => return other,
                    }
                }
                Err(StoreError::Changed { key: key.to_string() })
            })
        })
    }

    fn delete(&self, key: &Key) -> StoreResult<bool> {
        if self.head(key)?.is_none() {
            return Ok(false);
        }
        self.change(&format!("delete {key}"), &|store| store.delete(key))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> StoreResult<()> {
        self.change(&format!("delete {}", prefix.path()), &|store| store.delete_prefix(prefix))
    }

    fn head(&self, key: &Key) -> StoreResult<Option<Meta>> {
        Ok(read::head(&*self.latest()?.0, key)?)
    }

    fn list(&self, prefix: &Prefix) -> StoreResult<Vec<(Key, u64)>> {
        self.latest()?.list(prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> StoreResult<Vec<ListEntry>> {
        self.latest()?.list_dir(prefix)
    }
}
