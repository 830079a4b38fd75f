//! `bz2`: bzip2 streams, one or several after one another.

use crate::config::Settings;
use crate::list::{register_all, v2_of};
use crate::{AnyCodec, BytesCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, fail};
use bzip2::{Action, Compress, Compression, Decompress, Status};
use std::sync::Arc;

const NAME: &str = "bz2";
/// Decoded bytes gathered at a time where the size is not known.
const STEP: usize = 64 * 1024;

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

/// All streams of an input, decoded piece by piece.
struct Streams<'a> {
    input: &'a [u8],
    stream: Decompress,
    /// At the end of the last stream.
    ended: bool,
}

impl<'a> Streams<'a> {
    fn new(input: &'a [u8]) -> Self {
        Self { input, stream: Decompress::new(false), ended: false }
    }

    /// Decodes to the start of `out`, as far as it has room or the input ends.
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while !self.ended && done < out.len() {
            let room = out.get_mut(done..).unwrap_or(&mut []);
            let (read, written) = (self.stream.total_in(), self.stream.total_out());
            let status = self
                .stream
                .decompress(self.input, room)
                .map_err(|error| fail::corrupt(NAME, error.to_string()))?;
            let read = usize::try_from(self.stream.total_in().wrapping_sub(read)).unwrap_or(usize::MAX);
            let written =
                usize::try_from(self.stream.total_out().wrapping_sub(written)).unwrap_or(usize::MAX);
            self.input = self.input.get(read..).unwrap_or(&[]);
            done = done.saturating_add(written);
            match status {
                Status::StreamEnd if self.input.is_empty() => self.ended = true,
                Status::StreamEnd => self.stream = Decompress::new(false),
                Status::MemNeeded => return Err(fail::corrupt(NAME, "no memory for a decoder")),
                _ if read == 0 && written == 0 => {
                    return Err(fail::corrupt(NAME, "truncated: no end of stream"));
                }
                _ => {}
            }
        }
        Ok(done)
    }
}

impl BytesCodec for Bz2 {
    fn config(&self) -> NamedConfig {
        NamedConfig::new("numcodecs.bz2").with("level", self.level)
    }

    fn config_v2(&self) -> Option<NamedConfig> {
        v2_of(self.config())
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::AtMost(bound(decoded))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let mut stream = Compress::new(Compression::new(self.level), 0);
        out.reserve(bound(input.len()));
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
        let mut streams = Streams::new(input);
        let done = streams.read(out)?;
        if done < out.len() {
            return Err(fail::size(NAME, out.len(), done));
        }
        // Only the end may follow; one byte more is one too many.
        match streams.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(fail::too_large(NAME, out.len())),
        }
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let mut streams = Streams::new(input);
        let result = loop {
            let at = out.len();
            let room = limit.saturating_add(1).saturating_sub(at - start).min(STEP);
            out.resize(at + room, 0);
            match streams.read(out.get_mut(at..).unwrap_or(&mut [])) {
                Ok(n) => out.truncate(at + n),
                Err(error) => break Err(error),
            }
            if out.len() - start > limit {
                break Err(fail::too_large(NAME, limit));
            }
            if streams.ended {
                break Ok(());
            }
        };
        if result.is_err() {
            out.truncate(start);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use crate::NamedConfig;
    use crate::conformance::{self, Flips, bytes_codec, bytes_codec_is_right};

    #[test]
    fn conforms() {
        conformance::bytes(&NamedConfig::new("bz2").with("level", 1), Flips::AreSeen);
        // Its decoder takes 4 MB, too slow to make for every flipped bit.
        bytes_codec_is_right(bytes_codec(&NamedConfig::new("bz2").with("level", 9)).as_ref(), 1);
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
