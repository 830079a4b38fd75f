//! The filters of an LZMA stream, in the numbers of Python's `lzma` module.

use crate::config::Settings;
use crate::{NamedConfig, Result};
use liblzma::stream::{Error, Filters, LzmaOptions, MatchFinder, Mode};
use serde_json::Value;

const DELTA: i64 = 3;
const X86: i64 = 4;
const POWERPC: i64 = 5;
const IA64: i64 = 6;
const ARM: i64 = 7;
const ARM_THUMB: i64 = 8;
const SPARC: i64 = 9;
const LZMA2: i64 = 33;
const LZMA1: i64 = 0x4000_0000_0000_0001;
/// The format has no more in a row.
const MOST: usize = 4;
const MIN_DICTIONARY: u32 = 4096;
/// What the encoder takes.
const MAX_DICTIONARY: u32 = 3 << 29;
/// The dictionaries of the presets.
const DICTIONARIES: [u32; 10] =
    [1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 22, 1 << 23, 1 << 23, 1 << 24, 1 << 25, 1 << 26];

/// The settings of the compressor, of which a decoder of a raw stream needs all but the last four.
#[derive(Debug, Clone)]
pub(super) struct Options {
    preset: u32,
    dictionary: u32,
    literal_context_bits: Option<u32>,
    literal_position_bits: Option<u32>,
    position_bits: Option<u32>,
    fast: Option<bool>,
    nice_len: Option<u32>,
    match_finder: Option<i64>,
    depth: Option<u32>,
}

#[derive(Debug, Clone)]
pub(super) enum LzmaFilter {
    Lzma1(Options),
    Lzma2(Options),
    /// Differences of bytes this far apart, less one.
    Delta(u8),
    /// Branches of a processor's machine code, from this place on.
    Branches(i64, u32),
}

impl Options {
    fn preset(preset: u32) -> Self {
        let level = usize::try_from(preset & 0x1F).unwrap_or(0);
        Self {
            preset: if level < DICTIONARIES.len() { preset } else { super::PRESET },
            dictionary: DICTIONARIES.get(level).copied().unwrap_or(1 << 23),
            literal_context_bits: None,
            literal_position_bits: None,
            position_bits: None,
            fast: None,
            nice_len: None,
            match_finder: None,
            depth: None,
        }
    }

    fn read(settings: &Settings<'_>) -> Result<Self> {
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        let preset = settings.encoder_int("preset", 0..=(super::EXTREME + 9).into())?;
        let mut out = Self::preset(preset.map_or(super::PRESET, small));
        let range = i64::from(MIN_DICTIONARY)..=i64::from(MAX_DICTIONARY);
        if let Some(size) = settings.int("dict_size", range)? {
            out.dictionary = small(size);
        }
        out.literal_context_bits = settings.int("lc", 0..=4)?.map(small);
        out.literal_position_bits = settings.int("lp", 0..=4)?.map(small);
        out.position_bits = settings.int("pb", 0..=4)?.map(small);
        out.fast = settings.encoder_int("mode", 1..=2)?.map(|mode| mode == 1);
        out.nice_len = settings.encoder_int("nice_len", 2..=273)?.map(small);
        out.match_finder = settings.encoder_int("mf", 3..=0x14)?;
        out.depth = settings.encoder_int("depth", 0..=u32::MAX.into())?.map(small);
        Ok(out)
    }

    /// The options in the library's form, for data of `len` bytes.
    pub(super) fn library(&self, len: usize) -> std::result::Result<LzmaOptions, Error> {
        let mut out = LzmaOptions::new_preset(self.preset)?;
        let enough = u32::try_from(len).unwrap_or(u32::MAX).max(MIN_DICTIONARY);
        out.dict_size(self.dictionary.min(enough));
        if let Some(bits) = self.literal_context_bits {
            out.literal_context_bits(bits);
        }
        if let Some(bits) = self.literal_position_bits {
            out.literal_position_bits(bits);
        }
        if let Some(bits) = self.position_bits {
            out.position_bits(bits);
        }
        if let Some(fast) = self.fast {
            out.mode(if fast { Mode::Fast } else { Mode::Normal });
        }
        if let Some(len) = self.nice_len {
            out.nice_len(len);
        }
        match self.match_finder {
            Some(3) => out.match_finder(MatchFinder::HashChain3),
            Some(4) => out.match_finder(MatchFinder::HashChain4),
            Some(0x12) => out.match_finder(MatchFinder::BinaryTree2),
            Some(0x13) => out.match_finder(MatchFinder::BinaryTree3),
            Some(0x14) => out.match_finder(MatchFinder::BinaryTree4),
            _ => &mut out,
        };
        if let Some(depth) = self.depth {
            out.depth(depth);
        }
        Ok(out)
    }
}

impl LzmaFilter {
    /// The compressor of a preset alone: LZMA1 or LZMA2.
    pub(super) fn preset(preset: u32, first: bool) -> Self {
        let options = Options::preset(preset);
        if first { Self::Lzma1(options) } else { Self::Lzma2(options) }
    }

    /// Puts it behind those that `filters` has.
    pub(super) fn add_to(&self, filters: &mut Filters, len: usize) -> std::result::Result<(), Error> {
        match self {
            Self::Lzma1(options) => filters.lzma1(&options.library(len)?),
            Self::Lzma2(options) => filters.lzma2(&options.library(len)?),
            Self::Delta(distance) => filters.delta_properties(&[*distance])?,
            Self::Branches(id, offset) => {
                let offset = offset.to_le_bytes();
                match *id {
                    X86 => filters.x86_properties(&offset)?,
                    POWERPC => filters.powerpc_properties(&offset)?,
                    IA64 => filters.ia64_properties(&offset)?,
                    ARM => filters.arm_properties(&offset)?,
                    ARM_THUMB => filters.arm_thumb_properties(&offset)?,
                    _ => filters.sparc_properties(&offset)?,
                }
            }
        };
        Ok(())
    }
}

/// A list of filters, the first applied first when encoding; a compressor is the last.
pub(super) fn read(list: &Value, settings: &Settings<'_>) -> Result<Vec<LzmaFilter>> {
    let expected = format!("a list of 1 to {MOST} filters, objects with an \"id\", a compressor at its end");
    let bad = || settings.wrong("filters", &expected, list);
    let items = list.as_array().filter(|items| (1..=MOST).contains(&items.len())).ok_or_else(bad)?;
    let mut out = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let mut members = item.as_object().cloned().ok_or_else(bad)?;
        let id = members.shift_remove("id").and_then(|id| id.as_i64()).ok_or_else(bad)?;
        let named = NamedConfig {
            configuration: members,
            strict: settings.strict,
            ..NamedConfig::new("lzma filter")
        };
        let known: &[&str] = match id {
            DELTA => &["dist"],
            X86..=SPARC => &["start_offset"],
            LZMA1 | LZMA2 => &["preset", "dict_size", "lc", "lp", "pb", "mode", "nice_len", "mf", "depth"],
            _ => return Err(settings.error(format!("setting \"filters\": no filter has the id {id}"))),
        };
        let own = Settings::new(&named, known)?;
        let small =
            |number: Option<i64>, default| number.and_then(|n| u32::try_from(n).ok()).unwrap_or(default);
        let filter = match id {
            DELTA => {
                let distance = small(own.int("dist", 1..=256)?, 1);
                LzmaFilter::Delta(u8::try_from(distance.saturating_sub(1)).unwrap_or(0))
            }
            LZMA1 => LzmaFilter::Lzma1(Options::read(&own)?),
            LZMA2 => LzmaFilter::Lzma2(Options::read(&own)?),
            id => LzmaFilter::Branches(id, small(own.int("start_offset", 0..=u32::MAX.into())?, 0)),
        };
        let is_last = i + 1 == items.len();
        if is_last != matches!(filter, LzmaFilter::Lzma1(_) | LzmaFilter::Lzma2(_)) {
            return Err(bad());
        }
        out.push(filter);
    }
    Ok(out)
}
