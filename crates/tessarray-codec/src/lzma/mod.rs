//! `lzma` as numcodecs has it: the formats of Python's `lzma` module, one stream or several after one another, by the
//! reference library.
//!
//! A stream says how large a dictionary its decoder needs, up to 4 GiB. What is allocated on its word is limited: see
//! [`MEMORY`]. A raw stream says nothing, and its dictionary is never larger than what is decoded.

mod filters;

use crate::config::Settings;
use crate::registry::register_all;
use crate::streams::{Decoder, Step, Streams};
use crate::{AnyCodec, BytesCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, fail};
use filters::LzmaFilter;
use liblzma::stream::{Action, Check, Error, Filters, Status, Stream};
use serde_json::Value;
use std::sync::Arc;

const NAME: &str = "lzma";
/// Bytes that a decoder may take where a chunk is smaller: four times what the highest preset asks for.
const MEMORY: u64 = 256 << 20;
const PRESET: u32 = 6;
/// In a preset: take much time for little.
const EXTREME: u32 = 1 << 31;

/// Python's numbers of the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Whichever of the two containers it is; written as `Xz`.
    Auto = 0,
    Xz = 1,
    Alone = 2,
    /// No container: the filters are in the settings only.
    Raw = 3,
}

#[derive(Debug)]
struct Lzma {
    format: Format,
    check: Option<Check>,
    filters: Vec<LzmaFilter>,
    /// The settings as they are written.
    settings: NamedConfig,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["lzma", "numcodecs.lzma"], build);
}

fn build(config: &NamedConfig, _: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["format", "check", "preset", "filters"])?;
    let format = match settings.int("format", 0..=3)?.unwrap_or(1) {
        0 => Format::Auto,
        1 => Format::Xz,
        2 => Format::Alone,
        _ => Format::Raw,
    };
    // The container names its check again.
    let number = settings.encoder_int("check", -1..=10)?.unwrap_or(-1);
    let check = match number {
        -1 => None,
        0 => Some(Check::None),
        1 => Some(Check::Crc32),
        4 => Some(Check::Crc64),
        10 => Some(Check::Sha256),
        _ if !config.strict => None,
        _ => return Err(settings.error("setting \"check\": expected -1, 0, 1, 4 or 10".into())),
    };
    let preset = settings.encoder_int("preset", 0..=(EXTREME + 9).into())?;
    let preset = preset.map(|preset| u32::try_from(preset).unwrap_or(PRESET));
    if config.strict && preset.is_some_and(|preset| preset & !EXTREME > 9) {
        return Err(settings.error("setting \"preset\": expected 0 to 9, which may be extreme".into()));
    }
    let listed = settings.value("filters");
    if format == Format::Raw && listed.is_none() {
        return Err(settings.error("missing setting \"filters\", which format 3 (raw) needs".into()));
    }
    if config.strict && format != Format::Raw && listed.is_some() {
        let reason =
            "setting \"filters\" goes with format 3 (raw) only: numcodecs does not read others with it";
        return Err(settings.error(reason.into()));
    }
    let filters = match listed {
        Some(list) => filters::read(list, &settings)?,
        None => vec![LzmaFilter::preset(preset.unwrap_or(PRESET), format == Format::Alone)],
    };
    let mut written = NamedConfig::new("numcodecs.lzma").with("format", format as u8).with("check", number);
    written = written.with("preset", preset.map_or(Value::Null, Value::from));
    written = written.with("filters", listed.cloned().unwrap_or(Value::Null));
    Ok(AnyCodec::Bytes(Arc::new(Lzma { format, check, filters, settings: written })))
}

/// LZMA2 stores what does not compress in pieces of 64 KiB; LZMA1 grows by less than a sixteenth.
fn bound(n: usize) -> usize {
    n.saturating_add(n / 16).saturating_add(4096)
}

/// The library's errors as the crate's.
fn failed(error: Error) -> crate::CodecError {
    fail::corrupt(
        NAME,
        match error {
            Error::MemLimit => {
                format!("its decoder needs more than {} MiB, and more than the chunk has", MEMORY >> 20)
            }
            Error::Format => "not of the format in the settings".into(),
            other => other.to_string(),
        },
    )
}

impl Decoder for Stream {
    const NAME: &'static str = NAME;

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step> {
        let (read, written) = (self.total_in(), self.total_out());
        let status = self.process(input, out, Action::Run).map_err(failed)?;
        let count = |now: u64, before| usize::try_from(now.wrapping_sub(before)).unwrap_or(usize::MAX);
        let (read, written) = (count(self.total_in(), read), count(self.total_out(), written));
        Ok(Step { read, written, ended: status == Status::StreamEnd })
    }
}

impl Lzma {
    /// The filters for data of `len` bytes: a dictionary beyond them is memory for nothing.
    fn filters(&self, len: usize) -> Result<Filters> {
        let mut out = Filters::new();
        for filter in &self.filters {
            filter.add_to(&mut out, len).map_err(|error| fail::encode(NAME, format!("filters: {error}")))?;
        }
        Ok(out)
    }

    fn decoder(&self, decoded: usize) -> Result<Stream> {
        let memory = MEMORY.max(fail::count(decoded).saturating_add(1 << 20));
        match self.format {
            Format::Auto => Stream::new_auto_decoder(memory, 0),
            Format::Xz => Stream::new_stream_decoder(memory, 0),
            Format::Alone => Stream::new_lzma_decoder(memory),
            Format::Raw => Stream::new_raw_decoder(&self.filters(decoded)?),
        }
        .map_err(failed)
    }

    fn streams<'a>(
        &'a self,
        input: &'a [u8],
        decoded: usize,
    ) -> Result<Streams<'a, Stream, impl FnMut() -> Result<Stream>>> {
        let mut first = true;
        Streams::new(input, move || {
            // A byte of 0 is a raw stream already: there nothing tells a second one from dirt.
            if !std::mem::replace(&mut first, false) && self.format == Format::Raw {
                return Err(fail::corrupt(NAME, "bytes after the end of a raw stream"));
            }
            self.decoder(decoded)
        })
    }

    fn encoder(&self, len: usize) -> Result<Stream> {
        let failed = |error: Error| fail::encode(NAME, error.to_string());
        match self.format {
            Format::Alone => {
                let Some(LzmaFilter::Lzma1(options)) = self.filters.first() else {
                    return Err(fail::encode(NAME, "format 2 (alone) takes one LZMA1 filter"));
                };
                Stream::new_lzma_encoder(&options.library(len).map_err(failed)?).map_err(failed)
            }
            Format::Raw => Stream::new_raw_encoder(&self.filters(len)?).map_err(failed),
            Format::Auto | Format::Xz => {
                let check = self.check.unwrap_or(Check::Crc64);
                Stream::new_stream_encoder(&self.filters(len)?, check).map_err(failed)
            }
        }
    }
}

impl BytesCodec for Lzma {
    fn config(&self) -> NamedConfig {
        self.settings.clone()
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::AtMost(bound(decoded))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let mut stream = self.encoder(input.len())?;
        crate::room::reserve(out, bound(input.len()))?;
        loop {
            let taken = usize::try_from(stream.total_in()).unwrap_or(usize::MAX);
            let rest = input.get(taken..).unwrap_or(&[]);
            match stream.process_vec(rest, out, Action::Finish) {
                Ok(Status::StreamEnd) => return Ok(()),
                Ok(_) if out.len() < out.capacity() => {}
                Ok(_) => {
                    out.truncate(start);
                    return Err(fail::encode(NAME, "larger than its bound"));
                }
                Err(error) => {
                    out.truncate(start);
                    return Err(fail::encode(NAME, error.to_string()));
                }
            }
        }
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.streams(input, out.len())?.decode(out)
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        self.streams(input, limit)?.decode_bounded(limit, out)
    }
}

#[cfg(test)]
mod tests;
