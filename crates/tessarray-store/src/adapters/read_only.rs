//! A store that may not be changed.

use crate::error::{Result, StoreError};
use crate::key::{Key, Prefix};
use crate::request::{ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::store::{ReadSink, Store, UpdateFn};
use std::sync::Arc;
use std::time::Duration;

/// Shows a store, and refuses every change with [`StoreError::ReadOnly`].
#[derive(Debug, Clone)]
pub struct ReadOnlyStore(Arc<dyn Store>);

impl ReadOnlyStore {
    /// Wraps a store.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self(inner)
    }

    fn refuse<T>(&self, action: &str, what: &str) -> Result<T> {
        Err(StoreError::ReadOnly { store: self.describe(), action: format!("{action} {what}") })
    }
}

impl Store for ReadOnlyStore {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn is_local(&self) -> bool {
        self.0.is_local()
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        self.0.read_many(requests, sink);
    }

    fn put(&self, key: &Key, _: &[&[u8]], _: PutMode) -> Result<Version> {
        self.refuse("put", key.as_str())
    }

    fn update(&self, key: &Key, _: bool, _: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.refuse("update", key.as_str())
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.refuse("delete", key.as_str())
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.refuse("delete", prefix.as_str())
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.0.head(key)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.0.list(prefix)
    }

    fn abandoned(&self, prefix: &Prefix, idle: Duration, remove: bool) -> Result<Vec<(String, u64)>> {
        if remove {
            return self.refuse("remove what was left under", prefix.as_str());
        }
        self.0.abandoned(prefix, idle, false)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.0.list_dir(prefix)
    }
}
