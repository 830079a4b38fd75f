//! Saving what can be saved: a version without what is damaged.

use super::check::Examined;
use super::damage::Damage;
use crate::error::{PackError, Result};
use crate::log::{Added, Commit, CommitKind, Link};
use crate::pack::Pack;

/// What a repair found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The damage, as [`Pack::check`] tells it.
    pub damage: Vec<Damage>,
    /// The version that was made, without what is damaged; `None` where nothing was, or was to be, changed.
    pub version: Option<u64>,
    /// Chunks and values that are lost: they read as if they had never been written.
    pub lost: u64,
}

impl Pack {
    /// Makes a version without what is damaged in the latest one, so that the rest can be read and written again.
    /// Without `apply` it only says what it would lose. Older versions, and the damaged files, stay as they are.
    ///
    /// # Errors
    /// No commit can be read ([`PackError::Corrupt`]). Another writer committed meanwhile ([`PackError::Conflict`]): run it
    /// again. The store failed.
    pub fn repair(&self, apply: bool, progress: &mut dyn FnMut(u64, u64)) -> Result<Repaired> {
        let Examined { damage, latest, last, mut rows, ids, bad } = self.examine(true, progress)?;
        if apply {
            self.abandoned(0, true)?;
        }
        if damage.is_empty() {
            return Ok(Repaired::default());
        }
        let Some((latest, crc32c)) = latest else {
            return Err(self.damaged("commits", "no commit can be read".into()));
        };
        // What only older versions show stays damaged, and is no reason for a version.
        let older = |one: &Damage| {
            one.file.starts_with("segments/")
                && !one.versions.is_empty()
                && !one.versions.contains(&latest.number)
        };
        let nothing = damage.iter().all(older);
        let mut repaired = Repaired { damage, version: None, lost: bad.len() as u64 };
        if !apply || nothing {
            return Ok(repaired);
        }
        for (row, entry) in bad.into_iter().rev() {
            rows[row].entries.remove(entry);
        }
        rows.retain(|row| !row.entries.is_empty() || row.value.is_some());
        // The next after what was looked at: what others committed since is not undone, but found to be there.
        let number = self.log().after_lost(last)?;
        let parent = Some(Link { number: latest.number, crc32c });
        let message = format!("repair: {} chunks and values are lost", repaired.lost);
        let draft = self.draft(number, parent, CommitKind::Rollback, &message)?;
        let commit = Commit { parts: self.put_rows(&rows, &ids, 0)?.into_iter().collect(), ..draft };
        match self.log().add(&commit)? {
            Added::Yes => repaired.version = Some(number),
            Added::Taken => return Err(PackError::overlaps_all(number, "the whole pack")),
        }
        Ok(repaired)
    }
}
