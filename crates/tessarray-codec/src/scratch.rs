//! Buffers that are used again: one [`Scratch`] a worker, so that steady work allocates nothing.

use crate::{CodecError, Result};

/// A worker's spare buffers.
#[derive(Debug, Default)]
pub struct Scratch {
    spare: Vec<Vec<u8>>,
    object: Vec<u8>,
}

/// Buffers above this many bytes are freed rather than kept.
const KEEP: usize = 64 << 20;
/// Room that is made for an object before its size is known, and the largest object buffer that is kept.
const MOST_ROOM: usize = 256 << 20;

impl Scratch {
    /// No buffers yet.
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

    /// An empty buffer for a whole encoded object (a chunk or a shard), with room for `bound` bytes so that it need not
    /// grow by doubling; room that is not used costs no memory.
    ///
    /// # Errors
    /// [`CodecError::Memory`] where there is none: a buffer that grows while it is filled would end the process then.
    pub fn object(&mut self, bound: usize) -> Result<Vec<u8>> {
        let mut buffer = std::mem::take(&mut self.object);
        buffer.clear();
        let room = bound.min(MOST_ROOM);
        buffer.try_reserve_exact(room).map_err(|_| CodecError::Memory { bytes: room as u64 })?;
        Ok(buffer)
    }

    /// Takes an object's buffer back; the largest is kept.
    pub fn give_object(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= MOST_ROOM && buffer.capacity() > self.object.capacity() {
            self.object = buffer;
        }
    }

    /// Takes a buffer back.
    pub fn give(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= KEEP && self.spare.len() < 8 {
            self.spare.push(buffer);
        }
    }
}
