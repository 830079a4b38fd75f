//! Copies of bytes. Where memory ends they are refused, where the standard library's would end the process.

use bytes::Bytes;
use std::io;

/// A copy of bytes that were only lent, to keep.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`] where there is no memory for it.
pub fn copy(bytes: &[u8]) -> io::Result<Bytes> {
    joined(&[bytes]).map(Bytes::from)
}

/// The parts, one behind the other.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`] where there is no memory for them.
pub fn joined<P: AsRef<[u8]>>(parts: &[P]) -> io::Result<Vec<u8>> {
    let length = parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(part.as_ref().len()));
    let mut whole = Vec::new();
    whole.try_reserve_exact(length.ok_or(io::ErrorKind::OutOfMemory)?)?;
    parts.iter().for_each(|part| whole.extend_from_slice(part.as_ref()));
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_the_bytes_and_what_does_not_fit_is_refused() {
        assert_eq!(copy(b"abc").unwrap(), "abc");
        assert_eq!(joined(&[&b"ab"[..], b"", b"c"]).unwrap(), b"abc");
        assert_eq!(joined::<&[u8]>(&[]).unwrap(), b"");
    }
}
