//! The commit files of a pack: reading them, finding the latest, adding one.

use super::{COMMITS, Commit, EXPIRED, LATEST};
use crate::id::Id;
use crate::{PackError, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tessarray_store::{Key, ListEntry, Prefix, PutMode, Store, StoreError, Update};

/// How many numbers after the hint are tried one by one before the folder is listed.
const STEPS: u64 = 64;

#[derive(Serialize, Deserialize)]
struct Hint {
    number: u64,
}

#[derive(Serialize, Deserialize)]
struct Expired {
    below: u64,
}

fn below(bytes: &[u8]) -> Option<u64> {
    serde_json::from_slice::<Expired>(bytes).ok().map(|expired| expired.below)
}

/// What became of an attempt to add a commit.
pub(crate) enum Added {
    /// It took place.
    Yes,
    /// The number is another's.
    Taken,
}

/// The commit files of one pack.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    store: Arc<dyn Store>,
    /// Where the hint goes, which nothing depends on.
    hints: Arc<dyn Store>,
    pack: Id,
}

impl Log {
    pub(crate) fn new(store: Arc<dyn Store>, hints: Arc<dyn Store>, pack: Id) -> Self {
        Self { store, hints, pack }
    }

    fn corrupt(&self, key: &Key, reason: String) -> PackError {
        PackError::Corrupt { store: self.store.describe(), file: key.to_string(), reason }
    }

    /// The commit of this number, and the checksum in its file; `None` where there is none.
    pub(crate) fn get(&self, number: u64) -> Result<Option<(Commit, u32)>> {
        let key = Commit::key_of(number)?;
        let Some((bytes, _)) = self.store.get(&key)? else { return Ok(None) };
        let (commit, crc) = Commit::decode(&bytes).map_err(|reason| self.corrupt(&key, reason))?;
        if commit.number != number {
            let found = commit.number;
            return Err(self.corrupt(&key, format!("expected version {number}, found version {found}")));
        }
        if commit.pack != self.pack {
            let (expected, found) = (self.pack, commit.pack);
            return Err(
                self.corrupt(&key, format!("expected a commit of pack {expected}, found one of {found}"))
            );
        }
        Ok(Some((commit, crc)))
    }

    /// The latest commit.
    pub(crate) fn latest(&self) -> Result<(Commit, u32)> {
        // From there on no number is missing; what is left of older ones is no run to follow.
        let closed = self.closed()?;
        let begin = self.hinted()?.max((closed > 0).then_some(closed));
        let number = match begin {
            Some(number) => self.last_after(number)?,
            None => None,
        };
        let number = match number {
            Some(number) => number,
            None => self.numbers()?.last().copied().ok_or_else(|| PackError::Corrupt {
                store: self.store.describe(),
                file: COMMITS.into(),
                reason: "there is no commit".into(),
            })?,
        };
        self.get(number)?.ok_or_else(|| PackError::NoVersion {
            store: self.store.describe(),
            wanted: number.to_string(),
            reason: "it was removed while the pack was opened".into(),
        })
    }

    fn hinted(&self) -> Result<Option<u64>> {
        let hint = self.store.get(&Key::new(LATEST)?)?;
        Ok(hint.and_then(|(bytes, _)| serde_json::from_slice::<Hint>(&bytes).ok()).map(|hint| hint.number))
    }

    /// The last number of the run that begins with `number`; `None` where the run is empty or long.
    pub(crate) fn last_after(&self, number: u64) -> Result<Option<u64>> {
        let mut last = None;
        for next in number..number.saturating_add(STEPS) {
            if self.store.head(&Commit::key_of(next)?)?.is_none() {
                return Ok(last);
            }
            last = Some(next);
        }
        Ok(None)
    }

    /// Whether there is a commit of this number.
    pub(crate) fn has(&self, number: u64) -> Result<bool> {
        Ok(self.store.head(&Commit::key_of(number)?)?.is_some())
    }

    /// The numbers of all commits that are there, in order.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>> {
        let entries = self.store.list_dir(&Prefix::from_path(COMMITS)?)?;
        let number = |entry: &ListEntry| match entry {
            ListEntry::Key(key, _) => {
                let digits = key.name().strip_suffix(".json")?;
                (digits.len() == 20).then(|| digits.parse().ok())?
            }
            ListEntry::Prefix(_) => None,
        };
        let mut numbers: Vec<u64> = entries.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Steps 5 to 7 of the protocol: creates the commit's file, and finds out what became of it.
    pub(crate) fn add(&self, commit: &Commit) -> Result<Added> {
        let key = Commit::key_of(commit.number)?;
        let (bytes, crc) = commit.encode().map_err(|error| self.corrupt(&key, error.to_string()))?;
        let failure = match self.store.put(&key, &[&bytes], PutMode::Create) {
            Ok(_) => return self.in_line(commit, crc),
            Err(error) => error,
        };
        match self.get(commit.number) {
            Ok(Some((found, _))) if found.transaction == commit.transaction => {
                // It is there, but where a sync failed it may not stay.
                if matches!(failure, StoreError::Poisoned { .. }) {
                    return Err(PackError::Unknown { version: commit.number, reason: failure.to_string() });
                }
                self.in_line(commit, crc)
            }
            Ok(Some(_)) => Ok(Added::Taken),
            Ok(None) => Err(failure.into()),
            Err(reason) => Err(PackError::Unknown {
                version: commit.number,
                reason: format!("{failure}; then, looking for it: {reason}"),
            }),
        }
    }

    /// Whether a commit whose file was created follows on the latest. Where versions were expired while the transaction
    /// went on, the number it took is one that was there before; its file is removed again.
    fn in_line(&self, commit: &Commit, crc: u32) -> Result<Added> {
        let number = commit.number;
        let look = || -> Result<bool> {
            let left_behind = number < self.closed()? && self.left_behind(number, crc)?;
            if left_behind {
                self.store.delete(&Commit::key_of(number)?)?;
            }
            Ok(left_behind)
        };
        match look() {
            Ok(true) => return Ok(Added::Taken),
            Ok(false) => self.hint(number),
            Err(error @ PackError::Unknown { .. }) => return Err(error),
            Err(error) => return Err(PackError::Unknown { version: number, reason: error.to_string() }),
        }
        Ok(Added::Yes)
    }

    /// The number below which none is given again and some are gone; where that cannot be read, the greatest there is.
    pub(crate) fn closed(&self) -> Result<u64> {
        let mark = self.store.get(&Key::new(EXPIRED)?)?;
        Ok(mark.map_or(0, |(bytes, _)| below(&bytes).unwrap_or(u64::MAX)))
    }

    /// See there. From now on no number below this one is given again.
    pub(crate) fn close(&self, number: u64) -> Result<()> {
        let text = serde_json::to_vec(&Expired { below: number }).unwrap_or_default();
        Ok(self.store.update(&Key::new(EXPIRED)?, true, &mut |old| {
            let known = old.and_then(|blob| below(&blob.bytes));
            Ok(if known.is_some_and(|known| known >= number) {
                Update::Keep
            } else {
                Update::Put(vec![&text])
            })
        })?)
    }

    /// Creates the file of a commit that was removed.
    pub(crate) fn put_back(&self, commit: &Commit) -> Result<()> {
        let key = Commit::key_of(commit.number)?;
        let (bytes, _) = commit.encode().map_err(|error| self.corrupt(&key, error.to_string()))?;
        match self.store.put(&key, &[&bytes], PutMode::Create) {
            Ok(_) | Err(StoreError::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// All commits, oldest first, with their checksums: those that were there at one moment.
    pub(crate) fn all(&self) -> Result<Vec<(Commit, u32)>> {
        loop {
            let mut commits = Vec::new();
            let numbers = self.numbers()?;
            for &number in &numbers {
                commits.extend(self.get(number)?);
            }
            // Where one was removed meanwhile, later ones may have come that were not listed.
            if commits.len() == numbers.len() {
                return Ok(commits);
            }
        }
    }

    /// Whether later versions go on from another commit of this number than the one with this checksum.
    fn left_behind(&self, number: u64, crc: u32) -> Result<bool> {
        let numbers = self.numbers()?;
        if numbers.last().is_none_or(|last| *last <= number) {
            return Ok(false);
        }
        Ok(match self.get(number + 1)? {
            Some((next, _)) => !next.follows(number, crc),
            // Versions are expired oldest first: ours would have gone before.
            None if self.has(number)? => true,
            None => {
                let reason =
                    "it was expired before it was acknowledged, and so was what came after it".into();
                return Err(PackError::Unknown { version: number, reason });
            }
        })
    }

    /// Step 8. A failure costs the next reader a listing, and is no failure of the commit.
    pub(crate) fn hint(&self, number: u64) {
        if let (Ok(key), Ok(text)) = (Key::new(LATEST), serde_json::to_vec(&Hint { number })) {
            let _ = self.hints.put(&key, &[&text], PutMode::Overwrite);
        }
    }
}
