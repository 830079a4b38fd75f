//! Parts of an encoding: blocks that decode on their own, and bytes that are encoded piece by piece.

use crate::{Pieces, Result, Window};
use std::ops::Range;

/// A codec that decodes parts of an encoding. Nothing here verifies a checksum that
/// [`InnerChecksum::verify`](crate::InnerChecksum::verify) does.
pub trait BlockCodec {
    /// The decoded bytes of a block (the last may be shorter); `decoded`, the whole decoded size, if there is one block only.
    ///
    /// # Errors
    /// An encoding of another size than `decoded`, or none at all, as far as its header says so.
    fn block_len(&self, input: &[u8], decoded: usize) -> Result<usize>;

    /// Where the blocks lie in `input`: how many bytes at its beginning any block needs, and exactly the bytes each block
    /// needs beside them. `None` if blocks cannot be decoded from those bytes alone.
    fn block_spans(&self, input: &[u8], decoded: usize) -> Option<(usize, Vec<Range<usize>>)>;

    /// The decoded bytes, if `input` has them as they are.
    fn stored<'a>(&self, input: &'a [u8], decoded: usize) -> Option<&'a [u8]>;

    /// Decodes block number `block` into `out`, which has exactly that block's bytes. `decoded` is the whole decoded size;
    /// of `input` the block's own bytes are at hand.
    ///
    /// # Errors
    /// Damaged or truncated bytes; a block that does not exist.
    fn decode_block(&self, input: Window<'_>, decoded: usize, block: usize, out: &mut [u8]) -> Result<()>;

    /// Decodes of block `block` the bytes `parts` to their places in `out`, which has the block's bytes; what becomes of the
    /// others is left open. `None`, and nothing done, if that saves nothing, or a checksum would go unseen.
    fn decode_parts(
        &self,
        input: Window<'_>,
        decoded: usize,
        block: usize,
        parts: &[Range<usize>],
        out: &mut [u8],
    ) -> Option<Result<()>>;
}

/// A codec that encodes bytes which do not lie together.
pub trait PieceEncoder {
    /// As [`BytesCodec::encode`](crate::BytesCodec::encode), of bytes that are asked for a block at a time. `None`, and
    /// nothing done, if the codec needs all of them at once, or in other units than [`Pieces::unit`].
    fn encode_pieces(&self, input: &dyn Pieces, out: &mut Vec<u8>) -> Option<Result<()>>;

    /// The bytes before `input` in its encoding, if that is a few bytes and then `input` as it is, as with data that do not
    /// compress. `runs` are the bytes of `input`, run by run.
    fn stored_head(&self, input: &dyn Pieces, runs: &[&[u8]]) -> Option<Vec<u8>>;
}
