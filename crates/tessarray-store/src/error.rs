//! What can go wrong with a store: each variant is a decision the caller can take.

use std::fmt::Display;
use std::io;

/// What every store call returns.
pub type Result<T> = std::result::Result<T, StoreError>;

/// A failed store call. Names the key, what was expected and what was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the words of the message")]
pub enum StoreError {
    /// The key is not one; nothing was touched.
    #[error(transparent)]
    Key(#[from] crate::key::KeyError),
    /// The key is taken, and the put was to create it.
    #[error("{key}: already exists")]
    Exists { key: String },
    /// The value is not at the expected version: read it again and decide anew.
    #[error("{key}: changed by another writer")]
    Changed { key: String },
    /// A range reaches past the end of the value.
    #[error("{key}: bytes {offset}..{end} wanted, but the value has {size}", end = offset.saturating_add(*length))]
    OutOfRange { key: String, offset: u64, length: u64, size: u64 },
    /// The store was opened, or can only be opened, for reading.
    #[error("{store}: read-only, cannot {action}")]
    ReadOnly { store: String, action: String },
    /// The disk or quota is full; the old value is intact.
    #[error("{key}: no space left on the device; the old value is intact")]
    Full { key: String },
    /// The path leads out of the store's root (a symbolic link).
    #[error("{key}: {link} leads out of the store's root; open with follow_links to allow it")]
    OutsideRoot { key: String, link: String },
    /// The container of the values is damaged or not acceptable (a zip file, say).
    #[error("{store}: {reason}")]
    Corrupt { store: String, reason: String },
    /// A durable write's fsync failed: what is on disk is unknown, and this handle refuses further writes.
    #[error(
        "{key}: an fsync failed earlier ({reason}); this handle takes no further writes: open the store again"
    )]
    #[allow(missing_docs, reason = "`code` is the system's number of the first failure, where it has one")]
    Poisoned { key: String, reason: String, code: Option<i32> },
    /// The wait for another writer was called off (Ctrl-C); nothing was changed.
    #[error("{key}: gave up waiting for another writer after {:.1} s (its lock: {lock})", waited.as_secs_f64())]
    Interrupted { key: String, lock: String, waited: std::time::Duration },
    /// The operating system or service said no.
    #[error("{key}: {action}: {source}")]
    Io { key: String, action: &'static str, source: io::Error },
    /// A store in the user's language raised an error, or one was injected by a test.
    #[error("{key}: {message}")]
    Other { key: String, message: String },
    /// The store broke its promise to answer every request.
    #[error("{key}: the store gave no answer")]
    Unanswered { key: String },
    /// An update's decision function gave up; carries its reason unchanged.
    #[error(transparent)]
    Decision(Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// A failed system call on a value; a full disk or quota becomes [`StoreError::Full`].
    pub fn io(key: impl Display, action: &'static str, source: io::Error) -> Self {
        let key = key.to_string();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { key },
            _ => Self::Io { key, action, source },
        }
    }

    /// Whether there was no memory for what was asked, which says nothing of what is stored.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::OutOfMemory)
    }
}
