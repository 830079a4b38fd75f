//! `zstd`: Zstandard frames, by the reference C library with one context a thread.

use crate::config::Settings;
use crate::grow::{Attempt, decode_growing};
use crate::registry::register_all;
use crate::{
    AnyCodec, BlockCodec, BytesCodec, ChunkSpec, EncodedSize, InnerChecksum, NamedConfig, Registry, Result,
    Window, fail,
};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use zstd_safe::zstd_sys::{ZSTD_EndDirective, ZSTD_ErrorCode};
use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

const NAME: &str = "zstd";
/// The fastest level the library knows.
const MIN_LEVEL: i64 = -131_072;
const MAX_LEVEL: i64 = 22;
/// Chunks of fewer bytes are decoded whole.
const WORTH: usize = 192 << 10;
/// What the library takes for the logarithm of a window.
const WINDOW_MIN: u32 = 10;
const WINDOW_MAX: u32 = 31;

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
    let level = settings.encoder_int("level", MIN_LEVEL..=MAX_LEVEL)?.unwrap_or(0);
    let checksum = settings.encoder_bool("checksum")?.unwrap_or(false);
    Ok(AnyCodec::Bytes(Arc::new(Zstd { level: i32::try_from(level).unwrap_or(0), checksum })))
}

thread_local! {
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static STREAM: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
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

/// Whether this begins with a frame that has no checksum.
fn is_plain(input: &[u8]) -> bool {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    const CHECKSUM: u8 = 4;
    input.first_chunk() == Some(&MAGIC) && input.get(4).is_some_and(|flags| flags & CHECKSUM == 0)
}

/// Decodes the beginning of a frame. Allocates a window of the decoded size at most.
fn prefix(input: &[u8], decoded: usize, out: &mut [u8]) -> Result<()> {
    let failed = |code| fail::corrupt(NAME, zstd_safe::get_error_name(code));
    STREAM.with_borrow_mut(|context| {
        if context.is_none() {
            *context = DCtx::try_create();
        }
        let Some(context) = context.as_mut() else {
            return Err(fail::corrupt(NAME, "no memory for a decoder"));
        };
        context.reset(ResetDirective::SessionOnly).map_err(failed)?;
        let window = usize::BITS - decoded.leading_zeros();
        context
            .set_parameter(DParameter::WindowLogMax(window.clamp(WINDOW_MIN, WINDOW_MAX)))
            .map_err(failed)?;
        let wanted = out.len();
        let (mut to, mut from) = (OutBuffer::around(out), InBuffer::around(input));
        while to.pos() < wanted {
            let before = (to.pos(), from.pos());
            let more = context.decompress_stream(&mut to, &mut from).map_err(failed)?;
            if to.pos() < wanted && (more == 0 || (to.pos(), from.pos()) == before) {
                return Err(fail::truncated(NAME, wanted, to.pos()));
            }
        }
        Ok(())
    })
}

impl Zstd {
    /// Appends a frame to `out`, which has room for it.
    fn compress(
        &self,
        context: &mut CCtx<'static>,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), usize> {
        context.reset(ResetDirective::SessionAndParameters)?;
        context.set_parameter(CParameter::CompressionLevel(self.level))?;
        context.set_parameter(CParameter::ChecksumFlag(self.checksum))?;
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
        crate::room::reserve(out, zstd_safe::compress_bound(input.len()))?;
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

    fn inner_checksum(&self) -> Option<&dyn InnerChecksum> {
        Some(self)
    }

    fn blocks(&self) -> Option<&dyn BlockCodec> {
        Some(self)
    }
}

impl InnerChecksum for Zstd {
    fn verify(&self, input: &[u8]) -> Result<bool> {
        Ok(is_plain(input))
    }

    fn decode_verified(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.decode(input, out)
    }

    fn without(&self) -> Option<Arc<dyn BytesCodec>> {
        None
    }
}

/// One block, of which the beginning decodes alone.
impl BlockCodec for Zstd {
    fn block_len(&self, _: &[u8], decoded: usize) -> Result<usize> {
        Ok(decoded)
    }

    fn block_spans(&self, _: &[u8], _: usize) -> Option<(usize, Vec<Range<usize>>)> {
        None
    }

    fn stored<'a>(&self, _: &'a [u8], _: usize) -> Option<&'a [u8]> {
        None
    }

    fn decode_block(&self, input: Window<'_>, _: usize, _: usize, out: &mut [u8]) -> Result<()> {
        let missing = || fail::truncated(NAME, input.len(), input.head().len());
        self.decode(input.all().ok_or_else(missing)?, out)
    }

    fn decode_parts(
        &self,
        input: Window<'_>,
        decoded: usize,
        _: usize,
        parts: &[Range<usize>],
        out: &mut [u8],
    ) -> Option<Result<()>> {
        let input = input.all()?;
        // The frame decodes from its beginning on, in steps of 128 KiB.
        let end = parts.iter().map(|part| part.end).max().unwrap_or(0).min(out.len());
        if decoded < WORTH || end > decoded / 4 * 3 {
            return None;
        }
        // A checksum is over the whole frame. Of several frames, or one that does not say its size, nothing is known.
        let one = is_plain(input)
            && matches!(zstd_safe::get_frame_content_size(input), Ok(Some(size)) if size == decoded as u64);
        one.then(|| prefix(input, decoded, &mut out[..end]))
    }
}

#[cfg(test)]
mod tests {
    use crate::conformance::{self, Flips, bytes_codec};
    use crate::{Chain, NamedConfig, Registry, Scratch, Window};
    use std::slice;

    #[test]
    fn conforms() {
        conformance::bytes(&NamedConfig::new("zstd"), Flips::MayPass);
        let checked = NamedConfig::new("numcodecs.zstd").with("level", 9).with("checksum", true);
        conformance::bytes(&checked, Flips::AreSeen);
        conformance::bytes(&NamedConfig::new("zstd").with("level", -7), Flips::MayPass);
    }

    #[test]
    fn the_beginning_of_a_frame_decodes_alone() {
        let codec = bytes_codec(&NamedConfig::new("zstd").with("level", 3));
        let input: Vec<u8> =
            (0..600_000u32).flat_map(|i| (i / 7).wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let mut frame = Vec::new();
        codec.encode(&input, &mut frame).unwrap();
        let mut out = vec![0; input.len()];
        for wanted in [0, 1, 4095, 131_072, 131_073, 1_000_000] {
            out.fill(0);
            codec
                .blocks()
                .unwrap()
                .decode_parts(Window::whole(&frame), input.len(), 0, slice::from_ref(&(0..wanted)), &mut out)
                .unwrap()
                .unwrap();
            assert!(out[..wanted] == input[..wanted], "{wanted}");
        }
        let wanted = 0..1_000_000;
        assert!(
            codec
                .blocks()
                .unwrap()
                .decode_parts(
                    Window::whole(&frame),
                    input.len(),
                    0,
                    slice::from_ref(&(0..input.len())),
                    &mut out
                )
                .is_none()
        );
        let mut part = |codec: &dyn crate::BytesCodec, frame: &[u8], decoded| {
            codec
                .blocks()
                .unwrap()
                .decode_parts(Window::whole(frame), decoded, 0, slice::from_ref(&wanted), &mut out)
                .map(|done| done.map(|()| out[wanted.clone()].to_vec()))
        };
        // Cut off, of another size than is said, damaged, or with a checksum over all of it.
        let cut = &frame[..frame.len() / 3];
        assert!(part(&*codec, cut, input.len()).unwrap().is_err());
        assert!(part(&*codec, &frame, input.len() + 1).is_none());
        let mut torn = frame.clone();
        torn[200..400].fill(0xff);
        assert!(!matches!(part(&*codec, &torn, input.len()), Some(Ok(found)) if found == input[..1_000_000]));
        let checked = bytes_codec(&NamedConfig::new("zstd").with("checksum", true));
        let mut frame = Vec::new();
        checked.encode(&input, &mut frame).unwrap();
        assert!(part(&*checked, &frame, input.len()).is_none());
        assert!(part(&*codec, b"", input.len()).is_none());
    }

    #[test]
    fn a_flipped_bit_is_found_by_a_check_of_its_own_checksum() {
        let spec = conformance::spec(tessarray_buffer::DataType::UInt8, &[300]);
        let zstd = NamedConfig::new("zstd").with("level", 3).with("checksum", true);
        let chain = Chain::build(&Registry::new(), &[NamedConfig::new("bytes"), zstd], spec).unwrap();
        let data: Vec<u8> = (0..300u32).map(|i| (i / 7) as u8).collect();
        let (mut frame, arena) = (Vec::new(), tessarray_buffer::Arena::new());
        chain.encode(&data, &arena, &mut Scratch::new(), &mut frame).unwrap();
        assert_eq!(chain.verify(&frame), Ok(()));
        let mut unseen = 0;
        for bit in 0..frame.len() * 8 {
            let mut bad = frame.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let mut out = vec![0; 300];
            let wrong = chain.decode(&bad, &mut out, &arena, &mut Scratch::new()).is_ok() && out != data;
            assert!(!wrong, "bit {bit}");
            unseen += usize::from(chain.verify(&bad).is_ok());
        }
        // The flag that says there is a checksum, and bits that mean nothing.
        assert!(unseen <= 4, "{unseen}");
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
