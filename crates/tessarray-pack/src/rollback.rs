//! Back to an earlier version: a new version with the earlier one's catalogue.

use crate::commit::{Added, Commit, Kind, Link, Summary};
use crate::id::Id;
use crate::pack::Pack;
use crate::time;
use crate::{PackError, Result};

impl Pack {
    /// Makes a new version with the content of an earlier one; nothing is removed. Returns its number.
    ///
    /// # Errors
    /// Another writer committed at the same time.
    pub fn rollback(&self, version: u64, message: &str) -> Result<u64> {
        let target = self.version(version)?;
        let (latest, crc) = self.log().latest()?;
        let commit = Commit {
            number: latest.number + 1,
            pack: self.id(),
            parent: Some(Link { number: latest.number, crc32c: crc }),
            transaction: Id::random()?,
            kind: Kind::Rollback,
            time: time::now(),
            author: self.author().into(),
            message: message.into(),
            summary: Summary::default(),
            delta: None,
            parts: target.commit().parts.clone(),
            segments: Vec::new(),
        };
        match self.log().add(&commit)? {
            Added::Yes => Ok(commit.number),
            Added::Taken => {
                let region = "the whole pack".to_string();
                Err(PackError::Conflict { path: String::new(), region, version: commit.number })
            }
        }
    }
}
