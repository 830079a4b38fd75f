//! What can go wrong in a codec.

/// The result of a codec's work.
pub type Result<T> = std::result::Result<T, CodecError>;

/// A failed encode, decode or configuration. Names the codec, what was expected and what was found; the array layer
/// adds the key and the chunk's coordinates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// No codec of this name is registered.
    #[error("unknown codec {name:?}; {known}")]
    Unknown {
        /// The name in the metadata.
        name: String,
        /// The names that are spelt alike, in words.
        known: String,
    },
    /// The codec would run code while decoding; never accepted.
    #[error("codec {name:?} is refused: it runs code that is in the data when they are read")]
    Forbidden {
        /// The name in the metadata.
        name: String,
    },
    /// A setting is missing, of the wrong type or out of range.
    #[error("codec {codec:?}: {reason}")]
    Config {
        /// The codec.
        codec: String,
        /// The setting, what it has to be, and what was found.
        reason: String,
    },
    /// The codec cannot hold this data type.
    #[error("codec {codec:?} cannot hold {data_type}: {reason}")]
    DataType {
        /// The codec.
        codec: String,
        /// The type of the chunks.
        data_type: String,
        /// Which types it holds.
        reason: String,
    },
    /// The chain is not array-to-array codecs, one array-to-bytes codec, then bytes-to-bytes codecs.
    #[error("codec chain: {reason}")]
    Chain {
        /// What is out of order.
        reason: String,
    },
    /// The encoded bytes end too early.
    #[error("codec {codec:?}: truncated: expected {expected} bytes, found {found}")]
    Truncated {
        /// The codec.
        codec: String,
        /// Bytes there have to be, at least.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The bytes decode to more, or less, than the chunk holds. A decompression bomb ends here.
    #[error("codec {codec:?}: decodes to {found} bytes where the chunk has {expected}")]
    Size {
        /// The codec.
        codec: String,
        /// Bytes of the chunk.
        expected: u64,
        /// Bytes that the encoding stands for, in words: of a bomb nobody counts them.
        found: String,
    },
    /// A checksum does not fit its bytes.
    #[error("codec {codec:?}: checksum mismatch: stored {stored:#010x}, computed {computed:#010x}")]
    Checksum {
        /// The codec.
        codec: String,
        /// The checksum in the encoding.
        stored: u64,
        /// That of the bytes that were read.
        computed: u64,
    },
    /// The encoded bytes are not what the codec writes.
    #[error("codec {codec:?}: corrupt: {reason}")]
    Corrupt {
        /// The codec.
        codec: String,
        /// What is wrong with them.
        reason: String,
    },
    /// The values cannot be encoded.
    #[error("codec {codec:?}: cannot encode: {reason}")]
    Encode {
        /// The codec.
        codec: String,
        /// Why not.
        reason: String,
    },
    /// There is no memory for a chunk.
    #[error("no memory for {bytes} bytes of a chunk")]
    Memory {
        /// Bytes that were asked for.
        bytes: u64,
    },
    /// A codec in the user's language raised an error.
    #[error("codec {codec:?}: {message}")]
    User {
        /// The codec.
        codec: String,
        /// The error in words.
        message: String,
    },
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
