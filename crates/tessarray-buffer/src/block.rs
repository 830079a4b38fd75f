//! Memory for one chunk, aligned for every data type.

use crate::view::{OutputView, c_strides};

/// Zeroed memory for a C-ordered array, aligned to 16 bytes. Pages that nobody touches cost nothing.
#[derive(Debug)]
pub struct Block {
    memory: Vec<u128>,
    shape: Vec<u64>,
    item: usize,
}

impl Block {
    /// Room for an array of `shape` and elements of `item` bytes; `None` if there is no memory for it.
    pub fn zeroed(shape: &[u64], item: usize) -> Option<Self> {
        let bytes = shape.iter().try_fold(item as u64, |product, &n| product.checked_mul(n))?;
        let units = usize::try_from(bytes.div_ceil(16)).ok()?;
        let memory = zeroed_units(units)?;
        Some(Self { memory, shape: shape.to_vec(), item })
    }

    /// Elements along each axis.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Bytes of the array.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of an allocation")]
    pub fn len(&self) -> usize {
        self.shape.iter().fold(self.item, |product, &n| product.saturating_mul(n as usize))
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a read puts the elements.
    pub fn view(&mut self) -> OutputView<'_> {
        let strides = c_strides(&self.shape, self.item);
        // SAFETY: the memory is large enough for the shape, initialised, and borrowed mutably while the view lives.
        unsafe { OutputView::from_raw(self.memory.as_mut_ptr().cast(), &self.shape, &strides, self.item) }
    }

    /// The elements' bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is at least so long, and initialised.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len()) }
    }

    /// The memory itself: the array's bytes, and up to 15 more.
    pub fn into_units(self) -> Vec<u128> {
        self.memory
    }
}

fn zeroed_units(len: usize) -> Option<Vec<u128>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let layout = std::alloc::Layout::array::<u128>(len).ok()?;
    // SAFETY: the layout is not empty; the allocation is `len` initialised units of the global allocator, aligned as `u128`
    // is, and owned by the vector from here on.
    unsafe {
        let pointer = std::alloc::alloc_zeroed(layout).cast::<u128>();
        (!pointer.is_null()).then(|| Vec::from_raw_parts(pointer, len, len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_zeroed_aligned_and_as_long_as_its_shape_says() {
        for (shape, item) in [(&[3u64, 5][..], 1), (&[], 8), (&[7], 3), (&[0, 4], 2), (&[100, 10], 16)] {
            let mut block = Block::zeroed(shape, item).unwrap();
            let bytes = shape.iter().product::<u64>() as usize * item;
            assert_eq!((block.len(), block.bytes().len(), block.is_empty()), (bytes, bytes, bytes == 0));
            assert!(block.bytes().iter().all(|&byte| byte == 0));
            let view = block.view();
            assert_eq!((view.shape(), view.item()), (shape, item));
            assert_eq!(block.bytes().as_ptr() as usize % 16, 0);
            assert!(block.into_units().len() * 16 < bytes + 16);
        }
        assert!(Block::zeroed(&[u64::MAX, 2], 1).is_none());
        assert!(Block::zeroed(&[u64::MAX / 2], 1).is_none());
    }
}
