//! What every kind of commit has in common: its draft, and the parts of the catalogue that it puts.

use crate::catalogue::{self, Row};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::{Commit, CommitKind, Link, PartFile, Summary};
use crate::pack::Pack;
use tessarray_store::PutMode;

impl Pack {
    /// A commit with what all have in common, and no content. What it rests on is synced, where it is to be durable.
    pub(crate) fn draft(
        &self,
        number: u64,
        parent: Option<Link>,
        kind: CommitKind,
        message: &str,
    ) -> Result<Commit> {
        let durable = self.rest_on(parent.as_ref())?;
        Ok(Commit {
            number,
            pack: self.id(),
            parent,
            transaction: self.clock().id()?,
            kind,
            time: self.clock().text(),
            author: self.author().into(),
            message: message.into(),
            summary: Summary::default(),
            delta: None,
            parts: Vec::new(),
            segments: Vec::new(),
            durable,
            swept: None,
        })
    }
}

/// Fails where one of these files, which were put before a version that was made by `expire`, may have been removed.
pub(crate) fn outlived(own: impl IntoIterator<Item = Id>, moment: u64, version: u64) -> Result<()> {
    match own.into_iter().find(|id| id.millis() <= moment) {
        None => Ok(()),
        Some(id) => {
            let reason = format!(
                "an expiry took file {id}, which this transaction had stored, for one of a writer that was killed"
            );
            Err(PackError::Outlived { version, reason })
        }
    }
}

/// Parts of the catalogue, as every kind of commit puts them.
impl Pack {
    /// Puts rows as a part.
    pub(super) fn put_part(&self, rows: &[Row], ids: &[Id], level: u8) -> Result<PartFile> {
        let (bytes, file) = catalogue::write_as(self.clock().id()?, rows, ids, level)?;
        self.store().put(&file.key()?, &[&bytes], PutMode::Create)?;
        Ok(file)
    }

    /// The same; no rows make no part.
    pub(crate) fn put_rows(&self, rows: &[Row], ids: &[Id], level: u8) -> Result<Option<PartFile>> {
        if rows.is_empty() { Ok(None) } else { self.put_part(rows, ids, level).map(Some) }
    }
}
