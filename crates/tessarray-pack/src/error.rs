//! What can go wrong with a pack: each variant is a decision the caller can take.

use tessarray_store::{KeyError, StoreError};

/// What every pack call returns.
pub type Result<T> = std::result::Result<T, PackError>;

/// A failed call on a pack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the words of the message")]
pub enum PackError {
    /// The store below failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no pack here.
    #[error("{store}: not a pack: there is no {file}")]
    NotAPack { store: String, file: &'static str },
    /// There is a pack here already.
    #[error("{store}: there is already a pack here")]
    Exists { store: String },
    /// A later release wrote it.
    #[error(
        "{store}: pack format {found} is newer than this release, which reads up to {supported}: upgrade"
    )]
    NewerFormat { store: String, found: u64, supported: u64 },
    /// A file is damaged, torn, or not the one that the commit names.
    #[error("{store}: {file}: {reason}")]
    Corrupt { store: String, file: String, reason: String },
    /// No such version, or it has been expired.
    #[error("{store}: no version {wanted}: {reason}")]
    NoVersion { store: String, wanted: String, reason: String },
    /// Another writer committed a change that this transaction's overlaps; nothing of it was committed.
    #[error("{path}: {region} was changed by version {version}, which another writer committed meanwhile")]
    Conflict { path: String, region: String, version: u64 },
    /// The transaction outlived the retention of an `expire`: what it needs was removed; nothing of it was committed. Run
    /// it again.
    #[error("nothing was committed: {reason} (version {version}): run the transaction again")]
    Outlived { version: u64, reason: String },
    /// A commit's outcome could not be found out: it is either wholly there or not at all. Open the pack again.
    #[error(
        "version {version}: the commit may or may not have taken place ({reason}): open the pack again and look"
    )]
    Unknown { version: u64, reason: String },
    /// The transaction has ended.
    #[error("the transaction has ended: it was {how}")]
    Ended { how: &'static str },
    /// The pack cannot hold it.
    #[error("{path}: {reason}")]
    TooLarge { path: String, reason: String },
}

impl PackError {
    /// A version that overlaps with whatever anybody does.
    pub(crate) fn overlaps_all(version: u64, region: &str) -> Self {
        Self::Conflict { path: String::new(), region: region.into(), version }
    }
}

impl From<KeyError> for PackError {
    fn from(error: KeyError) -> Self {
        Self::Store(error.into())
    }
}

impl From<PackError> for StoreError {
    fn from(error: PackError) -> Self {
        match error {
            PackError::Store(error) => error,
            PackError::Corrupt { store, file, reason } => {
                Self::Corrupt { store, reason: format!("{file}: {reason}") }
            }
            other => Self::Decision(Box::new(other)),
        }
    }
}
