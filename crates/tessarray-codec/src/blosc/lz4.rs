//! The encoders of the reference LZ4 library, behind a safe function.
#![expect(unsafe_code, reason = "calls of the reference LZ4 library")]

use std::ffi::c_int;

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
