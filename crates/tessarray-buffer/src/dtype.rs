//! The data types an array element can have, and their sizes in memory.

use crate::SmallType;
use std::fmt;
use std::ops::Range;

/// The unit of a `datetime64` or `timedelta64` value, as NumPy spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// No unit.
    Generic,
    /// Years.
    Year,
    /// Months.
    Month,
    /// Weeks.
    Week,
    /// Days.
    Day,
    /// Hours.
    Hour,
    /// Minutes.
    Minute,
    /// Seconds.
    Second,
    /// 10^-3 s.
    Millisecond,
    /// 10^-6 s.
    Microsecond,
    /// 10^-9 s.
    Nanosecond,
    /// 10^-12 s.
    Picosecond,
    /// 10^-15 s.
    Femtosecond,
    /// 10^-18 s.
    Attosecond,
}

const UNITS: [(TimeUnit, &str); 14] = [
    (TimeUnit::Generic, "generic"),
    (TimeUnit::Year, "Y"),
    (TimeUnit::Month, "M"),
    (TimeUnit::Week, "W"),
    (TimeUnit::Day, "D"),
    (TimeUnit::Hour, "h"),
    (TimeUnit::Minute, "m"),
    (TimeUnit::Second, "s"),
    (TimeUnit::Millisecond, "ms"),
    (TimeUnit::Microsecond, "us"),
    (TimeUnit::Nanosecond, "ns"),
    (TimeUnit::Picosecond, "ps"),
    (TimeUnit::Femtosecond, "fs"),
    (TimeUnit::Attosecond, "as"),
];

impl TimeUnit {
    /// NumPy's name of the unit (`"ns"`, `"D"`, `"generic"`).
    pub fn name(self) -> &'static str {
        UNITS.iter().find(|(unit, _)| *unit == self).map_or("generic", |(_, name)| name)
    }

    /// The unit with this NumPy name; `μs` is accepted for `us`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "μs" { "us" } else { name };
        UNITS.iter().find(|(_, known)| *known == name).map(|(unit, _)| *unit)
    }
}

/// One field of a structured data type; fields are packed, without padding.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name, one of a kind in its structure.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
}

/// The type of one array element, in the machine's byte order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataType {
    /// `true` or `false`, one byte.
    Bool,
    /// Signed, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Signed, 32 bits.
    Int32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 8 bits.
    UInt8,
    /// Unsigned, 16 bits.
    UInt16,
    /// Unsigned, 32 bits.
    UInt32,
    /// Unsigned, 64 bits.
    UInt64,
    /// IEEE 754, 16 bits.
    Float16,
    /// The upper half of a `Float32`.
    BFloat16,
    /// IEEE 754, 32 bits.
    Float32,
    /// IEEE 754, 64 bits.
    Float64,
    /// Two `Float32`: real and imaginary part.
    Complex64,
    /// Two `Float64`: real and imaginary part.
    Complex128,
    /// A number of 8 bits or fewer, one byte per element (`int4`, `float8_e5m2`, ...).
    Small(SmallType),
    /// Signed 64-bit count of `scale` units since 1970-01-01; `i64::MIN` is not-a-time.
    DateTime64 {
        /// The unit.
        unit: TimeUnit,
        /// How many of it one count stands for.
        scale: u32,
    },
    /// Signed 64-bit count of `scale` units; `i64::MIN` is not-a-time.
    TimeDelta64 {
        /// The unit.
        unit: TimeUnit,
        /// How many of it one count stands for.
        scale: u32,
    },
    /// Byte string of this length in bytes, padded with NUL (NumPy `S`).
    FixedBytes(u32),
    /// Unicode string of this many code points, 4 bytes each, padded with NUL (NumPy `U`).
    FixedUtf32(u32),
    /// Opaque bits, this many bytes (NumPy `V`).
    RawBits(u32),
    /// UTF-8 string of any length.
    String,
    /// Byte string of any length.
    Bytes,
    /// Named fields, packed one after the other.
    Struct(Vec<Field>),
}

/// The size of a data type in memory does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("data type {0} is larger than {max} bytes an element", max = DataType::MAX_SIZE)]
pub struct DataTypeError(pub String);

impl DataType {
    /// The largest size of one element, in bytes.
    pub const MAX_SIZE: usize = 1 << 20;

    /// Bytes of one element in memory. Elements of variable length ([`is_variable`](Self::is_variable)) are held as
    /// a 16-byte [`VarItem`](crate::VarItem) that points into an [`Arena`](crate::Arena).
    pub fn size(&self) -> usize {
        match self {
            Self::Bool | Self::Int8 | Self::UInt8 | Self::Small(_) => 1,
            Self::Int16 | Self::UInt16 | Self::Float16 | Self::BFloat16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
            Self::Int64 | Self::UInt64 | Self::Float64 | Self::Complex64 => 8,
            Self::DateTime64 { .. } | Self::TimeDelta64 { .. } => 8,
            Self::Complex128 | Self::String | Self::Bytes => 16,
            Self::FixedBytes(n) | Self::RawBits(n) => *n as usize,
            Self::FixedUtf32(n) => (*n as usize).saturating_mul(4),
            Self::Struct(fields) => {
                fields.iter().fold(0usize, |sum, field| sum.saturating_add(field.data_type.size()))
            }
        }
    }

    /// Where in an element the field at this place lies; `None` where there is none.
    pub fn field_span(&self, place: usize) -> Option<Range<usize>> {
        let Self::Struct(fields) = self else { return None };
        let begin = fields.get(..place)?.iter().map(|field| field.data_type.size()).sum::<usize>();
        Some(begin..begin + fields.get(place)?.data_type.size())
    }

    /// Refuses element sizes of zero or above [`MAX_SIZE`](Self::MAX_SIZE).
    ///
    /// # Errors
    /// [`DataTypeError`] with the type's name.
    pub fn check(&self) -> Result<(), DataTypeError> {
        if self.size() == 0 || self.size() > Self::MAX_SIZE {
            Err(DataTypeError(self.to_string()))
        } else {
            Ok(())
        }
    }

    /// Whether elements have no fixed length.
    pub fn is_variable(&self) -> bool {
        matches!(self, Self::String | Self::Bytes)
    }

    /// Bytes of the unit that is reversed to change byte order: 1 where order does not matter, and `None` for
    /// structured types, whose fields differ.
    pub fn swap_size(&self) -> Option<usize> {
        match self {
            Self::FixedBytes(_) | Self::RawBits(_) | Self::String | Self::Bytes => Some(1),
            Self::FixedUtf32(_) | Self::Complex64 => Some(4),
            Self::Complex128 => Some(8),
            Self::Struct(_) => None,
            other => Some(other.size()),
        }
    }

    /// The data type's Zarr v3 name (`float32`, `numpy.datetime64`, `r16`, ...).
    pub fn zarr_name(&self) -> String {
        match self {
            Self::Bool => "bool".into(),
            Self::Int8 => "int8".into(),
            Self::Int16 => "int16".into(),
            Self::Int32 => "int32".into(),
            Self::Int64 => "int64".into(),
            Self::UInt8 => "uint8".into(),
            Self::UInt16 => "uint16".into(),
            Self::UInt32 => "uint32".into(),
            Self::UInt64 => "uint64".into(),
            Self::Float16 => "float16".into(),
            Self::BFloat16 => "bfloat16".into(),
            Self::Float32 => "float32".into(),
            Self::Float64 => "float64".into(),
            Self::Complex64 => "complex64".into(),
            Self::Complex128 => "complex128".into(),
            Self::Small(small) => small.name().into(),
            Self::DateTime64 { .. } => "numpy.datetime64".into(),
            Self::TimeDelta64 { .. } => "numpy.timedelta64".into(),
            Self::FixedBytes(_) => "null_terminated_bytes".into(),
            Self::FixedUtf32(_) => "fixed_length_utf32".into(),
            Self::RawBits(bytes) => format!("r{}", u64::from(*bytes) * 8),
            Self::String => "string".into(),
            Self::Bytes => "variable_length_bytes".into(),
            Self::Struct(_) => "structured".into(),
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DateTime64 { unit, scale } => time(f, "datetime64", *unit, *scale),
            Self::TimeDelta64 { unit, scale } => time(f, "timedelta64", *unit, *scale),
            Self::FixedBytes(n) => write!(f, "S{n}"),
            Self::FixedUtf32(n) => write!(f, "U{n}"),
            Self::Struct(fields) => {
                f.write_str("{")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{}: {}", field.name, field.data_type)?;
                }
                f.write_str("}")
            }
            other => f.write_str(&other.zarr_name()),
        }
    }
}

fn time(f: &mut fmt::Formatter<'_>, name: &str, unit: TimeUnit, scale: u32) -> fmt::Result {
    if unit == TimeUnit::Generic {
        write!(f, "{name}")
    } else if scale == 1 {
        write!(f, "{name}[{}]", unit.name())
    } else {
        write!(f, "{name}[{scale}{}]", unit.name())
    }
}
