//! Decoding bytes of unknown size with decoders that want a whole output buffer.

use crate::Result;

/// What one attempt to decode into a buffer came to.
pub(crate) enum Attempt {
    /// All of the input decoded, to this many bytes.
    Done(usize),
    /// The buffer was too small.
    TooSmall,
}

/// Appends what `decode` gives to `out`. The buffer starts at a few times the input's size and doubles while `decode`
/// finds it too small, so that no declared size is ever trusted; one of `limit` + 1 bytes is the last that is tried,
/// and `None` then says that there is more than the limit.
pub(crate) fn decode_growing(
    input: usize,
    limit: usize,
    out: &mut Vec<u8>,
    mut decode: impl FnMut(&mut [u8]) -> Result<Attempt>,
) -> Result<Option<()>> {
    let start = out.len();
    let most = limit.saturating_add(1);
    let mut room = input.saturating_mul(4).max(4096).min(most);
    loop {
        let more = room.saturating_sub(out.len().saturating_sub(start));
        crate::room::grow(out, more).inspect_err(|_| out.truncate(start))?;
        let attempt = match out.get_mut(start..) {
            Some(buffer) => decode(buffer),
            None => Ok(Attempt::Done(0)),
        };
        match attempt {
            Ok(Attempt::Done(n)) if n <= limit => {
                out.truncate(start.saturating_add(n));
                return Ok(Some(()));
            }
            Ok(Attempt::TooSmall) if room < most => room = room.saturating_mul(2).min(most),
            Ok(_) => {
                out.truncate(start);
                return Ok(None);
            }
            Err(error) => {
                out.truncate(start);
                return Err(error);
            }
        }
    }
}

/// Appends `size` bytes that `decode` puts into exactly their room; nothing where it fails.
pub(crate) fn decode_declared(
    size: usize,
    out: &mut Vec<u8>,
    decode: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    crate::room::grow(out, size)?;
    let result = out.get_mut(start..).map_or(Ok(()), decode);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_appended_if_the_declared_bytes_do_not_decode() {
        let mut out = vec![7];
        decode_declared(2, &mut out, |room| {
            room.fill(1);
            Ok(())
        })
        .unwrap();
        assert_eq!(out, [7, 1, 1]);
        assert!(decode_declared(9, &mut out, |_| Err(crate::fail::corrupt("x", "y"))).is_err());
        assert_eq!(out, [7, 1, 1]);
    }

    #[test]
    fn the_buffer_never_exceeds_the_limit_by_more_than_one_byte() {
        for (size, limit, fits) in
            [(0, 0, true), (1, 0, false), (10_000, 10_000, true), (10_001, 10_000, false)]
        {
            let mut largest = 0;
            let mut out = vec![7];
            let result = decode_growing(1, limit, &mut out, |buffer| {
                largest = largest.max(buffer.len());
                Ok(if size <= buffer.len() { Attempt::Done(size) } else { Attempt::TooSmall })
            });
            assert_eq!(result.unwrap().is_some(), fits);
            assert_eq!(out.len(), if fits { size + 1 } else { 1 });
            assert!(largest <= limit + 1);
        }
    }
}
