//! Decoding: streams that were stored are unshuffled straight from the frame, the others from a scratch in cache.

use super::compressor::max_decoded;
use super::header::{HEADER, Header, MAX_SPLITS, int};
use super::scratch::{Scratch, with_scratch};
use super::{Filter, checksum, corrupt, raw, size, truncated};
use crate::lz4::block;
use crate::shuffle::{bitunshuffle, sized, unshuffle, unshuffle_planes};
use crate::{Result, Window};
use std::ops::Range;

/// The number of LZ4 in frames.
const LZ4: u8 = 1;

/// Decodes a frame into exactly `out`; verifies its checksum, if it has one, unless it is `verified` already.
pub(super) fn decode(input: &[u8], out: &mut [u8], verified: bool) -> Result<()> {
    let header = Header::read(input, input.len())?;
    if header.nbytes != out.len() {
        return Err(size(out.len(), header.nbytes));
    }
    if !verified {
        checksum::verify(&header, input)?;
    }
    if header.stored {
        out.copy_from_slice(&input[HEADER..]);
        return Ok(());
    }
    with_scratch(|scratch| {
        let mut blocks = out.chunks_mut(header.blocksize).enumerate();
        let input = Window::whole(input);
        blocks.try_for_each(|(index, out)| FrameBlock::find(&header, input, index)?.decode(out, scratch))
    })
}

/// Decodes a frame of at most `limit` bytes to the end of `out`, which grows block by block.
pub(super) fn decode_bounded(input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
    let header = Header::read(input, input.len())?;
    if header.nbytes > limit {
        return Err(size(limit, header.nbytes));
    }
    checksum::verify(&header, input)?;
    if header.stored {
        return crate::room::append(out, &input[HEADER..]);
    }
    with_scratch(|scratch| {
        for index in 0..header.blocks() {
            let block = FrameBlock::find(&header, Window::whole(input), index)?;
            block.check_ratio()?;
            let start = out.len();
            crate::room::grow(out, block.bytes)?;
            block.decode(&mut out[start..], scratch)?;
        }
        Ok(())
    })
}

/// The data of a frame that has them as they are.
pub(super) fn stored(input: &[u8], decoded: usize) -> Option<&[u8]> {
    let header = Header::read(input, input.len()).ok().filter(|header| header.nbytes == decoded)?;
    input.get(raw::data(&header, input)?)
}

/// Verifies the checksum of a frame, if it has one.
pub(super) fn verify(input: &[u8]) -> Result<()> {
    checksum::verify(&Header::read(input, input.len())?, input)
}

/// Where the only block of a frame has its data as they are.
pub(super) fn stored_block(header: &Header, input: Window<'_>) -> Option<Range<usize>> {
    let block = FrameBlock::find(header, input, 0).ok()?;
    let plain = block.count == 1 && header.block_filter(block.bytes) == Filter::None;
    let begin = offset(input, HEADER).ok()? + 4;
    (plain && block.streams[0].len() == block.bytes).then_some(begin..begin + block.bytes)
}

/// The size of the frame's blocks; the frame must decode to `decoded` bytes.
pub(super) fn block_len(input: &[u8], decoded: usize) -> Result<usize> {
    let header = Header::read(input, input.len())?;
    if header.nbytes != decoded {
        return Err(size(decoded, header.nbytes));
    }
    // A frame of nothing has no blocks.
    Ok(if header.blocksize == 0 { decoded } else { header.blocksize })
}

/// Decodes block `index` of the frame into exactly `out`.
pub(super) fn decode_block(input: Window<'_>, decoded: usize, index: usize, out: &mut [u8]) -> Result<()> {
    let header = Header::read(input.head(), input.len())?;
    if header.nbytes != decoded {
        return Err(size(decoded, header.nbytes));
    }
    let bytes = header.block_bytes(index);
    if bytes == 0 || bytes != out.len() {
        return Err(size(out.len(), format!("{bytes} in block {index}")));
    }
    if header.stored {
        let from = HEADER + index * header.blocksize;
        out.copy_from_slice(
            input.get(from..from + bytes).ok_or_else(|| truncated(from + bytes, input.len()))?,
        );
        return Ok(());
    }
    with_scratch(|scratch| FrameBlock::find(&header, input, index)?.decode(out, scratch))
}

/// Decodes the bytes `parts` of block `index` to their places in `out`, which has the block's bytes. `None` where all of
/// the block is decoded as quickly.
pub(super) fn decode_parts(
    input: Window<'_>,
    decoded: usize,
    index: usize,
    parts: &[Range<usize>],
    out: &mut [u8],
) -> Option<Result<()>> {
    let header = Header::read(input.head(), input.len()).ok()?;
    let bytes = header.block_bytes(index);
    // Anything odd is for `decode_block` to report.
    let odd = header.nbytes != decoded || bytes != out.len() || header.stored;
    if odd || parts.iter().any(|part| part.start > part.end || part.end > bytes) {
        return None;
    }
    let block = FrameBlock::find(&header, input, index).ok()?;
    with_scratch(|scratch| block.decode_parts(parts, out, scratch))
}

/// The bytes that decoding any block looks at first, and those that each block takes, from the offset of its first stream
/// to the end of its last. `None` for frames that do not decode in full.
pub(super) fn block_spans(input: &[u8], decoded: usize) -> Option<(usize, Vec<Range<usize>>)> {
    let header = Header::read(input, input.len()).ok().filter(|header| header.nbytes == decoded)?;
    let blocks = 0..header.blocks();
    if header.stored {
        let start = |index: usize| HEADER + index * header.blocksize;
        return Some((HEADER, blocks.map(|i| start(i)..start(i) + header.block_bytes(i)).collect()));
    }
    let base = input.as_ptr() as usize;
    let window = Window::whole(input);
    let span = |index: usize| {
        let begin = offset(window, HEADER + 4 * index).ok()?;
        let block = FrameBlock::find(&header, window, index).ok()?;
        let last = block.streams[block.count - 1];
        Some(begin..last.as_ptr() as usize - base + last.len())
    };
    Some((header.table_end(), blocks.map(span).collect::<Option<_>>()?))
}

/// One block of a frame, its streams found and inside the frame.
struct FrameBlock<'a> {
    header: &'a Header,
    /// Decoded bytes.
    bytes: usize,
    streams: [&'a [u8]; MAX_SPLITS],
    count: usize,
}

impl<'a> FrameBlock<'a> {
    fn find(header: &'a Header, input: Window<'a>, index: usize) -> Result<Self> {
        let bytes = header.block_bytes(index);
        let count = header.streams(bytes);
        if bytes == 0 || !bytes.is_multiple_of(count) {
            return Err(corrupt(format!("block {index} of {bytes} bytes in {count} streams")));
        }
        let mut at = offset(input, HEADER + 4 * index)?;
        if at < header.table_end() {
            return Err(corrupt(format!("block {index} starts at byte {at}, inside the header")));
        }
        let mut streams: [&[u8]; MAX_SPLITS] = [&[]; MAX_SPLITS];
        for stream in &mut streams[..count] {
            let len = offset(input, at)?;
            let end = at.saturating_add(4).saturating_add(len);
            *stream = input.get(at + 4..end).ok_or_else(|| truncated(end, input.len()))?;
            at = end;
        }
        Ok(Self { header, bytes, streams, count })
    }

    /// Refuses a block that claims more than its bytes can decode to, before memory is set aside for it.
    fn check_ratio(&self) -> Result<()> {
        let each = self.bytes / self.count;
        for stream in &self.streams[..self.count] {
            let most =
                if stream.len() == each { each } else { max_decoded(self.header.format, stream.len())? };
            if each > most {
                return Err(size(each, format!("at most {most}")));
            }
        }
        Ok(())
    }

    /// Of shuffled elements: decodes each stream, from its beginning to the last element that is wanted where it is one of
    /// LZ4, to which a byte costs no more when it is to stop early; and puts together those that are wanted.
    fn decode_parts(
        &self,
        parts: &[Range<usize>],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Option<Result<()>> {
        let typesize = self.header.typesize;
        let (each, count) = (self.bytes / self.count, self.bytes / typesize);
        let shuffled =
            self.header.block_filter(self.bytes) == Filter::Bytes && self.bytes.is_multiple_of(typesize);
        if !shuffled || !(2..=MAX_SPLITS).contains(&typesize) || parts.first() == Some(&(0..self.bytes)) {
            return None;
        }
        let elements = |part: &Range<usize>| part.start / typesize..part.end.div_ceil(typesize);
        let last = parts.iter().map(|part| elements(part).end).max().unwrap_or(0);
        let splits = self.count == typesize;
        let target = if splits { last } else { (typesize - 1) * count + last };
        let mut found: [&[u8]; MAX_SPLITS] = [&[]; MAX_SPLITS];
        if let Err(error) = scratch.prepare(Filter::Bytes, self.bytes) {
            return Some(Err(error));
        }
        let room = sized(&mut scratch.block, self.bytes);
        let streams = &self.streams[..self.count];
        for ((stream, out), found) in streams.iter().zip(room.chunks_exact_mut(each)).zip(&mut found) {
            if stream.len() == each {
                *found = stream;
                continue;
            }
            let done = if self.header.format == LZ4 {
                let lost = |_| corrupt(format!("invalid lz4 stream for {target} of {each} bytes"));
                block::decode_to(stream, out, target).map_err(lost)
            } else {
                scratch.states.decompress(self.header.format, stream, out)
            };
            if let Err(error) = done {
                return Some(Err(error));
            }
            *found = out;
        }
        for part in parts {
            let part = elements(part);
            let mut planes: [&[u8]; MAX_SPLITS] = [&[]; MAX_SPLITS];
            for (i, plane) in planes[..typesize].iter_mut().enumerate() {
                let from = if splits { found[i] } else { &found[0][i * count..] };
                *plane = &from[part.clone()];
            }
            unshuffle_planes(&planes[..typesize], &mut out[part.start * typesize..part.end * typesize]);
        }
        Some(Ok(()))
    }

    fn decode(&self, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let typesize = self.header.typesize;
        let filter = self.header.block_filter(self.bytes);
        let each = self.bytes / self.count;
        scratch.prepare(filter, self.bytes)?;
        let Scratch { block, planes: bits, states, .. } = scratch;
        let streams = &self.streams[..self.count];
        if filter == Filter::None {
            for (stream, out) in streams.iter().zip(out.chunks_exact_mut(each)) {
                if stream.len() == each {
                    out.copy_from_slice(stream);
                } else {
                    states.decompress(self.header.format, stream, out)?;
                }
            }
            return Ok(());
        }
        let mut planes: [&[u8]; MAX_SPLITS] = [&[]; MAX_SPLITS];
        let block = sized(block, self.bytes);
        let in_place = filter == Filter::Bytes || self.count == 1;
        for ((stream, out), plane) in streams.iter().zip(block.chunks_exact_mut(each)).zip(&mut planes) {
            if stream.len() != each {
                states.decompress(self.header.format, stream, out)?;
                *plane = out;
            } else if in_place {
                *plane = stream;
            } else {
                out.copy_from_slice(stream);
            }
        }
        match filter {
            Filter::Bytes if self.count > 1 => unshuffle_planes(&planes[..self.count], out),
            Filter::Bytes => unshuffle(typesize, planes[0], out),
            _ if self.count == 1 => bitunshuffle(typesize, planes[0], out, bits),
            _ => bitunshuffle(typesize, block, out, bits),
        }
        Ok(())
    }
}

/// The 32-bit length or offset at `at`.
fn offset(input: Window<'_>, at: usize) -> Result<usize> {
    let four = input.get(at..at.saturating_add(4)).and_then(|bytes| int(bytes, 0));
    let number = four.ok_or_else(|| truncated(at.saturating_add(4), input.len()))?;
    usize::try_from(number).map_err(|_| corrupt(format!("negative size {number} at byte {at}")))
}
