//! Checksums over the encoded bytes: `crc32c`, `crc32`, `adler32`, `fletcher32` and `jenkins_lookup3`.
//!
//! Each is 4 little-endian bytes, at the end for crc32c, fletcher32 and jenkins_lookup3 and at the start for crc32 and
//! adler32, as numcodecs has it; the crc and adler codecs take a `location` setting.

mod fletcher32;
mod jenkins;

use crate::config::Settings;
use crate::list::{register_all, v2_of};
use crate::{AnyCodec, BytesCodec, ChunkSpec, CodecError, EncodedSize, NamedConfig, Registry, Result, fail};
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
            Self::Crc32c => ::crc32c::crc32c(data),
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

    fn config_v2(&self) -> Option<NamedConfig> {
        v2_of(self.config())
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::Exact(decoded.saturating_add(SIZE))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let sum = self.sum.of(input).to_le_bytes();
        let parts = if self.location == Location::Start { [&sum, input] } else { [input, &sum] };
        out.reserve(input.len().saturating_add(SIZE));
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
        out.extend_from_slice(self.data_of_len(input, |n| n <= limit, limit)?);
        Ok(())
    }

    fn verify<'a>(&self, input: &'a [u8]) -> Option<Result<&'a [u8]>> {
        Some(self.data(input))
    }

    fn is_seal(&self) -> bool {
        self.location == Location::End
    }

    fn seal(&self, out: &mut Vec<u8>, start: usize) {
        let sum = self.sum.of(out.get(start..).unwrap_or_default());
        out.extend_from_slice(&sum.to_le_bytes());
    }

    fn seal_of(&self, parts: &[&[u8]]) -> Option<Vec<u8>> {
        if self.sum != Sum::Crc32c {
            return None;
        }
        let sum = parts.iter().fold(0, |sum, part| ::crc32c::crc32c_append(sum, part));
        Some(sum.to_le_bytes().to_vec())
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
        let error = codec.verify(&encoded).unwrap().unwrap_err();
        assert!(matches!(error, CodecError::Checksum { stored: 0xE306_9283, .. }), "{error}");
    }
}
