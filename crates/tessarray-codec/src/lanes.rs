//! Numbers of any type, a block at a time, as `f64` or `i64` lanes: what the arithmetic array codecs share.
//!
//! Casts are NumPy's: between integers they wrap; from floats to integers they truncate, by way of `i64`. The
//! narrower float types are rounded after each operation, which gives bit for bit what their own arithmetic gives,
//! since `f64` has more than twice their digits.

use crate::config::Settings;
use crate::{ChunkSpec, Result, fail, numpy};
use half::{bf16, f16};
use tessarray_buffer::DataType;

const BLOCK: usize = 256;

/// A number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
}

/// The float types of arithmetic, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precision {
    Half,
    Single,
    Double,
}

impl Precision {
    /// The nearest value of this type.
    #[expect(clippy::cast_possible_truncation, reason = "the nearest number is what is wanted")]
    pub fn round(self, x: f64) -> f64 {
        match self {
            Self::Half => f16::from_f64(x).to_f64(),
            Self::Single => f64::from(x as f32),
            Self::Double => x,
        }
    }
}

impl Number {
    /// The number type of a data type; times are the integers they are stored as.
    pub fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Bool => Self::Bool,
            DataType::Int8 => Self::I8,
            DataType::Int16 => Self::I16,
            DataType::Int32 => Self::I32,
            DataType::Int64 | DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => Self::I64,
            DataType::UInt8 => Self::U8,
            DataType::UInt16 => Self::U16,
            DataType::UInt32 => Self::U32,
            DataType::UInt64 => Self::U64,
            DataType::Float16 => Self::F16,
            DataType::BFloat16 => Self::BF16,
            DataType::Float32 => Self::F32,
            DataType::Float64 => Self::F64,
            _ => return None,
        })
    }

    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// The narrowest float type that NumPy takes this one to hold.
    pub fn precision(self) -> Precision {
        match self {
            Self::Bool | Self::I8 | Self::U8 | Self::F16 | Self::BF16 => Precision::Half,
            Self::I16 | Self::U16 | Self::F32 => Precision::Single,
            Self::I32 | Self::U32 | Self::I64 | Self::U64 | Self::F64 => Precision::Double,
        }
    }
}

macro_rules! load {
    ($type:ty, $bytes:expr, $lanes:expr, $convert:expr) => {
        for (lane, bytes) in $lanes.iter_mut().zip($bytes.as_chunks::<{ size_of::<$type>() }>().0) {
            *lane = $convert(<$type>::from_ne_bytes(*bytes));
        }
    };
}

macro_rules! store {
    ($type:ty, $bytes:expr, $lanes:expr, $convert:expr) => {
        for (lane, bytes) in $lanes.iter().zip($bytes.as_chunks_mut::<{ size_of::<$type>() }>().0) {
            let value: $type = $convert(*lane);
            *bytes = value.to_ne_bytes();
        }
    };
}

fn load_floats(from: Number, bytes: &[u8], lanes: &mut [f64]) {
    match from {
        Number::Bool | Number::U8 => load!(u8, bytes, lanes, f64::from),
        Number::I8 => load!(i8, bytes, lanes, f64::from),
        Number::I16 => load!(i16, bytes, lanes, f64::from),
        Number::I32 => load!(i32, bytes, lanes, f64::from),
        Number::I64 => load!(i64, bytes, lanes, |x| x as f64),
        Number::U16 => load!(u16, bytes, lanes, f64::from),
        Number::U32 => load!(u32, bytes, lanes, f64::from),
        Number::U64 => load!(u64, bytes, lanes, |x| x as f64),
        Number::F16 => load!(f16, bytes, lanes, f16::to_f64),
        Number::BF16 => load!(bf16, bytes, lanes, bf16::to_f64),
        Number::F32 => load!(f32, bytes, lanes, f64::from),
        Number::F64 => load!(f64, bytes, lanes, |x| x),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "NumPy's casts: truncated by way of 64 bits, which then wrap"
)]
fn store_floats(to: Number, lanes: &[f64], bytes: &mut [u8]) {
    match to {
        Number::Bool => store!(u8, bytes, lanes, |x| u8::from(x != 0.0)),
        Number::I8 => store!(i8, bytes, lanes, |x| x as i64 as i8),
        Number::I16 => store!(i16, bytes, lanes, |x| x as i64 as i16),
        Number::I32 => store!(i32, bytes, lanes, |x| x as i64 as i32),
        Number::I64 => store!(i64, bytes, lanes, |x| x as i64),
        Number::U8 => store!(u8, bytes, lanes, |x| x as i64 as u8),
        Number::U16 => store!(u16, bytes, lanes, |x| x as i64 as u16),
        Number::U32 => store!(u32, bytes, lanes, |x| x as i64 as u32),
        Number::U64 => store!(u64, bytes, lanes, |x: f64| if x < 0.0 { x as i64 as u64 } else { x as u64 }),
        Number::F16 => store!(f16, bytes, lanes, f16::from_f64),
        Number::BF16 => store!(bf16, bytes, lanes, bf16::from_f64),
        Number::F32 => store!(f32, bytes, lanes, |x| x as f32),
        Number::F64 => store!(f64, bytes, lanes, |x| x),
    }
}

/// Integers; `u64` as the `i64` of the same bits.
fn load_ints(from: Number, bytes: &[u8], lanes: &mut [i64]) {
    match from {
        Number::I8 => load!(i8, bytes, lanes, i64::from),
        Number::I16 => load!(i16, bytes, lanes, i64::from),
        Number::I32 => load!(i32, bytes, lanes, i64::from),
        Number::U16 => load!(u16, bytes, lanes, i64::from),
        Number::U32 => load!(u32, bytes, lanes, i64::from),
        Number::I64 | Number::U64 => load!(i64, bytes, lanes, |x| x),
        _ => load!(u8, bytes, lanes, i64::from),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "NumPy's casts wrap")]
fn store_ints(to: Number, lanes: &[i64], bytes: &mut [u8]) {
    match to {
        Number::Bool => store!(u8, bytes, lanes, |x| u8::from(x != 0)),
        Number::I16 | Number::U16 => store!(i16, bytes, lanes, |x| x as i16),
        Number::I32 | Number::U32 => store!(i32, bytes, lanes, |x| x as i32),
        Number::I64 | Number::U64 => store!(i64, bytes, lanes, |x| x),
        Number::F32 => store!(f32, bytes, lanes, |x| x as f32),
        _ => store!(i8, bytes, lanes, |x| x as i8),
    }
}

/// Passes every number of `input` through `change` into `out`, a block of lanes at a time.
pub(crate) fn floats(
    from: Number,
    input: &[u8],
    to: Number,
    out: &mut [u8],
    mut change: impl FnMut(&mut [f64]),
) {
    let mut lanes = [0.0; BLOCK];
    for (input, out) in input.chunks(BLOCK * from.size()).zip(out.chunks_mut(BLOCK * to.size())) {
        let lanes = lanes.get_mut(..input.len() / from.size()).unwrap_or(&mut []);
        load_floats(from, input, lanes);
        change(lanes);
        store_floats(to, lanes, out);
    }
}

/// The same for integers; `to` may also be `F32`.
pub(crate) fn ints(
    from: Number,
    input: &[u8],
    to: Number,
    out: &mut [u8],
    mut change: impl FnMut(&mut [i64]),
) {
    let mut lanes = [0; BLOCK];
    for (input, out) in input.chunks(BLOCK * from.size()).zip(out.chunks_mut(BLOCK * to.size())) {
        let lanes = lanes.get_mut(..input.len() / from.size()).unwrap_or(&mut []);
        load_ints(from, input, lanes);
        change(lanes);
        store_ints(to, lanes, out);
    }
}

/// Converts every number of `input`.
pub(crate) fn cast(from: Number, input: &[u8], to: Number, out: &mut [u8]) {
    if from == to {
        input.iter().zip(out).for_each(|(from, to)| *to = *from);
    } else if (from, to) == (Number::U64, Number::F32) {
        // 64-bit integers become f32 in one step: two would round twice.
        for (from, to) in input.as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<4>().0) {
            *to = (u64::from_ne_bytes(*from) as f32).to_ne_bytes();
        }
    } else if !from.is_float() && !to.is_float() || (from, to) == (Number::I64, Number::F32) {
        ints(from, input, to, out, |_| {});
    } else {
        floats(from, input, to, out, |_| {});
    }
}

/// The decoded and encoded number types of a numcodecs filter.
#[derive(Debug, Clone)]
pub(crate) struct Types {
    pub decoded: Number,
    pub encoded: Number,
    encoded_type: DataType,
    /// The settings as they were written, or NumPy's names.
    pub decoded_name: String,
    pub encoded_name: String,
}

impl Types {
    /// Reads the settings `decoded` (by default the chunk's type, else one of its size) and `encoded` (by default the
    /// decoded type).
    pub fn read(
        settings: &Settings<'_>,
        spec: &ChunkSpec,
        codec: &str,
        [decoded, encoded]: [&str; 2],
    ) -> Result<Self> {
        let named = |key: &str| -> Result<Option<(DataType, String)>> {
            let Some(value) = settings.value(key) else { return Ok(None) };
            let found = value.as_str().and_then(|name| Some((numpy::data_type(name)?, name.to_owned())));
            found.map(Some).ok_or_else(|| settings.wrong(key, "NumPy's name of a number type", value))
        };
        let (decoded_type, decoded_name) =
            named(decoded)?.unwrap_or_else(|| (spec.data_type.clone(), numpy::name(&spec.data_type)));
        let (encoded_type, encoded_name) =
            named(encoded)?.unwrap_or_else(|| (decoded_type.clone(), decoded_name.clone()));
        let number = |data_type| {
            Number::of(data_type).ok_or_else(|| fail::data_type(codec, spec, "it works on numbers only"))
        };
        number(&spec.data_type)?;
        if decoded_type.size() != spec.data_type.size() {
            let reason = format!("setting {decoded:?} is {decoded_type}, the chunk {}", spec.data_type);
            return Err(settings.error(reason));
        }
        let (decoded, encoded) = (number(&decoded_type)?, number(&encoded_type)?);
        Ok(Self { decoded, encoded, encoded_type, decoded_name, encoded_name })
    }

    /// The encoded chunks' spec; `encode` encodes one element.
    pub fn encoded_spec(
        &self,
        codec: &str,
        decoded: &ChunkSpec,
        encode: impl FnOnce(&[u8], &mut [u8]),
    ) -> Result<ChunkSpec> {
        fail::check_len(codec, self.decoded.size(), decoded.data_type.size())?;
        fail::check_len(codec, self.decoded.size(), decoded.fill.len())?;
        let mut fill = vec![0; self.encoded.size()];
        encode(&decoded.fill, &mut fill);
        Ok(ChunkSpec {
            shape: decoded.shape.clone(),
            data_type: self.encoded_type.clone(),
            fill: fill.into(),
        })
    }

    /// Checks the lengths of a decoded and an encoded chunk.
    pub fn check(&self, codec: &str, spec: &ChunkSpec, decoded: usize, encoded: usize) -> Result<()> {
        fail::check_len(codec, spec.elements().saturating_mul(self.decoded.size()), decoded)?;
        fail::check_len(codec, spec.elements().saturating_mul(self.encoded.size()), encoded)
    }
}
