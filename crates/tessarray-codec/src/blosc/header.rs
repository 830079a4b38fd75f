//! The frame's 16-byte header: written once, and read as something that may lie.

use super::{Filter, corrupt, truncated};
use crate::Result;

/// Bytes of the header, and the most that a frame without a checksum is longer than its data.
pub(super) const HEADER: usize = 16;
/// The largest decoded size of a frame without a checksum.
pub(super) const MAX_DECODED: usize = i32::MAX as usize - HEADER;
/// Element sizes above this are not split.
pub(super) const MAX_SPLITS: usize = 16;
/// Data, and split streams, shorter than this are not worth compressing.
pub(super) const MIN_BUFFER: usize = 128;

const FORMAT_VERSION: u8 = 2;
const COMPRESSOR_VERSION: u8 = 1;
const SHUFFLED: u8 = 0x01;
const STORED: u8 = 0x02;
const BIT_SHUFFLED: u8 = 0x04;
const RESERVED: u8 = 0x08;
const NOT_SPLIT: u8 = 0x10;

/// A checked header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub stored: bool,
    pub filter: Filter,
    pub split: bool,
    /// The compressor's number in the format: lz4hc has lz4's.
    pub format: u8,
    /// 1 to 255.
    pub typesize: usize,
    /// Decoded size of the frame.
    pub nbytes: usize,
    /// Decoded size of a block, at least 1 and, where there are data, at most `nbytes`.
    pub blocksize: usize,
    /// Size of the frame.
    pub cbytes: usize,
}

impl Header {
    /// Reads the header of `input`, which is exactly one frame.
    pub fn read(input: &[u8], len: usize) -> Result<Self> {
        let Some((head, _)) = input.split_first_chunk::<HEADER>() else {
            return Err(truncated(HEADER, len));
        };
        let [version, compressor_version, flags, typesize, sizes @ ..] = *head;
        if version != FORMAT_VERSION {
            return Err(corrupt(format!("format version {version}, expected {FORMAT_VERSION}")));
        }
        if flags & RESERVED != 0 {
            return Err(corrupt(format!("unknown flag in {flags:#04x}")));
        }
        let stored = flags & STORED != 0;
        if !stored && compressor_version != COMPRESSOR_VERSION {
            return Err(corrupt(format!(
                "compressor version {compressor_version}, expected {COMPRESSOR_VERSION}"
            )));
        }
        if typesize == 0 {
            return Err(corrupt("element size 0"));
        }
        let size = |at: usize, name: &str| {
            let number = int(&sizes, at).unwrap_or(-1);
            usize::try_from(number).map_err(|_| corrupt(format!("{name} {number}")))
        };
        let (nbytes, blocksize, cbytes) =
            (size(0, "decoded size")?, size(4, "block size")?, size(8, "frame size")?);
        if cbytes > len {
            return Err(truncated(cbytes, len));
        }
        if cbytes < len {
            return Err(corrupt(format!("frame of {cbytes} bytes in {}", len)));
        }
        if nbytes > 0 && (blocksize == 0 || blocksize > nbytes) {
            return Err(corrupt(format!("block size {blocksize} in a frame of {nbytes} bytes")));
        }
        let filter = match (flags & SHUFFLED != 0, flags & BIT_SHUFFLED != 0) {
            (true, _) if typesize > 1 => Filter::Bytes,
            (_, true) => Filter::Bits,
            _ => Filter::None,
        };
        let header = Self {
            stored,
            filter,
            split: flags & NOT_SPLIT == 0,
            format: flags >> 5,
            typesize: typesize.into(),
            nbytes,
            blocksize: blocksize.max(1),
            cbytes,
        };
        if stored {
            if nbytes + HEADER != cbytes {
                return Err(corrupt(format!("{nbytes} stored bytes in a frame of {cbytes}")));
            }
        } else if nbytes > 0 && header.blocks() > (cbytes - HEADER) / 4 {
            return Err(truncated(HEADER + 4 * header.blocks(), cbytes));
        }
        Ok(header)
    }

    /// The header's bytes. `nbytes`, `blocksize` and `cbytes` must have been checked to fit.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a frame has less than 2 GiB, as its header's fields, and elements at most 255 bytes"
    )]
    pub fn bytes(&self) -> [u8; HEADER] {
        let mut flags = self.format << 5;
        flags |= if self.stored { STORED } else { 0 };
        flags |= if self.split { 0 } else { NOT_SPLIT };
        flags |= match self.filter {
            Filter::None => 0,
            Filter::Bytes => SHUFFLED,
            Filter::Bits => BIT_SHUFFLED,
        };
        let mut out = [0; HEADER];
        out[..4].copy_from_slice(&[FORMAT_VERSION, COMPRESSOR_VERSION, flags, self.typesize as u8]);
        for (place, size) in out[4..].chunks_exact_mut(4).zip([self.nbytes, self.blocksize, self.cbytes]) {
            place.copy_from_slice(&(size as u32).to_le_bytes());
        }
        out
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.nbytes.div_ceil(self.blocksize)
    }

    /// Where the table of block offsets ends, if the frame has one.
    pub fn table_end(&self) -> usize {
        HEADER + 4 * self.blocks()
    }

    /// Decoded bytes of block `index`, 0 beyond the last.
    pub fn block_bytes(&self, index: usize) -> usize {
        self.nbytes.saturating_sub(index.saturating_mul(self.blocksize)).min(self.blocksize)
    }

    /// Streams of a block that decodes to `bytes`.
    pub fn streams(&self, bytes: usize) -> usize {
        // The sizes are asked again since frames of before the flag's time leave it unset.
        let worth = self.typesize <= MAX_SPLITS && self.blocksize / self.typesize >= MIN_BUFFER;
        if self.split && worth && bytes == self.blocksize { self.typesize } else { 1 }
    }

    /// The filter of a block that decodes to `bytes`.
    pub fn block_filter(&self, bytes: usize) -> Filter {
        match self.filter {
            Filter::Bytes if self.typesize == 1 => Filter::None,
            Filter::Bits if bytes < self.typesize => Filter::None,
            filter => filter,
        }
    }
}

/// The 32-bit integer at `at`.
pub(super) fn int(bytes: &[u8], at: usize) -> Option<i32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(i32::from_le_bytes(*four))
}
