//! What only Zarr v2 can say of an array.

use serde_json::{Map, Value};

/// The order of a v2 chunk's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    #[default]
    /// The last dimension varies fastest.
    C,
    /// The first dimension varies fastest.
    F,
}

/// What a v2 array's documents say beyond the v3 metadata they translate to, to be written back as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct V2Extra {
    /// The `order` member.
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
