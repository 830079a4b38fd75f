//! Zarr v2 documents, as v3 metadata and back.

pub(crate) mod codec_names;
pub(crate) mod consolidated;
mod from_codecs;
pub(crate) mod read;
mod to_codecs;
pub(crate) mod write;

use serde_json::{Map, Value};

pub use from_codecs::v2_from_codecs;

/// The order of a v2 chunk's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    #[default]
    C,
    F,
}

/// The byte order of stored elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    Little,
    Big,
}

impl Endian {
    /// The machine's own.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// As the `bytes` codec spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// From the `bytes` codec's spelling.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Little, Self::Big].into_iter().find(|endian| endian.name() == name)
    }
}

/// What a v2 array's documents say beyond the v3 metadata they translate to, to be written back as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct V2Extra {
    pub order: Order,
    /// The `dtype` member: a NumPy type string, or a list of fields.
    pub dtype: Value,
    /// The numcodecs configurations of the filters; `None` is `null`.
    pub filters: Option<Vec<Map<String, Value>>>,
    /// The numcodecs configuration of the compressor; `None` is `null`.
    pub compressor: Option<Map<String, Value>>,
    /// `fill_value` is `null`: what was never written is undefined, and read as zeros.
    pub fill_value_null: bool,
    /// The `dimension_separator` member, where there is one. Without it, keys have `.`.
    pub dimension_separator: Option<char>,
}
