//! Byte order.

/// The byte order of stored elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
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
