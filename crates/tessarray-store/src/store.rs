//! The one trait every store implements.

use crate::error::Result;
use crate::key::{Key, Prefix};
use crate::request::{Blob, ListEntry, Meta, PutMode, ReadRequest, Version};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// Receives the answer to request number `i` of a batch: `Ok(None)` means the key is absent (and nothing else does).
/// Called exactly once a request, in any order, possibly from several threads at once.
pub type ReadSink<'a> = dyn Fn(usize, Result<Option<Blob<'_>>>) + Sync + 'a;

/// What an update decided to do with the value it was shown.
pub enum Update<'a> {
    /// Store these bytes, one part after the other.
    Put(Vec<&'a [u8]>),
    /// Store these bytes, owned by the answer.
    PutOwned(Vec<Vec<u8>>),
    /// Remove the value, if there is one.
    Delete,
    /// Leave everything as it is.
    Keep,
}

impl Update<'_> {
    /// How many bytes are to be stored.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Put(parts) => parts.iter().map(|part| crate::span::as_u64(part.len())).sum(),
            Self::PutOwned(parts) => parts.iter().map(|part| crate::span::as_u64(part.len())).sum(),
            Self::Delete | Self::Keep => 0,
        }
    }
}

/// Decides an update from the current value (`None`: absent, or not asked for).
pub type UpdateFn<'f, 'a> = dyn FnMut(Option<Blob<'_>>) -> Result<Update<'a>> + 'f;

/// Decides an update that goes with changes of other keys. It reads and changes those in the store that it is given;
/// `None` stands for the store that was asked.
pub type UpdateWithFn<'f, 'a> =
    dyn FnMut(Option<&Arc<dyn Store>>, Option<Blob<'_>>) -> Result<Update<'a>> + 'f;

/// A flat space of named byte strings.
///
/// Every put is atomic: a reader, and a process that opens the store after a crash, finds the old value or the new
/// one. `update` calls on one key happen one after the other, across threads and, on local stores, processes, and so
/// do `put` and `delete` against them.
pub trait Store: Debug + Send + Sync {
    /// Where this store is, for people: a path or an address, without credentials.
    fn describe(&self) -> String;

    /// Whether a read costs microseconds (memory, local files) rather than a network round trip. The executor reads
    /// on its workers in the first case, and sends one large batch in the second.
    fn is_local(&self) -> bool;

    /// Whether puts and deletes are refused with [`StoreError::ReadOnly`](crate::StoreError).
    fn is_read_only(&self) -> bool {
        false
    }

    /// Whether a put that returned survives a loss of power because this store syncs it. `false` where it may be lost, and
    /// where there is nothing to sync (memory, services that keep what they acknowledge).
    fn is_durable(&self) -> bool {
        false
    }

    /// Makes the values of these keys survive a loss of power, whoever put them, and the names that lead to them. Keys
    /// that are absent are passed over. Does nothing where there is nothing to sync.
    ///
    /// # Errors
    /// A sync that failed: a local directory takes no further writes then.
    fn make_durable(&self, keys: &[Key]) -> Result<()> {
        let _ = keys;
        Ok(())
    }

    /// Reads many ranges; see [`ReadSink`] for how they are answered. Requests for one key that follow each other are
    /// answered from one state of the value where the store can (a local file is opened once for the run of them).
    /// Costs one system call or request per range, plus one open per run of equal keys.
    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>);

    /// Stores the parts, one after the other, as the value of `key`, atomically.
    ///
    /// # Errors
    /// [`StoreError::Exists`](crate::StoreError) or [`StoreError::Changed`](crate::StoreError) as the mode says; the store is
    /// read-only or full, or failed. The old value is intact after all but a sync that failed.
    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version>;

    /// Changes one value atomically against every other writer of the key. With `read`, the decision function is
    /// shown the current value; it may be called again where another writer came between (object stores). An error
    /// it returns is passed on and leaves the value as it was. It must not itself change the key, which would wait for
    /// itself; it may change others.
    ///
    /// # Errors
    /// That of `decide`; else those of [`put`](Self::put) and of a read.
    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<()>;

    /// The same, with the current value, for a decision that changes other keys too. Where the store has transactions, all
    /// of it is one, on top of what the decision was shown: others see all changes or none, and if someone else changed
    /// what this changes, nothing is kept and the decision is called again. On other stores the changes of other keys are
    /// made at once, one by one, as those of `update` are.
    ///
    /// # Errors
    /// The same.
    fn update_with(&self, key: &Key, decide: &mut UpdateWithFn<'_, '_>) -> Result<()> {
        self.update(key, true, &mut |current| decide(None, current))
    }

    /// Removes a value; `false` where there was none.
    ///
    /// # Errors
    /// The store is read-only, or failed.
    fn delete(&self, key: &Key) -> Result<bool>;

    /// Removes every value under a prefix and, on directories, the empty folders. Not atomic.
    ///
    /// # Errors
    /// The same; some values may be gone.
    fn delete_prefix(&self, prefix: &Prefix) -> Result<()>;

    /// Size and version of a value, `None` where it is absent.
    ///
    /// # Errors
    /// The store failed.
    fn head(&self, key: &Key) -> Result<Option<Meta>>;

    /// Everything under a prefix, however deep, with sizes in bytes; sorted by key.
    ///
    /// # Errors
    /// The store failed.
    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>>;

    /// The next level under a prefix only; sorted.
    ///
    /// # Errors
    /// The store failed.
    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>>;

    /// Files under a prefix that writers who died left half written: nobody is at work on them, and they were last written
    /// this long ago or longer. Gives where they lie below the root, and their sizes in bytes; with `remove` they are
    /// removed. Safe beside any writers. Values are never among them. A store has none unless it says so; where it can
    /// have some, this costs a listing.
    ///
    /// # Errors
    /// The store failed.
    fn abandoned(&self, prefix: &Prefix, idle: Duration, remove: bool) -> Result<Vec<(String, u64)>> {
        let _ = (prefix, idle, remove);
        Ok(Vec::new())
    }

    /// The whole value of one key. A convenience over `read_many`.
    ///
    /// # Errors
    /// The store failed.
    fn get(&self, key: &Key) -> Result<Option<(bytes::Bytes, Meta)>> {
        self.get_range(key, crate::request::ByteRange::All)
    }

    /// A part of the value of one key. A convenience over `read_many`.
    ///
    /// # Errors
    /// The range reaches past the end of the value ([`StoreError::OutOfRange`](crate::StoreError)); the store failed.
    fn get_range(&self, key: &Key, range: crate::request::ByteRange) -> Result<Option<(bytes::Bytes, Meta)>> {
        use crate::error::StoreError;
        let slot = std::sync::Mutex::new(None);
        let request = ReadRequest { key: key.clone(), range, expect: None };
        self.read_many(std::slice::from_ref(&request), &|_, answer| {
            let keep = |blob: crate::request::Blob<'_>| {
                let meta = blob.meta.clone();
                let bytes = blob.into_shared().map_err(|error| StoreError::io(key, "allocate", error))?;
                Ok((bytes, meta))
            };
            let kept = answer.and_then(|blob| blob.map(keep).transpose());
            *slot.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(kept);
        });
        let answer = slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        answer.unwrap_or_else(|| Err(StoreError::Unanswered { key: key.to_string() }))
    }
}
