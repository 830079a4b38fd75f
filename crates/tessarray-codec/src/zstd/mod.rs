//! `zstd`: Zstandard frames, by the reference C library with one context a thread.

use crate::config::Settings;
use crate::grow::{Attempt, decode_growing};
use crate::list::register_all;
use crate::{AnyCodec, BytesCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, fail};
use std::cell::RefCell;
use std::sync::Arc;
use zstd_safe::zstd_sys::{ZSTD_EndDirective, ZSTD_ErrorCode};
use zstd_safe::{CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective};

const NAME: &str = "zstd";
/// The fastest level the library knows.
const MIN_LEVEL: i64 = -131_072;
const MAX_LEVEL: i64 = 22;

#[derive(Debug)]
struct Zstd {
    level: i32,
    checksum: bool,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["zstd", "numcodecs.zstd"], build);
}

fn build(config: &NamedConfig, _: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["level", "checksum"])?;
    let level = settings.int("level", MIN_LEVEL..=MAX_LEVEL)?.unwrap_or(0);
    let checksum = settings.bool("checksum")?.unwrap_or(false);
    Ok(AnyCodec::Bytes(Arc::new(Zstd { level: i32::try_from(level).unwrap_or(0), checksum })))
}

thread_local! {
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

fn is(code: usize, error: ZSTD_ErrorCode) -> bool {
    usize::try_from(error as u32).is_ok_and(|error| code == 0usize.wrapping_sub(error))
}

/// Decodes all frames of `input` in one call, with `out` itself as the window: nothing else is allocated, whatever
/// window the frames declare.
fn decode_once(input: &[u8], out: &mut [u8]) -> Result<Attempt> {
    if input.is_empty() {
        return Err(fail::truncated(NAME, 1, 0));
    }
    let result = DECOMPRESSOR.with_borrow_mut(|context| {
        if context.is_none() {
            *context = DCtx::try_create();
        }
        context.as_mut().map(|context| context.decompress(out, input))
    });
    match result {
        None => Err(fail::corrupt(NAME, "no memory for a decoder")),
        Some(Ok(n)) => Ok(Attempt::Done(n)),
        Some(Err(code)) if is(code, ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) => Ok(Attempt::TooSmall),
        Some(Err(code)) if is(code, ZSTD_ErrorCode::ZSTD_error_srcSize_wrong) => {
            Err(fail::corrupt(NAME, format!("{} bytes are not whole frames (truncated?)", input.len())))
        }
        Some(Err(code)) => Err(fail::corrupt(NAME, zstd_safe::get_error_name(code))),
    }
}

impl Zstd {
    fn compress(
        &self,
        context: &mut CCtx<'static>,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), usize> {
        context.reset(ResetDirective::SessionAndParameters)?;
        context.set_parameter(CParameter::CompressionLevel(self.level))?;
        context.set_parameter(CParameter::ChecksumFlag(self.checksum))?;
        out.reserve(zstd_safe::compress_bound(input.len()));
        let start = out.len();
        let mut to = OutBuffer::around_pos(out, start);
        let mut from = InBuffer::around(input);
        // All input at once: the frame declares the decoded size.
        match context.compress_stream2(&mut to, &mut from, ZSTD_EndDirective::ZSTD_e_end)? {
            0 => Ok(()),
            _ => Err(0usize.wrapping_sub(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize)),
        }
    }
}

impl BytesCodec for Zstd {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(NAME).with("level", self.level).with("checksum", self.checksum)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        // The library's bound is 0 for sizes it cannot take; `encode` then fails.
        EncodedSize::AtMost(zstd_safe::compress_bound(decoded).max(decoded))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let result = COMPRESSOR.with_borrow_mut(|context| {
            if context.is_none() {
                *context = CCtx::try_create();
            }
            context.as_mut().map(|context| self.compress(context, input, out))
        });
        match result {
            Some(Ok(())) => Ok(()),
            Some(Err(code)) => {
                out.truncate(start);
                Err(fail::encode(NAME, zstd_safe::get_error_name(code)))
            }
            None => Err(fail::encode(NAME, "no memory for an encoder")),
        }
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        match decode_once(input, out)? {
            Attempt::Done(n) => fail::check_len(NAME, out.len(), n),
            Attempt::TooSmall => Err(fail::too_large(NAME, out.len())),
        }
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        decode_growing(input.len(), limit, out, |buffer| decode_once(input, buffer))?
            .ok_or_else(|| fail::too_large(NAME, limit))
    }
}

#[cfg(test)]
mod tests {
    use crate::NamedConfig;
    use crate::conformance::{self, Flips, bytes_codec};

    #[test]
    fn conforms() {
        conformance::bytes(&NamedConfig::new("zstd"), Flips::MayPass);
        let checked = NamedConfig::new("numcodecs.zstd").with("level", 9).with("checksum", true);
        conformance::bytes(&checked, Flips::AreSeen);
        conformance::bytes(&NamedConfig::new("zstd").with("level", -7), Flips::MayPass);
    }

    #[test]
    fn frames_after_one_another_decode_to_their_concatenation() {
        let codec = bytes_codec(&NamedConfig::new("zstd"));
        let mut frames = Vec::new();
        codec.encode(&[1; 1000], &mut frames).unwrap();
        codec.encode(&[2; 500], &mut frames).unwrap();
        let mut out = vec![0; 1500];
        codec.decode(&frames, &mut out).unwrap();
        assert!(out[..1000].iter().all(|&b| b == 1) && out[1000..].iter().all(|&b| b == 2));
    }
}
