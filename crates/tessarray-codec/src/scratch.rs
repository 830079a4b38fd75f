//! Buffers that are used again: one [`Scratch`] a worker, so that steady work allocates nothing.

use crate::{CodecError, Result};

/// A worker's spare buffers.
#[derive(Debug, Default)]
pub struct Scratch {
    spare: Vec<Vec<u8>>,
}

/// Buffers above this many bytes are freed rather than kept.
const KEEP: usize = 64 << 20;

impl Scratch {
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer, with whatever capacity an earlier user left.
    pub fn empty(&mut self) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// A buffer of exactly `len` bytes with arbitrary (initialised) contents: memory that an earlier user left is not
    /// cleared again.
    ///
    /// # Errors
    /// [`CodecError::Memory`] where there is none.
    pub fn sized(&mut self, len: usize) -> Result<Vec<u8>> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        if buffer.capacity() < len {
            // A zeroed allocation costs nothing until it is touched, unlike a resize.
            return tessarray_buffer::zeroed(len).ok_or(CodecError::Memory { bytes: len as u64 });
        }
        buffer.resize(len, 0);
        Ok(buffer)
    }

    /// Takes a buffer back.
    pub fn give(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= KEEP && self.spare.len() < 8 {
            self.spare.push(buffer);
        }
    }
}
