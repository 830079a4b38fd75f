//! Values in memory, for tests, caches and scratch work.

use crate::error::{Result, StoreError};
use crate::key::{Key, Prefix};
use crate::key_locks::KeyLocks;
use crate::request::{Blob, BlobBytes, ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::store::{ReadSink, Store, Update, UpdateFn};
use crate::{ordered, span};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A store in this process's memory; gone with it.
///
/// Reads share the stored bytes without a copy, and keep the value they saw alive while it is replaced. A slow
/// `update` makes writers of its key wait, and nobody else.
#[derive(Default)]
pub struct MemoryStore {
    values: RwLock<BTreeMap<Key, Value>>,
    writers: KeyLocks,
    clock: AtomicU64,
}

#[derive(Clone)]
struct Value {
    bytes: Bytes,
    version: u64,
}

impl Value {
    fn meta(&self) -> Meta {
        Meta { size: span::as_u64(self.bytes.len()), version: version(self.version) }
    }
}

fn version(number: u64) -> Version {
    Version(number.to_string().into())
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Key, Value>> {
        self.values.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<Key, Value>> {
        self.values.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &Key) -> Option<Value> {
        self.read().get(key).cloned()
    }

    /// Stores bytes; the caller holds the key's lock.
    fn set(&self, key: &Key, bytes: Bytes) -> Version {
        let number = self.clock.fetch_add(1, Ordering::Relaxed);
        self.write().insert(key.clone(), Value { bytes, version: number });
        version(number)
    }

    fn answer(request: &ReadRequest, value: Option<&Value>) -> Result<Option<Blob<'static>>> {
        let meta = value.map(Value::meta);
        request.check_version(meta.as_ref().map(|meta| &meta.version))?;
        let (Some(value), Some(meta)) = (value, meta) else { return Ok(None) };
        let range = span::resolve_in_memory(request, value.bytes.len())?;
        Ok(Some(Blob { meta, bytes: BlobBytes::Shared(value.bytes.slice(range)) }))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("values", &self.read().len()).finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn describe(&self) -> String {
        "memory".into()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        span::by_key(requests, |first, run| {
            let value = self.find(&run[0].key);
            for (i, request) in run.iter().enumerate() {
                sink(first + i, Self::answer(request, value.as_ref()));
            }
        });
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        let bytes = Bytes::from(joined(key, parts)?);
        self.writers.hold(key, || {
            match mode {
                PutMode::Overwrite => {}
                PutMode::Create if self.find(key).is_some() => {
                    return Err(StoreError::Exists { key: key.to_string() });
                }
                PutMode::Create => {}
                PutMode::IfMatch(expected) => {
                    if self.find(key).map(|value| version(value.version)) != Some(expected) {
                        return Err(StoreError::Changed { key: key.to_string() });
                    }
                }
            }
            Ok(self.set(key, bytes))
        })
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.writers.hold(key, || {
            let current = if read { self.find(key) } else { None };
            let blob =
                current.map(|value| Blob { meta: value.meta(), bytes: BlobBytes::Shared(value.bytes) });
            match decide(blob)? {
                Update::Put(parts) => {
                    self.set(key, joined(key, &parts)?.into());
                }
                Update::PutOwned(parts) => {
                    self.set(key, joined(key, &parts)?.into());
                }
                Update::Delete => {
                    self.write().remove(key);
                }
                Update::Keep => {}
            }
            Ok(())
        })
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.writers.hold(key, || Ok(self.write().remove(key).is_some()))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.write().retain(|key, _| !prefix.contains(key));
        Ok(())
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        Ok(self.read().get(key).map(Value::meta))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        Ok(ordered::list(&self.read(), prefix, |value| span::as_u64(value.bytes.len())))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        Ok(ordered::list_dir(&self.read(), prefix, |value| span::as_u64(value.bytes.len())))
    }
}

/// The parts of a value, together.
fn joined<P: AsRef<[u8]>>(key: &Key, parts: &[P]) -> Result<Vec<u8>> {
    crate::owned::joined(parts).map_err(|error| StoreError::io(key, "allocate", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn memory_conforms() {
        crate::conformance::run(|| ((), Arc::new(MemoryStore::new()) as Arc<dyn Store>));
    }

    #[test]
    fn a_slow_update_of_one_key_does_not_hold_up_another() {
        let store = MemoryStore::new();
        let (a, b) = (Key::new("a").unwrap(), Key::new("b").unwrap());
        store
            .update(&a, true, &mut |_| {
                std::thread::scope(|scope| {
                    scope.spawn(|| store.put(&b, &[b"x"], PutMode::Overwrite).unwrap());
                });
                Ok(Update::Keep)
            })
            .unwrap();
        assert!(store.writers_are_gone());
    }

    impl MemoryStore {
        fn writers_are_gone(&self) -> bool {
            format!("{:?}", self.writers).contains("{}")
        }
    }
}
