//! Checksums: codecs that are one, and encodings that hold one inside.

use crate::{BytesCodec, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// The few bytes that a checksum puts after the data.
pub type Trailer = SmallVec<[u8; 8]>;

/// A codec whose encoding is the data with a checksum of them before or after.
pub trait ChecksumCodec {
    /// Verifies `input` and returns the part of it that is the decoded data, without a copy.
    ///
    /// # Errors
    /// A checksum that does not match; fewer bytes than it takes.
    fn verify<'a>(&self, input: &'a [u8]) -> Result<&'a [u8]>;

    /// The part of `input` that is the decoded data, of bytes that were verified before; `None` for fewer bytes than a
    /// checksum takes.
    fn payload<'a>(&self, input: &'a [u8]) -> Option<&'a [u8]>;

    /// How many bytes encoding appends to the data; `None` if they stand before them.
    fn trailer_len(&self) -> Option<usize>;

    /// What encoding appends to data that are these parts, one after the other. `None` if it stands before the data, or if
    /// there are several parts and this checksum takes its data together.
    fn trailer(&self, parts: &[&[u8]]) -> Option<Trailer>;
}

/// A checksum that an encoding holds inside.
pub trait InnerChecksum {
    /// Verifies the checksum of an encoding, if it has one. `false` if it is of the decoded bytes, so that only to decode
    /// them verifies it.
    ///
    /// # Errors
    /// A checksum that does not match; bytes that are no encoding.
    fn verify(&self, input: &[u8]) -> Result<bool>;

    /// As [`BytesCodec::decode`], of bytes that have passed [`verify`](Self::verify), which is not done again.
    ///
    /// # Errors
    /// Those of [`BytesCodec::decode`].
    fn decode_verified(&self, input: &[u8], out: &mut [u8]) -> Result<()>;

    /// The same codec without a checksum inside, for chains that have another after it; `None` if the user's settings ask
    /// for the checksum.
    fn without(&self) -> Option<Arc<dyn BytesCodec>>;
}
