//! libdeflate's calls that also say how much of the input they took, which its safe wrapper does not have.
#![expect(unsafe_code, reason = "calls of libdeflate")]

use crate::{CodecError, Result, fail};
use libdeflate_sys as sys;
use std::cell::RefCell;
use std::ptr::NonNull;

/// The container around a deflate stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    Gzip,
    Zlib,
}

/// What decoding one member came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    /// The member took `read` bytes of input and gave `written` bytes.
    Whole { read: usize, written: usize },
    /// The output has no room for it.
    TooSmall,
    /// Not a valid member, or one that is cut short.
    Bad,
}

struct Decompressor(NonNull<sys::libdeflate_decompressor>);

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the pointer came from libdeflate_alloc_decompressor and is freed once.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor>> = const { RefCell::new(None) };
}

/// Decodes the member at the start of `input` to the start of `out`.
pub(super) fn decode_member(wrapping: Wrapping, input: &[u8], out: &mut [u8]) -> Result<Member> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            // SAFETY: no preconditions.
            *slot = NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() }).map(Decompressor);
        }
        let decompressor = slot.as_ref().ok_or_else(no_memory)?.0.as_ptr();
        let (from, to) = (input.as_ptr().cast(), out.as_mut_ptr().cast());
        let (mut read, mut written) = (0, 0);
        // SAFETY: the decompressor is live and this thread's own; both buffers are valid for the lengths given, and
        // libdeflate stays inside them.
        let result = unsafe {
            match wrapping {
                Wrapping::Gzip => sys::libdeflate_gzip_decompress_ex(
                    decompressor,
                    from,
                    input.len(),
                    to,
                    out.len(),
                    &mut read,
                    &mut written,
                ),
                Wrapping::Zlib => sys::libdeflate_zlib_decompress_ex(
                    decompressor,
                    from,
                    input.len(),
                    to,
                    out.len(),
                    &mut read,
                    &mut written,
                ),
            }
        };
        Ok(match result {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS => Member::Whole { read, written },
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Member::TooSmall,
            _ => Member::Bad,
        })
    })
}

fn no_memory() -> CodecError {
    fail::corrupt("deflate", "no memory for a decoder")
}
