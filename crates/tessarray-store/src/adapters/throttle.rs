//! A store as slow as a network.

use crate::error::Result;
use crate::key::{Key, Prefix};
use crate::request::{ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::span;
use crate::store::{ReadSink, Store, UpdateFn, UpdateWithFn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throttling {
    /// Time to the first byte of each request. Default 20 ms.
    pub first_byte: Duration,
    /// Bytes a second, shared by all requests, both ways. Default 100 MB/s.
    pub bandwidth: u64,
    /// Requests under way at once; at least one. Default 16.
    pub concurrency: usize,
}

impl Default for Throttling {
    fn default() -> Self {
        Self { first_byte: Duration::from_millis(20), bandwidth: 100_000_000, concurrency: 16 }
    }
}

/// Adds a first-byte time, a bandwidth and a limit on concurrency to a store, as an object store has them. Each
/// range is a request. Says that it is not local, so that reads arrive in large batches.
#[derive(Debug)]
pub struct ThrottleStore {
    inner: Arc<dyn Store>,
    how: Throttling,
    line: Arc<Line>,
}

/// What all requests share.
#[derive(Debug)]
struct Line {
    free: Mutex<usize>,
    freed: Condvar,
    /// When the link has carried everything it was given.
    link: Mutex<Instant>,
}

impl ThrottleStore {
    /// Wraps a store.
    pub fn new(inner: Arc<dyn Store>, how: Throttling) -> Self {
        let free = Mutex::new(how.concurrency.max(1));
        let line = Line { free, freed: Condvar::new(), link: Mutex::new(Instant::now()) };
        Self { inner, how, line: Arc::new(line) }
    }

    /// One request: waits for a place and for the first byte.
    fn request<T>(&self, act: impl FnOnce() -> T) -> T {
        let mut free = self.line.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.line.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let _place = Place(&self.line);
        std::thread::sleep(self.how.first_byte);
        act()
    }

    /// Carries bytes over the link, after what others gave it.
    fn carry(&self, bytes: u64) {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(self.how.bandwidth.max(1));
        let time = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        let now = Instant::now();
        let mut link = self.line.link.lock().unwrap_or_else(PoisonError::into_inner);
        let done = (*link).max(now) + time;
        *link = done;
        drop(link);
        std::thread::sleep(done.saturating_duration_since(now));
    }

    fn read_one(&self, i: usize, request: &ReadRequest, sink: &ReadSink<'_>) {
        self.request(|| {
            self.inner.read_many(std::slice::from_ref(request), &|_, answer| {
                if let Ok(Some(blob)) = &answer {
                    self.carry(span::as_u64(blob.bytes.len()));
                }
                sink(i, answer);
            });
        });
    }
}

/// The place of a request, free again when it ends, however it ends.
struct Place<'a>(&'a Line);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free += 1;
        self.0.freed.notify_one();
    }
}

fn length<B: AsRef<[u8]>>(parts: &[B]) -> u64 {
    parts.iter().map(|part| span::as_u64(part.as_ref().len())).sum()
}

impl Store for ThrottleStore {
    fn describe(&self) -> String {
        format!("{} (throttled)", self.inner.describe())
    }

    fn is_local(&self) -> bool {
        false
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    fn is_durable(&self) -> bool {
        self.inner.is_durable()
    }

    fn make_durable(&self, keys: &[Key]) -> Result<()> {
        self.inner.make_durable(keys)
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                match requests.get(i) {
                    Some(request) => self.read_one(i, request, sink),
                    None => break,
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.how.concurrency.min(requests.len()) {
                // Where no thread can be started, those that were, and this one, do all of it.
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.request(|| {
            self.carry(length(parts));
            self.inner.put(key, parts, mode)
        })
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.request(|| {
            self.inner.update(key, read, &mut |current| {
                self.carry(current.as_ref().map_or(0, |blob| span::as_u64(blob.bytes.len())));
                let update = decide(current)?;
                self.carry(update.length());
                Ok(update)
            })
        })
    }

    fn update_with(&self, key: &Key, decide: &mut UpdateWithFn<'_, '_>) -> Result<()> {
        let around = |inner: &Arc<dyn Store>| {
            let (inner, how, line) = (Arc::clone(inner), self.how, Arc::clone(&self.line));
            Arc::new(Self { inner, how, line }) as Arc<dyn Store>
        };
        // A place for it while others are asked for would leave none for them, where there is one.
        self.inner.update_with(key, &mut |within, current| {
            self.request(|| {
                self.carry(current.as_ref().map_or(0, |blob| span::as_u64(blob.bytes.len())));
            });
            let update = decide(within.map(around).as_ref(), current)?;
            self.request(|| self.carry(update.length()));
            Ok(update)
        })
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.request(|| self.inner.delete(key))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.request(|| self.inner.delete_prefix(prefix))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.request(|| self.inner.head(key))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.request(|| self.inner.list(prefix))
    }

    fn abandoned(&self, prefix: &Prefix, idle: Duration, remove: bool) -> Result<Vec<(String, u64)>> {
        self.request(|| self.inner.abandoned(prefix, idle, remove))
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.request(|| self.inner.list_dir(prefix))
    }
}
