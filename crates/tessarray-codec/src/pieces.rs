//! What is to be encoded, piece by piece: bytes that lie together, or that are put together a piece at a time.

use std::ops::Range;

/// The bytes of a chunk, for codecs that take them a block at a time: so a chunk need not lie in memory as a whole.
pub trait Pieces {
    /// Bytes in all.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every range that is asked for begins at a multiple of this, and ends at one or at the end.
    fn unit(&self) -> usize;

    /// Appends the bytes of a range to `out`.
    fn append(&self, range: Range<usize>, out: &mut Vec<u8>);

    /// The bytes of a range, where they lie together already.
    fn whole(&self, range: Range<usize>) -> Option<&[u8]>;
}

impl Pieces for &[u8] {
    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn unit(&self) -> usize {
        1
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self[range]);
    }

    fn whole(&self, range: Range<usize>) -> Option<&[u8]> {
        Some(&self[range])
    }
}

impl dyn Pieces + '_ {
    /// The bytes of a range: where they are, or else put together in `room`.
    pub fn get<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<u8>) -> &'a [u8] {
        match self.whole(range.clone()) {
            Some(bytes) => bytes,
            None => {
                room.clear();
                self.append(range, room);
                room
            }
        }
    }
}
