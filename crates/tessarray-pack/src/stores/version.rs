//! A version as a store, to read.

use super::listing::{list, list_dir};
use crate::version::{Content, Listing, PackVersion, Snapshot, lookup};
use std::sync::Arc;
use tessarray_store::{
    Key, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Store, StoreError, UpdateFn,
    Version,
};

/// A version, to read.
#[derive(Debug, Clone)]
pub(crate) struct VersionStore(pub Arc<Snapshot>);

impl PackVersion {
    /// A store, read-only, with the keys of the Zarr hierarchy.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::new(VersionStore(Arc::clone(self.snapshot())))
    }
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
        lookup::read_many(&*self.0, requests, sink);
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
        Ok(lookup::head(&*self.0, key)?)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        list(&*self.0, &self.listing(prefix)?, prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        list_dir(&*self.0, &self.listing(prefix)?, prefix)
    }
}
