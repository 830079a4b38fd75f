//! A checksum inside the frame, where readers of the format do not look (`spec/blosc-checksum.md`).
//!
//! A reader goes to each block by the offset that the frame's table gives. So eight bytes fit between the table and the
//! first block that nobody else reads: a mark, and the CRC-32C of all the other bytes of the frame. Whether a frame has them
//! is told by any of three signs, so that no single flipped bit hides them:
//!
//! 1. The mark stands right behind the table, as long as the table is: damage of an offset does not hide it.
//! 2. The mark stands right before the first block: damage of the sizes, which move the table's end, does not hide it.
//! 3. The first block starts eight bytes behind the table, and no block starts in between: damage of the mark does not
//!    hide it. Other writers leave no gap.
//!
//! A frame with any of the signs must have all of them, and the right checksum. A frame that is marked as stored has no
//! table; it is exactly as long as its data and the header, which no frame with a checksum is.

use super::corrupt;
use super::header::{HEADER, Header, int};
use crate::crc32c::{crc32c, crc32c_append, crc32c_combine};
use crate::{CodecError, Result};

/// Bytes between the table and the first block.
pub(super) const GAP: usize = 8;
/// Negative both as an offset and as the length of a stream: no reader takes it for either.
const MARK: [u8; 4] = *b"CRC\xff";

/// Marks a frame whose blocks start [`GAP`] bytes behind its table, which ends at `table`, and puts its checksum there. The
/// `len` bytes of the blocks have the checksum `blocks`: it is made while they are in the cache, before the table is known.
pub(super) fn mark(frame: &mut [u8], table: usize, blocks: u32, len: usize) {
    let (head, rest) = frame.split_at_mut(table + 4);
    head[table..].copy_from_slice(&MARK);
    let sum = crc32c_combine(crc32c(head), blocks, len);
    rest[..4].copy_from_slice(&sum.to_le_bytes());
}

/// Verifies the checksum of a frame, if it has one.
pub(super) fn verify(header: &Header, input: &[u8]) -> Result<()> {
    let table = header.table_end();
    if header.stored || !has_sign(header, input) {
        return Ok(());
    }
    if start(input, 0) != Some(table + GAP) || !is_marked(input, table) {
        return Err(corrupt("the mark of its checksum and its table of blocks contradict each other"));
    }
    let (Some(head), Some(blocks)) = (input.get(..table + 4), input.get(table + GAP..)) else {
        return Err(super::truncated(table + GAP, input.len()));
    };
    let stored = int(input, table + 4).unwrap_or_default().cast_unsigned();
    let computed = crc32c_append(crc32c(head), blocks);
    if stored == computed {
        return Ok(());
    }
    Err(CodecError::Checksum { codec: "blosc".into(), stored: stored.into(), computed: computed.into() })
}

/// Whether anything says that the frame has a checksum.
fn has_sign(header: &Header, input: &[u8]) -> bool {
    let table = header.table_end();
    if is_marked(input, table) {
        return true;
    }
    let Some(first) = start(input, 0) else { return false };
    if first == table + GAP {
        return (1..header.blocks()).all(|block| start(input, block) != Some(table));
    }
    first.checked_sub(GAP).is_some_and(|at| at > HEADER && at.is_multiple_of(4) && is_marked(input, at))
}

fn is_marked(input: &[u8], at: usize) -> bool {
    input.get(at..).is_some_and(|bytes| bytes.starts_with(&MARK))
}

/// Where a block starts, as the table says.
fn start(input: &[u8], block: usize) -> Option<usize> {
    usize::try_from(int(input, HEADER + 4 * block)?).ok()
}
