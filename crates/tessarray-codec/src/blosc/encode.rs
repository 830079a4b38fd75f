//! Encoding: block by block, shuffled into a scratch that stays in cache and compressed from there into the frame.

use super::checksum::{self, GAP};
use super::header::{HEADER, Header, MAX_DECODED, MAX_SPLITS, MIN_BUFFER};
use super::scratch::{Scratch, ready, with_scratch};
use super::{BloscConfig, Compressor, Filter, raw};
use crate::crc32c::crc32c_append;
use crate::shuffle::{bitshuffle, shuffle, sized};
use crate::{CodecError, Pieces, Result};
use std::ops::Range;

/// C-Blosc's idea of a first-level cache, from which it derives block sizes.
const L1: usize = 32 << 10;
/// C-Blosc's largest block.
const MAX_BLOCK: usize = (i32::MAX as usize - 255 * 4) / 3;

/// The largest decoded size of a frame with a checksum.
const MAX_CHECKED: usize = MAX_DECODED - 256;

/// Appends the frame of `input` to `out`, with a checksum inside or without.
pub(super) fn encode(
    config: &BloscConfig,
    checksum: bool,
    input: &dyn Pieces,
    out: &mut Vec<u8>,
) -> Result<()> {
    let nbytes = input.len();
    let limit = if checksum { MAX_CHECKED } else { MAX_DECODED };
    if nbytes > limit {
        let reason = format!("{nbytes} bytes in one chunk; Blosc holds at most {limit}");
        return Err(CodecError::Encode { codec: "blosc".into(), reason });
    }
    let mut header = header_of(config, nbytes);
    let start = out.len();
    // Nothing to protect: the header of an empty frame says it all.
    let raw = (checksum && nbytes > 0).then(|| raw::header(&header));
    crate::room::reserve(out, raw.map_or(nbytes + HEADER, |raw| raw.cbytes))?;
    let (stored, sum) = with_scratch(|scratch| -> Result<(bool, u32)> {
        let mut encoder = Encoder { config, header: &header, raw, input, start, scratch, sum: 0 };
        if config.level == 0 || nbytes < MIN_BUFFER {
            encoder.store(out, false);
            return Ok((true, encoder.sum));
        }
        encoder.prepare()?;
        // Where the first block does not compress, and is not shuffled, the data are stored while the other blocks are
        // tried, until one does: so data that do not compress at all are copied once.
        let doubtful = header.block_filter(header.blocksize) == Filter::None && header.blocks() > 1;
        if encoder.blocks(out, doubtful).is_some() {
            return Ok((false, encoder.sum));
        }
        if encoder.store(out, doubtful) {
            return Ok((true, encoder.sum));
        }
        let stored = encoder.blocks(out, false).is_none();
        if stored {
            encoder.store(out, false);
        }
        Ok((stored, encoder.sum))
    })?;
    match raw {
        Some(raw) if stored => header = raw,
        _ => header.stored = stored,
    }
    header.cbytes = out.len() - start;
    let frame = &mut out[start..];
    frame[..HEADER].copy_from_slice(&header.bytes());
    if raw.is_some() {
        let table = header.table_end();
        checksum::mark(frame, table, sum, header.cbytes - table - GAP);
    }
    Ok(())
}

/// What comes before the data in a frame that holds `input` as it is, where that is how it would be encoded. Says so of data
/// that are not shuffled only: of others, it takes as long to know as to encode them. `runs` are the same bytes as `input`.
pub(super) fn stored_head(
    config: &BloscConfig,
    checksum: bool,
    input: &dyn Pieces,
    runs: &[&[u8]],
) -> Option<Vec<u8>> {
    if input.len() > if checksum { MAX_CHECKED } else { MAX_DECODED } {
        return None;
    }
    let mut header = header_of(config, input.len());
    let raw = (checksum && !input.is_empty()).then(|| raw::header(&header));
    let sum = if config.level == 0 || input.len() < MIN_BUFFER {
        raw.map_or(0, |_| runs.iter().fold(0, |sum, run| crc32c_append(sum, run)))
    } else if header.block_filter(header.blocksize) == Filter::None {
        with_scratch(|scratch| {
            let mut gathered = std::mem::take(&mut scratch.gathered);
            let mut encoder = Encoder { config, header: &header, raw, input, start: 0, scratch, sum: 0 };
            let whole = input.whole(encoder.range(0)).is_some();
            let roomy = whole || ready(&mut gathered, header.blocksize).is_ok();
            let stored = roomy
                && (0..header.blocks()).all(|index| {
                    let block = input.get(encoder.range(index), &mut gathered);
                    // First, since it reads all of the block in order: then the trial finds it in the cache.
                    encoder.add(block);
                    !encoder.compresses(block)
                });
            encoder.scratch.gathered = gathered;
            stored.then_some(encoder.sum)
        })?
    } else {
        return None;
    };
    if let Some(raw) = raw {
        return raw::head_of(&raw, sum);
    }
    header.stored = true;
    header.cbytes = input.len() + HEADER;
    Some(header.bytes().to_vec())
}

/// The header of a frame of `nbytes` that is not made yet.
fn header_of(config: &BloscConfig, nbytes: usize) -> Header {
    let blocksize = blocksize(config, nbytes);
    Header {
        stored: false,
        filter: config.filter,
        split: splits(config.compressor, config.frame_typesize(), blocksize),
        format: config.compressor.format(),
        typesize: config.frame_typesize(),
        nbytes,
        blocksize,
        cbytes: 0,
    }
}

struct Encoder<'a> {
    config: &'a BloscConfig,
    header: &'a Header,
    /// The header of a frame that stores the data, where frames have checksums.
    raw: Option<Header>,
    input: &'a dyn Pieces,
    /// Where in the output the frame starts.
    start: usize,
    scratch: &'a mut Scratch,
    /// The checksum of the blocks so far, where frames have checksums: each is added while it is in the cache.
    sum: u32,
}

impl Encoder<'_> {
    /// Adds bytes that follow to the checksum.
    fn add(&mut self, bytes: &[u8]) {
        if self.raw.is_some() {
            self.sum = crc32c_append(self.sum, bytes);
        }
    }

    /// Appends header space, block offsets and blocks; `None` when the frame would be larger than storing the data, or, with
    /// `doubtful`, where the first block does not get smaller.
    fn blocks(&mut self, out: &mut Vec<u8>, doubtful: bool) -> Option<()> {
        out.truncate(self.start);
        let first = self.start + self.header.table_end() + if self.raw.is_some() { GAP } else { 0 };
        out.resize(first, 0);
        self.sum = 0;
        let mut gathered = std::mem::take(&mut self.scratch.gathered);
        let done = (0..self.header.blocks()).try_for_each(|index| {
            let at = out.len();
            self.start_block(index, at, out);
            let block = self.input.get(self.range(index), &mut gathered);
            self.block(block, out)?;
            self.add(&out[at..]);
            (index > 0 || !doubtful || out.len() - first < block.len()).then_some(())
        });
        self.scratch.gathered = gathered;
        done
    }

    /// Makes room for what is needed beside the output.
    fn prepare(&mut self) -> Result<()> {
        let bytes = self.header.blocksize;
        let filter = self.header.block_filter(bytes);
        self.scratch.prepare(filter, bytes)?;
        if filter == Filter::None {
            ready(&mut self.scratch.planes, bytes)?;
        }
        if self.input.whole(self.range(0)).is_none() {
            ready(&mut self.scratch.gathered, bytes)?;
        }
        ready(&mut self.scratch.stream, self.config.compressor.stream_room(bytes))
    }

    /// Where block `index` lies in the data.
    fn range(&self, index: usize) -> Range<usize> {
        let begin = index * self.header.blocksize;
        begin..begin + self.header.block_bytes(index)
    }

    /// Appends header space and the data as they are. With `trying`, until a block after the first turns out to compress:
    /// then `false`.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a frame has less than 2 GiB, as its header's fields"
    )]
    fn store(&mut self, out: &mut Vec<u8>, trying: bool) -> bool {
        out.truncate(self.start);
        self.sum = 0;
        match &self.raw {
            Some(raw) => out.extend_from_slice(&raw::head(raw)),
            None => out.resize(self.start + HEADER, 0),
        }
        let nbytes = self.header.nbytes;
        // Block by block, so that trial and checksum find in the cache what was copied.
        let step = if trying || self.raw.is_some() { self.header.blocksize } else { nbytes.max(1) };
        (0..nbytes).step_by(step).all(|begin| {
            if let Some(raw) = self.raw
                && begin.is_multiple_of(raw.blocksize)
            {
                let bytes = raw.block_bytes(begin / raw.blocksize) as u32;
                out.extend_from_slice(&bytes.to_le_bytes());
                self.add(&bytes.to_le_bytes());
            }
            let at = out.len();
            self.input.append(begin..nbytes.min(begin + step), out);
            self.add(&out[at..]);
            !trying || begin == 0 || !self.compresses(&out[at..])
        })
    }

    /// The bytes that a frame of blocks may take.
    fn most(&self) -> usize {
        // One byte less than a stored frame where it has a checksum: so no flag alone makes it one, and hides the checksum.
        self.header.nbytes + HEADER - usize::from(self.raw.is_some())
    }

    /// Notes that block `index` starts where `out` has `at` bytes.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a frame has less than 2 GiB, as its header's fields"
    )]
    fn start_block(&self, index: usize, at: usize, out: &mut [u8]) {
        let place = self.start + HEADER + 4 * index;
        out[place..place + 4].copy_from_slice(&((at - self.start) as u32).to_le_bytes());
    }

    /// Whether any stream of an unfiltered block gets smaller: tried in the room for planes, which such blocks have no use for.
    /// Without memory for the trial it is taken to: who encodes it then finds out, and says so.
    fn compresses(&mut self, block: &[u8]) -> bool {
        let Scratch { states, stream, planes: room, .. } = &mut *self.scratch;
        block.chunks_exact(block.len() / self.header.streams(block.len())).any(|bytes| {
            room.clear();
            if room.try_reserve(bytes.len()).is_err() {
                return true;
            }
            let tools = (&mut *states, &mut *stream);
            self.config.compressor.compress(self.config.level, bytes, room, bytes.len() - 1, tools).is_some()
        })
    }

    /// Appends one block; `None` when that would take more than storing the data.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a frame has less than 2 GiB, as its header's fields"
    )]
    fn block(&mut self, block: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (typesize, most) = (self.header.typesize, self.most());
        let Scratch { block: shuffled, planes, stream, states, .. } = &mut *self.scratch;
        let filtered = match self.header.block_filter(block.len()) {
            Filter::None => block,
            Filter::Bytes => {
                shuffle(typesize, block, sized(shuffled, block.len()));
                &shuffled[..block.len()]
            }
            Filter::Bits => {
                bitshuffle(typesize, block, sized(shuffled, block.len()), planes);
                &shuffled[..block.len()]
            }
        };
        let streams = self.header.streams(block.len());
        for bytes in filtered.chunks_exact(block.len() / streams) {
            let room = (self.start + most).checked_sub(out.len() + 4)?;
            let place = out.len();
            out.extend_from_slice(&[0; 4]);
            // A stream of the full length would read as a stored one.
            let max = room.min(bytes.len() - 1);
            let tools = (&mut *states, &mut *stream);
            let len = match self.config.compressor.compress(self.config.level, bytes, out, max, tools) {
                Some(len) => len,
                None if bytes.len() <= room => {
                    out.extend_from_slice(bytes);
                    bytes.len()
                }
                None => return None,
            };
            out[place..place + 4].copy_from_slice(&(len as u32).to_le_bytes());
        }
        Some(())
    }
}

/// Whether blocks are split into one stream for each byte of an element, as C-Blosc decides for readers of any age.
fn splits(compressor: Compressor, typesize: usize, blocksize: usize) -> bool {
    compressor != Compressor::Zstd && typesize <= MAX_SPLITS && blocksize / typesize >= MIN_BUFFER
}

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes of a stream of the fast compressors up to level 5, at most.
pub(super) const STREAM: usize = 8 << 10;

/// The block size: the one asked for, or else C-Blosc's choice for this level, compressor and element size. But of elements
/// of several bytes the fast compressors get streams of [`STREAM`] up to level 5: a small read has to decode one for each
/// byte of an element, and longer ones gain little (see docs/performance.md).
pub(super) fn blocksize(config: &BloscConfig, nbytes: usize) -> usize {
    let typesize = config.frame_typesize();
    if nbytes < typesize {
        return nbytes.max(1);
    }
    let mut size = nbytes;
    if config.blocksize > 0 {
        size = config.blocksize.clamp(MIN_BUFFER, MAX_BLOCK);
    } else if has_short_streams(config) {
        return even(nbytes, STREAM * typesize, typesize);
    } else if nbytes >= L1 {
        size = if config.compressor.is_slow() { 2 * L1 } else { L1 };
        match config.level {
            0 => size /= 4,
            1 => size /= 2,
            2 => {}
            3 => size *= 2,
            4 | 5 => size *= 4,
            9 if config.compressor.is_slow() => size *= 16,
            _ => size *= 8,
        }
    }
    if config.level > 0 && splits(config.compressor, typesize, size) {
        size = (size.min(1 << 18) * typesize).clamp(1 << 16, 1 << 20);
    }
    size = size.min(nbytes);
    if size > typesize { size / typesize * typesize } else { size }
}

/// Whether blocks are of the engine's own size, where none is asked for.
pub(super) fn has_short_streams(config: &BloscConfig) -> bool {
    let typesize = config.frame_typesize();
    (1..=5).contains(&config.level) && !config.compressor.is_slow() && (2..=MAX_SPLITS).contains(&typesize)
}

/// A block size of at most `most` that divides `nbytes` without a rest, if one more than half of that does: the last block
/// of a frame is not split where it is shorter. If one of whole cache lines for each byte of an element does, that.
fn even(nbytes: usize, most: usize, typesize: usize) -> usize {
    let elements = nbytes / typesize;
    let fewest = nbytes.div_ceil(most);
    let divides = |unit: usize| {
        let whole = nbytes.is_multiple_of(typesize * unit);
        (fewest..2 * fewest).find(|blocks| whole && (elements / unit).is_multiple_of(*blocks))
    };
    let blocks = divides(LINE).or_else(|| divides(1));
    blocks.map_or(most.min(elements * typesize), |blocks| nbytes / blocks)
}
