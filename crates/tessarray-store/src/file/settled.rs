//! The folders whose names a handle knows to be on the disk.

use super::folder::FolderId;
use crate::key::Prefix;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Folders whose names were synced by this handle.
#[derive(Debug, Default)]
pub(super) struct Settled(RwLock<HashMap<Box<str>, FolderId>>);

impl Settled {
    pub(super) fn has(&self, path: &str, id: FolderId) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(path) == Some(&id)
    }

    pub(super) fn add(&self, path: &str, id: FolderId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(path.into(), id);
    }

    /// Folders under a prefix are gone, as far as this handle knows.
    pub(super) fn forget(&self, prefix: &Prefix) {
        let below = |path: &str| path == prefix.path() || path.starts_with(prefix.as_str());
        self.0.write().unwrap_or_else(PoisonError::into_inner).retain(|path, _| !below(path));
    }
}
