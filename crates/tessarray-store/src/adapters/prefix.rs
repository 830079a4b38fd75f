//! A part of a store as a store.

use crate::error::Result;
use crate::key::{Key, Prefix};
use crate::request::{ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::store::{ReadSink, Store, UpdateFn, UpdateWithFn};
use std::sync::Arc;
use std::time::Duration;

/// The keys under a prefix, without it. Errors of the wrapped store name its own, longer keys.
#[derive(Debug, Clone)]
pub struct PrefixStore {
    inner: Arc<dyn Store>,
    base: Prefix,
}

impl PrefixStore {
    /// The part of `inner` under `base`.
    pub fn new(inner: Arc<dyn Store>, base: Prefix) -> Self {
        Self { inner, base }
    }

    fn key(&self, key: &Key) -> Result<Key> {
        Ok(self.base.key(key.as_str())?)
    }

    fn prefix(&self, prefix: &Prefix) -> Result<Prefix> {
        if prefix.is_root() { Ok(self.base.clone()) } else { Ok(self.base.join(prefix.path())?) }
    }

    fn cut<'a>(&self, longer: &'a str) -> &'a str {
        longer.strip_prefix(self.base.as_str()).unwrap_or(longer)
    }
}

impl Store for PrefixStore {
    fn describe(&self) -> String {
        format!("{}/{}", self.inner.describe(), self.base.path())
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    fn is_durable(&self) -> bool {
        self.inner.is_durable()
    }

    fn make_durable(&self, keys: &[Key]) -> Result<()> {
        let keys = keys.iter().map(|key| self.key(key)).collect::<Result<Vec<_>>>()?;
        self.inner.make_durable(&keys)
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        let mut numbers = Vec::with_capacity(requests.len());
        let mut longer = Vec::with_capacity(requests.len());
        for (i, request) in requests.iter().enumerate() {
            match self.key(&request.key) {
                Ok(key) => {
                    numbers.push(i);
                    longer.push(ReadRequest { key, range: request.range, expect: request.expect.clone() });
                }
                Err(error) => sink(i, Err(error)),
            }
        }
        self.inner.read_many(&longer, &|i, answer| {
            if let Some(number) = numbers.get(i) {
                sink(*number, answer);
            }
        });
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.inner.put(&self.key(key)?, parts, mode)
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.inner.update(&self.key(key)?, read, decide)
    }

    fn update_with(&self, key: &Key, decide: &mut UpdateWithFn<'_, '_>) -> Result<()> {
        self.inner.update_with(&self.key(key)?, &mut |within, current| {
            let part = |inner: &Arc<dyn Store>| {
                Arc::new(Self::new(Arc::clone(inner), self.base.clone())) as Arc<dyn Store>
            };
            decide(within.map(part).as_ref(), current)
        })
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.inner.delete(&self.key(key)?)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.inner.delete_prefix(&self.prefix(prefix)?)
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.inner.head(&self.key(key)?)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        let found = self.inner.list(&self.prefix(prefix)?)?;
        found.into_iter().map(|(key, size)| Ok((Key::new(self.cut(key.as_str()))?, size))).collect()
    }

    fn abandoned(&self, prefix: &Prefix, idle: Duration, remove: bool) -> Result<Vec<(String, u64)>> {
        let found = self.inner.abandoned(&self.prefix(prefix)?, idle, remove)?;
        Ok(found.into_iter().map(|(path, size)| (self.cut(&path).into(), size)).collect())
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        let found = self.inner.list_dir(&self.prefix(prefix)?)?;
        let cut = |entry| match entry {
            ListEntry::Key(key, size) => Ok(ListEntry::Key(Key::new(self.cut(key.as_str()))?, size)),
            ListEntry::Prefix(prefix) => Ok(ListEntry::Prefix(Prefix::new(self.cut(prefix.as_str()))?)),
        };
        found.into_iter().map(cut).collect()
    }
}
