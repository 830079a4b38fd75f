//! A store in which others act between two calls of one writer.

use std::sync::{Arc, Mutex};
use tessarray_store::{
    Key, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Store, UpdateFn, Version,
};

/// What others do.
type Act = Box<dyn FnOnce() + Send>;

/// Acts once, before the first put of a key with this beginning.
pub struct Hooked {
    inner: Arc<dyn Store>,
    prefix: &'static str,
    act: Mutex<Option<Act>>,
}

impl Hooked {
    pub fn new(inner: Arc<dyn Store>, prefix: &'static str, act: impl FnOnce() + Send + 'static) -> Self {
        Self { inner, prefix, act: Mutex::new(Some(Box::new(act))) }
    }
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooked({:?})", self.inner)
    }
}

impl Store for Hooked {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        self.inner.read_many(requests, sink);
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        if key.as_str().starts_with(self.prefix)
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act();
        }
        self.inner.put(key, parts, mode)
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.inner.update(key, read, decide)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.inner.delete(key)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.inner.delete_prefix(prefix)
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.inner.head(key)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.inner.list(prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.inner.list_dir(prefix)
    }
}
