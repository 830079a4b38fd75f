//! A transaction as a store, to read and to change.

use super::listing::{list, list_dir};
use crate::pack::Transaction;
use crate::transaction::{Old, Work};
use crate::version::{Content, lookup};
use std::sync::Arc;
use tessarray_store::{
    Key, KeyLocks, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Store, StoreError,
    Update, UpdateFn, Version,
};

/// A transaction, to read and to change.
#[derive(Debug, Clone)]
pub(super) struct TransactionStore {
    work: Arc<Work>,
    locks: Arc<KeyLocks>,
}

impl Transaction {
    /// A store to change.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::new(TransactionStore { work: Arc::clone(self.work()), locks: Arc::clone(self.locks()) })
    }
}

impl Store for TransactionStore {
    fn describe(&self) -> String {
        Content::describe(&*self.work)
    }

    fn is_local(&self) -> bool {
        Content::base(&*self.work).is_local()
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        lookup::read_many(&*self.work, requests, sink);
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.locks.hold(key, || {
            match mode {
                PutMode::Overwrite => {}
                PutMode::Create => {
                    if lookup::head(&*self.work, key)?.is_some() {
                        return Err(StoreError::Exists { key: key.to_string() });
                    }
                }
                PutMode::IfMatch(expected) => {
                    if lookup::head(&*self.work, key)?.map(|meta| meta.version) != Some(expected) {
                        return Err(StoreError::Changed { key: key.to_string() });
                    }
                }
            }
            match self.work.put(key, parts, Old::Unknown)? {
                Some(stamp) => Ok(lookup::version_of(stamp)),
                None => {
                    let meta = lookup::head(&*self.work, key)?;
                    Ok(meta.map_or_else(|| Version("".into()), |meta| meta.version))
                }
            }
        })
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.locks.hold(key, || {
            let current = if read { self.get(key)? } else { None };
            let shown = current.as_ref().map(|(bytes, _)| bytes.clone());
            let old = || shown.as_deref().map_or(Old::None, Old::Bytes);
            let blob = current.map(|(bytes, meta)| tessarray_store::Blob {
                meta,
                bytes: tessarray_store::BlobBytes::Shared(bytes),
            });
            match decide(blob)? {
                Update::Put(parts) => {
                    self.work.put(key, &parts, old())?;
                }
                Update::PutOwned(parts) => {
                    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                    self.work.put(key, &parts, old())?;
                }
                Update::Delete => {
                    self.work.delete(key)?;
                }
                Update::Keep => {}
            }
            Ok(())
        })
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.locks.hold(key, || Ok(self.work.delete(key)?))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        Ok(self.work.delete_prefix(prefix)?)
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        Ok(lookup::head(&*self.work, key)?)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        list(&*self.work, &self.work.listing(prefix.path())?, prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        list_dir(&*self.work, &self.work.listing(prefix.path())?, prefix)
    }
}
