//! What can go wrong in a codec.

pub type Result<T> = std::result::Result<T, CodecError>;

/// A failed encode, decode or configuration. Names the codec, what was expected and what was found; the array layer
/// adds the key and the chunk's coordinates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// No codec of this name is registered.
    #[error("unknown codec {name:?}; {known}")]
    Unknown {
        name: String,
        /// The names that are spelt alike, in words.
        known: String,
    },
    /// The codec would run code while decoding; never accepted.
    #[error("codec {name:?} is refused: it runs code that is in the data when they are read")]
    Forbidden { name: String },
    /// A setting is missing, of the wrong type or out of range.
    #[error("codec {codec:?}: {reason}")]
    Config { codec: String, reason: String },
    /// The codec cannot hold this data type.
    #[error("codec {codec:?} cannot hold {data_type}: {reason}")]
    DataType { codec: String, data_type: String, reason: String },
    /// The chain is not array-to-array codecs, one array-to-bytes codec, then bytes-to-bytes codecs.
    #[error("codec chain: {reason}")]
    Chain { reason: String },
    /// The encoded bytes end too early.
    #[error("codec {codec:?}: truncated: expected {expected} bytes, found {found}")]
    Truncated { codec: String, expected: u64, found: u64 },
    /// The bytes decode to more, or less, than the chunk holds. A decompression bomb ends here.
    #[error("codec {codec:?}: decodes to {found} bytes where the chunk has {expected}")]
    Size { codec: String, expected: u64, found: String },
    /// A checksum does not fit its bytes.
    #[error("codec {codec:?}: checksum mismatch: stored {stored:#010x}, computed {computed:#010x}")]
    Checksum { codec: String, stored: u64, computed: u64 },
    /// The encoded bytes are not what the codec writes.
    #[error("codec {codec:?}: corrupt: {reason}")]
    Corrupt { codec: String, reason: String },
    /// The values cannot be encoded.
    #[error("codec {codec:?}: cannot encode: {reason}")]
    Encode { codec: String, reason: String },
    /// There is no memory for a chunk.
    #[error("no memory for {bytes} bytes of a chunk")]
    Memory { bytes: u64 },
    /// A codec in the user's language raised an error.
    #[error("codec {codec:?}: {message}")]
    User { codec: String, message: String },
}

impl CodecError {
    /// Whether it says that stored bytes are damaged, and not that they could not be decoded here and now.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Truncated { .. } | Self::Size { .. } | Self::Checksum { .. } | Self::Corrupt { .. }
        )
    }
}
