//! A pack as a store that is always at its latest version, and in which each call is a transaction.
//!
//! For those who know nothing of packs: `Array::write` on it is as safe as on any other store. Changes that arrive
//! while another commit is under way share the next one, so many threads do not pay for a commit each.
//!
//! An update whose decision changes other keys too (an append puts chunks, and then the document that shows them) is a
//! transaction of its own, on top of the version that the decision was shown. It is made again, as a whole, where
//! another writer's commit overlaps it. Locks keep out those who write through such stores, to spare them the repetition;
//! what is right does not rest on them.
//!
//! A batch of changes is a transaction on top of the version that was the latest when the batch was begun; see
//! [`crate::stores`] for who commits it. Where another writer's commit overlaps it, each of them makes its change again.

use super::turns::{Outcome, Turns};
use super::version::VersionStore;
use crate::pack::{Pack, Transaction};
use crate::version::lookup;
use crate::{PackError, Result};
use std::sync::Arc;
use tessarray_store::{
    Key, KeyLocks, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Store, StoreError, Update,
    UpdateFn, UpdateWithFn, Version,
};

type StoreResult<T> = tessarray_store::Result<T>;

/// How often a change is made again after another writer was faster.
const ATTEMPTS: usize = 100;

/// The store.
#[derive(Debug)]
struct AutoStore {
    pack: Pack,
    turns: Turns<Transaction>,
    locks: KeyLocks,
}

impl Pack {
    /// A store that is always at the latest version, and in which each call is a transaction of its own.
    pub fn auto_store(&self) -> Arc<dyn Store> {
        Arc::new(AutoStore::new(self.clone()))
    }
}

impl AutoStore {
    fn new(pack: Pack) -> Self {
        Self { pack, turns: Turns::new(), locks: KeyLocks::default() }
    }

    /// The latest version.
    fn latest(&self) -> Result<VersionStore> {
        Ok(VersionStore(Arc::clone(self.pack.latest()?.snapshot())))
    }

    /// Acts while others who update the key in this way, in this process and in others, wait: a decision may take long.
    fn alone(&self, key: &Key, act: &mut dyn FnMut() -> StoreResult<()>) -> StoreResult<()> {
        self.locks.hold(key, || self.pack.exclusive(key.as_str(), act))
    }

    /// Makes a change and sees it committed.
    fn change<T>(&self, message: &str, make: &dyn Fn(&dyn Store) -> StoreResult<T>) -> StoreResult<T> {
        for _ in 0..ATTEMPTS {
            let begin = || self.pack.begin_at(Arc::clone(&self.latest()?.0));
            let change = |transaction: &Transaction| make(&*transaction.store());
            let commit = |transaction: &Transaction| match transaction.commit(message) {
                Ok(_) => (Outcome::Committed, None),
                Err(PackError::Conflict { .. } | PackError::Outlived { .. }) => (Outcome::Conflict, None),
                Err(error) => (Outcome::Failed(error.to_string()), Some(error)),
            };
            // Its own failure is the caller's; what others have changed in the batch is committed all the same.
            let (made, outcome, failure) = self.turns.take_part(begin, change, commit)?;
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
        let name = format!("update {key}");
        self.alone(key, &mut || {
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
                let parts: Option<Vec<&[u8]>> = match &decided {
                    Update::Put(parts) => Some(parts.clone()),
                    Update::PutOwned(parts) => Some(parts.iter().map(Vec::as_slice).collect()),
                    Update::Delete => None,
                    Update::Keep => return Ok(()),
                };
                // Whoever changed the key in a transaction of its own did not wait for us.
                let made = self.change(&name, &|store| {
                    let now = store.head(key)?.map(|meta| meta.version);
                    if now != before {
                        return Err(StoreError::Changed { key: key.to_string() });
                    }
                    match &parts {
                        Some(parts) => store.update(key, true, &mut |_| Ok(Update::Put(parts.clone()))),
                        None => store.delete(key).map(drop),
                    }
                });
                match made {
                    Err(StoreError::Changed { .. }) if read => {}
                    other => return other,
                }
            }
            Err(StoreError::Changed { key: key.to_string() })
        })
    }

    fn update_with(&self, key: &Key, decide: &mut UpdateWithFn<'_, '_>) -> StoreResult<()> {
        let name = format!("update {key}");
        self.alone(key, &mut || {
            for _ in 0..ATTEMPTS {
                let transaction = self.pack.begin_at(Arc::clone(&self.latest()?.0))?;
                let store = transaction.store();
                let done = store.update(key, true, &mut |current| decide(Some(&store), current));
                if let Err(error) = done {
                    transaction.abandon()?;
                    return Err(error);
                }
                match transaction.commit(&name) {
                    Ok(_) => return Ok(()),
                    Err(PackError::Conflict { .. } | PackError::Outlived { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(StoreError::Changed { key: key.to_string() })
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
        Ok(lookup::head(&*self.latest()?.0, key)?)
    }

    fn list(&self, prefix: &Prefix) -> StoreResult<Vec<(Key, u64)>> {
        self.latest()?.list(prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> StoreResult<Vec<ListEntry>> {
        self.latest()?.list_dir(prefix)
    }
}
