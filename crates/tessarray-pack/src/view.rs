//! Versions and transactions as stores, in which any Zarr hierarchy lives.

use crate::content::{Content, Listing};
use crate::put::Old;
use crate::read;
use crate::snapshot::Snapshot;
use crate::transaction::Work;
use std::collections::BTreeMap;
use std::sync::Arc;
use tessarray_store::{
    Key, KeyLocks, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Store, StoreError,
    Update, UpdateFn, Version,
};

/// A version, to read.
#[derive(Debug, Clone)]
pub(crate) struct VersionStore(pub Arc<Snapshot>);

/// A transaction, to read and to change.
#[derive(Debug, Clone)]
pub(crate) struct TransactionStore {
    pub work: Arc<Work>,
    locks: Arc<KeyLocks>,
}

impl TransactionStore {
    pub(crate) fn new(work: Arc<Work>) -> Self {
        Self { work, locks: Arc::default() }
    }
}

fn list(content: &dyn Content, listing: &Listing, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
    let keys = listing.keys(|node| content.info(node))?;
    let keys = keys.into_iter().filter(|(key, _)| key.starts_with(prefix.as_str()));
    let mut found = keys.map(|(key, size)| Ok((Key::new(&key)?, size))).collect::<Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

/// The next level of a listing.
fn list_dir(content: &dyn Content, listing: &Listing, prefix: &Prefix) -> Result<Vec<ListEntry>> {
    let mut entries: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for (key, size) in list(content, listing, prefix)? {
        let Some(rest) = key.as_str().strip_prefix(prefix.as_str()) else { continue };
        match rest.split_once('/') {
            Some((segment, _)) => entries.entry(segment.to_string()).or_insert(None),
            None => entries.entry(rest.to_string()).or_insert(Some(size)),
        };
    }
    let entry = |(name, size): (String, Option<u64>)| match size {
        Some(size) => Ok(ListEntry::Key(prefix.key(&name)?, size)),
        None => Ok(ListEntry::Prefix(prefix.join(&name)?)),
    };
    let mut found = entries.into_iter().map(entry).collect::<Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

impl VersionStore {
    fn refuse(&self, action: &str, key: impl std::fmt::Display) -> StoreError {
        StoreError::ReadOnly {
            store: self.describe(),
            action: format!("{action} {key} outside a transaction"),
        }
    }

    fn listing(&self, prefix: &Prefix) -> Result<Listing> {
        let mut listing = Listing::default();
        self.0.list(prefix.path(), &mut listing)?;
        Ok(listing)
    }
}

impl Store for VersionStore {
    fn describe(&self) -> String {
        Content::describe(&*self.0)
    }

    fn is_local(&self) -> bool {
        Content::base(&*self.0).is_local()
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        read::read_many(&*self.0, requests, sink);
    }

    fn put(&self, key: &Key, _: &[&[u8]], _: PutMode) -> Result<Version> {
        Err(self.refuse("put", key))
    }

    fn update(&self, key: &Key, _: bool, _: &mut UpdateFn<'_, '_>) -> Result<()> {
        Err(self.refuse("update", key))
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        Err(self.refuse("delete", key))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        Err(self.refuse("delete", prefix))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        Ok(read::head(&*self.0, key)?)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        list(&*self.0, &self.listing(prefix)?, prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        list_dir(&*self.0, &self.listing(prefix)?, prefix)
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
        read::read_many(&*self.work, requests, sink);
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.locks.hold(key, || {
            match mode {
                PutMode::Overwrite => {}
                PutMode::Create => {
                    if read::head(&*self.work, key)?.is_some() {
                        return Err(StoreError::Exists { key: key.to_string() });
                    }
                }
                PutMode::IfMatch(expected) => {
                    if read::head(&*self.work, key)?.map(|meta| meta.version) != Some(expected) {
                        return Err(StoreError::Changed { key: key.to_string() });
                    }
                }
            }
            match self.work.put(key, parts, Old::Unknown)? {
                Some(stamp) => Ok(read::version_of(stamp)),
                None => {
                    let meta = read::head(&*self.work, key)?;
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
        Ok(read::head(&*self.work, key)?)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        list(&*self.work, &self.work.listing(prefix.path())?, prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        list_dir(&*self.work, &self.work.listing(prefix.path())?, prefix)
    }
}
