//! Frames that hold their data as they are.
//!
//! Without a checksum that is the format's own stored frame, header and data. It has no room for a checksum. With one, the
//! data are one block of one stream, which is as long as what it decodes to and hence stored: header, one offset, the
//! checksum, the stream's length, and the data, all together as in a stored frame. Very large data are several blocks, since
//! readers set aside a few times a block's size.

use super::checksum::{self, GAP};
use super::header::{HEADER, Header};
use super::{Filter, decode};
use crate::Window;
use crate::crc32c::{crc32c, crc32c_combine};
use std::ops::Range;

/// Data of more bytes are several blocks, each of which has at most as many, or is one block of the codec's.
const RAW: usize = 256 << 20;

/// Bytes of a frame of stored data with a checksum beside the data, at most.
pub(super) fn overhead(nbytes: usize) -> usize {
    // A block has more than half of `RAW` bytes, except for the last.
    HEADER + GAP + 8 * (1 + nbytes / (RAW / 2))
}

/// The header of a frame that stores the data of `header` with a checksum. Elements are bytes, so that readers of before
/// the flag's time do not take the stream for a split one.
pub(super) fn header(header: &Header) -> Header {
    let (nbytes, block) = (header.nbytes, header.blocksize);
    let blocksize = if nbytes <= RAW { nbytes } else { (RAW / block).max(1) * block };
    let mut raw =
        Header { stored: false, filter: Filter::None, split: false, typesize: 1, blocksize, ..*header };
    raw.cbytes = raw.table_end() + GAP + 4 * raw.blocks() + nbytes;
    raw
}

/// What stands before the data in a frame of one block. The checksum is still to come.
#[expect(clippy::cast_possible_truncation, reason = "a frame has less than 2 GiB, as its header's fields")]
pub(super) fn head(raw: &Header) -> Vec<u8> {
    let mut head = Vec::with_capacity(raw.table_end() + GAP + 4);
    head.extend_from_slice(&raw.bytes());
    let mut at = raw.table_end() + GAP;
    for index in 0..raw.blocks() {
        head.extend_from_slice(&(at as u32).to_le_bytes());
        at += 4 + raw.block_bytes(index);
    }
    head.extend_from_slice(&[0; GAP]);
    head
}

/// As [`head`], with the length of the one stream and the checksum: all of a frame of one block but its data, of which `sum`
/// is the checksum. `None` where there are several blocks.
#[expect(clippy::cast_possible_truncation, reason = "a frame has less than 2 GiB, as its header's fields")]
pub(super) fn head_of(raw: &Header, sum: u32) -> Option<Vec<u8>> {
    if raw.blocks() != 1 {
        return None;
    }
    let mut head = head(raw);
    let length = (raw.nbytes as u32).to_le_bytes();
    let sum = crc32c_combine(crc32c(&length), sum, raw.nbytes);
    checksum::mark(&mut head, raw.table_end(), sum, length.len() + raw.nbytes);
    head.extend_from_slice(&length);
    Some(head)
}

/// The data of a frame that has them as they are, together.
pub(super) fn data(header: &Header, input: &[u8]) -> Option<Range<usize>> {
    if header.stored {
        return Some(HEADER..header.cbytes);
    }
    if header.blocks() != 1 {
        return None;
    }
    decode::stored_block(header, Window::whole(input))
}
