//! The commit files of a pack: reading them, finding the latest, adding one.

use super::commit::Commit;
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::names::{COMMITS, EXPIRED, LATEST};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tessarray_codec::crc32c;
use tessarray_store::{Key, ListEntry, Prefix, PutMode, Store, StoreError, Update};

/// How many numbers after the hint are tried one by one before the folder is listed.
const STEPS: u64 = 64;

/// Whose it is and a checksum are members that earlier releases did not write.
#[derive(Serialize, Deserialize)]
struct Hint {
    number: u64,
    pack: Option<Id>,
    crc32c: Option<u32>,
}

impl Hint {
    fn new(number: u64, pack: Id) -> Self {
        Self { number, pack: Some(pack), crc32c: Some(crc32c::crc32c(format!("{number} {pack}").as_bytes())) }
    }

    /// Whether it is of this pack, and what was put.
    fn holds(&self, pack: Id) -> bool {
        let right = Self::new(self.number, pack);
        self.pack.is_none_or(|found| found == pack)
            && self.crc32c.is_none_or(|found| right.crc32c == Some(found))
    }
}

#[derive(Serialize, Deserialize)]
struct ExpiredMark {
    below: u64,
}

fn below(bytes: &[u8]) -> Option<u64> {
    serde_json::from_slice::<ExpiredMark>(bytes).ok().map(|expired| expired.below)
}

/// What became of an attempt to add a commit.
pub(crate) enum Added {
    /// It took place.
    Yes,
    /// The number is another's.
    Taken,
}

/// Where a commit stands whose file was created.
enum Standing {
    /// After the latest.
    InLine,
    /// Before versions that do not go on from it.
    LeftBehind,
    /// In the place of a commit that is lost.
    Gap,
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
        loop {
            // From there on no number is missing; what is left of older ones is no run to follow.
            let closed = self.closed()?;
            let begin = self.hinted()?.max((closed > 0 && closed < u64::MAX).then_some(closed));
            let run = match begin {
                Some(number) => self.last_after(number)?,
                None => None,
            };
            let number = match run {
                // Numbers are given one after the other.
                Some(number) => {
                    self.whole_after(number)?;
                    Some(number)
                }
                None => self.last_listed(begin.unwrap_or(0), closed)?,
            };
            // None, or gone meanwhile: expired, and there are later ones.
            if let Some(number) = number
                && let Some(found) = self.get(number)?
            {
                return Ok(found);
            }
        }
    }

    /// The greatest number in the folder, where it is at least this one, which was given once; `None` where others
    /// changed the folder while it was listed.
    fn last_listed(&self, begin: u64, closed: u64) -> Result<Option<u64>> {
        let numbers = self.numbers()?;
        if let Some(missing) = self.gap(&numbers, closed)? {
            return Err(self.missing(missing));
        }
        match numbers.last() {
            Some(&last) if last >= begin => Ok(Some(last)),
            Some(&last) if closed == u64::MAX => Ok(Some(last)),
            _ if closed == u64::MAX || self.is_lost(begin)? => Err(self.missing(begin)),
            _ => Ok(None),
        }
    }

    /// Fails where there is a version after the next, and the next is lost.
    fn whole_after(&self, number: u64) -> Result<()> {
        let (next, later) = (number.saturating_add(1), number.saturating_add(2));
        if self.has(later)? && self.is_lost(next)? { Err(self.missing(next)) } else { Ok(()) }
    }

    /// The first number that is missing among these, which are those of all commits in order, from `closed` on.
    fn gap(&self, numbers: &[u64], closed: u64) -> Result<Option<u64>> {
        let mut expected = closed;
        for &number in numbers.iter().filter(|number| **number >= closed) {
            if number != expected && self.is_lost(expected)? {
                return Ok(Some(expected));
            }
            expected = number.saturating_add(1);
        }
        Ok(None)
    }

    /// Whether the commit of this number, which was given, is not there, though it was not expired.
    fn is_lost(&self, number: u64) -> Result<bool> {
        // In this order: `expired.json` is put first.
        Ok(!self.has(number)? && self.closed()? <= number)
    }

    fn missing(&self, number: u64) -> PackError {
        let reason = "it is missing: the pack had this version, which was not expired. Restore the file, or let \
                      repair go on without it";
        match Commit::key_of(number) {
            Ok(key) => self.corrupt(&key, reason.into()),
            Err(error) => error,
        }
    }

    /// Commits that are missing: one that the hint or `expired.json` names, and gaps in the line of those that were not
    /// expired.
    pub(crate) fn lost(&self) -> Result<Vec<PackError>> {
        let closed = self.closed()?;
        let numbers = self.numbers()?;
        let known = self.hinted()?.max((closed < u64::MAX).then_some(closed)).unwrap_or(0);
        let mut lost: Vec<PackError> =
            self.gap(&numbers, closed)?.map(|number| self.missing(number)).into_iter().collect();
        if numbers.last().is_none_or(|last| *last < known) && self.is_lost(known)? {
            lost.push(self.missing(known));
        }
        Ok(lost)
    }

    /// The number for a version that goes on from what can be read, of which the last file has this number. Numbers
    /// that were given and are missing are not given again.
    pub(crate) fn after_lost(&self, last: u64) -> Result<u64> {
        let next = last.saturating_add(1);
        if self.lost()?.is_empty() {
            return Ok(next);
        }
        // One that others committed since is there, and is no number to go on from unseen.
        let mut number = next;
        for known in [self.hinted()?, Some(self.closed()?)].into_iter().flatten() {
            if known >= next && known < u64::MAX && self.is_lost(known)? {
                number = number.max(known + 1);
            }
        }
        self.close(number)?;
        Ok(number)
    }

    fn hinted(&self) -> Result<Option<u64>> {
        let hint = self.store.get(&Key::new(LATEST)?)?;
        let hint = hint.and_then(|(bytes, _)| serde_json::from_slice::<Hint>(&bytes).ok());
        Ok(hint.filter(|hint| hint.holds(self.pack)).map(|hint| hint.number))
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
    /// went on, the number it took is one that was there before; where a commit file was lost, too. Its file is removed
    /// again.
    fn in_line(&self, commit: &Commit, crc: u32) -> Result<Added> {
        let number = commit.number;
        match self.standing(number, crc) {
            Ok(Standing::InLine) => {}
            Ok(Standing::LeftBehind) => return Ok(Added::Taken),
            Ok(Standing::Gap) => return Err(self.missing(number)),
            Err(error @ PackError::Unknown { .. }) => return Err(error),
            Err(error) => return Err(PackError::Unknown { version: number, reason: error.to_string() }),
        }
        self.hint(number);
        Ok(Added::Yes)
    }

    fn standing(&self, number: u64, crc: u32) -> Result<Standing> {
        let behind =
            |standing| self.store.delete(&Commit::key_of(number)?).map(|_| standing).map_err(PackError::from);
        if number < self.closed()? {
            return if self.left_behind(number, crc)? {
                behind(Standing::LeftBehind)
            } else {
                Ok(Standing::InLine)
            };
        }
        // Numbers are given one after the other: what comes next goes on from ours, or ours was another's.
        match self.get(number.saturating_add(1)) {
            Ok(Some((next, _))) if !next.follows(number, crc) => {
                behind(if number < self.closed()? { Standing::LeftBehind } else { Standing::Gap })
            }
            // One that cannot be read is for its readers to say.
            Ok(_) | Err(PackError::Corrupt { .. }) => Ok(Standing::InLine),
            Err(error) => Err(error),
        }
    }

    /// The number below which none is given again and some are gone; where that cannot be read, the greatest there is.
    pub(crate) fn closed(&self) -> Result<u64> {
        let mark = self.store.get(&Key::new(EXPIRED)?)?;
        Ok(mark.map_or(0, |(bytes, _)| below(&bytes).unwrap_or(u64::MAX)))
    }

    /// See there. From now on no number below this one is given again.
    pub(crate) fn close(&self, number: u64) -> Result<()> {
        let text = serde_json::to_vec(&ExpiredMark { below: number }).unwrap_or_default();
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
            // A repair has given ours up, and is about to make a later one.
            return Ok(self.closed()? < u64::MAX);
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
        if let (Ok(key), Ok(text)) = (Key::new(LATEST), serde_json::to_vec(&Hint::new(number, self.pack))) {
            let _ = self.hints.put(&key, &[&text], PutMode::Overwrite);
        }
    }
}
