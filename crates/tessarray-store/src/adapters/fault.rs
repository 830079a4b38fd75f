//! A store that fails on purpose, for tests of what is above it.

use crate::error::{Result, StoreError};
use crate::key::{Key, Prefix};
use crate::request::{Blob, BlobBytes, ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::store::{ReadSink, Store, UpdateFn, UpdateWithFn};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Which call fails. Calls and ranges are counted from zero, from the moment the fault was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The k-th call of any method; a batch of reads is one call, all of whose ranges fail.
    Call(u64),
    /// The k-th call and all later ones: a store that has gone away.
    FromCall(u64),
    /// The k-th range of all reads.
    Range(u64),
}

/// How it fails.
#[derive(Clone)]
pub enum Effect {
    /// Nothing is done; the error comes from this function of the key.
    Fail(Arc<dyn Fn(&str) -> StoreError + Send + Sync>),
    /// A read answers with this many bytes at most, as if the value had been torn; other calls fail.
    Torn(usize),
    /// The call is done, and then reported as failed, as when a network loses the answer.
    LostResponse,
}

impl Effect {
    /// [`Effect::Fail`] with [`StoreError::Other`].
    pub fn fail() -> Self {
        Self::Fail(Arc::new(injected))
    }
}

impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail(_) => f.write_str("Fail"),
            Self::Torn(kept) => write!(f, "Torn({kept})"),
            Self::LostResponse => f.write_str("LostResponse"),
        }
    }
}

/// A failure to come.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Which call.
    pub when: When,
    /// How.
    pub effect: Effect,
}

fn injected(key: &str) -> StoreError {
    StoreError::Other { key: key.into(), message: "a failure injected by a test".into() }
}

/// Passes everything on, but for the call that the [`Fault`] names.
///
/// To fail each call of an operation in turn: run it once with no fault, read [`FaultStore::calls`], then run it
/// with `When::Call(k)` for every `k` below.
#[derive(Debug)]
pub struct FaultStore {
    inner: Arc<dyn Store>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    fault: Mutex<Option<Fault>>,
    calls: AtomicU64,
    ranges: AtomicU64,
}

impl FaultStore {
    /// Wraps a store; no fault is set.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, state: Arc::default() }
    }

    /// Sets or removes the fault, and counts from zero again.
    pub fn set(&self, fault: Option<Fault>) {
        let mut slot = self.state.fault.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = fault;
        self.state.calls.store(0, Ordering::SeqCst);
        self.state.ranges.store(0, Ordering::SeqCst);
    }

    /// Calls since the fault was set.
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::SeqCst)
    }

    /// Ranges read since the fault was set.
    pub fn ranges(&self) -> u64 {
        self.state.ranges.load(Ordering::SeqCst)
    }

    fn fault(&self) -> Option<Fault> {
        self.state.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a call; the effect that is due for it.
    fn due(&self) -> Option<Effect> {
        let call = self.state.calls.fetch_add(1, Ordering::SeqCst);
        let fault = self.fault()?;
        let due = match fault.when {
            When::Call(at) => call == at,
            When::FromCall(at) => call >= at,
            When::Range(_) => false,
        };
        due.then_some(fault.effect)
    }

    fn call<T>(&self, key: &str, act: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.due() {
            None => act(),
            Some(Effect::Fail(error)) => Err(error(key)),
            Some(Effect::Torn(_)) => Err(injected(key)),
            Some(Effect::LostResponse) => act().and_then(|_| Err(injected(key))),
        }
    }
}

/// What a read answers under an effect.
fn spoil<'a>(effect: &Effect, key: &Key, answer: Result<Option<Blob<'a>>>) -> Result<Option<Blob<'a>>> {
    match effect {
        Effect::Fail(error) => Err(error(key.as_str())),
        Effect::LostResponse => Err(injected(key.as_str())),
        Effect::Torn(kept) => Ok(answer?.map(|blob| {
            let bytes = match blob.bytes {
                BlobBytes::Borrowed(bytes) => BlobBytes::Borrowed(bytes.get(..*kept).unwrap_or(bytes)),
                BlobBytes::Shared(bytes) => BlobBytes::Shared(bytes.slice(..bytes.len().min(*kept))),
            };
            Blob { meta: blob.meta, bytes }
        })),
    }
}

impl Store for FaultStore {
    fn describe(&self) -> String {
        self.inner.describe()
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
        let first = keys.first().map_or("", Key::as_str);
        self.call(first, || self.inner.make_durable(keys))
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        let whole = self.due();
        let count = crate::span::as_u64(requests.len());
        let first = self.state.ranges.fetch_add(count, Ordering::SeqCst);
        let single = self.fault().and_then(|fault| match fault.when {
            When::Range(at) => at.checked_sub(first).zip(Some(fault.effect)),
            _ => None,
        });
        self.inner.read_many(requests, &|i, answer| {
            let hit =
                single.as_ref().filter(|(at, _)| *at == crate::span::as_u64(i)).map(|(_, effect)| effect);
            match whole.as_ref().or(hit).zip(requests.get(i)) {
                Some((effect, request)) => sink(i, spoil(effect, &request.key, answer)),
                None => sink(i, answer),
            }
        });
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.call(key.as_str(), || self.inner.put(key, parts, mode))
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.call(key.as_str(), || self.inner.update(key, read, decide))
    }

    fn update_with(&self, key: &Key, decide: &mut UpdateWithFn<'_, '_>) -> Result<()> {
        let around = |inner: &Arc<dyn Store>| {
            Arc::new(Self { inner: Arc::clone(inner), state: Arc::clone(&self.state) }) as Arc<dyn Store>
        };
        self.call(key.as_str(), || {
            self.inner.update_with(key, &mut |within, current| decide(within.map(around).as_ref(), current))
        })
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.call(key.as_str(), || self.inner.delete(key))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.call(prefix.as_str(), || self.inner.delete_prefix(prefix))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.call(key.as_str(), || self.inner.head(key))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.call(prefix.as_str(), || self.inner.list(prefix))
    }

    fn abandoned(&self, prefix: &Prefix, idle: Duration, remove: bool) -> Result<Vec<(String, u64)>> {
        self.call(prefix.as_str(), || self.inner.abandoned(prefix, idle, remove))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.call(prefix.as_str(), || self.inner.list_dir(prefix))
    }
}
