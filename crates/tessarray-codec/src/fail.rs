//! The errors that codecs share, in one line each.

use crate::{ChunkSpec, CodecError, Result};

/// A length as the errors hold it.
pub(crate) fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Decodes to a different number of bytes than the chunk has.
pub(crate) fn size(codec: &str, expected: usize, found: impl ToString) -> CodecError {
    CodecError::Size { codec: codec.into(), expected: count(expected), found: found.to_string() }
}

/// Decodes to more bytes than the chunk has; how many more nobody counted.
pub(crate) fn too_large(codec: &str, expected: usize) -> CodecError {
    size(codec, expected, format!("more than {expected}"))
}

/// The encoded bytes end too early.
pub(crate) fn truncated(codec: &str, expected: usize, found: usize) -> CodecError {
    CodecError::Truncated { codec: codec.into(), expected: count(expected), found: count(found) }
}

/// The encoded bytes are not what the codec writes.
pub(crate) fn corrupt(codec: &str, reason: impl Into<String>) -> CodecError {
    CodecError::Corrupt { codec: codec.into(), reason: reason.into() }
}

/// The values cannot be encoded.
pub(crate) fn encode(codec: &str, reason: impl Into<String>) -> CodecError {
    CodecError::Encode { codec: codec.into(), reason: reason.into() }
}

/// The codec does not work on chunks of this type.
pub(crate) fn data_type(codec: &str, spec: &ChunkSpec, reason: impl Into<String>) -> CodecError {
    CodecError::DataType { codec: codec.into(), data_type: spec.data_type.to_string(), reason: reason.into() }
}

/// Checks a length that the caller of an array codec promises.
pub(crate) fn check_len(codec: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(size(codec, expected, found)) }
}
