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
use crate::error::{PackError, Result};
use crate::pack::{Pack, Transaction};
use crate::version::lookup;
use std::sync::Arc;
use tessarray_store::{
    Blob, BlobBytes, Key, KeyLocks, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Store,
    StoreError, Update, UpdateFn, UpdateWithFn, Version,
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

    /// Tries until no other writer was faster: `None` says that one was.
    fn until_done<T>(
        &self,
        name: impl std::fmt::Display,
        attempt: &mut dyn FnMut() -> StoreResult<Option<T>>,
    ) -> StoreResult<T> {
        for _ in 0..ATTEMPTS {
            if let Some(done) = attempt()? {
                return Ok(done);
            }
        }
        Err(StoreError::Changed { key: name.to_string() })
    }

    /// Makes a change and sees it committed.
    fn change<T>(&self, message: &str, make: &dyn Fn(&dyn Store) -> StoreResult<T>) -> StoreResult<T> {
        self.until_done(self.pack.store().describe(), &mut || {
            let begin = || self.pack.begin_at(Arc::clone(&self.latest()?.0));
            let change = |transaction: &Transaction| make(&*transaction.store());
            let commit = |transaction: &Transaction| match transaction.commit(message) {
                Ok(_) => (Outcome::Committed, None),
                Err(error) if was_faster(&error) => (Outcome::Conflict, None),
                Err(error) => (Outcome::Failed(error.to_string()), Some(error)),
            };
            // Its own failure is the caller's; what others have changed in the batch is committed all the same.
            let (made, outcome, failure) = self.turns.take_part(begin, change, commit)?;
            match (made, outcome) {
                (Err(error), _) => Err(error),
                (Ok(value), Outcome::Committed) => Ok(Some(value)),
                (Ok(_), Outcome::Conflict) => Ok(None),
                (Ok(_), Outcome::Failed(message)) => {
                    let other = || StoreError::Other { key: self.pack.store().describe(), message };
                    Err(failure.map_or_else(other, StoreError::from))
                }
            }
        })
    }

    /// Shows the decision the key as it is, and makes what it decides one change of those that share a commit; `None`
    /// if the key was changed meanwhile by one who did not wait for us.
    fn update_once(
        &self,
        key: &Key,
        read: bool,
        message: &str,
        decide: &mut UpdateFn<'_, '_>,
    ) -> StoreResult<Option<()>> {
        let base = self.latest()?;
        let current = if read { base.get(key)? } else { None };
        let before = match &current {
            Some((_, meta)) => Some(meta.version.clone()),
            None if read => None,
            None => base.head(key)?.map(|meta| meta.version),
        };
        let blob = current.map(|(bytes, meta)| Blob { meta, bytes: BlobBytes::Shared(bytes) });
        let decided = decide(blob)?;
        let parts: Option<Vec<&[u8]>> = match &decided {
            Update::Put(parts) => Some(parts.clone()),
            Update::PutOwned(parts) => Some(parts.iter().map(Vec::as_slice).collect()),
            Update::Delete => None,
            Update::Keep => return Ok(Some(())),
        };
        let made = self.change(message, &|store| {
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
            // Only one who was shown the value can decide again.
            Err(StoreError::Changed { .. }) if read => Ok(None),
            made => made.map(Some),
        }
    }

    /// Shows the decision the key as it is, in a transaction of its own that it may change other keys in; `None` if
    /// another writer's commit overlaps that.
    fn transact_once(
        &self,
        key: &Key,
        message: &str,
        decide: &mut UpdateWithFn<'_, '_>,
    ) -> StoreResult<Option<()>> {
        let transaction = self.pack.begin_at(Arc::clone(&self.latest()?.0))?;
        let store = transaction.store();
        if let Err(error) = store.update(key, true, &mut |current| decide(Some(&store), current)) {
            transaction.abandon()?;
            return Err(error);
        }
        match transaction.commit(message) {
            Ok(_) => Ok(Some(())),
            Err(error) if was_faster(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether a commit failed because of what another writer committed, so that it may be tried again.
fn was_faster(error: &PackError) -> bool {
    matches!(error, PackError::Conflict { .. } | PackError::Outlived { .. })
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
        let message = format!("update {key}");
        self.alone(key, &mut || self.until_done(key, &mut || self.update_once(key, read, &message, decide)))
    }

    fn update_with(&self, key: &Key, decide: &mut UpdateWithFn<'_, '_>) -> StoreResult<()> {
        let message = format!("update {key}");
        self.alone(key, &mut || self.until_done(key, &mut || self.transact_once(key, &message, decide)))
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
