//! The settings of a blosc codec, and their JSON.

use super::Compressor;
use crate::config::Settings;
use crate::{ChunkSpec, CodecError, NamedConfig, Result};

/// What is done to a block before compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Nothing (`noshuffle`, 0).
    None,
    /// The bytes of the elements are grouped by their place in the element (`shuffle`, 1).
    Bytes,
    /// The bits are (`bitshuffle`, 2).
    Bits,
}

/// The settings of a blosc codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloscConfig {
    /// The compressor of the blocks (`cname`).
    pub compressor: Compressor,
    /// 0 (store) to 9 (smallest).
    pub level: u8,
    /// What is done to a block before compression (`shuffle`).
    pub filter: Filter,
    /// Bytes of one element, at least 1. Above 255, Blosc treats the data as single bytes.
    pub typesize: usize,
    /// Decoded bytes of a block; 0 lets the level and the compressor decide, as C-Blosc does.
    pub blocksize: usize,
}

impl Default for BloscConfig {
    /// numcodecs' defaults for elements of one byte: lz4, level 5, byte shuffle, automatic blocks.
    fn default() -> Self {
        Self { compressor: Compressor::Lz4, level: 5, filter: Filter::Bytes, typesize: 1, blocksize: 0 }
    }
}

/// The largest size that the settings can say.
const MOST: i64 = i32::MAX as i64;
const SETTINGS: [&str; 5] = ["cname", "clevel", "shuffle", "typesize", "blocksize"];

impl BloscConfig {
    /// From Zarr v3 settings (`shuffle` a word) or numcodecs' (`shuffle` a number, -1 for automatic). A missing
    /// setting has numcodecs' default; a missing element size is the chunk's.
    ///
    /// # Errors
    /// [`CodecError::Config`] for an unknown setting, and for a new array for a value out of range.
    pub fn from_config(config: &NamedConfig, spec: &ChunkSpec) -> Result<Self> {
        // Variable-length elements have become plain bytes when they get here.
        let itemsize = if spec.data_type.is_variable() { 1 } else { spec.data_type.size().max(1) };
        let mut out = Self { typesize: itemsize, ..Self::default() };
        // A frame says all of it again: none of it refuses a read.
        let settings = Settings::new(config, &SETTINGS)?;
        if let Some(name) = settings.encoder_one_of("cname", &Compressor::NAMES)? {
            out.compressor = Compressor::from_name(name).unwrap_or(out.compressor);
        }
        let least_size = if config.strict { 1 } else { 0 };
        let [level, typesize, blocksize] =
            [("clevel", 0..=9), ("typesize", least_size..=MOST), ("blocksize", 0..=MOST)]
                .map(|(key, range)| settings.encoder_int(key, range));
        let size = |number: i64| usize::try_from(number).unwrap_or(0);
        if let Some(level) = level? {
            out.level = u8::try_from(level).unwrap_or(out.level);
        }
        if let Some(typesize) = typesize?.filter(|&typesize| typesize > 0) {
            out.typesize = size(typesize);
        }
        out.blocksize = size(blocksize?.unwrap_or(0));
        if let Some(value) = settings.value("shuffle") {
            out.filter = match (value.as_str(), value.as_i64()) {
                (Some("noshuffle"), _) | (_, Some(0)) => Filter::None,
                (Some("bitshuffle"), _) | (_, Some(2)) => Filter::Bits,
                (_, Some(-1)) if itemsize == 1 => Filter::Bits,
                (Some("shuffle"), _) | (_, Some(-1 | 1)) => Filter::Bytes,
                _ if !config.strict => Filter::Bytes,
                _ => {
                    let expected = "noshuffle, shuffle, bitshuffle, or an integer from -1 to 2";
                    return Err(settings.wrong("shuffle", expected, value));
                }
            };
        }
        Ok(out)
    }

    /// The Zarr v3 JSON.
    pub fn to_v3(&self) -> NamedConfig {
        let shuffle = match self.filter {
            Filter::None => "noshuffle",
            Filter::Bytes => "shuffle",
            Filter::Bits => "bitshuffle",
        };
        NamedConfig::new("blosc")
            .with("cname", self.compressor.name())
            .with("clevel", self.level)
            .with("shuffle", shuffle)
            .with("typesize", self.typesize)
            .with("blocksize", self.blocksize)
    }

    /// Refuses settings out of range.
    pub(super) fn check(&self) -> Result<()> {
        if self.level > 9 {
            return Err(config_error(format!("clevel must be 0 to 9, not {}", self.level)));
        }
        if self.typesize == 0 || self.typesize > i32::MAX as usize {
            return Err(config_error(format!("typesize must be at least 1, not {}", self.typesize)));
        }
        if self.blocksize > i32::MAX as usize {
            return Err(config_error(format!("blocksize {} is beyond 2 GiB", self.blocksize)));
        }
        Ok(())
    }

    /// The element size as frames hold it.
    pub(super) fn frame_typesize(&self) -> usize {
        if self.typesize > 255 { 1 } else { self.typesize }
    }
}

fn config_error(reason: String) -> CodecError {
    CodecError::Config { codec: "blosc".into(), reason }
}
