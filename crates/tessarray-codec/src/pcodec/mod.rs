//! `pcodec`: numbers compressed by pco, in its standalone format, as numcodecs writes it.
//!
//! In Zarr v3 it is an array-to-bytes codec. In Zarr v2 it is named as a compressor, which here is the bytes-to-bytes
//! codec `pcodec_bytes`, for chunks of the type it was built for. 8-bit integers are accepted too, which numcodecs
//! reads but refuses to write; times are compressed as the integers they are.

mod numbers;

use crate::config::Settings;
use crate::registry::register_all;
use crate::{
    AnyCodec, BytesCodec, ChunkSpec, CodecError, EncodedSize, NamedConfig, Registry, Result, Serializer, fail,
};
use numbers::Kind;
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};
use std::sync::Arc;
use tessarray_buffer::Arena;

const NAME: &str = "pcodec";
const SETTINGS: [&str; 6] =
    ["level", "mode_spec", "delta_spec", "paging_spec", "delta_encoding_order", "equal_pages_up_to"];
const DEFAULT_PAGE: i64 = 262_144;
/// pco keeps the count of a page in 24 bits.
const MAX_PAGE: i64 = 1 << 24;

#[derive(Debug)]
struct Pcodec {
    kind: Kind,
    config: ChunkConfig,
    /// The settings as they are written.
    settings: NamedConfig,
}

/// The same codec as Zarr v2 has it, among the compressors.
#[derive(Debug)]
struct PcodecBytes(Pcodec);

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["pcodec", "numcodecs.pcodec"], |config, spec| {
        Ok(AnyCodec::Serializer(Arc::new(build(config, spec)?)))
    });
    register_all(registry, &["pcodec_bytes"], |config, spec| {
        Ok(AnyCodec::Bytes(Arc::new(PcodecBytes(build(config, spec)?))))
    });
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<Pcodec> {
    let settings = Settings::new(config, &SETTINGS)?;
    let kind = Kind::of(&spec.data_type).ok_or_else(|| {
        fail::data_type(NAME, spec, "it compresses integers, times and floats of 16 to 64 bits")
    })?;
    let unsigned = |n: i64| usize::try_from(n).unwrap_or(0);
    let level = settings.encoder_int("level", 0..=12)?.unwrap_or(8);
    let mode = settings.encoder_one_of("mode_spec", &["auto", "classic"])?.unwrap_or("auto");
    let delta = settings
        .encoder_one_of("delta_spec", &["auto", "no_op", "none", "try_consecutive", "try_lookback"])?
        .unwrap_or("auto");
    settings.encoder_one_of("paging_spec", &["equal_pages_up_to"])?;
    let order = settings.encoder_int("delta_encoding_order", 0..=7)?;
    let page = settings.encoder_int("equal_pages_up_to", 1..=MAX_PAGE)?.unwrap_or(DEFAULT_PAGE);
    let delta_spec = match (delta, order) {
        // An order alone is what numcodecs wrote before it had `delta_spec`.
        ("auto" | "try_consecutive", Some(order)) => DeltaSpec::TryConsecutive(unsigned(order)),
        ("try_consecutive", None) => {
            return Err(settings.error("missing setting \"delta_encoding_order\"".into()));
        }
        (_, Some(_)) => {
            return Err(
                settings.error(format!("setting \"delta_encoding_order\" does not go with {delta:?}"))
            );
        }
        ("auto", None) => DeltaSpec::Auto,
        ("try_lookback", None) => DeltaSpec::TryLookback,
        _ => DeltaSpec::NoOp,
    };
    let mut written = NamedConfig::new("numcodecs.pcodec")
        .with("level", level)
        .with("mode_spec", mode)
        .with("delta_spec", delta)
        .with("paging_spec", "equal_pages_up_to")
        .with("equal_pages_up_to", page);
    if let Some(order) = order {
        written = written.with("delta_encoding_order", order);
    }
    let config = ChunkConfig::default()
        .with_compression_level(unsigned(level))
        .with_mode_spec(if mode == "auto" { ModeSpec::Auto } else { ModeSpec::Classic })
        .with_delta_spec(delta_spec)
        .with_paging_spec(PagingSpec::EqualPagesUpTo(unsigned(page)))
        .with_enable_8_bit(true);
    Ok(Pcodec { kind, config, settings: written })
}

impl Pcodec {
    fn bound(&self, decoded: usize) -> EncodedSize {
        let size = self.kind.bound(decoded, &self.config.paging_spec);
        size.map_or(EncodedSize::Unbounded, EncodedSize::AtMost)
    }
}

impl Serializer for Pcodec {
    fn config(&self) -> NamedConfig {
        self.settings.clone()
    }

    fn encoded_size(&self, spec: &ChunkSpec) -> EncodedSize {
        self.bound(spec.byte_len())
    }

    fn encode(&self, spec: &ChunkSpec, input: &[u8], _: &Arena, out: &mut Vec<u8>) -> Result<()> {
        fail::check_len(NAME, spec.byte_len(), input.len())?;
        self.kind.encode(input, &self.config, out)
    }

    fn decode(&self, spec: &ChunkSpec, input: &[u8], out: &mut [u8], _: &Arena) -> Result<()> {
        fail::check_len(NAME, spec.byte_len(), out.len())?;
        self.kind.decode(input, out)
    }
}

impl BytesCodec for PcodecBytes {
    fn config(&self) -> NamedConfig {
        NamedConfig { name: "pcodec_bytes".into(), ..self.0.settings.clone() }
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        self.0.bound(decoded)
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.0.kind.encode(input, &self.0.config, out)
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.0.kind.decode(input, out)
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        self.0.kind.decode_bounded(input, limit, out)
    }
}

/// pco's errors as the crate's.
fn failed(error: pco::errors::PcoError, input: usize) -> CodecError {
    match error.kind {
        pco::errors::ErrorKind::InsufficientData => fail::truncated(NAME, input.saturating_add(1), input),
        _ => fail::corrupt(NAME, error.message),
    }
}

#[cfg(test)]
mod tests;
