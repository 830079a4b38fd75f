//! Decoding formats that are one stream or several after one another, piece by piece.

use crate::{Result, fail};

/// Decoded bytes gathered at a time where the size is not known.
const STEP: usize = 64 * 1024;

/// What one call of a decoder did.
pub(crate) struct Step {
    /// Bytes of the input that were taken.
    pub read: usize,
    /// Bytes of the output that were written.
    pub written: usize,
    /// Whether the stream is at its end.
    pub ended: bool,
}

/// The decoder of one stream.
pub(crate) trait Decoder: Sized {
    /// The codec's name, for errors.
    const NAME: &'static str;

    /// Decodes some of `input` to the start of `out`.
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step>;
}

/// All streams of an input.
pub(crate) struct Streams<'a, D, N> {
    input: &'a [u8],
    stream: D,
    new: N,
    /// At the end of the last stream.
    ended: bool,
}

impl<'a, D: Decoder, N: FnMut() -> Result<D>> Streams<'a, D, N> {
    /// `new` makes the decoder of a further stream.
    pub fn new(input: &'a [u8], mut new: N) -> Result<Self> {
        Ok(Self { input, stream: new()?, new, ended: false })
    }

    /// Decodes to the start of `out`, as far as it has room or the input ends.
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while !self.ended && done < out.len() {
            let step = self.stream.step(self.input, out.get_mut(done..).unwrap_or(&mut []))?;
            self.input = self.input.get(step.read..).unwrap_or(&[]);
            done = done.saturating_add(step.written);
            if step.ended {
                self.ended = self.input.is_empty();
                if !self.ended {
                    self.stream = (self.new)()?;
                }
            } else if step.read == 0 && step.written == 0 {
                return Err(fail::corrupt(D::NAME, "truncated: no end of stream"));
            }
        }
        Ok(done)
    }

    /// Decodes to exactly `out`.
    pub fn decode(mut self, out: &mut [u8]) -> Result<()> {
        let done = self.read(out)?;
        if done < out.len() {
            return Err(fail::size(D::NAME, out.len(), done));
        }
        // Only the end may follow; one byte more is one too many.
        match self.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(fail::too_large(D::NAME, out.len())),
        }
    }

    /// Appends what there is, `limit` bytes at most; on an error nothing.
    pub fn decode_bounded(mut self, limit: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let result = loop {
            let at = out.len();
            let room = limit.saturating_add(1).saturating_sub(at - start).min(STEP);
            if let Err(error) = crate::room::grow(out, room) {
                break Err(error);
            }
            match self.read(out.get_mut(at..).unwrap_or(&mut [])) {
                Ok(n) => out.truncate(at + n),
                Err(error) => break Err(error),
            }
            if out.len() - start > limit {
                break Err(fail::too_large(D::NAME, limit));
            }
            if self.ended {
                break Ok(());
            }
        };
        if result.is_err() {
            out.truncate(start);
        }
        result
    }
}
