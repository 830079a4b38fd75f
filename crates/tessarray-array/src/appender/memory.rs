//! Memory that is filled while the system is still asked for its pages.

use super::layer::Frames;
use std::sync::Arc;
use tessarray_buffer::Pages;

/// The memory of a layer, a buffer for each tile. Only the layer reads and writes there.
#[derive(Clone)]
pub(super) struct Memory(Arc<[Pages]>);

impl Memory {
    pub(super) fn new(frames: &Frames) -> Self {
        let pages = |len| Pages::zeroed(len).unwrap_or_else(|| no_memory(len));
        Self(frames.tile_bytes().map(pages).collect())
    }

    pub(super) fn tiles(&self) -> &[Pages] {
        &self.0
    }

    /// Has the system back the pages, row after row, whether or not somebody fills them meanwhile.
    pub(super) fn populate(&self, rows: u64) {
        for row in 0..rows {
            for tile in &*self.0 {
                let at = |row: u64| (tile.len() as u128 * u128::from(row) / u128::from(rows)) as usize;
                tile.populate(at(row)..at(row + 1));
            }
        }
    }
}

/// As the allocator does where there is none.
fn no_memory(len: usize) -> ! {
    match std::alloc::Layout::array::<u8>(len) {
        Ok(layout) => std::alloc::handle_alloc_error(layout),
        Err(_) => unreachable!("a layer has a size, as its appender has checked"),
    }
}
