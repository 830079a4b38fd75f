//! Elements of variable length: fixed-size references in the array, the bytes themselves in an arena.
//!
//! A string array is handled by the same plans, gathers and scatters as any other: its element is a 16-byte
//! [`VarItem`] that names a run of bytes in an [`Arena`].

use std::sync::{Arc, PoisonError, RwLock};

/// A reference to one element's bytes in an [`Arena`]; plain data, copied about like any 16-byte element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct VarItem {
    pub buffer: u32,
    pub len: u32,
    pub offset: u64,
}

impl VarItem {
    /// Bytes of one item in an array.
    pub const SIZE: usize = 16;

    /// The item as it lies in memory.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        out[..4].copy_from_slice(&self.buffer.to_ne_bytes());
        out[4..8].copy_from_slice(&self.len.to_ne_bytes());
        out[8..].copy_from_slice(&self.offset.to_ne_bytes());
        out
    }

    /// Reads an item back from memory.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let [b0, b1, b2, b3, l0, l1, l2, l3, o0, o1, o2, o3, o4, o5, o6, o7] = *bytes;
        Self {
            buffer: u32::from_ne_bytes([b0, b1, b2, b3]),
            len: u32::from_ne_bytes([l0, l1, l2, l3]),
            offset: u64::from_ne_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
        }
    }
}

/// Append-only home of variable-length bytes; threads may add and look up at the same time.
#[derive(Debug, Default)]
pub struct Arena {
    buffers: RwLock<Vec<Arc<Vec<u8>>>>,
}

impl Arena {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a buffer, as it is and without a copy, and returns the number by which items name it.
    pub fn push(&self, bytes: Vec<u8>) -> u32 {
        let mut buffers = self.buffers.write().unwrap_or_else(PoisonError::into_inner);
        buffers.push(Arc::new(bytes));
        u32::try_from(buffers.len() - 1).unwrap_or(u32::MAX)
    }

    /// Adds one element's bytes and returns the item that names them.
    pub fn push_item(&self, bytes: &[u8]) -> VarItem {
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        VarItem { buffer: self.push(bytes.to_vec()), len, offset: 0 }
    }

    /// The buffer with this number.
    pub fn buffer(&self, number: u32) -> Option<Arc<Vec<u8>>> {
        self.buffers.read().unwrap_or_else(PoisonError::into_inner).get(number as usize).cloned()
    }

    /// All buffers, in the order of their numbers; for looking up many items without a lock for each.
    pub fn buffers(&self) -> Vec<Arc<Vec<u8>>> {
        self.buffers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The bytes `item` names among `buffers`, or `None` where it points outside them.
    pub fn resolve(buffers: &[Arc<Vec<u8>>], item: VarItem) -> Option<&[u8]> {
        let start = usize::try_from(item.offset).ok()?;
        let end = start.checked_add(item.len as usize)?;
        buffers.get(item.buffer as usize)?.get(start..end)
    }
}
