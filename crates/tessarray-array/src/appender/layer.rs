//! Rows of frames in memory, cut into tiles as the array is.

use super::memory::Memory;
use crate::array::{Array, Part};
use crate::error::{ArrayError, Result};
use crate::session::Session;
use tessarray_buffer::{Arena, Dims, InputView, OutputView, Strides, c_strides};
use tessarray_grid::{Edges, Odometer, Selection};

/// Chunks of no fewer bytes are tiles; smaller ones are gathered again when they are encoded, which their size makes
/// cheap, so that taking a frame is one copy of a few long runs.
const TILE_BYTES: u64 = 256 << 10;

/// How layers look: the same for all of an appender.
#[derive(Debug)]
pub(super) struct Frames {
    axis: usize,
    item: usize,
    /// The array's, with a layer's rows along the axis.
    shape: Dims,
    tiles: Vec<Tile>,
}

#[derive(Debug)]
struct Tile {
    origin: Dims,
    shape: Dims,
    strides: Strides,
}

impl Tile {
    /// Bytes between neighbours along an axis.
    fn row_bytes(&self, axis: usize) -> usize {
        self.strides[axis].unsigned_abs()
    }
}

impl Frames {
    pub(super) fn new(array: &Array, axis: usize, max_bytes: usize) -> Result<Self> {
        let (mut shape, data_type) = (Dims::from_vec(array.shape()), array.data_type());
        let refused = |what: &str, expected: String, found: String| {
            Err(ArrayError::Argument { what: what.into(), expected, found })
        };
        if axis >= shape.len() {
            let expected = format!("below {}, the array's number of dimensions", shape.len());
            return refused("axis", expected, axis.to_string());
        }
        if data_type.is_variable() {
            let expected = "an array whose elements have a fixed size".into();
            return refused("appender", expected, data_type.to_string());
        }
        let item = data_type.size();
        let (edges, is_sharded) = (array.object_edges(), array.shard_shape().is_some());
        // Behind listed lengths every layer is a chunk of its own, as long as the last that is listed.
        let object: Vec<u64> = edges.iter().map(Edges::last).collect();
        let regular = edges.iter().all(|edges| edges.each().is_some());
        shape[axis] = 1;
        let row = bytes(&shape, item).max(1);
        // As long as an object where two layers fit, else the longest part of one in whole inner chunks.
        let inner = array.chunk_edges()[axis].last().max(1);
        let ratio = (object[axis] / inner).max(1);
        let fits = |parts: u64| inner.saturating_mul(parts).saturating_mul(row) <= max_bytes as u64 / 2;
        let parts = (1..=ratio).rev().find(|&n| ratio.is_multiple_of(n) && fits(n)).unwrap_or(1);
        shape[axis] = inner.saturating_mul(parts);
        let too_large = bytes(&shape, item) > isize::MAX as u64;
        if too_large {
            return refused("appender", "rows of chunks that fit in memory".into(), format!("{shape:?}"));
        }
        let mut tile = shape.clone();
        if regular && !is_sharded && bytes(&object, item) >= TILE_BYTES {
            tile = object.iter().zip(&shape).map(|(&a, &b)| a.min(b)).collect();
        }
        let counts: Dims = shape.iter().zip(&tile).map(|(&n, &step)| n.div_ceil(step.max(1))).collect();
        let mut tiles = Vec::new();
        let mut odometer = Odometer::new(&counts);
        while let Some(at) = odometer.current() {
            let origin: Dims = at.iter().zip(&tile).map(|(&i, &step)| i * step).collect();
            let extents = origin.iter().zip(&tile).zip(&shape);
            let shape: Dims = extents.map(|((&from, &step), &n)| step.min(n - from)).collect();
            let strides = c_strides(&shape, item);
            tiles.push(Tile { origin, shape, strides });
            odometer.advance();
        }
        Ok(Self { axis, item, shape, tiles })
    }

    pub(super) fn axis(&self) -> usize {
        self.axis
    }

    /// Rows of a layer.
    pub(super) fn rows(&self) -> u64 {
        self.shape[self.axis]
    }

    /// Bytes of a layer.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a buffer in memory")]
    pub(super) fn bytes(&self) -> usize {
        bytes(&self.shape, self.item) as usize
    }

    /// Bytes of each tile.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a buffer in memory")]
    pub(super) fn tile_bytes(&self) -> impl Iterator<Item = usize> {
        self.tiles.iter().map(|tile| bytes(&tile.shape, self.item) as usize)
    }

    /// Checks what is to be appended, and gives its rows.
    pub(super) fn check(&self, input: &InputView<'_>) -> Result<u64> {
        if input.item() != self.item {
            return Err(ArrayError::ItemSize { expected: self.item, found: input.item() });
        }
        let mut expected = self.shape.clone();
        expected[self.axis] = input.shape().get(self.axis).copied().unwrap_or(0);
        if input.shape() != &expected[..] {
            return Err(ArrayError::BufferShape {
                expected: expected.to_vec(),
                found: input.shape().to_vec(),
            });
        }
        Ok(expected[self.axis])
    }
}

fn bytes(shape: &[u64], item: usize) -> u64 {
    shape.iter().fold(item as u64, |product, &n| product.saturating_mul(n))
}

/// Rows that are gathered, or wait to be stored.
pub(super) struct Layer {
    /// Where its first row is to lie, counted from a boundary of layers.
    pub begin: u64,
    /// Rows in it.
    pub filled: u64,
    /// Where its rows were to lie in the array, where it was tried to store them.
    tried: Option<u64>,
    memory: Memory,
}

impl Layer {
    pub(super) fn new(memory: Memory, begin: u64) -> Self {
        Self { begin, filled: 0, tried: None, memory }
    }

    /// Rows for which there is room.
    pub(super) fn left(&self, frames: &Frames) -> u64 {
        frames.rows().saturating_sub(self.begin + self.filled)
    }

    pub(super) fn is_full(&self, frames: &Frames) -> bool {
        self.left(frames) == 0
    }

    /// Copies rows of a checked `input`, from number `first` on, as far as there is room; says how many.
    #[expect(clippy::cast_possible_truncation, reason = "bytes of a buffer in memory")]
    pub(super) fn take(&mut self, frames: &Frames, input: &InputView<'_>, first: u64) -> u64 {
        let axis = frames.axis;
        let rows = (input.shape()[axis] - first).min(self.left(frames));
        for (tile, memory) in frames.tiles.iter().zip(self.memory.tiles_mut()) {
            let mut shape = tile.shape.clone();
            shape[axis] = rows;
            let mut from = tile.origin.clone();
            from[axis] = first;
            let start = self.filled as usize * tile.row_bytes(axis);
            input.copy_box(&from, &shape, memory, start, &tile.strides);
        }
        self.filled += rows;
        rows
    }

    /// Appends the rows to the array, and forgets them. An attempt that was reported as failed may have been made all the
    /// same, where a network lost the answer: then there is nothing left to do.
    pub(super) fn store(&mut self, session: &Session, array: &Array, frames: &Frames) -> Result<()> {
        if !self.is_stored(array, frames)? {
            self.append(session, array, frames)?;
        }
        (self.filled, self.tried) = (0, None);
        Ok(())
    }

    fn is_stored(&self, array: &Array, frames: &Frames) -> Result<bool> {
        let Some(start) = self.tried else { return Ok(false) };
        array.refresh()?;
        if array.shape()[frames.axis] < start.saturating_add(self.filled) {
            return Ok(false);
        }
        for (tile, memory) in frames.tiles.iter().zip(self.memory.tiles()) {
            let (mut origin, mut shape) = (tile.origin.clone(), tile.shape.clone());
            (origin[frames.axis], shape[frames.axis]) = (start, self.filled);
            let mut found = memory.to_vec();
            let view = OutputView::new(&mut found, &tile.shape, frames.item)?;
            let (mut view, _) = view.split_at(frames.axis, self.filled);
            array.read_into(&Selection::region(&origin, &shape), &mut view, &Arena::new())?;
            if found != memory {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn append(&mut self, session: &Session, array: &Array, frames: &Frames) -> Result<()> {
        let mut extent = frames.shape.clone();
        extent[frames.axis] = self.filled;
        let parts: Vec<Part<'_>> = frames
            .tiles
            .iter()
            .zip(self.memory.tiles())
            .map(|(tile, memory)| {
                let mut shape = tile.shape.clone();
                shape[frames.axis] = self.filled;
                let input = InputView::strided(memory, &shape, &tile.strides, frames.item)?;
                Ok(Part { origin: tile.origin.clone(), input })
            })
            .collect::<Result<_>>()?;
        let mut tried = None;
        let done = array.append_parts(session, frames.axis, &extent, &parts, |start| tried = Some(start));
        self.tried = tried;
        done.map(|_| ())
    }
}
