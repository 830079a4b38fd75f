//! Removing versions, and what only they needed.
//!
//! 1. The versions to keep are chosen: the latest ones, all that are tagged, and all younger than the retention.
//! 2. The commit files of the others are deleted, oldest first: from then on nobody can open them.
//! 3. Files that were named by them and by no version that is kept are deleted; so are files that no version names
//!    and that are older than the retention, left by writers who were killed. How old a file is is in its name.
//!
//! Whoever dies on the way leaves fewer versions, or files that nothing names; both are in order, and the next call
//! goes on. A reader that has a version open keeps reading it for the length of the retention.

use crate::Result;
use crate::commit::Commit;
use crate::id::Id;
use crate::pack::Pack;
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tessarray_store::{Key, ListEntry, Prefix};

/// What to keep.
#[derive(Debug, Clone)]
pub struct Keep {
    /// So many of the latest versions, 1 at least.
    pub versions: usize,
    /// Everything that was committed, or written, within this time. It must be longer than the longest transaction,
    /// and than a reader holds a version. Default: a day.
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
        let young = |id: Id| now.saturating_sub(id.millis()) < retention;
        let commits = self.versions()?;
        let tagged: BTreeSet<u64> = self.tags()?.into_iter().map(|(_, version)| version).collect();
        let newest = commits.len().saturating_sub(keep.versions.max(1));
        // 1. The transaction's name says when it began.
        let kept = |(i, commit): &(usize, Commit)| {
            *i >= newest || tagged.contains(&commit.number) || young(commit.transaction)
        };
        let (kept, gone): (Vec<_>, Vec<_>) = commits.into_iter().enumerate().partition(kept);
        let mut named = self.named(kept.iter().map(|(_, commit)| commit))?;
        // A transaction that is under way may compare itself with a delta of a version that is kept.
        named.extend(kept.iter().filter_map(|(_, commit)| commit.delta.as_ref().map(|file| file.id)));
        let known = self.named_lightly(gone.iter().map(|(_, commit)| commit));
        let mut expired = Expired {
            versions: gone.iter().map(|(_, commit)| commit.number).collect(),
            ..Expired::default()
        };
        // 2.
        for number in &expired.versions {
            if !dry {
                self.store().delete(&Commit::key_of(*number)?)?;
            }
        }
        // 3.
        for (key, size, id) in self.files()? {
            if !named.contains(&id) && (known.contains(&id) || !young(id)) {
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
