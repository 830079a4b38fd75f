//! `packbits`: some bits of each element, one element after the other (zarr-extensions, "packbits codec").
//!
//! The lowest bit of a byte comes first. What is not stored of an element reads as zeros, and above the stored bits of
//! a signed integer as its sign.

use crate::config::Settings;
use crate::{AnyCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, Serializer, fail};
use std::ops::RangeInclusive;
use std::sync::Arc;
use tessarray_buffer::{Arena, DataType};

const NAME: &str = "packbits";

/// Where the number of padding bits is stored, in a byte of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    None,
    FirstByte,
    LastByte,
}

const PADDINGS: [(Padding, &str); 3] =
    [(Padding::None, "none"), (Padding::FirstByte, "first_byte"), (Padding::LastByte, "last_byte")];

#[derive(Debug)]
struct PackBits {
    padding: Option<Padding>,
    first_bit: Option<u32>,
    last_bit: Option<u32>,
    /// The bits that are stored of a component.
    bits: RangeInclusive<u32>,
    component: Component,
}

/// The numbers that an element consists of: one, or the two parts of a complex number.
#[derive(Debug, Clone, Copy)]
struct Component {
    bytes: usize,
    /// Bits that have a meaning.
    bits: u32,
    signed: bool,
    /// Bits of a bool: 0 or 1.
    bool: bool,
}

pub(super) fn register(registry: &mut Registry) {
    registry.register(NAME, build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["padding_encoding", "first_bit", "last_bit"])?;
    let component = component(spec)?;
    let names = PADDINGS.map(|(_, name)| name);
    let padding = settings.one_of("padding_encoding", &names)?;
    let padding = padding.and_then(|name| PADDINGS.iter().find(|row| row.1 == name)).map(|row| row.0);
    let top = component.bits - 1;
    let bit = |key: &str, from: u32| {
        let bit = settings.int(key, i64::from(from)..=i64::from(top))?;
        Ok(bit.and_then(|bit| u32::try_from(bit).ok()))
    };
    let first_bit = bit("first_bit", 0)?;
    let last_bit = bit("last_bit", first_bit.unwrap_or(0))?;
    let bits = first_bit.unwrap_or(0)..=last_bit.unwrap_or(top);
    Ok(AnyCodec::Serializer(Arc::new(PackBits { padding, first_bit, last_bit, bits, component })))
}

fn component(spec: &ChunkSpec) -> Result<Component> {
    let whole = |bytes: usize, signed| {
        let bits = u32::try_from(bytes * 8).unwrap_or(64);
        Component { bytes, bits, signed, bool: false }
    };
    Ok(match &spec.data_type {
        DataType::Bool => Component { bytes: 1, bits: 1, signed: false, bool: true },
        DataType::Small(small) => {
            let signed = small.signed_integer() == Some(true);
            Component { bytes: 1, bits: small.bits(), signed, bool: false }
        }
        number @ (DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64) => {
            whole(number.size(), true)
        }
        number @ (DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float16
        | DataType::BFloat16
        | DataType::Float32
        | DataType::Float64) => whole(number.size(), false),
        complex @ (DataType::Complex64 | DataType::Complex128) => whole(complex.size() / 2, false),
        _ => return Err(fail::data_type(NAME, spec, "it packs bools and numbers only")),
    })
}

impl PackBits {
    /// Bits of one component as stored, 1 to 64.
    fn width(&self) -> u32 {
        self.bits.end() - self.bits.start() + 1
    }

    /// Bytes of the packed components, and the bits of the last of them that are not used.
    fn packed(&self, spec: &ChunkSpec) -> (usize, u8) {
        let count = (spec.byte_len() / self.component.bytes) as u128;
        let bits = count * u128::from(self.width());
        let bytes = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
        (bytes, u8::try_from(bits.wrapping_neg() % 8).unwrap_or(0))
    }

    fn padding(&self) -> Padding {
        self.padding.unwrap_or(Padding::None)
    }

    fn stored(&self, spec: &ChunkSpec) -> usize {
        self.packed(spec).0.saturating_add(usize::from(self.padding() != Padding::None))
    }

    /// The component that stored bits stand for.
    fn restored(&self, stored: u64) -> u64 {
        let Component { bits, signed, .. } = self.component;
        let value = stored << self.bits.start();
        let negative = signed && stored >> (self.width() - 1) & 1 == 1;
        let above = ones(bits) & !ones(self.bits.end() + 1);
        if negative { value | above } else { value }
    }
}

/// A number of this many ones, 0 to 64.
fn ones(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

/// One component of up to 8 bytes as a number.
fn load(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let n = bytes.len().min(8);
    if cfg!(target_endian = "little") {
        wide[..n].copy_from_slice(&bytes[..n]);
    } else {
        wide[8 - n..].copy_from_slice(&bytes[..n]);
    }
    u64::from_ne_bytes(wide)
}

fn store(number: u64, bytes: &mut [u8]) {
    let wide = number.to_ne_bytes();
    let n = bytes.len().min(8);
    let from = if cfg!(target_endian = "little") { 0 } else { 8 - n };
    bytes[..n].copy_from_slice(&wide[from..from + n]);
}

impl Serializer for PackBits {
    fn config(&self) -> NamedConfig {
        let mut config = NamedConfig::new(NAME);
        if let Some(row) = PADDINGS.iter().find(|row| Some(row.0) == self.padding) {
            config = config.with("padding_encoding", row.1);
        }
        for (key, bit) in [("first_bit", self.first_bit), ("last_bit", self.last_bit)] {
            if let Some(bit) = bit {
                config = config.with(key, bit);
            }
        }
        config
    }

    fn encoded_size(&self, spec: &ChunkSpec) -> EncodedSize {
        EncodedSize::Exact(self.stored(spec))
    }

    fn encode(&self, spec: &ChunkSpec, input: &[u8], _: &Arena, out: &mut Vec<u8>) -> Result<()> {
        fail::check_len(NAME, spec.byte_len(), input.len())?;
        let (width, mask, unused) = (self.width(), ones(self.width()), self.packed(spec).1);
        out.reserve(self.stored(spec));
        if self.padding() == Padding::FirstByte {
            out.push(unused);
        }
        // Fewer than 8 bits wait in `waiting`, above them come the next 64 at most.
        let (mut waiting, mut count) = (0u128, 0);
        for bytes in input.chunks_exact(self.component.bytes) {
            let number = load(bytes);
            let number = if self.component.bool { u64::from(number != 0) } else { number };
            waiting |= u128::from(number >> self.bits.start() & mask) << count;
            count += width;
            while count >= 8 {
                out.push(waiting.to_le_bytes()[0]);
                waiting >>= 8;
                count -= 8;
            }
        }
        if count > 0 {
            out.push(waiting.to_le_bytes()[0]);
        }
        if self.padding() == Padding::LastByte {
            out.push(unused);
        }
        Ok(())
    }

    fn decode(&self, spec: &ChunkSpec, input: &[u8], out: &mut [u8], _: &Arena) -> Result<()> {
        fail::check_len(NAME, spec.byte_len(), out.len())?;
        if input.len() < self.stored(spec) {
            return Err(fail::truncated(NAME, self.stored(spec), input.len()));
        }
        fail::check_len(NAME, self.stored(spec), input.len())?;
        let (unused, packed) = match self.padding() {
            Padding::None => (None, input),
            Padding::FirstByte => {
                input.split_first().map_or((None, input), |(byte, rest)| (Some(*byte), rest))
            }
            Padding::LastByte => input.split_last().map_or((None, input), |(byte, rest)| (Some(*byte), rest)),
        };
        if let Some(unused) = unused.filter(|unused| *unused != self.packed(spec).1) {
            let reason = format!("{unused} padding bits do not go with {} elements", spec.elements());
            return Err(fail::corrupt(NAME, reason));
        }
        let (width, mask) = (self.width(), u128::from(ones(self.width())));
        let (mut waiting, mut count) = (0u128, 0);
        let mut bytes = packed.iter();
        for component in out.chunks_exact_mut(self.component.bytes) {
            while count < width {
                waiting |= u128::from(bytes.next().copied().unwrap_or(0)) << count;
                count += 8;
            }
            store(self.restored(u64::try_from(waiting & mask).unwrap_or(0)), component);
            waiting >>= width;
            count -= width;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{samples, serializer, serializer_codec, spec};
    use tessarray_buffer::SmallType;

    fn config() -> NamedConfig {
        NamedConfig::new(NAME)
    }

    fn encoded(config: &NamedConfig, spec: &ChunkSpec, input: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        serializer_codec(config, spec).encode(spec, input, &Arena::new(), &mut out).unwrap();
        out
    }

    fn decoded(config: &NamedConfig, spec: &ChunkSpec, input: &[u8]) -> Result<Vec<u8>> {
        let mut out = vec![0xA5; spec.byte_len()];
        serializer_codec(config, spec).decode(spec, input, &mut out, &Arena::new()).map(|()| out)
    }

    #[test]
    fn conforms_for_every_type_padding_and_length() {
        let small = SmallType::all().map(|small| (DataType::Small(small), small.mask()));
        let types = small.chain([
            (DataType::Bool, 1),
            (DataType::Int8, 0xff),
            (DataType::UInt16, 0xff),
            (DataType::Float64, 0xff),
            (DataType::Complex128, 0xff),
        ]);
        for (data_type, mask) in types {
            for elements in [0, 1, 3, 8, 9] {
                let spec = spec(data_type.clone(), &[elements]);
                let input: Vec<u8> = samples(spec.byte_len())[3].iter().map(|byte| byte & mask).collect();
                for padding in ["none", "first_byte", "last_byte"] {
                    serializer(&config().with("padding_encoding", padding), &spec, &input);
                }
            }
        }
    }

    #[test]
    fn elements_are_packed_from_the_lowest_bit_up() {
        let four = spec(DataType::Small(SmallType::Int4), &[3]);
        assert_eq!(encoded(&config(), &four, &[0x1, 0xf, 0x8]), [0xf1, 0x08]);
        let bools = spec(DataType::Bool, &[10]);
        let input = [1, 0, 1, 1, 0, 0, 0, 0, 0, 1];
        assert_eq!(encoded(&config(), &bools, &input), [0b0000_1101, 0b10]);
        let first = config().with("padding_encoding", "first_byte");
        assert_eq!(encoded(&first, &bools, &input), [6, 0b0000_1101, 0b10]);
        let last = config().with("padding_encoding", "last_byte");
        assert_eq!(encoded(&last, &bools, &input), [0b0000_1101, 0b10, 6]);
        assert!(decoded(&first, &bools, &[5, 0b0000_1101, 0b10]).is_err());
    }

    #[test]
    fn bits_that_are_not_stored_are_zeros_or_the_sign() {
        for (first, last) in (0..16).flat_map(|first| (first..16).map(move |last| (first, last))) {
            let some = config().with("first_bit", first).with("last_bit", last);
            let numbers: Vec<i16> = (-40..40).map(|i: i16| i.wrapping_mul(811)).collect();
            let input: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
            let width = last - first + 1;
            let kept = |n: i16| (n as u16 >> first & (u32::MAX >> (32 - width)) as u16) as i64;
            for (data_type, signed) in [(DataType::Int16, true), (DataType::UInt16, false)] {
                let spec = spec(data_type, &[80]);
                let stored = encoded(&some, &spec, &input);
                assert_eq!(stored.len(), (80 * width as usize).div_ceil(8));
                let out = decoded(&some, &spec, &stored).unwrap();
                let out = out.as_chunks().0.iter().map(|bytes| i16::from_ne_bytes(*bytes));
                let expected = numbers.iter().map(|&n| {
                    let value = kept(n);
                    let value =
                        if signed && value >> (width - 1) == 1 { value - (1 << width) } else { value };
                    (value << first) as i16
                });
                assert!(out.eq(expected), "{first} to {last}, signed {signed}");
            }
        }
    }

    #[test]
    fn settings_that_make_no_sense_and_types_without_bits_are_refused() {
        let build = |config: NamedConfig, data_type| Registry::new().build(&config, &spec(data_type, &[4]));
        assert!(build(config().with("first_bit", 3).with("last_bit", 2), DataType::UInt8).is_err());
        assert!(build(config().with("last_bit", 8), DataType::UInt8).is_err());
        assert!(build(config().with("last_bit", 4), DataType::Small(SmallType::UInt4)).is_err());
        assert!(build(config().with("first_bit", -1), DataType::UInt8).is_err());
        assert!(build(config().with("padding_encoding", "middle"), DataType::UInt8).is_err());
        for data_type in [DataType::String, DataType::RawBits(2), DataType::FixedBytes(2)] {
            assert!(build(config(), data_type).is_err());
        }
    }
}
