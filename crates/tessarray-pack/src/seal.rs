//! The checksum of a chunk: of its bytes, and of what they are said to be.
//!
//! It goes on over the array's own number, the coordinates of the object, the place in it, and the segment (which is
//! one transaction's), so that a chunk that is right but somewhere else, or from another time, is not taken for it.

use crate::id::Id;

/// What a chunk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk<'a> {
    /// The array's own number.
    pub node: u64,
    /// Coordinates of the object in the grid.
    pub at: &'a [u64],
    /// Place of the chunk in the object.
    pub inner: u64,
}

/// The checksum of a chunk that lies in `segment`.
pub(crate) fn of_chunk(parts: &[&[u8]], chunk: Chunk<'_>, segment: Id) -> u32 {
    let mut crc = parts.iter().fold(0, |crc, part| crc32c::crc32c_append(crc, part));
    crc = crc32c::crc32c_append(crc, segment.bytes());
    let mut rest = [0u8; 16];
    rest[..8].copy_from_slice(&chunk.node.to_le_bytes());
    rest[8..].copy_from_slice(&chunk.inner.to_le_bytes());
    crc = crc32c::crc32c_append(crc, &rest);
    chunk.at.iter().fold(crc, |crc, coordinate| crc32c::crc32c_append(crc, &coordinate.to_le_bytes()))
}

/// The checksum of the value of a key that lies in `segment`.
pub(crate) fn of_value(bytes: &[u8], key: &str, segment: Id) -> u32 {
    let crc = crc32c::crc32c_append(crc32c::crc32c(bytes), segment.bytes());
    crc32c::crc32c_append(crc, key.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_chunk_is_said_to_be_counts() {
        let (one, two) = (Id::random().unwrap(), Id::random().unwrap());
        let chunk = Chunk { node: 1, at: &[0, 1], inner: 2 };
        let seal = of_chunk(&[b"abc"], chunk, one);
        assert_eq!(seal, of_chunk(&[b"a", b"bc"], chunk, one));
        assert_ne!(seal, of_chunk(&[b"abd"], chunk, one));
        assert_ne!(seal, of_chunk(&[b"abc"], chunk, two));
        assert_ne!(seal, of_chunk(&[b"abc"], Chunk { node: 2, ..chunk }, one));
        assert_ne!(seal, of_chunk(&[b"abc"], Chunk { at: &[1, 0], ..chunk }, one));
        assert_ne!(seal, of_chunk(&[b"abc"], Chunk { inner: 3, ..chunk }, one));
        assert_ne!(of_value(b"abc", "k", one), of_value(b"abc", "l", one));
    }
}
