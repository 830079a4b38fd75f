//! Room in a buffer. Where memory ends it is refused, where a buffer that grows by itself would end the process.

use crate::{CodecError, Result};

/// Makes room for `more` elements behind those that are there, as `Vec::reserve` does.
///
/// # Errors
/// [`CodecError::Memory`] where there is none.
pub(crate) fn reserve<T>(out: &mut Vec<T>, more: usize) -> Result<()> {
    out.try_reserve(more).map_err(|_| memory(more.saturating_mul(size_of::<T>())))
}

/// Appends `more` zeros.
///
/// # Errors
/// [`CodecError::Memory`] where there is no room for them; nothing is appended then.
pub(crate) fn grow(out: &mut Vec<u8>, more: usize) -> Result<()> {
    reserve(out, more)?;
    out.resize(out.len().saturating_add(more), 0);
    Ok(())
}

/// Appends a copy of `bytes`.
///
/// # Errors
/// [`CodecError::Memory`] where there is no room for them; nothing is appended then.
pub(crate) fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    reserve(out, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// A copy of `bytes`.
///
/// # Errors
/// [`CodecError::Memory`] where there is no memory for it.
pub(crate) fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    out.try_reserve_exact(bytes.len()).map_err(|_| memory(bytes.len()))?;
    out.extend_from_slice(bytes);
    Ok(out)
}

fn memory(bytes: usize) -> CodecError {
    CodecError::Memory { bytes: u64::try_from(bytes).unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_refused_and_changes_nothing() {
        let mut out = vec![1];
        grow(&mut out, 2).unwrap();
        append(&mut out, &[7]).unwrap();
        assert_eq!(out, [1, 0, 0, 7]);
        assert_eq!(copy(&out).unwrap(), out);
        let refused = grow(&mut out, usize::MAX - 8).unwrap_err();
        assert!(matches!(refused, CodecError::Memory { bytes } if bytes == u64::MAX - 8));
        assert!(reserve(&mut Vec::<u64>::new(), 1 << 60).is_err());
        assert_eq!(out.len(), 4);
    }
}
