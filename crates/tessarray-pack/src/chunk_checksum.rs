//! The checksum of a chunk: of its bytes, and of what they are said to be.
//!
//! It goes over a hash of the bytes, the array's own number, the coordinates of the object, the place in it, and the
//! segment (which is one transaction's), so that a chunk that is right but somewhere else, or from another time, is not
//! taken for it.
//!
//! The bytes are hashed with XXH3, not with a CRC: that of bytes which end in their own CRC, as those of most chunks do,
//! is the same whatever they are.

use crate::id::Id;
use std::hash::Hasher;
use tessarray_codec::crc32c;
use twox_hash::XxHash3_64;

/// What a chunk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkId<'a> {
    /// The array's own number.
    pub node: u64,
    /// Coordinates of the object in the grid.
    pub at: &'a [u64],
    /// Place of the chunk in the object.
    pub inner: u64,
}

/// The checksum of a chunk that lies in `segment`.
pub(crate) fn of_chunk(parts: &[&[u8]], chunk: ChunkId<'_>, segment: Id) -> u32 {
    let hash = match parts {
        [one] => XxHash3_64::oneshot(one),
        _ => {
            let mut hasher = XxHash3_64::new();
            parts.iter().for_each(|part| hasher.write(part));
            hasher.finish()
        }
    };
    let mut crc = of_hash(hash, segment);
    let mut rest = [0u8; 16];
    rest[..8].copy_from_slice(&chunk.node.to_le_bytes());
    rest[8..].copy_from_slice(&chunk.inner.to_le_bytes());
    crc = crc32c::crc32c_append(crc, &rest);
    chunk.at.iter().fold(crc, |crc, coordinate| crc32c::crc32c_append(crc, &coordinate.to_le_bytes()))
}

/// The checksum of the value of a key that lies in `segment`.
pub(crate) fn of_value(bytes: &[u8], key: &str, segment: Id) -> u32 {
    crc32c::crc32c_append(of_hash(XxHash3_64::oneshot(bytes), segment), key.as_bytes())
}

fn of_hash(hash: u64, segment: Id) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&hash.to_le_bytes()), segment.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_chunk_is_said_to_be_counts() {
        let (one, two) = (Id::random().unwrap(), Id::random().unwrap());
        let chunk = ChunkId { node: 1, at: &[0, 1], inner: 2 };
        let sum = of_chunk(&[b"abc"], chunk, one);
        assert_eq!(sum, of_chunk(&[b"a", b"bc"], chunk, one));
        assert_ne!(sum, of_chunk(&[b"abd"], chunk, one));
        assert_ne!(sum, of_chunk(&[b"abc"], chunk, two));
        assert_ne!(sum, of_chunk(&[b"abc"], ChunkId { node: 2, ..chunk }, one));
        assert_ne!(sum, of_chunk(&[b"abc"], ChunkId { at: &[1, 0], ..chunk }, one));
        assert_ne!(sum, of_chunk(&[b"abc"], ChunkId { inner: 3, ..chunk }, one));
        let ended = |bytes: &[u8]| of_chunk(&[bytes, &crc32c::crc32c(bytes).to_le_bytes()], chunk, one);
        assert_ne!(ended(b"abc"), ended(b"abd"), "a CRC would be the same");
        assert_ne!(of_value(b"abc", "k", one), of_value(b"abc", "l", one));
    }
}
