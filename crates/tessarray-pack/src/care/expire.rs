//! Removing versions, and what only they needed.
//!
//! 1. The versions to keep are chosen: the latest ones, all that are tagged, and all younger than the retention.
//!    Where one that goes was durable, what the latest rests on is synced (see `durable.rs`).
//! 2. `expired.json` is made to say that no number below the latest is given again. Then the commit files of the others
//!    are deleted, oldest first: from then on nobody can open them.
//! 3. Tags and versions are looked up again. A version that was tagged meanwhile is put back. Files are deleted that were
//!    named by the versions that went and are named by none that is there.
//! 4. *Strays* are files that no version ever named, older than the retention and than an hour. How old a file is is in
//!    its name. Writers who were killed left them, or a transaction is under way that takes long, or clocks differ.
//!    Which of these it is cannot be told, so they are taken from their writer first: a commit of kind `compact` is added
//!    that changes nothing and says in `swept` of which moment the youngest of them is. It takes its turn among the
//!    commits of all writers. One before it is seen by step 5. One after it has looked at it, since nobody can take a
//!    number without having read what stands below, and does not name a file of that moment or before that it put
//!    before it looked: it puts it again, or ends with [`PackError::Outlived`](PackError::Outlived).
//! 5. Versions are looked up again. Strays that were there before step 4 and that no version names are deleted.
//!
//! So no commit that took place names a file that is deleted, however long its transaction took, and whatever the clocks
//! of the machines say. They decide what is removed, and how soon, and nothing else.
//!
//! Whoever dies on the way leaves fewer versions, or files that nothing names; both are in order, and the next call
//! goes on. A reader that has a version open keeps reading it for the length of the retention. A transaction that
//! began on a version that was expired conflicts.

use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::{Added, Commit, CommitKind, Link};
use crate::pack::Pack;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tessarray_store::Key;

/// Milliseconds for which a file that no version names is taken for a transaction's that is under way.
pub(crate) const UNDER_WAY: u64 = 3_600_000;
/// How often a version is tried to be added.
const ATTEMPTS: usize = 1000;

/// What to keep.
#[derive(Debug, Clone)]
pub struct Keep {
    /// So many of the latest versions, 1 at least.
    pub versions: usize,
    /// Everything that was committed, or written, within this time. It should be longer than a reader holds a version:
    /// its reads fail after that. It should be longer than the longest transaction: one that takes longer fails with
    /// [`PackError::Outlived`] or [`PackError::Conflict`], and has to be run again. Default: a day.
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
    /// Files: segments, parts of the catalogue, and what killed writers left half written.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Expired {
    fn count(&mut self, files: &[(Key, u64, Id)]) {
        self.files += files.len() as u64;
        self.bytes += files.iter().map(|(_, size, _)| size).sum::<u64>();
    }
}

impl Pack {
    /// Removes old versions and reclaims their space. With `dry`, only says what it would remove. Where files are
    /// removed that no version ever named, there is a new version of kind `compact` with the same content.
    ///
    /// # Errors
    /// A commit file is missing or damaged, or a part of the catalogue that a version needs ([`PackError::Corrupt`]): what
    /// they name would be taken for nobody's, so nothing is removed. The store failed: what was removed by then stays
    /// removed, and the next call goes on.
    pub fn expire(&self, keep: &Keep, dry: bool) -> Result<Expired> {
        let now = self.clock().millis();
        let retention = u64::try_from(keep.retention.as_millis()).unwrap_or(u64::MAX);
        let age = |id: Id| now.saturating_sub(id.millis());
        // 1. The transaction's name says when it began. A version has the content of the one before it if an expiry made
        // it: they count as one.
        if let Some(lost) = self.log().lost()?.into_iter().next() {
            // What it named would be taken for nobody's.
            return Err(lost);
        }
        let commits = self.log().all()?;
        let tagged = self.tagged_versions()?;
        let again = |i: usize| commits.get(i + 1).is_some_and(|(next, _)| next.swept.is_some());
        let counted = (0..commits.len()).rev().filter(|i| !again(*i)).nth(keep.versions.max(1) - 1);
        let newest = counted.unwrap_or(0);
        let stays = |(i, (commit, _)): &(usize, &(Commit, u32))| {
            *i >= newest || tagged.contains(&commit.number) || age(commit.transaction) < retention
        };
        let (kept, gone): (Vec<_>, Vec<_>) = commits.iter().enumerate().partition(stays);
        let kept: BTreeSet<u64> = kept.iter().map(|(_, (commit, _))| commit.number).collect();
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
        if !dry {
            for number in self.tagged_versions()? {
                if let Some(commit) = gone.remove(&number) {
                    self.log().put_back(commit)?;
                }
            }
        }
        let files = self.files()?;
        let named = self.needed(|commit| !dry || kept.contains(&commit.number))?;
        let known =
            self.named_lightly(gone.values().filter(|commit| in_line.contains(&commit.number)).copied());
        let mut expired = Expired { versions: gone.keys().copied().collect(), ..Expired::default() };
        let (mut known, strays): (Vec<_>, Vec<_>) = files
            .into_iter()
            .filter(|(_, _, id)| !named.contains(id))
            .filter(|(_, _, id)| known.contains(id) || age(*id) >= retention.max(UNDER_WAY))
            .partition(|(_, _, id)| known.contains(id));
        // What was never finished has names that nobody uses again.
        let left = self.abandoned(retention, !dry)?;
        expired.files += left.files;
        expired.bytes += left.bytes;
        if dry {
            known.extend(strays);
            expired.count(&known);
            return Ok(expired);
        }
        self.remove(&known, &mut expired)?;
        // 4 and 5.
        if let Some(moment) = strays.iter().map(|(_, _, id)| id.millis()).max() {
            self.sweep(moment)?;
            let named = self.needed(|_| true)?;
            let strays: Vec<_> = strays.into_iter().filter(|(_, _, id)| !named.contains(id)).collect();
            self.remove(&strays, &mut expired)?;
        }
        Ok(expired)
    }

    /// Step 4: from the version that this adds on, nobody names a file of this moment or before that they put before it.
    fn sweep(&self, moment: u64) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let (latest, crc32c) = self.log().latest()?;
            let parent = Some(Link { number: latest.number, crc32c });
            let draft = self.draft(latest.number + 1, parent, CommitKind::Compact, "expire")?;
            let commit = Commit { parts: latest.parts, swept: Some(moment), ..draft };
            if matches!(self.log().add(&commit)?, Added::Yes) {
                return Ok(());
            }
        }
        Err(PackError::overlaps_all(self.log().latest()?.0.number, "the list of versions"))
    }

    fn remove(&self, files: &[(Key, u64, Id)], expired: &mut Expired) -> Result<()> {
        for (key, _, _) in files {
            self.store().delete(key)?;
        }
        expired.count(files);
        Ok(())
    }

    /// Every file that the versions that are there, as far as they are of interest, need.
    fn needed(&self, of_interest: impl Fn(&Commit) -> bool) -> Result<BTreeSet<Id>> {
        loop {
            let there: Vec<Commit> =
                self.versions()?.into_iter().filter(|commit| of_interest(commit)).collect();
            let named = self.named(there.iter());
            if let Err(PackError::Corrupt { .. }) = &named {
                // Another one who expires may have removed a version, and what it needed, since we saw it.
                let now: BTreeSet<u64> = self.log().numbers()?.into_iter().collect();
                if there.iter().any(|commit| !now.contains(&commit.number)) {
                    continue;
                }
            }
            let mut named = named?;
            // A transaction that is under way may compare itself with a delta of a version that is there.
            named.extend(there.iter().filter_map(|commit| commit.delta.as_ref().map(|file| file.id)));
            return Ok(named);
        }
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
}
