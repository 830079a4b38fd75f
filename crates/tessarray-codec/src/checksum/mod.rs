//! Checksums over the encoded bytes: `crc32c`, `crc32`, `adler32`, `fletcher32` and `jenkins_lookup3`.
//!
//! Each is 4 little-endian bytes, at the end for crc32c, fletcher32 and jenkins_lookup3 and at the start for crc32 and
//! adler32, as numcodecs has it; the crc and adler codecs take a `location` setting.

pub mod crc32c;
mod fletcher32;
mod jenkins;

use crate::config::Settings;
use crate::registry::register_all;
use crate::{
    AnyCodec, BytesCodec, ChecksumCodec, ChunkSpec, CodecError, EncodedSize, NamedConfig, Registry, Result,
    Trailer, fail,
};
use std::sync::Arc;

const SIZE: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sum {
    Crc32c,
    Crc32,
    Adler32,
    Fletcher32,
    Jenkins { seed: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Location {
    Start,
    End,
}

#[derive(Debug)]
struct Checksum {
    sum: Sum,
    location: Location,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["crc32c", "numcodecs.crc32c"], |config, _| movable(config, Sum::Crc32c));
    register_all(registry, &["crc32", "numcodecs.crc32"], |config, _| movable(config, Sum::Crc32));
    register_all(registry, &["adler32", "numcodecs.adler32"], |config, _| movable(config, Sum::Adler32));
    register_all(registry, &["fletcher32", "numcodecs.fletcher32"], fletcher);
    register_all(registry, &["jenkins_lookup3", "numcodecs.jenkins_lookup3"], jenkins);
}

fn built(sum: Sum, location: Location) -> AnyCodec {
    AnyCodec::Bytes(Arc::new(Checksum { sum, location }))
}

fn movable(config: &NamedConfig, sum: Sum) -> Result<AnyCodec> {
    let location = Settings::new(config, &["location"])?.one_of("location", &["start", "end"])?;
    Ok(built(
        sum,
        location.map_or(sum.location(), |at| if at == "end" { Location::End } else { Location::Start }),
    ))
}

fn fletcher(config: &NamedConfig, _: &ChunkSpec) -> Result<AnyCodec> {
    Settings::new(config, &[])?;
    Ok(built(Sum::Fletcher32, Location::End))
}

fn jenkins(config: &NamedConfig, _: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["initval", "prefix"])?;
    let seed = settings.int("initval", 0..=u32::MAX.into())?.unwrap_or(0);
    match settings.value("prefix") {
        None => Ok(built(Sum::Jenkins { seed: u32::try_from(seed).unwrap_or(0) }, Location::End)),
        Some(prefix) => Err(settings.wrong("prefix", "null", prefix)),
    }
}

impl Sum {
    fn name(self) -> &'static str {
        match self {
            Self::Crc32c => "crc32c",
            Self::Crc32 => "crc32",
            Self::Adler32 => "adler32",
            Self::Fletcher32 => "fletcher32",
            Self::Jenkins { .. } => "jenkins_lookup3",
        }
    }

    fn of(self, data: &[u8]) -> u32 {
        match self {
            Self::Crc32c => crc32c::crc32c(data),
            Self::Crc32 => libdeflater::crc32(data),
            Self::Adler32 => libdeflater::adler32(data),
            Self::Fletcher32 => fletcher32::fletcher32(data),
            Self::Jenkins { seed } => jenkins::lookup3(data, seed),
        }
    }

    /// Where the checksum is unless the configuration says otherwise.
    fn location(self) -> Location {
        if matches!(self, Self::Crc32 | Self::Adler32) { Location::Start } else { Location::End }
    }
}

impl Checksum {
    fn data<'a>(&self, input: &'a [u8]) -> Result<&'a [u8]> {
        let parts = match self.location {
            Location::Start => input.split_first_chunk::<SIZE>().map(|(sum, data)| (data, sum)),
            Location::End => input.split_last_chunk::<SIZE>(),
        };
        let (data, stored) = parts.ok_or_else(|| fail::truncated(self.sum.name(), SIZE, input.len()))?;
        let (stored, computed) = (u32::from_le_bytes(*stored), self.sum.of(data));
        if stored == computed {
            return Ok(data);
        }
        Err(CodecError::Checksum {
            codec: self.sum.name().into(),
            stored: stored.into(),
            computed: computed.into(),
        })
    }

    /// The data, if the encoded bytes have the right length for `decoded` of them. Checked first: that costs nothing.
    fn data_of_len<'a>(
        &self,
        input: &'a [u8],
        fits: impl Fn(usize) -> bool,
        decoded: usize,
    ) -> Result<&'a [u8]> {
        match input.len().checked_sub(SIZE) {
            Some(n) if !fits(n) => Err(fail::size(self.sum.name(), decoded, n)),
            _ => self.data(input),
        }
    }
}

impl BytesCodec for Checksum {
    fn config(&self) -> NamedConfig {
        let location = if self.location == Location::Start { "start" } else { "end" };
        match self.sum {
            Sum::Crc32c if self.location == Location::End => NamedConfig::new("crc32c"),
            Sum::Crc32c | Sum::Crc32 | Sum::Adler32 => {
                NamedConfig::new(format!("numcodecs.{}", self.sum.name())).with("location", location)
            }
            Sum::Fletcher32 => NamedConfig::new("numcodecs.fletcher32"),
            Sum::Jenkins { seed } => NamedConfig::new("numcodecs.jenkins_lookup3").with("initval", seed),
        }
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::Exact(decoded.saturating_add(SIZE))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let sum = self.sum.of(input).to_le_bytes();
        let parts = if self.location == Location::Start { [&sum, input] } else { [input, &sum] };
        crate::room::reserve(out, input.len().saturating_add(SIZE))?;
        parts.into_iter().for_each(|part| out.extend_from_slice(part));
        Ok(())
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        let expected = out.len();
        let data = self.data_of_len(input, |n| n == expected, expected)?;
        out.copy_from_slice(data);
        Ok(())
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        crate::room::append(out, self.data_of_len(input, |n| n <= limit, limit)?)
    }

    fn checksum(&self) -> Option<&dyn ChecksumCodec> {
        Some(self)
    }
}

impl ChecksumCodec for Checksum {
    fn verify<'a>(&self, input: &'a [u8]) -> Result<&'a [u8]> {
        self.data(input)
    }

    fn trailer_len(&self) -> Option<usize> {
        (self.location == Location::End).then_some(SIZE)
    }

    fn trailer(&self, parts: &[&[u8]]) -> Option<Trailer> {
        self.trailer_len()?;
        let sum = match (self.sum, parts) {
            (sum, [data]) => sum.of(data),
            (Sum::Crc32c, parts) => parts.iter().fold(0, |sum, part| crc32c::crc32c_append(sum, part)),
            _ => return None,
        };
        Some(Trailer::from_slice(&sum.to_le_bytes()))
    }

    fn payload<'a>(&self, input: &'a [u8]) -> Option<&'a [u8]> {
        match self.location {
            Location::Start => input.get(SIZE..),
            Location::End => input.get(..input.len().checked_sub(SIZE)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{self, Flips, bytes_codec};

    #[test]
    fn conforms() {
        for name in ["crc32c", "crc32", "adler32"] {
            conformance::bytes(&NamedConfig::new(name), Flips::AreSeen);
            for location in ["start", "end"] {
                let config = NamedConfig::new(format!("numcodecs.{name}"));
                let config = if name == "crc32c" && location == "end" {
                    config
                } else {
                    config.with("location", location)
                };
                conformance::bytes(&config, Flips::AreSeen);
            }
        }
        conformance::bytes(&NamedConfig::new("numcodecs.jenkins_lookup3").with("initval", 7), Flips::AreSeen);
        // 0x0000 and 0xFFFF are the same to a ones' complement sum, which one bit cannot turn into each other.
        conformance::bytes(&NamedConfig::new("fletcher32"), Flips::AreSeen);
    }

    #[test]
    fn a_mismatch_says_what_is_stored_and_what_was_computed() {
        let codec = bytes_codec(&NamedConfig::new("crc32c"));
        let mut encoded = Vec::new();
        codec.encode(b"123456789", &mut encoded).unwrap();
        assert_eq!(encoded[9..], 0xE306_9283u32.to_le_bytes());
        encoded[0] ^= 1;
        let error = codec.checksum().unwrap().verify(&encoded).unwrap_err();
        assert!(matches!(error, CodecError::Checksum { stored: 0xE306_9283, .. }), "{error}");
    }

    /// A reflected CRC, one bit after another.
    fn crc_by_bits(polynomial: u32, data: &[u8]) -> u32 {
        let step = |crc: u32| (crc >> 1) ^ (polynomial & (crc & 1).wrapping_neg());
        !data.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
    }

    fn adler_by_bytes(data: &[u8]) -> u32 {
        let add = |(a, b), &byte| ((a + u32::from(byte)) % 65521, (b + a + u32::from(byte)) % 65521);
        let (a, b) = data.iter().fold((1, 0), add);
        b << 16 | a
    }

    /// The sums of all words and of all sums of words, of ones' complement.
    fn fletcher_by_words(data: &[u8]) -> u32 {
        // Ones' complement has two zeros: a sum of something stays above 0.
        let add = |sum: u64, more: u64| if sum + more == 0 { 0 } else { (sum + more - 1) % 0xFFFF + 1 };
        let word = |word: &[u8]| u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0));
        let sums = data.chunks(2).fold((0, 0), |(low, high), bytes| {
            let low = add(low, word(bytes));
            (low, add(high, low))
        });
        (sums.1 << 16 | sums.0) as u32
    }

    #[test]
    fn sums_equal_the_plainest_loops_at_every_length_and_alignment() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let random: Vec<u8> = (0..100_000).map(|_| next()).collect();
        let (short, long) = if cfg!(miri) { (20, 800) } else { (300, 99_000) };
        let lengths = (0..short).chain([768, 1023, 1024, 6144, 24_576, 50_001, 99_000]);
        for (length, shift) in lengths.filter(|&n| n <= long).flat_map(|n| [(n, 0), (n, n % 8), (n, 5)]) {
            for data in [&random[shift..shift + length], &vec![0xFF; length], &vec![0; length]] {
                let place = format!("{length} bytes from {shift}");
                assert_eq!(Sum::Crc32c.of(data), crc_by_bits(0x82F6_3B78, data), "crc32c: {place}");
                assert_eq!(Sum::Fletcher32.of(data), fletcher_by_words(data), "fletcher32: {place}");
                // These are in C, where Miri cannot follow.
                if !cfg!(miri) {
                    assert_eq!(Sum::Crc32.of(data), crc_by_bits(0xEDB8_8320, data), "crc32: {place}");
                    assert_eq!(Sum::Adler32.of(data), adler_by_bytes(data), "adler32: {place}");
                }
            }
        }
    }
}
