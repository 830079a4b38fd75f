//! A version, as those see it who use packs.

use super::snapshot::Snapshot;
use crate::catalogue::{self, merge};
use crate::error::Result;
use crate::log::Commit;
use std::sync::Arc;

/// One version of a pack: does not change, whatever is committed.
#[derive(Debug, Clone)]
pub struct PackVersion {
    snapshot: Arc<Snapshot>,
}

impl PackVersion {
    pub(crate) fn new(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot }
    }

    pub(crate) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.snapshot.commit().number
    }

    /// The commit that made it.
    pub fn commit(&self) -> &Commit {
        self.snapshot.commit()
    }

    /// Its catalogue as one Parquet file, in which nothing is hidden by anything else.
    ///
    /// # Errors
    /// A part of the catalogue is damaged, or gone since the version was expired.
    pub fn catalogue(&self) -> Result<Vec<u8>> {
        let (rows, ids) = merge::merge(&self.snapshot.parts()?, true)?;
        Ok(catalogue::write(&rows, &ids, 0)?.0)
    }
}
