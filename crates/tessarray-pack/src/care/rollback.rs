//! Back to an earlier version: a new version with the earlier one's catalogue.

use crate::error::{PackError, Result};
use crate::log::{Added, Commit, CommitKind, Link};
use crate::pack::Pack;

impl Pack {
    /// Makes a new version with the content of an earlier one; nothing is removed. Returns its number.
    ///
    /// # Errors
    /// Another writer committed at the same time.
    pub fn rollback(&self, version: u64, message: &str) -> Result<u64> {
        // Tagged, the version and its files stay until the new version names them.
        let name = format!("rollback-{}", self.clock().id()?);
        self.tag(&name, version)?;
        let done = self.adopt(version, message);
        self.untag(&name)?;
        done
    }

    /// A new version with the catalogue of another.
    fn adopt(&self, version: u64, message: &str) -> Result<u64> {
        let target = self.version(version)?;
        let (latest, crc) = self.log().latest()?;
        let parent = Some(Link { number: latest.number, crc32c: crc });
        let draft = self.draft(latest.number + 1, parent, CommitKind::Rollback, message)?;
        let commit = Commit { parts: target.commit().parts.clone(), ..draft };
        match self.log().add(&commit)? {
            Added::Yes => Ok(commit.number),
            Added::Taken => Err(PackError::overlaps_all(commit.number, "the whole pack")),
        }
    }
}
