//! Encoding: block by block, shuffled into a scratch that stays in cache and compressed from there into the frame.

use super::header::{HEADER, Header, MAX_DECODED, MAX_SPLITS, MIN_BUFFER};
use super::scratch::{Scratch, with_scratch};
use super::{BloscConfig, Compressor, Filter};
use crate::shuffle::{bitshuffle, shuffle, sized};
use crate::{CodecError, Result};

/// C-Blosc's idea of a first-level cache, from which it derives block sizes.
const L1: usize = 32 << 10;
/// C-Blosc's largest block.
const MAX_BLOCK: usize = (i32::MAX as usize - 255 * 4) / 3;

/// Appends the frame of `input` to `out`: at most [`HEADER`] bytes more than `input` has.
pub(super) fn encode(config: &BloscConfig, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if input.len() > MAX_DECODED {
        let reason = format!("{} bytes in one chunk; Blosc holds at most {MAX_DECODED}", input.len());
        return Err(CodecError::Encode { codec: "blosc".into(), reason });
    }
    let blocksize = blocksize(config, input.len());
    let mut header = Header {
        stored: false,
        filter: config.filter,
        split: splits(config.compressor, config.frame_typesize(), blocksize),
        format: config.compressor.format(),
        typesize: config.frame_typesize(),
        nbytes: input.len(),
        blocksize,
        cbytes: 0,
    };
    let start = out.len();
    out.reserve(input.len() + HEADER);
    if config.level > 0 && input.len() >= MIN_BUFFER {
        let fits = with_scratch(|scratch| {
            let mut encoder = Encoder { config, header: &header, input, start, scratch };
            encoder.blocks(out)
        });
        if fits.is_some() {
            header.cbytes = out.len() - start;
            out[start..start + HEADER].copy_from_slice(&header.bytes());
            return Ok(());
        }
        out.truncate(start);
    }
    header.stored = true;
    header.cbytes = input.len() + HEADER;
    out.extend_from_slice(&header.bytes());
    out.extend_from_slice(input);
    Ok(())
}

struct Encoder<'a> {
    config: &'a BloscConfig,
    header: &'a Header,
    input: &'a [u8],
    /// Where in the output the frame starts.
    start: usize,
    scratch: &'a mut Scratch,
}

impl Encoder<'_> {
    /// Appends header space, block offsets and blocks; `None` when the frame would be larger than storing the data.
    fn blocks(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let first = self.start + HEADER + 4 * self.header.blocks();
        out.resize(first, 0);
        let mut blocks = self.input.chunks(self.header.blocksize).enumerate();
        // Once the first block has not compressed, the others are only tried until one does. So data that do not
        // compress at all are copied once, by the caller.
        if self.header.block_filter(self.header.blocksize) == Filter::None && self.header.blocks() > 1 {
            let block = &self.input[..self.header.blocksize];
            self.block(block, out)?;
            if out.len() - first < block.len() {
                self.start_block(0, first, out);
                blocks.next();
            } else {
                out.truncate(first);
                self.input
                    .chunks(self.header.blocksize)
                    .skip(1)
                    .position(|block| self.compresses(block, out))?;
            }
        }
        for (index, block) in blocks {
            self.start_block(index, out.len(), out);
            self.block(block, out)?;
        }
        Some(())
    }

    /// Notes that block `index` starts where `out` has `at` bytes.
    fn start_block(&self, index: usize, at: usize, out: &mut [u8]) {
        let place = self.start + HEADER + 4 * index;
        out[place..place + 4].copy_from_slice(&((at - self.start) as u32).to_le_bytes());
    }

    /// Whether any stream of an unfiltered block gets smaller.
    fn compresses(&mut self, block: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        block.chunks_exact(block.len() / self.header.streams(block.len())).any(|bytes| {
            let tools = (&mut self.scratch.states, &mut self.scratch.stream);
            let len = self.config.compressor.compress(self.config.level, bytes, out, bytes.len() - 1, tools);
            out.truncate(start);
            len.is_some()
        })
    }

    /// Appends one block; `None` when that would take more than storing the data.
    fn block(&mut self, block: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let typesize = self.header.typesize;
        let Scratch { block: shuffled, planes, stream, states } = &mut *self.scratch;
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
            let room = (self.start + self.input.len() + HEADER).checked_sub(out.len() + 4)?;
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

/// The block size: the one asked for, or else C-Blosc's choice for this level, compressor and element size.
fn blocksize(config: &BloscConfig, nbytes: usize) -> usize {
    let typesize = config.frame_typesize();
    if nbytes < typesize {
        return nbytes.max(1);
    }
    let mut size = nbytes;
    if config.blocksize > 0 {
        size = config.blocksize.clamp(MIN_BUFFER, MAX_BLOCK);
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
