//! What writers who were killed left half written: not files of the pack, and under names that nobody uses again.

use super::expire::UNDER_WAY;
use crate::error::Result;
use crate::pack::Pack;
use std::time::Duration;
use tessarray_store::Prefix;

/// Files that are no part of a pack, and do no harm but for their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// How many.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Pack {
    /// What writers who were killed an hour ago or longer left half written. `expire` and `repair` remove it. Costs a
    /// listing of the pack; stores that are no directories have none.
    ///
    /// # Errors
    /// The store cannot be listed.
    pub fn leftovers(&self) -> Result<Leftovers> {
        self.abandoned(0, false)
    }

    /// The same, for so many milliseconds and an hour at least; with `remove` they go. A file that a writer is at work on
    /// is not among them, whatever the clocks say: the store knows.
    pub(crate) fn abandoned(&self, millis: u64, remove: bool) -> Result<Leftovers> {
        let idle = Duration::from_millis(millis.max(UNDER_WAY));
        let found = self.store().abandoned(&Prefix::root(), idle, remove)?;
        Ok(Leftovers { files: found.len() as u64, bytes: found.iter().map(|(_, size)| size).sum() })
    }
}
