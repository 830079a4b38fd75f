//! The compressors a block's streams can be in.

use super::lz4::{self, Effort};
use super::{blosclz, corrupt};
use crate::lz4::block;
use crate::shuffle::sized;
use crate::{CodecError, Result};
use libdeflater::{CompressionLvl, Decompressor};
use zstd_safe::{CCtx, DCtx};

/// A compressor inside Blosc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compressor {
    /// Blosc's own, of the FastLZ family.
    Blosclz,
    /// The reference LZ4 to write, our decoder to read.
    Lz4,
    /// LZ4 with a slower search: smaller, and as fast to read.
    Lz4hc,
    /// Google's Snappy; C-Blosc is seldom built with it.
    Snappy,
    /// Deflate with zlib's header and checksum.
    Zlib,
    /// Zstandard.
    Zstd,
}

/// What the slow compressors keep between calls.
#[derive(Default)]
pub(super) struct States {
    blosclz: blosclz::Table,
    zstd: Option<CCtx<'static>>,
    zstd_decoder: Option<DCtx<'static>>,
    zlib: Option<(u8, libdeflater::Compressor)>,
    zlib_decoder: Option<Decompressor>,
}

impl Compressor {
    pub(super) const NAMES: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

    /// The `cname` in metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4hc => "lz4hc",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The compressor of this `cname`.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Blosclz, Self::Lz4, Self::Lz4hc, Self::Snappy, Self::Zlib, Self::Zstd]
            .into_iter()
            .find(|compressor| compressor.name() == name)
    }

    /// Its number in the format.
    pub(super) fn format(self) -> u8 {
        match self {
            Self::Blosclz => 0,
            Self::Lz4 | Self::Lz4hc => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
        }
    }

    /// Whether it is meant for small output rather than speed, and gets larger blocks.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Self::Lz4hc | Self::Zlib | Self::Zstd)
    }

    /// The bytes that it needs for a stream beside the frame, of at most `bytes` before it is compressed.
    pub(super) fn stream_room(self, bytes: usize) -> usize {
        match self {
            Self::Lz4 | Self::Lz4hc => 0,
            Self::Snappy => snap::raw::max_compress_len(bytes),
            Self::Blosclz | Self::Zlib | Self::Zstd => bytes,
        }
    }

    /// Appends the compressed `src` to `out`, if it takes at most `max` bytes; `out` has the capacity for them.
    pub(super) fn compress(
        self,
        level: u8,
        src: &[u8],
        out: &mut Vec<u8>,
        max: usize,
        (states, stream): (&mut States, &mut Vec<u8>),
    ) -> Option<usize> {
        let written = match self {
            Self::Lz4 => {
                let acceleration = 10u8.saturating_sub(level).max(1);
                return lz4::compress_append(src, out, max, Effort::Fast { acceleration });
            }
            Self::Lz4hc => return lz4::compress_append(src, out, max, Effort::High { level }),
            Self::Blosclz => blosclz::compress(level, src, sized(stream, max), &mut states.blosclz),
            Self::Snappy => {
                let stream = sized(stream, snap::raw::max_compress_len(src.len()));
                snap::raw::Encoder::new().compress(src, stream).ok()
            }
            Self::Zlib => {
                let (_, compressor) = match &mut states.zlib {
                    Some(state) if state.0 == level => state,
                    slot => {
                        // libdeflate's first level is weaker than zlib's, and its last of one kind is 9.
                        let level_of = CompressionLvl::new((i32::from(level) + 1).min(9)).unwrap_or_default();
                        slot.insert((level, libdeflater::Compressor::new(level_of)))
                    }
                };
                compressor.zlib_compress(src, sized(stream, max)).ok()
            }
            Self::Zstd => {
                let level = match level {
                    9.. => zstd_safe::max_c_level(),
                    8 => zstd_safe::max_c_level() - 2,
                    _ => i32::from(level) * 2 - 1,
                };
                let context = match &mut states.zstd {
                    Some(context) => context,
                    slot => slot.insert(CCtx::try_create()?),
                };
                context.compress(sized(stream, max), src, level).ok()
            }
        };
        let written = written.filter(|&n| n > 0 && n <= max)?;
        out.extend_from_slice(&stream[..written]);
        Some(written)
    }
}

impl States {
    /// Decompresses `src`, a stream of the compressor with this number, into exactly `dst`.
    pub fn decompress(&mut self, format: u8, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let (name, written) = match format {
            0 => ("blosclz", blosclz::decompress(src, dst)),
            1 => ("lz4", block::decode(src, dst).ok().map(|()| dst.len())),
            2 => ("snappy", snap::raw::Decoder::new().decompress(src, dst).ok()),
            3 => {
                let decoder = self.zlib_decoder.get_or_insert_with(Decompressor::new);
                ("zlib", decoder.zlib_decompress(src, dst).ok())
            }
            4 => {
                let decoder = match &mut self.zstd_decoder {
                    Some(decoder) => decoder,
                    slot => slot.insert(DCtx::try_create().ok_or_else(|| corrupt("zstd: out of memory"))?),
                };
                ("zstd", decoder.decompress(&mut *dst, src).ok())
            }
            _ => return Err(unknown(format)),
        };
        match written {
            Some(n) if n == dst.len() => Ok(()),
            Some(n) => Err(corrupt(format!("{name} stream decodes to {n} bytes, expected {}", dst.len()))),
            None => Err(corrupt(format!("invalid {name} stream for {} bytes", dst.len()))),
        }
    }
}

/// The most that `encoded` bytes of the compressor with this number can decode to.
pub(super) fn max_decoded(format: u8, encoded: usize) -> Result<usize> {
    let ratio = match format {
        // One length byte stands for up to 255 bytes.
        0 | 1 => 255,
        // 64 bytes from a 3-byte copy.
        2 => 32,
        // 258 bytes from two one-bit codes.
        3 => 1032,
        // 128 KiB from a 4-byte block.
        4 => 1 << 15,
        _ => return Err(unknown(format)),
    };
    Ok(encoded.saturating_mul(ratio).saturating_add(64))
}

fn unknown(format: u8) -> CodecError {
    corrupt(format!("unknown compressor number {format}"))
}
