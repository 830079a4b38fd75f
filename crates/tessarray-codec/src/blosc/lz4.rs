//! The reference LZ4 library, behind safe functions.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    /// In the library that `lz4_sys` builds, though not among its declarations.
    fn LZ4_decompress_safe_partial(
        source: *const c_char,
        dest: *mut c_char,
        source_size: c_int,
        target_size: c_int,
        dest_capacity: c_int,
    ) -> c_int;
}

/// How hard LZ4 tries.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effort {
    /// Fast, skipping ahead more with a larger acceleration.
    Fast { acceleration: u8 },
    /// The high-compression search at this level.
    High { level: u8 },
}

/// Compresses `src` to the end of `out` if that takes at most `max` bytes and the vector's spare capacity has them;
/// returns how many it took. `out` never reallocates.
pub(super) fn compress_append(src: &[u8], out: &mut Vec<u8>, max: usize, effort: Effort) -> Option<usize> {
    let spare = out.spare_capacity_mut();
    let max = c_int::try_from(max.min(spare.len())).unwrap_or(c_int::MAX);
    let len = c_int::try_from(src.len()).ok()?;
    let (from, to) = (src.as_ptr().cast(), spare.as_mut_ptr().cast());
    // SAFETY: LZ4 reads the `len` bytes of `src` and writes at most `max` bytes, which the spare capacity has.
    let written = unsafe {
        match effort {
            Effort::Fast { acceleration } => {
                lz4_sys::LZ4_compress_fast(from, to, len, max, acceleration.into())
            }
            Effort::High { level } => lz4_sys::LZ4_compress_HC(from, to, len, max, level.into()),
        }
    };
    let written = usize::try_from(written).ok().filter(|&n| n > 0 && n <= max as usize)?;
    // SAFETY: LZ4 has initialised this many bytes of the spare capacity.
    unsafe { out.set_len(out.len() + written) };
    Some(written)
}

/// Decompresses `src` into `dst` and returns how many bytes came out; `None` if `src` is no LZ4 block that fits.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (from_len, to_len) = (c_int::try_from(src.len()).ok()?, c_int::try_from(dst.len()).ok()?);
    // SAFETY: LZ4's safe decoder stays within the two lengths whatever the bytes are.
    let written = unsafe {
        lz4_sys::LZ4_decompress_safe(src.as_ptr().cast(), dst.as_mut_ptr().cast(), from_len, to_len)
    };
    usize::try_from(written).ok()
}

/// Decompresses `src` until `dst` is full; `false` if it is no LZ4 block, or one of fewer bytes.
pub(super) fn decompress_to(src: &[u8], dst: &mut [u8]) -> bool {
    let (Ok(from_len), Ok(to_len)) = (c_int::try_from(src.len()), c_int::try_from(dst.len())) else {
        return false;
    };
    // SAFETY: as in `decompress`: the decoder stays within both lengths whatever the bytes are.
    let written = unsafe {
        LZ4_decompress_safe_partial(src.as_ptr().cast(), dst.as_mut_ptr().cast(), from_len, to_len, to_len)
    };
    written == to_len
}
