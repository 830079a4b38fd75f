//! `bz2`: bzip2 streams, one or several after one another.

use crate::config::Settings;
use crate::registry::register_all;
use crate::streams::{Decoder, Step, Streams};
use crate::{AnyCodec, BytesCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, fail};
use bzip2::{Action, Compress, Compression, Decompress, Status};
use std::sync::Arc;

const NAME: &str = "bz2";

#[derive(Debug)]
struct Bz2 {
    level: u32,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["bz2", "numcodecs.bz2"], build);
}

fn build(config: &NamedConfig, _: &ChunkSpec) -> Result<AnyCodec> {
    let level = Settings::new(config, &["level"])?.encoder_int("level", 1..=9)?.unwrap_or(1);
    Ok(AnyCodec::Bytes(Arc::new(Bz2 { level: u32::try_from(level).unwrap_or(1) })))
}

/// The library's own bound: 1 % and 600 bytes.
fn bound(n: usize) -> usize {
    n.saturating_add(n / 100).saturating_add(601)
}

impl Decoder for Decompress {
    const NAME: &'static str = NAME;

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step> {
        let (read, written) = (self.total_in(), self.total_out());
        let status = self.decompress(input, out).map_err(|error| fail::corrupt(NAME, error.to_string()))?;
        if status == Status::MemNeeded {
            return Err(fail::corrupt(NAME, "no memory for a decoder"));
        }
        let count = |now: u64, before| usize::try_from(now.wrapping_sub(before)).unwrap_or(usize::MAX);
        let (read, written) = (count(self.total_in(), read), count(self.total_out(), written));
        Ok(Step { read, written, ended: status == Status::StreamEnd })
    }
}

type New = fn() -> Result<Decompress>;

fn streams(input: &[u8]) -> Result<Streams<'_, Decompress, New>> {
    Streams::new(input, || Ok(Decompress::new(false)))
}

impl BytesCodec for Bz2 {
    fn config(&self) -> NamedConfig {
        NamedConfig::new("numcodecs.bz2").with("level", self.level)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::AtMost(bound(decoded))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let mut stream = Compress::new(Compression::new(self.level), 0);
        crate::room::reserve(out, bound(input.len()))?;
        let mut rest = input;
        loop {
            let read = stream.total_in();
            let status = stream
                .compress_vec(rest, out, Action::Finish)
                .map_err(|error| fail::encode(NAME, error.to_string()))?;
            let read = usize::try_from(stream.total_in().wrapping_sub(read)).unwrap_or(usize::MAX);
            rest = rest.get(read..).unwrap_or(&[]);
            if status == Status::StreamEnd {
                return Ok(());
            }
            if out.len() == out.capacity() {
                out.truncate(start);
                return Err(fail::encode(NAME, "larger than its bound"));
            }
        }
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        streams(input)?.decode(out)
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        streams(input)?.decode_bounded(limit, out)
    }
}

#[cfg(test)]
mod tests {
    use crate::NamedConfig;
    use crate::conformance::{self, Flips, bytes_codec, check_round_trips};

    #[test]
    fn conforms() {
        conformance::bytes(&NamedConfig::new("bz2").with("level", 1), Flips::AreSeen);
        // Its decoder takes 4 MB, too slow to make for every flipped bit.
        check_round_trips(bytes_codec(&NamedConfig::new("bz2").with("level", 9)).as_ref(), 1);
    }

    #[test]
    fn streams_after_one_another_decode_to_their_concatenation() {
        let codec = bytes_codec(&NamedConfig::new("numcodecs.bz2"));
        let mut streams = Vec::new();
        codec.encode(&[1; 1000], &mut streams).unwrap();
        codec.encode(&[2; 500], &mut streams).unwrap();
        let mut out = vec![0; 1500];
        codec.decode(&streams, &mut out).unwrap();
        assert_eq!((out[999], out[1000]), (1, 2));
    }
}
