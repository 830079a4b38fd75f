//! `gzip` and `zlib`: deflate streams in their two wrappings, by libdeflate.
//!
//! A gzip chunk may be several members after one another (RFC 1952, 2.2); a zlib chunk is one stream. Bytes after the
//! last are an error. Both wrappings end in a checksum of the decoded bytes.

mod ffi;

use crate::config::Settings;
use crate::grow::{Attempt, decode_growing};
use crate::registry::register_all;
use crate::{AnyCodec, BytesCodec, EncodedSize, NamedConfig, Registry, Result, fail};
use ffi::{Member, Wrapping, decode_member};
use libdeflater::{CompressionLvl, Compressor};
use std::cell::RefCell;
use std::sync::Arc;

#[derive(Debug)]
struct Deflate {
    wrapping: Wrapping,
    level: i32,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["gzip", "numcodecs.gzip"], |config, _| build(config, Wrapping::Gzip));
    register_all(registry, &["zlib", "numcodecs.zlib"], |config, _| build(config, Wrapping::Zlib));
}

fn build(config: &NamedConfig, wrapping: Wrapping) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["level"])?;
    let level =
        settings.encoder_int("level", -1..=9)?.unwrap_or(if wrapping == Wrapping::Gzip { 5 } else { 1 });
    Ok(AnyCodec::Bytes(Arc::new(Deflate { wrapping, level: i32::try_from(level).unwrap_or(6) })))
}

thread_local! {
    /// The last compressor and its level; making one costs about as much as compressing a small chunk.
    static COMPRESSOR: RefCell<Option<(i32, Compressor)>> = const { RefCell::new(None) };
}

impl Deflate {
    fn name(&self) -> &'static str {
        match self.wrapping {
            Wrapping::Gzip => "gzip",
            Wrapping::Zlib => "zlib",
        }
    }

    /// Decodes all members of `input` to the start of `out`.
    fn decode_all(&self, input: &[u8], out: &mut [u8]) -> Result<Attempt> {
        let (mut taken, mut done) = (0usize, 0usize);
        loop {
            let (rest, room) = (input.get(taken..).unwrap_or(&[]), out.get_mut(done..).unwrap_or(&mut []));
            match decode_member(self.wrapping, rest, room)? {
                Member::Whole { read, written } => {
                    taken = taken.saturating_add(read);
                    done = done.saturating_add(written);
                }
                Member::TooSmall => return Ok(Attempt::TooSmall),
                Member::Bad => {
                    let reason =
                        format!("invalid or truncated data in the {} bytes from byte {taken}", rest.len());
                    return Err(fail::corrupt(self.name(), reason));
                }
            }
            match input.len().saturating_sub(taken) {
                0 => return Ok(Attempt::Done(done)),
                _ if self.wrapping == Wrapping::Gzip => {}
                extra => return Err(fail::corrupt(self.name(), format!("{extra} bytes after the end"))),
            }
        }
    }

    fn compress(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        // zlib's "default" is 6.
        let level = if self.level < 0 { 6 } else { self.level };
        COMPRESSOR.with_borrow_mut(|slot| {
            let compressor = match slot {
                Some((at, compressor)) if *at == level => compressor,
                _ => {
                    let lvl = CompressionLvl::new(level)
                        .map_err(|_| fail::encode(self.name(), format!("no level {level}")))?;
                    &mut slot.insert((level, Compressor::new(lvl))).1
                }
            };
            let start = out.len();
            let bound = match self.wrapping {
                Wrapping::Gzip => compressor.gzip_compress_bound(input.len()),
                Wrapping::Zlib => compressor.zlib_compress_bound(input.len()),
            };
            crate::room::grow(out, bound)?;
            let room = out.get_mut(start..).unwrap_or(&mut []);
            let result = match self.wrapping {
                Wrapping::Gzip => compressor.gzip_compress(input, room),
                Wrapping::Zlib => compressor.zlib_compress(input, room),
            };
            out.truncate(start.saturating_add(*result.as_ref().unwrap_or(&0)));
            result.map(drop).map_err(|error| fail::encode(self.name(), error.to_string()))
        })
    }
}

/// libdeflate's bound for any level: stored blocks of at least 5,000 bytes with 5 bytes of header each, and the
/// wrapping's own header and footer.
fn bound(n: usize) -> usize {
    (n / 5_000).saturating_add(2).saturating_mul(5).saturating_add(n).saturating_add(32)
}

impl BytesCodec for Deflate {
    fn config(&self) -> NamedConfig {
        let name = if self.wrapping == Wrapping::Gzip { "gzip" } else { "numcodecs.zlib" };
        NamedConfig::new(name).with("level", self.level)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::AtMost(bound(decoded))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.compress(input, out)
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        match self.decode_all(input, out)? {
            Attempt::Done(n) => fail::check_len(self.name(), out.len(), n),
            Attempt::TooSmall => Err(fail::too_large(self.name(), out.len())),
        }
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        decode_growing(input.len(), limit, out, |buffer| self.decode_all(input, buffer))?
            .ok_or_else(|| fail::too_large(self.name(), limit))
    }
}

#[cfg(test)]
mod tests;
