//! A decoder of LZ4 blocks, quicker than the reference library's on the streams that shuffled arrays give, and as quick when
//! it is to stop early.
//!
//! A block is a list of sequences: a token, whose halves are two lengths, more bytes of the first length, that many
//! literals, a two-byte distance, more bytes of the second length. The last sequence ends with its literals. Each goes
//! one of two ways:
//!
//! 1. [`fast`] takes those of moderate lengths that are away from the ends of input and output: it copies 16 bytes or more
//!    whatever the length is, and has as few branches as may be, since nothing can foretell them.
//! 2. What it leaves, [`BlockDecoder::careful`] takes: the long ones, a move or fill each, and those near the ends.
//!
//! The rules for the end of a block are the reference decoder's: a match ends 5 bytes before the end of the output at
//! the latest, and the literals before it 12. A distance of 0, which that decoder lets pass, is refused.
#![expect(unsafe_code, reason = "a kernel: copies of a few bytes whose bounds were looked at together")]

mod fast;
mod lanes;
#[cfg(test)]
mod tests;

use lanes::Lanes;

/// A stream that is no LZ4 block of the length that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// No match ends nearer to the end of the output.
const LAST_LITERALS: usize = 5;
/// No match starts nearer to the end of the output.
const MATCH_LIMIT: usize = 12;
/// A length field with this value goes on in bytes of its own.
const MORE: usize = 15;
/// The shortest match.
const MIN_MATCH: usize = 4;

/// Decodes `src` into exactly `dst`.
pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
    decode_to(src, dst, dst.len())
}

/// Decodes the first `target` bytes of `src`, a stream that decodes to as many bytes as `dst` has. What comes after them
/// in `dst` is of no use, and what comes after them in `src` is not looked at.
pub(crate) fn decode_to(src: &[u8], dst: &mut [u8], target: usize) -> Result<(), Malformed> {
    let block = BlockDecoder { src, dst, read: 0, written: 0, target };
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { decode_avx2(block) };
    }
    block.decode::<u128>()
}

/// [`BlockDecoder::decode`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn decode_avx2(block: BlockDecoder) -> Result<(), Malformed> {
    block.decode::<lanes::Avx2>()
}

/// A block on its way.
struct BlockDecoder<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
    /// Bytes of `src` that are done with.
    read: usize,
    /// Bytes of `dst` that are as they will be.
    written: usize,
    /// Bytes of `dst` that are wanted.
    target: usize,
}

impl BlockDecoder<'_> {
    #[inline(always)]
    fn decode<L: Lanes>(mut self) -> Result<(), Malformed> {
        if self.dst.is_empty() {
            // The reference decoder takes nothing else for it.
            return if self.src == [0] { Ok(()) } else { Err(Malformed) };
        }
        if self.target < self.dst.len() {
            while self.written < self.target {
                fast::run::<L>(&mut self);
                if self.written < self.target && self.careful()? {
                    break;
                }
            }
            return if self.written >= self.target { Ok(()) } else { Err(Malformed) };
        }
        loop {
            fast::run::<L>(&mut self);
            if self.careful()? {
                return if self.written == self.dst.len() { Ok(()) } else { Err(Malformed) };
            }
        }
    }

    /// Decodes one sequence, or as much of it as is wanted; `true` if it was the last.
    fn careful(&mut self) -> Result<bool, Malformed> {
        let &token = self.src.get(self.read).ok_or(Malformed)?;
        self.read += 1;
        let literals = self.length(usize::from(token >> 4))?;
        let from = self.src[self.read..].get(..literals).ok_or(Malformed)?;
        self.dst[self.written..].get_mut(..literals).ok_or(Malformed)?.copy_from_slice(from);
        self.read += literals;
        self.written += literals;
        if self.read == self.src.len() {
            return Ok(true);
        }
        if self.written + MATCH_LIMIT > self.dst.len() {
            return Err(Malformed);
        }
        if self.written >= self.target {
            return Ok(false);
        }
        let (&distance, _) = self.src[self.read..].split_first_chunk().ok_or(Malformed)?;
        self.read += 2;
        let distance = usize::from(u16::from_le_bytes(distance));
        let len = self.length(usize::from(token) & MORE)?.saturating_add(MIN_MATCH);
        let room = self.dst.len() - LAST_LITERALS - self.written;
        if distance == 0 || distance > self.written || len > room {
            return Err(Malformed);
        }
        self.repeat(distance, len.min(self.target - self.written));
        Ok(false)
    }

    /// The length whose first part is `start`.
    fn length(&mut self, start: usize) -> Result<usize, Malformed> {
        let mut len = start;
        if start < MORE {
            return Ok(len);
        }
        // A long run has one of these bytes for every 255 of its own.
        while self.src[self.read..].first_chunk() == Some(&[255; 8]) {
            len = len.checked_add(8 * 255).ok_or(Malformed)?;
            self.read += 8;
        }
        loop {
            let &byte = self.src.get(self.read).ok_or(Malformed)?;
            self.read += 1;
            len = len.checked_add(usize::from(byte)).ok_or(Malformed)?;
            if byte < 255 {
                return Ok(len);
            }
        }
    }

    /// Writes `len` bytes, each the same as the one `distance` bytes before it.
    fn repeat(&mut self, distance: usize, len: usize) {
        let (begin, end) = (self.written, self.written + len);
        self.written = end;
        if distance == 1 {
            let byte = self.dst[begin - 1];
            self.dst[begin..end].fill(byte);
            return;
        }
        // All that is written of the pattern can be copied at once, so each copy is twice as long as the one before.
        let first = begin - distance;
        let mut at = begin;
        while at < end {
            let n = (end - at).min(at - first);
            self.dst.copy_within(first..first + n, at);
            at += n;
        }
    }
}
