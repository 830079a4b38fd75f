//! A store under a scheduler, which chooses at each call whose turn it is: for tests of this crate and of those above it.

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::atomic::{AtomicU64, Ordering};
use shuttle::{Config, Runner};
use tessarray_store::{
    Key, ListEntry, MemoryStore, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Store, Update,
    UpdateFn, Version,
};

/// A store in which each call begins with a choice of the scheduler.
#[derive(Debug)]
pub struct Scheduled {
    inner: MemoryStore,
    calls: AtomicU64,
    /// Whether its updates keep others out, as those of directories do and those of object stores do not.
    locks: bool,
}

impl Scheduled {
    pub fn new(locks: bool) -> Self {
        Self { inner: MemoryStore::new(), calls: AtomicU64::new(0), locks }
    }

    fn choose(&self) -> &MemoryStore {
        self.calls.fetch_add(1, Ordering::SeqCst);
        &self.inner
    }
}

impl Store for Scheduled {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        self.choose().read_many(requests, sink);
    }

    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version> {
        self.choose().put(key, parts, mode)
    }

    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()> {
        if !read && !self.locks {
            assert!(matches!(decide(None)?, Update::Keep), "packs lock so, and change nothing so");
            return Ok(());
        }
        self.choose().update(key, read, decide)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.choose().delete(key)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.choose().delete_prefix(prefix)
    }

    fn head(&self, key: &Key) -> Result<Option<Meta>> {
        self.choose().head(key)
    }

    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
        self.choose().list(prefix)
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>> {
        self.choose().list_dir(prefix)
    }
}

/// Runs a scene in so many orders, times `TESSARRAY_TEST_SCALE`: half of them at random, half with few changes of turn.
pub fn explore(orders: usize, scene: impl Fn() + Copy + Send + Sync + 'static) {
    let scale = std::env::var("TESSARRAY_TEST_SCALE").ok().and_then(|text| text.parse::<f64>().ok());
    #[allow(clippy::cast_possible_truncation, reason = "a number of rounds")]
    let orders = (orders as f64 * scale.unwrap_or(1.0).max(1.0)) as usize / 2;
    run(RandomScheduler::new(orders), scene);
    run(PctScheduler::new(3, orders), scene);
}

fn run(scheduler: impl Scheduler + 'static, scene: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    config.failure_persistence = shuttle::FailurePersistence::Print;
    Runner::new(scheduler, config).run(scene);
}
