//! Removing versions, and what only they needed.
//!
//! 1. The versions to keep are chosen: the latest ones, all that are tagged, and all younger than the retention.
//!    Where one that goes was durable, what the latest rests on is synced (see `durable.rs`).
//! 2. `expired.json` is made to say that no number below the latest is given again. Then the commit files of the others
//!    are deleted, oldest first: from then on nobody can open them.
//! 3. Tags and versions are looked up again. A version that was tagged meanwhile is put back. Files are deleted that were
//!    named by the versions that went and are named by none that is there; so are files that no version names, left by
//!    writers who were killed, once they are older than the retention and than an hour: a transaction that is under way
//!    has such files. How old a file is is in its name.
//!
//! Whoever dies on the way leaves fewer versions, or files that nothing names; both are in order, and the next call
//! goes on. A reader that has a version open keeps reading it for the length of the retention. A transaction that
//! began on a version that was expired conflicts.

use crate::Result;
use crate::commit::Commit;
use crate::id::Id;
use crate::pack::Pack;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tessarray_store::{Key, ListEntry, Prefix};

/// Milliseconds for which a file that no version names is taken for a transaction's that is under way.
const UNDER_WAY: u64 = 3_600_000;

/// What to keep.
#[derive(Debug, Clone)]
pub struct Keep {
    /// So many of the latest versions, 1 at least.
    pub versions: usize,
    /// Everything that was committed, or written, within this time. It must be longer than a reader holds a version,
    /// and than the longest transaction, which else fails. Default: a day.
    pub retention: Duration,
}

impl Default for Keep {
    fn default() -> Self {
        Self { versions: 1, retention: Duration::from_secs(86_400) }
    }
}

/// What was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expired {
    /// Numbers of versions.
    pub versions: Vec<u64>,
    /// Files: segments and parts of the catalogue.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Pack {
    /// Removes old versions and reclaims their space. With `dry`, only says what it would remove.
    pub fn expire(&self, keep: &Keep, dry: bool) -> Result<Expired> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let retention = u64::try_from(keep.retention.as_millis()).unwrap_or(u64::MAX);
        let age = |id: Id| now.saturating_sub(id.millis());
        // 1. The transaction's name says when it began.
        let commits = self.log().all()?;
        let tagged = self.tagged_versions()?;
        let newest = commits.len().saturating_sub(keep.versions.max(1));
        let stays = |(i, (commit, _)): &(usize, &(Commit, u32))| {
            *i >= newest || tagged.contains(&commit.number) || age(commit.transaction) < retention
        };
        let (kept, gone): (Vec<_>, Vec<_>) = commits.iter().enumerate().partition(stays);
        let mut gone: BTreeMap<u64, &Commit> = gone.iter().map(|(_, (c, _))| (c.number, c)).collect();
        // The files of one that nothing goes on from may be those of a transaction that tries again.
        let follows = |pair: &&[(Commit, u32)]| pair[1].0.follows(pair[0].0.number, pair[0].1);
        let in_line: BTreeSet<u64> =
            commits.windows(2).filter(follows).map(|pair| pair[0].0.number).collect();
        // 2.
        if let (false, false, Some((latest, _))) = (dry, gone.is_empty(), commits.last()) {
            let removed: Vec<&Commit> = gone.values().copied().collect();
            if let Some(latest) = commits.last() {
                self.rest_before(&removed, latest)?;
            }
            self.log().close(latest.number)?;
            for number in gone.keys() {
                self.store().delete(&Commit::key_of(*number)?)?;
            }
        }
        // 3.
        let there: Vec<Commit> = if dry {
            kept.iter().map(|(_, (commit, _))| commit.clone()).collect()
        } else {
            for number in self.tagged_versions()? {
                if let Some(commit) = gone.remove(&number) {
                    self.log().put_back(commit)?;
                }
            }
            self.versions()?
        };
        let mut named = self.named(there.iter())?;
        // A transaction that is under way may compare itself with a delta of a version that is there.
        named.extend(there.iter().filter_map(|commit| commit.delta.as_ref().map(|file| file.id)));
        let known =
            self.named_lightly(gone.values().filter(|commit| in_line.contains(&commit.number)).copied());
        let mut expired = Expired { versions: gone.keys().copied().collect(), ..Expired::default() };
        for (key, size, id) in self.files()? {
            if !named.contains(&id) && (known.contains(&id) || age(id) >= retention.max(UNDER_WAY)) {
                if !dry {
                    self.store().delete(&key)?;
                }
                expired.files += 1;
                expired.bytes += size;
            }
        }
        Ok(expired)
    }

    /// Every file that these versions need.
    fn named<'a>(&self, commits: impl Iterator<Item = &'a Commit>) -> Result<BTreeSet<Id>> {
        let mut named = BTreeSet::new();
        for commit in commits {
            for file in &commit.parts {
                if named.insert(file.id) {
                    named.extend(self.parts_cache().get(file)?.segments());
                }
            }
        }
        Ok(named)
    }

    /// The files that these versions name in their commit files.
    fn named_lightly<'a>(&self, commits: impl Iterator<Item = &'a Commit>) -> BTreeSet<Id> {
        let mut named = BTreeSet::new();
        for commit in commits {
            named.extend(commit.parts.iter().map(|file| file.id));
            named.extend(commit.delta.iter().map(|file| file.id));
            named.extend(commit.segments.iter().map(|segment| segment.id));
        }
        named
    }

    /// Segments and parts that are there: where, how large, and their names.
    pub(crate) fn files(&self) -> Result<Vec<(Key, u64, Id)>> {
        let mut files = Vec::new();
        for (folder, ending) in [("segments", ".seg"), ("catalogue", ".parquet")] {
            for entry in self.store().list_dir(&Prefix::from_path(folder)?)? {
                let ListEntry::Key(key, size) = entry else { continue };
                if let Some(id) = key.name().strip_suffix(ending).and_then(Id::parse) {
                    files.push((key, size, id));
                }
            }
        }
        Ok(files)
    }
}
