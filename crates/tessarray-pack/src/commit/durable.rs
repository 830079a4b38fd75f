//! What a durable commit rests on: files that earlier commits put without a sync.
//!
//! 1. A commit file that was put by a durable store says so: `"durable": true`. It means that all files that this version
//!    names, and the commit files before it, were synced before this one was put.
//! 2. So before a durable commit file is put, the versions before it are looked at, latest first, down to the first that
//!    says so. The commit files of those that do not, and what they added, are synced. Where the line breaks off
//!    (versions were expired), every file of the pack is.
//! 3. The same is done, whatever the store, before versions are expired of which one was durable: what takes their place
//!    must be on the disk before they go.
//!
//! Each file is synced once that way, by whoever commits durably first, in whichever process; again only where the line
//! broke off. A pack without commits that are not durable costs the read of one commit file. Files that were copied by
//! other means than a commit are the copier's to sync.

use crate::error::{PackError, Result};
use crate::log::{Commit, Link};
use crate::names::{EXPIRED, FORMAT_FILE, segment_key};
use crate::pack::Pack;
use std::collections::BTreeSet;
use tessarray_store::Key;

impl Pack {
    /// Step 2, for a commit that follows on `parent`; whether the commit may say that it is durable.
    pub(crate) fn rest_on(&self, parent: Option<&Link>) -> Result<bool> {
        let durable = self.store().is_durable();
        if let (true, Some(parent)) = (durable, parent) {
            self.settle(parent)?;
        }
        Ok(durable)
    }

    /// Step 3: before `gone` are removed.
    pub(crate) fn rest_before(&self, gone: &[&Commit], latest: &(Commit, u32)) -> Result<()> {
        if !gone.iter().any(|commit| commit.durable) {
            return Ok(());
        }
        self.settle(&Link { number: latest.0.number, crc32c: latest.1 })
    }

    /// Syncs what the version rests on and is not known to be synced.
    fn settle(&self, version: &Link) -> Result<()> {
        if self.settled().as_ref() == Some(version) {
            return Ok(());
        }
        let mut keys = BTreeSet::new();
        let whole = self.unsettled(version, &mut keys)?;
        if !whole {
            keys.extend(self.files()?.into_iter().map(|(key, ..)| key));
            for number in self.log().numbers()? {
                keys.insert(Commit::key_of(number)?);
            }
        }
        if !keys.is_empty() {
            for name in [FORMAT_FILE, EXPIRED] {
                keys.insert(Key::new(name)?);
            }
            let keys: Vec<Key> = keys.into_iter().collect();
            self.store().make_durable(&keys)?;
        }
        *self.settled() = Some(version.clone());
        Ok(())
    }

    /// The files that the versions from this one on added, down to the last durable one; `false` where the line breaks off.
    fn unsettled(&self, version: &Link, keys: &mut BTreeSet<Key>) -> Result<bool> {
        let known = self.settled().clone();
        let mut next = Some(version.clone());
        while let Some(link) = next {
            if known.as_ref() == Some(&link) {
                return Ok(true);
            }
            let commit = match self.log().get(link.number) {
                Ok(Some((commit, crc))) if crc == link.crc32c => commit,
                // Gone, another one, or damaged.
                Ok(_) | Err(PackError::Corrupt { .. }) => return Ok(false),
                Err(error) => return Err(error),
            };
            if commit.durable {
                for file in &commit.parts {
                    keys.remove(&file.key()?);
                }
                return Ok(true);
            }
            keys.insert(Commit::key_of(commit.number)?);
            for file in commit.parts.iter().chain(&commit.delta) {
                keys.insert(file.key()?);
            }
            for segment in &commit.segments {
                keys.insert(segment_key(segment.id)?);
            }
            next = commit.parent;
        }
        Ok(true)
    }
}
