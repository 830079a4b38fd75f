//! A pack: opening, versions, transactions.

use crate::auto::AutoStore;
use crate::catalogue::{self, Parts};
use crate::clock::Clock;
use crate::commit::{Commit, Kind, Link, Log, Summary};
use crate::id::Id;
use crate::info::Layouts;
use crate::merge;
use crate::snapshot::Snapshot;
use crate::transaction::Work;
use crate::view::{TransactionStore, VersionStore};
use crate::{PackError, Result};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tessarray_codec::Registry;
use tessarray_store::{Key, Store, StoreError, Update};

/// The file that makes a folder a pack.
pub const FORMAT_FILE: &str = "format.json";
/// The format that this release writes, and the newest it reads.
pub const FORMAT_VERSION: u64 = 1;
pub(crate) const FORMAT_NAME: &str = "tessarray-pack";

#[derive(Serialize, Deserialize)]
pub(crate) struct Format {
    pub format: String,
    pub version: u64,
    pub id: Id,
    pub created: String,
}

/// How a pack is opened.
#[derive(Debug, Clone, Default)]
pub struct PackOptions {
    /// The codecs that metadata may name. Default: all built-in ones.
    pub registry: Arc<Registry>,
    /// Where the hint of the latest version is put; a durable store would sync it for nothing. Default: in the pack's
    /// store.
    pub hints: Option<Arc<dyn Store>>,
    /// The clock by which files are named. Default: the system's.
    pub clock: Clock,
}

/// A pack on a store. Cheap to clone, and safe to use from many threads.
#[derive(Debug, Clone)]
pub struct Pack {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    id: Id,
    layouts: Arc<Layouts>,
    parts: Arc<Parts>,
    log: Log,
    author: String,
    clock: Clock,
    /// The latest version that was seen.
    current: Mutex<Option<Arc<Snapshot>>>,
    settled: Mutex<Option<Link>>,
}

impl Pack {
    /// Opens a pack. Reads one small file.
    pub fn open(store: Arc<dyn Store>, options: PackOptions) -> Result<Self> {
        let key = Key::new(FORMAT_FILE)?;
        let Some((bytes, _)) = store.get(&key)? else {
            // Version 0 alone is a pack that is being made, or was to be.
            let log = Log::new(Arc::clone(&store), Arc::clone(&store), Id::default());
            if log.numbers()?.iter().any(|number| *number > 0) {
                return Err(Self::formless(&*store));
            }
            return Err(PackError::NotAPack { store: store.describe(), file: FORMAT_FILE });
        };
        let corrupt =
            |reason: String| PackError::Corrupt { store: store.describe(), file: FORMAT_FILE.into(), reason };
        let any: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|error| corrupt(error.to_string()))?;
        if any.get("format").and_then(|name| name.as_str()) != Some(FORMAT_NAME) {
            return Err(corrupt(format!("expected \"format\": {FORMAT_NAME:?}")));
        }
        match any.get("version").and_then(serde_json::Value::as_u64) {
            Some(found) if found > FORMAT_VERSION => {
                let (store, supported) = (store.describe(), FORMAT_VERSION);
                return Err(PackError::NewerFormat { store, found, supported });
            }
            Some(_) => {}
            None => return Err(corrupt("expected a \"version\" number".into())),
        }
        let format: Format = serde_json::from_value(any).map_err(|error| corrupt(error.to_string()))?;
        Ok(Self::new(store, format.id, options))
    }

    pub(crate) fn new(store: Arc<dyn Store>, id: Id, options: PackOptions) -> Self {
        let layouts = Arc::new(Layouts::new(options.registry));
        let parts = Arc::new(Parts::new(Arc::clone(&store)));
        let hints = options.hints.unwrap_or_else(|| Arc::clone(&store));
        let log = Log::new(Arc::clone(&store), hints, id);
        let user = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
        let (author, clock, current) = (user.unwrap_or_default(), options.clock, Mutex::default());
        let settled = Mutex::default();
        Self { inner: Arc::new(Inner { store, id, layouts, parts, log, author, clock, current, settled }) }
    }

    /// The store it is in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    pub(crate) fn snapshot(&self, commit: Commit, crc: u32) -> Arc<Snapshot> {
        let Inner { store, layouts, parts, .. } = &*self.inner;
        let (store, layouts, parts) = (Arc::clone(store), Arc::clone(layouts), Arc::clone(parts));
        let snapshot = Snapshot::new(store, layouts, parts, commit, crc);
        if let Some(seen) = &*self.current() {
            snapshot.adopt(seen);
        }
        Arc::new(snapshot)
    }

    /// The latest version. Costs one look for a later one where it was looked up before.
    pub fn latest(&self) -> Result<PackVersion> {
        let seen = self.current().clone();
        if let Some(snapshot) = seen {
            let number = snapshot.commit().number;
            if !self.inner.log.has(number + 1)? && number >= self.inner.log.closed()? {
                return Ok(PackVersion { snapshot });
            }
        }
        let (commit, crc) = self.inner.log.latest()?;
        let snapshot = self.snapshot(commit, crc);
        self.see(&snapshot);
        Ok(PackVersion { snapshot })
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Snapshot>>> {
        self.inner.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a version, if none later is known.
    fn see(&self, snapshot: &Arc<Snapshot>) {
        let mut current = self.current();
        if current.as_ref().is_none_or(|seen| seen.commit().number < snapshot.commit().number) {
            *current = Some(Arc::clone(snapshot));
        }
    }

    /// The version of this number.
    pub fn version(&self, number: u64) -> Result<PackVersion> {
        match self.inner.log.get(number)? {
            Some((commit, crc)) => Ok(PackVersion { snapshot: self.snapshot(commit, crc) }),
            None => Err(PackError::NoVersion {
                store: self.inner.store.describe(),
                wanted: number.to_string(),
                reason: "there is none of this number, or it was expired".into(),
            }),
        }
    }

    /// All versions that are there, oldest first.
    pub fn versions(&self) -> Result<Vec<Commit>> {
        Ok(self.inner.log.all()?.into_iter().map(|(commit, _)| commit).collect())
    }

    /// Begins a transaction on top of the latest version.
    pub fn begin(&self) -> Result<Transaction> {
        self.begin_at(self.latest()?.snapshot)
    }

    /// A store that is always at the latest version, and in which each call is a transaction of its own.
    pub fn auto_store(&self) -> Arc<dyn Store> {
        Arc::new(AutoStore::new(self.clone()))
    }

    /// Runs `act` while nobody else, in this process or another, runs under the same name. On stores whose updates do
    /// not lock (object stores) it excludes nobody, and commits have to find conflicts.
    pub fn exclusive<T>(
        &self,
        name: &str,
        act: &mut dyn FnMut() -> tessarray_store::Result<T>,
    ) -> tessarray_store::Result<T> {
        let key = Key::new(&format!("locks/{:08x}", crc32c::crc32c(name.as_bytes())))?;
        let mut result = None;
        self.inner.store.update(&key, false, &mut |_| {
            result = Some(act()?);
            Ok(Update::Keep)
        })?;
        result.ok_or_else(|| StoreError::Unanswered { key: key.to_string() })
    }

    pub(crate) fn clock(&self) -> Clock {
        self.inner.clock
    }

    pub(crate) fn log(&self) -> &Log {
        &self.inner.log
    }

    pub(crate) fn parts_cache(&self) -> &Arc<Parts> {
        &self.inner.parts
    }

    /// The latest version that is known to be synced, with all that it rests on.
    pub(crate) fn settled(&self) -> MutexGuard<'_, Option<Link>> {
        self.inner.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A commit with what all have in common, and no content. What it rests on is synced, where it is to be durable.
    pub(crate) fn draft(
        &self,
        number: u64,
        parent: Option<Link>,
        kind: Kind,
        message: &str,
    ) -> Result<Commit> {
        let durable = self.rest_on(parent.as_ref())?;
        Ok(Commit {
            number,
            pack: self.inner.id,
            parent,
            transaction: self.inner.clock.id()?,
            kind,
            time: self.inner.clock.text(),
            author: self.inner.author.clone(),
            message: message.into(),
            summary: Summary::default(),
            delta: None,
            parts: Vec::new(),
            segments: Vec::new(),
            durable,
            swept: None,
        })
    }

    pub(crate) fn begin_at(&self, base: Arc<Snapshot>) -> Result<Transaction> {
        let work = Arc::new(Work::begin(base, Arc::clone(&self.inner.store), self.inner.clock)?);
        Ok(Transaction { pack: self.clone(), store: TransactionStore::new(work) })
    }
}

/// One version of a pack: does not change, whatever is committed.
#[derive(Debug, Clone)]
pub struct PackVersion {
    snapshot: Arc<Snapshot>,
}

impl PackVersion {
    pub(crate) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.snapshot.commit().number
    }

    /// The commit that made it.
    pub fn commit(&self) -> &Commit {
        self.snapshot.commit()
    }

    /// Its catalogue as one Parquet file, in which nothing is hidden by anything else.
    pub fn catalogue(&self) -> Result<Vec<u8>> {
        let (rows, ids) = merge::merge(&self.snapshot.parts()?, true)?;
        Ok(catalogue::write(&rows, &ids, 0)?.0)
    }

    /// A store, read-only, with the keys of the Zarr hierarchy.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::new(VersionStore(Arc::clone(&self.snapshot)))
    }
}

/// Changes that are seen by nobody else until they are committed. Dropped, it is given up.
#[derive(Debug, Clone)]
pub struct Transaction {
    pack: Pack,
    store: TransactionStore,
}

impl Transaction {
    /// The number of the version it is on top of.
    pub fn base(&self) -> u64 {
        self.store.work.base_version().commit().number
    }

    /// A store to change.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    /// Makes the changes a version, and returns its number; `None` where nothing was changed. All of them or, on any
    /// error but [`PackError::Unknown`], none.
    pub fn commit(&self, message: &str) -> Result<Option<u64>> {
        self.pack.commit(&self.store.work, message)
    }

    /// Gives the changes up.
    pub fn abandon(&self) -> Result<()> {
        self.store.work.end(false)
    }
}
