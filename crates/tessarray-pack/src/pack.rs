//! A pack: opening, versions, transactions.

use crate::catalogue::Parts;
use crate::clock::Clock;
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::layout::Layouts;
use crate::log::{Commit, Link, Log};
use crate::names::{CATALOGUE, COMMITS, FORMAT_FILE, FORMAT_NAME, SEGMENTS};
use crate::transaction::Work;
use crate::version::{PackVersion, Snapshot};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tessarray_codec::Registry;
use tessarray_codec::crc32c;
use tessarray_store::{Key, KeyLocks, ListEntry, Prefix, Store, StoreError, Update};

/// The format that this release writes, and the newest it reads.
pub const FORMAT_VERSION: u64 = 1;

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
    ///
    /// # Errors
    /// [`PackError::NotAPack`], [`PackError::NewerFormat`]; [`PackError::Corrupt`] if `format.json` is damaged, or missing
    /// though there are versions.
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
    ///
    /// # Errors
    /// The latest commit file is damaged, or one that was given is missing ([`PackError::Corrupt`]).
    pub fn latest(&self) -> Result<PackVersion> {
        let seen = self.current().clone();
        if let Some(snapshot) = seen {
            let number = snapshot.commit().number;
            if !self.inner.log.has(number + 1)? && number >= self.inner.log.closed()? {
                return Ok(PackVersion::new(snapshot));
            }
        }
        let (commit, crc) = self.inner.log.latest()?;
        let snapshot = self.snapshot(commit, crc);
        self.see(&snapshot);
        Ok(PackVersion::new(snapshot))
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
    ///
    /// # Errors
    /// There is none of this number, or it was expired ([`PackError::NoVersion`]); its commit file is damaged.
    pub fn version(&self, number: u64) -> Result<PackVersion> {
        match self.inner.log.get(number)? {
            Some((commit, crc)) => Ok(PackVersion::new(self.snapshot(commit, crc))),
            None => Err(PackError::NoVersion {
                store: self.inner.store.describe(),
                wanted: number.to_string(),
                reason: "there is none of this number, or it was expired".into(),
            }),
        }
    }

    /// All versions that are there, oldest first.
    ///
    /// # Errors
    /// A commit file is damaged ([`PackError::Corrupt`]), or the store failed.
    pub fn versions(&self) -> Result<Vec<Commit>> {
        Ok(self.inner.log.all()?.into_iter().map(|(commit, _)| commit).collect())
    }

    /// Begins a transaction on top of the latest version.
    ///
    /// # Errors
    /// The same as for [`latest`](Self::latest).
    pub fn begin(&self) -> Result<Transaction> {
        self.begin_at(Arc::clone(self.latest()?.snapshot()))
    }

    /// Runs `act` while nobody else, in this process or another, runs under the same name. On stores whose updates do
    /// not lock (object stores) it excludes nobody, and commits have to find conflicts.
    ///
    /// # Errors
    /// That of `act`, or of the store; the wait was called off ([`StoreError::Interrupted`]).
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

    /// What `format.json` names it.
    pub(crate) fn id(&self) -> Id {
        self.inner.id
    }

    /// Who commits.
    pub(crate) fn author(&self) -> &str {
        &self.inner.author
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

    /// Segments and parts that are there: where, how large, and their names.
    pub(crate) fn files(&self) -> Result<Vec<(Key, u64, Id)>> {
        let mut files = Vec::new();
        for (folder, ending) in [(SEGMENTS, ".seg"), (CATALOGUE, ".parquet")] {
            for entry in self.store().list_dir(&Prefix::from_path(folder)?)? {
                let ListEntry::Key(key, size) = entry else { continue };
                if let Some(id) = key.name().strip_suffix(ending).and_then(Id::parse) {
                    files.push((key, size, id));
                }
            }
        }
        Ok(files)
    }

    /// What is wrong with a file of the pack.
    pub(crate) fn damaged(&self, file: &str, reason: String) -> PackError {
        PackError::Corrupt { store: self.store().describe(), file: file.into(), reason }
    }

    /// What is to be said where there are versions, and the file that makes them a pack is missing.
    pub(crate) fn formless(store: &dyn Store) -> PackError {
        let reason = format!("it is missing, though there are versions of a pack in {COMMITS}");
        PackError::Corrupt { store: store.describe(), file: FORMAT_FILE.into(), reason }
    }

    pub(crate) fn begin_at(&self, base: Arc<Snapshot>) -> Result<Transaction> {
        let work = Arc::new(Work::begin(base, Arc::clone(&self.inner.store), self.inner.clock)?);
        Ok(Transaction { pack: self.clone(), work, locks: Arc::default() })
    }
}

/// Changes that are seen by nobody else until they are committed. Dropped, it is given up.
#[derive(Debug, Clone)]
pub struct Transaction {
    pack: Pack,
    work: Arc<Work>,
    locks: Arc<KeyLocks>,
}

impl Transaction {
    /// The number of the version it is on top of.
    pub fn base(&self) -> u64 {
        self.work.base_version().commit().number
    }

    /// Gives the changes up.
    ///
    /// # Errors
    /// It has ended before ([`PackError::Ended`]).
    pub fn abandon(&self) -> Result<()> {
        self.work.end(false)
    }

    /// The pack that it changes.
    pub(crate) fn pack(&self) -> &Pack {
        &self.pack
    }

    /// What it has changed so far.
    pub(crate) fn work(&self) -> &Arc<Work> {
        &self.work
    }

    /// The locks of those who change a key of it at the same time.
    pub(crate) fn locks(&self) -> &Arc<KeyLocks> {
        &self.locks
    }
}
