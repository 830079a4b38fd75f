//! What can be wrong with a metadata document.

/// What every call on documents returns.
pub type Result<T> = std::result::Result<T, MetaError>;

/// A document that was not accepted, or metadata that cannot be written. Every variant names the document and the
/// place in it (`zarr.json: chunk_grid.configuration.chunk_shape[1]`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the words of the message")]
pub enum MetaError {
    /// The bytes are not JSON, or hold a number that JSON or a 64-bit float cannot (`NaN`, `1e400`).
    #[error("{path}: not valid JSON: {reason}")]
    Json { path: String, reason: String },
    /// A member has the wrong type or a value out of range.
    #[error("{path}: expected {expected}, found {found}")]
    Value { path: String, expected: String, found: String },
    /// A member that must be there is not.
    #[error("{path}: missing")]
    Missing { path: String },
    /// A member is there twice; readers would disagree on which counts.
    #[error("{path}: duplicate member")]
    Duplicate { path: String },
    /// Objects and arrays are nested too deep.
    #[error("{path}: nested deeper than {limit} levels")]
    Depth { path: String, limit: usize },
    /// A size is above a limit; the caller may raise the limit.
    #[error("{path}: {what} {found}, over the limit of {limit}")]
    TooLarge { path: String, what: &'static str, found: String, limit: u64 },
    /// The document needs an extension that is not known here, and may not be ignored.
    #[error("{path}: unknown {what} {name:?}")]
    UnknownExtension { path: String, what: &'static str, name: String },
    /// The codec would run code while decoding, or holds objects of a language; never accepted.
    #[error("{path}: codec {name:?} is refused: {why}", why = forbidden(name))]
    Forbidden { path: String, name: String },
    /// Known and legal, but not supported; or not to be said in this format version.
    #[error("{path}: not supported: {reason}")]
    Unsupported { path: String, reason: String },
    /// Written in a later version of the format; a newer release may read it.
    #[error("{path}: format version {format} is newer than {newest}, the newest this release reads")]
    Newer { path: String, format: u64, newest: u64 },
}

impl MetaError {
    /// Whether the document may well be right, and only needs what this release, or its limits, do not offer.
    pub fn is_beyond_reader(&self) -> bool {
        match self {
            Self::UnknownExtension { .. } | Self::Unsupported { .. } | Self::Forbidden { .. } => true,
            Self::Newer { .. } | Self::TooLarge { .. } => true,
            Self::Json { .. } | Self::Value { .. } | Self::Missing { .. } => false,
            Self::Duplicate { .. } | Self::Depth { .. } => false,
        }
    }
}

/// Why a codec of objects is refused.
fn forbidden(name: &str) -> &'static str {
    if crate::names::plain(name) == "pickle" {
        "it runs code that is in the data when they are read"
    } else {
        "its elements are Python objects, for which there is no data type"
    }
}
