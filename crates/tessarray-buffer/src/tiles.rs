//! An output that several threads fill, each another part at a time.
//!
//! 1. Every axis of the output is cut into parts ([`Parts`]), no two of which share an index: evenly spaced ones by arithmetic,
//!    others by lists that are looked at once, when the output is cut.
//! 2. A combination of one part per axis is a tile. Two tiles differ in the part of some axis, so that they share no element.
//! 3. A thread takes a tile before it writes there, and gives it back after. One that another thread has is waited for.
//!
//! So whatever safe code asks for, no element is written by two threads at once. Costs one byte per tile, and some ten
//! nanoseconds per tile that is taken.

use crate::boxes::{Along, boxes, copy_one, of_item};
use crate::copy::{copy_strided, stream_strided};
use crate::reach::fits_in;
use crate::view::{Dims, OutputView, is_contiguous, offset};
use smallvec::SmallVec;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, Ordering};

/// How one axis of an output is cut into parts.
#[derive(Debug, Clone)]
pub enum Parts<'p> {
    /// `count` parts, of which number `i` begins at `(i * size - offset) / step`, rounded up; the first at 0.
    Even {
        /// Between the beginnings, before the division.
        size: u64,
        /// Taken off each beginning before the division.
        offset: u64,
        /// What beginnings are divided by.
        step: u64,
        /// How many parts.
        count: u64,
    },
    /// Parts that begin at these indices, each of which is no less than the one before; the first at 0.
    Begins(Vec<u64>),
    /// Parts that are the second numbers of these pairs, for each part a range of them.
    Pairs {
        /// The pairs, of which the second numbers are indices.
        pairs: &'p [(u64, u64)],
        /// Which of them each part has.
        ranges: Vec<Range<usize>>,
    },
}

impl Parts<'_> {
    fn count(&self) -> u64 {
        match self {
            Self::Even { count, .. } => *count,
            Self::Begins(begins) => begins.len() as u64,
            Self::Pairs { ranges, .. } => ranges.len() as u64,
        }
    }

    /// Whether no two parts share an index, and none has one that an axis of `extent` has not.
    fn is_distinct(&self, extent: u64) -> bool {
        match self {
            // What `begin` gives never gets smaller.
            Self::Even { .. } => true,
            Self::Begins(begins) => begins.is_sorted(),
            Self::Pairs { pairs, ranges } => is_distinct(pairs, ranges, extent),
        }
    }

    /// Where part `i` begins on an axis of `extent`, if parts follow on one another.
    #[expect(clippy::cast_possible_truncation, reason = "places in lists, and bytes of a view of memory")]
    fn begin(&self, i: u64, extent: u64) -> u64 {
        match self {
            _ if i == 0 => 0,
            Self::Even { count, .. } if i >= *count => extent,
            Self::Even { size, offset, step, .. } => {
                let places = i.saturating_mul(*size).saturating_sub(*offset);
                (if *step <= 1 { places } else { places.div_ceil(*step) }).min(extent)
            }
            Self::Begins(begins) => begins.get(i as usize).map_or(extent, |&begin| begin.min(extent)),
            Self::Pairs { .. } => extent,
        }
    }
}

fn is_distinct(pairs: &[(u64, u64)], ranges: &[Range<usize>], extent: u64) -> bool {
    let Ok(words) = usize::try_from(extent.div_ceil(64)) else { return false };
    let mut seen = Vec::new();
    if seen.try_reserve_exact(words).is_err() {
        return false;
    }
    seen.resize(words, 0u64);
    ranges.iter().all(|range| {
        pairs.get(range.clone()).is_some_and(|pairs| {
            pairs.iter().all(|&(_, out)| {
                let (word, bit) = ((out / 64) as usize, 1 << (out % 64));
                let first = out < extent && seen[word] & bit == 0;
                if first {
                    seen[word] |= bit;
                }
                first
            })
        })
    })
}

/// The parts of an output do not make tiles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TilesError {
    /// There are not as many cuts as axes, or two parts share an index, or one lies outside.
    #[error("the parts of an output of shape {shape:?} overlap, or do not lie inside")]
    Overlap {
        /// Elements of the output along each axis.
        shape: Vec<u64>,
    },
    /// There is no memory for a byte per tile.
    #[error("there is no memory for {count} tiles")]
    Memory {
        /// How many tiles there are.
        count: u64,
    },
}

/// The parts of each axis; of up to four without a heap allocation. (A `SmallVec` would fix the lifetime.)
#[derive(Debug)]
enum PerAxis<'p> {
    Few([Parts<'p>; 4], usize),
    Many(Vec<Parts<'p>>),
}

impl<'p> PerAxis<'p> {
    fn new(axes: impl IntoIterator<Item = Parts<'p>>) -> Self {
        let mut axes = axes.into_iter();
        let mut rank = 0;
        let few = std::array::from_fn(|_| match axes.next() {
            Some(parts) => {
                rank += 1;
                parts
            }
            None => Parts::Begins(Vec::new()),
        });
        match axes.next() {
            None => Self::Few(few, rank),
            Some(fifth) => Self::Many(few.into_iter().chain([fifth]).chain(axes).collect()),
        }
    }
}

impl<'p> Deref for PerAxis<'p> {
    type Target = [Parts<'p>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Few(axes, rank) => &axes[..*rank],
            Self::Many(axes) => axes,
        }
    }
}

/// An output that is cut into tiles; see the [module](self) for why threads may share it.
#[derive(Debug)]
pub struct Tiles<'a> {
    out: OutputView<'a>,
    axes: PerAxis<'a>,
    /// One per tile, in C order: whether somebody has it.
    taken: SmallVec<[AtomicBool; 16]>,
    streams: bool,
}

impl<'a> Tiles<'a> {
    /// Cuts an output along each axis. With `streams`, large copies into it are written past the processor's cache.
    ///
    /// # Errors
    /// [`TilesError::Overlap`] if parts of an axis share an index or lie outside; [`TilesError::Memory`] if there is none.
    pub fn new(
        out: OutputView<'a>,
        axes: impl IntoIterator<Item = Parts<'a>>,
        streams: bool,
    ) -> Result<Self, TilesError> {
        let axes = PerAxis::new(axes);
        let fits = axes.len() == out.shape().len()
            && axes.iter().zip(out.shape()).all(|(parts, &extent)| parts.is_distinct(extent));
        if !fits {
            return Err(TilesError::Overlap { shape: out.shape().to_vec() });
        }
        let count = axes.iter().fold(1u64, |count, parts| count.saturating_mul(parts.count()));
        let mut taken = SmallVec::new();
        let room = usize::try_from(count).ok().filter(|&n| taken.try_reserve_exact(n).is_ok());
        taken.resize_with(room.ok_or(TilesError::Memory { count })?, AtomicBool::default);
        Ok(Self { out, axes, taken, streams })
    }

    /// The output's elements along each axis.
    pub fn shape(&self) -> &[u64] {
        self.out.shape()
    }

    /// Byte distances between neighbours in the output.
    pub fn strides(&self) -> &[isize] {
        self.out.strides()
    }

    /// Bytes of an element.
    pub fn item(&self) -> usize {
        self.out.item()
    }

    /// Takes the tile that has part number `at` of each axis. Waits while another thread has it; a thread that has it itself
    /// waits for ever.
    ///
    /// # Panics
    /// If there is no such tile.
    #[expect(clippy::cast_possible_truncation, reason = "places in lists, and bytes of a view of memory")]
    pub fn take(&self, at: &[usize]) -> Tile<'_, 'a> {
        assert!(at.len() == self.axes.len(), "one part per axis, not {at:?}");
        let (mut number, mut parts) = (0, SmallVec::new());
        for ((axis, &extent), &i) in self.axes.iter().zip(self.out.shape()).zip(at) {
            let count = axis.count();
            assert!((i as u64) < count, "part {i} of {count}");
            number = number * count as usize + i;
            parts.push(match axis {
                Parts::Pairs { pairs, ranges } => Part::Pairs(&pairs[ranges[i].clone()]),
                _ => {
                    let (begin, end) = (axis.begin(i as u64, extent), axis.begin(i as u64 + 1, extent));
                    Part::Range(begin..end.max(begin))
                }
            });
        }
        let taken = &self.taken[number];
        while taken.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::thread::yield_now();
        }
        Tile { tiles: self, parts, taken }
    }
}

#[derive(Debug)]
enum Part<'t> {
    Range(Range<u64>),
    Pairs(&'t [(u64, u64)]),
}

/// A tile of an output, for as long as it is this thread's alone.
#[derive(Debug)]
pub struct Tile<'t, 'a> {
    tiles: &'t Tiles<'a>,
    parts: SmallVec<[Part<'t>; 4]>,
    taken: &'t AtomicBool,
}

impl Drop for Tile<'_, '_> {
    fn drop(&mut self) {
        self.taken.store(false, Ordering::Release);
    }
}

impl<'t, 'a> Tile<'t, 'a> {
    pub(crate) fn output(&self) -> &'t OutputView<'a> {
        &self.tiles.out
    }

    pub(crate) fn is_streamed(&self) -> bool {
        self.tiles.streams
    }

    /// Where it begins in the output, and its shape, if it is a box there.
    pub(crate) fn region(&self) -> Option<(Dims, Dims)> {
        let mut region = (Dims::new(), Dims::new());
        for part in &self.parts {
            let Part::Range(range) = part else { return None };
            region.0.push(range.start);
            region.1.push(range.end - range.start);
        }
        Some(region)
    }

    /// Its memory, if it is one C-ordered run of the output.
    #[expect(clippy::cast_possible_truncation, reason = "places in lists, and bytes of a view of memory")]
    pub fn run(&mut self) -> Option<&mut [u8]> {
        let (at, shape) = self.region()?;
        let out = self.output();
        if shape.contains(&0) || !is_contiguous(&shape, out.strides(), out.item()) {
            return None;
        }
        let bytes = shape.iter().product::<u64>() as usize * out.item();
        // SAFETY: the tile is a contiguous box inside the output, and this thread's alone while it is borrowed.
        Some(unsafe {
            let first = out.pointer().wrapping_offset(offset(&at, out.strides()));
            std::slice::from_raw_parts_mut(first, bytes)
        })
    }

    /// Copies what `axes` say from a chunk of these strides (in bytes; zero for one element that is repeated) to its places.
    ///
    /// # Panics
    /// If `axes` are not those of this tile, or lead out of the chunk.
    pub fn scatter(&mut self, axes: &[Along<'_>], chunk: &[u8], strides: &[isize]) {
        let own = axes.iter().zip(&self.parts).all(|(along, part)| match (along, part) {
            (Along::Run { len, out, .. }, Part::Range(range)) => {
                *out == range.start && *len == range.end - range.start
            }
            (Along::Pairs(pairs), Part::Pairs(own)) => std::ptr::eq::<[(u64, u64)]>(*pairs, *own),
            _ => false,
        });
        let ranks = axes.len() == self.parts.len() && axes.len() == strides.len();
        assert!(own && ranks, "{axes:?} are not those of {:?}", self.parts);
        let (out, item) = (self.output(), self.tiles.item());
        let copy = if self.tiles.streams { stream_strided } else { copy_strided };
        let bytes = chunk.len() as u64;
        boxes(axes, strides, out.strides(), |b| {
            assert!(
                fits_in(bytes, b.chunk as i128, &b.shape, &b.chunk_strides, item),
                "not inside the chunk"
            );
            // SAFETY: the box lies inside the chunk, and inside this tile, which is this thread's alone.
            unsafe {
                let source = chunk.as_ptr().wrapping_offset(b.chunk);
                let target = out.pointer().wrapping_offset(b.array);
                copy(source, &b.chunk_strides, target, &b.array_strides, &b.shape, item);
            }
        });
    }

    /// Copies single elements from a chunk to their places in an output of one axis that was cut by pairs: each from the byte
    /// that `place` says for the first number of a pair to the index that is the second.
    ///
    /// # Panics
    /// If the output was not cut so, or a place is outside the chunk.
    pub fn scatter_points(&mut self, chunk: &[u8], place: impl Fn(u64) -> isize) {
        of_item!(self.tiles.item(), N => self.scatter_points_of::<N>(chunk, place));
    }

    fn scatter_points_of<const N: usize>(&mut self, chunk: &[u8], place: impl Fn(u64) -> isize) {
        let (out, item) = (self.output(), self.tiles.item());
        let [Part::Pairs(pairs)] = self.parts[..] else {
            assert!(self.parts.is_empty(), "an output that was not cut by pairs");
            return;
        };
        let stride = out.strides()[0];
        for &(inside, to) in pairs {
            let from = place(inside).cast_unsigned();
            assert!(
                from.checked_add(item).is_some_and(|end| end <= chunk.len()),
                "a point outside the chunk"
            );
            // SAFETY: the place is inside the chunk; the index is inside the output, and this tile's alone.
            unsafe {
                let target = out.pointer().wrapping_offset(offset(&[to], &[stride]));
                copy_one::<N>(chunk.as_ptr().add(from), target, item);
            }
        }
    }
}

#[cfg(test)]
#[path = "tiles_tests.rs"]
mod tests;
