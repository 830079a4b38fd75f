//! Buffers and compressor states that live as long as their thread, so that small chunks cost no allocations.

use super::Filter;
use super::compressor::States;
use crate::{Result, room};
use std::cell::Cell;

/// What one encode or decode works in. Contents are whatever was there before.
#[derive(Default)]
pub(super) struct Scratch {
    /// A block that was put together from pieces.
    pub gathered: Vec<u8>,
    /// A block after its shuffle, or before its unshuffle.
    pub block: Vec<u8>,
    /// Planes between byte shuffle and bit shuffle.
    pub planes: Vec<u8>,
    /// A stream from a compressor that does not write straight to the frame.
    pub stream: Vec<u8>,
    pub states: States,
}

impl Scratch {
    /// Makes room for a block of `bytes`, so that nothing grows while it is worked on.
    ///
    /// # Errors
    /// [`CodecError::Memory`](crate::CodecError) where there is none.
    pub fn prepare(&mut self, filter: Filter, bytes: usize) -> Result<()> {
        match filter {
            Filter::None => Ok(()),
            Filter::Bytes => ready(&mut self.block, bytes),
            Filter::Bits => ready(&mut self.block, bytes).and_then(|()| ready(&mut self.planes, bytes)),
        }
    }
}

/// Makes room for `bytes` in a buffer that is used from its beginning.
pub(super) fn ready(buffer: &mut Vec<u8>, bytes: usize) -> Result<()> {
    room::reserve(buffer, bytes.saturating_sub(buffer.len()))
}

/// Larger buffers are given back after use.
const KEEP: usize = 4 << 20;

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Runs `f` with this thread's scratch.
pub(super) fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    // Taken out and put back, so neither a nested call nor a thread that is ending finds it in use.
    let mut scratch = SCRATCH.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let result = f(&mut scratch);
    for buffer in [&mut scratch.gathered, &mut scratch.block, &mut scratch.planes, &mut scratch.stream] {
        if buffer.capacity() > KEEP {
            *buffer = Vec::new();
        }
    }
    let _ = SCRATCH.try_with(|slot| slot.set(Some(scratch)));
    result
}
