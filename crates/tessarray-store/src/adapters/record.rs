//! Counts what is asked of a store.

use crate::error::Result;
use crate::key::{Key, Prefix};
use crate::request::{ListEntry, Meta, PutMode, ReadRequest, Version};
use crate::span;
use crate::store::{ReadSink, Store, UpdateFn, UpdateWithFn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The kinds of calls that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `read_many`.
    Read,
    /// `put`.
    Put,
    /// `update`.
    Update,
    /// `delete`.
    Delete,
    /// `delete_prefix`.
    DeletePrefix,
    /// `head`.
    Head,
    /// `list`.
    List,
    /// `list_dir`.
    ListDir,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Put,
        Self::Update,
        Self::Delete,
        Self::DeletePrefix,
        Self::Head,
        Self::List,
        Self::ListDir,
    ];
}

/// What was counted of one kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Calls of the store's method.
    pub calls: u64,
    /// Ranges asked for (reads), or values named (the others).
    pub ranges: u64,
    /// Runs of ranges of one value (reads): what a local store opens.
    pub runs: u64,
    /// Bytes that came out of the store.
    pub bytes_read: u64,
    /// Bytes that went into it.
    pub bytes_written: u64,
    /// Calls or ranges that were answered with an error.
    pub errors: u64,
    /// Time in the calls, added over threads; the time that a sink or decision takes is in it.
    pub time: Duration,
}

/// The counts of all kinds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recorded([Count; 8]);

impl Recorded {
    /// The counts of one kind.
    pub fn of(&self, kind: Kind) -> Count {
        self.0.get(kind as usize).copied().unwrap_or_default()
    }

    /// The sum over all kinds.
    pub fn total(&self) -> Count {
        self.0.iter().fold(Count::default(), |sum, count| Count {
            calls: sum.calls + count.calls,
            ranges: sum.ranges + count.ranges,
            runs: sum.runs + count.runs,
            bytes_read: sum.bytes_read + count.bytes_read,
            bytes_written: sum.bytes_written + count.bytes_written,
            errors: sum.errors + count.errors,
            time: sum.time + count.time,
        })
    }
}

#[derive(Debug, Default)]
struct Counter {
    calls: AtomicU64,
    ranges: AtomicU64,
    runs: AtomicU64,
    read: AtomicU64,
    written: AtomicU64,
    errors: AtomicU64,
    nanoseconds: AtomicU64,
}

/// Counts requests, ranges, bytes and time of a store, by kind of call. Costs some atomic additions a call.
#[derive(Debug)]
pub struct RecordStore {
    inner: Arc<dyn Store>,
    counters: Arc<[Counter; 8]>,
}

impl RecordStore {
    /// Wraps a store; all counts are zero.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, counters: Arc::default() }
    }

    /// The counts so far. Each is exact once the calls it counts have returned; together they are one moment only
    /// while no call runs.
    pub fn snapshot(&self) -> Recorded {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Recorded(std::array::from_fn(|i| {
            self.counters.get(i).map_or_else(Count::default, |counter| Count {
                calls: read(&counter.calls),
                ranges: read(&counter.ranges),
                runs: read(&counter.runs),
                bytes_read: read(&counter.read),
                bytes_written: read(&counter.written),
                errors: read(&counter.errors),
                time: Duration::from_nanos(read(&counter.nanoseconds)),
            })
        }))
    }

    /// Sets all counts to zero.
    pub fn reset(&self) {
        for counter in self.counters.iter() {
            let Counter { calls, ranges, runs, read, written, errors, nanoseconds } = counter;
            for count in [calls, ranges, runs, read, written, errors, nanoseconds] {
                count.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Counts what is asked of another store with this one's.
    fn around(&self, inner: &Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Self { inner: Arc::clone(inner), counters: Arc::clone(&self.counters) })
    }

    fn counter(&self, kind: Kind) -> &Counter {
        &self.counters[kind as usize]
    }

    fn count<T>(&self, kind: Kind, call: impl FnOnce(&Counter) -> Result<T>) -> Result<T> {
        let counter = self.counter(kind);
        add(&counter.ranges, 1);
        let result = timed(counter, || call(counter));
        if result.is_err() {
            add(&counter.errors, 1);
        }
        result
    }
}

fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

fn timed<T>(counter: &Counter, call: impl FnOnce() -> T) -> T {
    add(&counter.calls, 1);
    let start = Instant::now();
    let result = call();
    add(&counter.nanoseconds, u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    result
}

fn sum(lengths: impl Iterator<Item = usize>) -> u64 {
    lengths.map(span::as_u64).sum()
}

impl Store for RecordStore {
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
        self.inner.make_durable(keys)
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        let counter = self.counter(Kind::Read);
        add(&counter.ranges, span::as_u64(requests.len()));
        span::by_key(requests, |_, _| add(&counter.runs, 1));
        timed(counter, || {
            self.inner.read_many(requests, &|i, answer| {
                match &answer {
                    Ok(Some(blob)) => add(&counter.read, span::as_u64(blob.bytes.len())),
                    Ok(None) => {}
                    Err(_) => add(&counter.errors, 1),
                }
                sink(i, answer);
            });
        });
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.count(Kind::Put, |counter| {
            let version = self.inner.put(key, parts, mode)?;
            add(&counter.written, sum(parts.iter().map(|part| part.len())));
            Ok(version)
        })
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        self.count(Kind::Update, |counter| {
            let mut written = 0;
            self.inner.update(key, read, &mut |current| {
                if let Some(blob) = &current {
                    add(&counter.read, span::as_u64(blob.bytes.len()));
                }
                let update = decide(current)?;
                written = update.length();
                Ok(update)
            })?;
            add(&counter.written, written);
            Ok(())
        })
    }

    fn update_with(&self, key: &Key, decide: &mut UpdateWithFn<'_, '_>) -> Result<()> {
        self.count(Kind::Update, |counter| {
            let mut written = 0;
            self.inner.update_with(key, &mut |within, current| {
                if let Some(blob) = &current {
                    add(&counter.read, span::as_u64(blob.bytes.len()));
                }
                let within = within.map(|inner| self.around(inner));
                let update = decide(within.as_ref(), current)?;
                written = update.length();
                Ok(update)
            })?;
            add(&counter.written, written);
            Ok(())
        })
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.count(Kind::Delete, |_| self.inner.delete(key))
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.count(Kind::DeletePrefix, |_| self.inner.delete_prefix(prefix))
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.count(Kind::Head, |_| self.inner.head(key))
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.count(Kind::List, |_| self.inner.list(prefix))
    }

    fn abandoned(&self, prefix: &Prefix, idle: Duration, remove: bool) -> Result<Vec<(String, u64)>> {
        self.inner.abandoned(prefix, idle, remove)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.count(Kind::ListDir, |_| self.inner.list_dir(prefix))
    }
}
