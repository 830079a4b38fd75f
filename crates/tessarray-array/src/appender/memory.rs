//! Memory that is filled while the system is still asked for its pages.

use super::layer::Frames;
use crate::error::{ArrayError, Result};
use tessarray_buffer::{Backing, Pages};

/// The memory of a layer, a buffer for each tile.
pub(super) struct Memory(Vec<Pages>);

/// Its pages, for the thread that makes them ready.
pub(super) struct Unready(Vec<Backing>);

impl Memory {
    /// # Errors
    /// [`ArrayError::Memory`] if there is none.
    pub(super) fn new(frames: &Frames) -> Result<Self> {
        let bytes = frames.bytes() as u64;
        let pages = |len| Pages::zeroed(len).ok_or(ArrayError::Memory { what: "appender", bytes });
        Ok(Self(frames.tile_bytes().map(pages).collect::<Result<_>>()?))
    }

    pub(super) fn tiles(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Pages::bytes)
    }

    pub(super) fn tiles_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.0.iter_mut().map(Pages::bytes_mut)
    }

    pub(super) fn unready(&self) -> Unready {
        Unready(self.0.iter().map(Pages::backing).collect())
    }
}

impl Unready {
    /// Has the system back the pages, row after row, whether or not somebody fills them meanwhile.
    pub(super) fn populate(&self, rows: u64) {
        for row in 0..rows {
            for tile in &self.0 {
                let at = |row: u64| (tile.len() as u128 * u128::from(row) / u128::from(rows)) as usize;
                tile.populate(at(row)..at(row + 1));
            }
        }
    }
}
