//! A box of a view as one sequence of elements, in C order or in another order of its axes: ranges of the sequence are copied
//! without the whole lying together anywhere.

use crate::copy::{copy_strided, stream_strided};
use crate::tiles::Tile;
use crate::view::{Dims, InputView, Strides, c_strides, is_contiguous, offset};
use smallvec::SmallVec;
use std::ops::Range;

/// Where the elements of a box lie in a view. Axes that follow on one another there are one.
#[derive(Debug, Clone)]
struct Sequence {
    start: isize,
    shape: Dims,
    strides: Strides,
    item: usize,
    len: usize,
}

impl Sequence {
    /// A box of a view of these strides, its axes in this order (as they are, without one); `None` if that is no order of
    /// them, or the box has more bytes than memory can.
    #[expect(clippy::cast_possible_truncation, reason = "places in a view of memory")]
    fn new(
        start: isize,
        shape: &[u64],
        strides: &[isize],
        order: Option<&[usize]>,
        item: usize,
    ) -> Option<Self> {
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, shape.len());
        if order.is_some_and(|order| order.len() != shape.len()) {
            return None;
        }
        let (mut merged, mut steps) = (Dims::new(), Strides::new());
        let mut len = item as u64;
        for i in 0..shape.len() {
            let axis = order.map_or(i, |order| order[i]);
            if std::mem::replace(seen.get_mut(axis)?, true) {
                return None;
            }
            let (n, stride) = (shape[axis], strides[axis]);
            len = len.checked_mul(n)?;
            match (merged.last_mut(), steps.last_mut()) {
                (Some(outer), Some(step)) if *step == stride.wrapping_mul(n as isize) => {
                    (*outer, *step) = (*outer * n, stride);
                }
                _ => {
                    merged.push(n);
                    steps.push(stride);
                }
            }
        }
        let len = usize::try_from(len).ok()?;
        (item > 0 && len > 0).then_some(Self { start, shape: merged, strides: steps, item, len })
    }

    /// Whether neighbours in the sequence lie further apart than others do: its last axis is not the one of the smallest step.
    fn is_across(&self) -> bool {
        let along = self.strides.last().map_or(0, |stride| stride.unsigned_abs());
        self.shape.iter().zip(&self.strides).any(|(&n, stride)| n > 1 && stride.unsigned_abs() < along)
    }

    /// Bytes of the runs that lie together, if the last axis has such.
    #[expect(clippy::cast_possible_truncation, reason = "places in a view of memory")]
    fn row_bytes(&self) -> Option<usize> {
        match (self.shape.last(), self.strides.last()) {
            (Some(&n), Some(&stride)) if stride == self.item as isize => Some(n as usize * self.item),
            _ => None,
        }
    }

    /// The numbers of the elements of a range of bytes.
    fn elements(&self, range: &Range<usize>) -> Range<u64> {
        let whole = range.start.is_multiple_of(self.item) && range.end.is_multiple_of(self.item);
        let inside = range.start <= range.end && range.end <= self.len;
        assert!(whole && inside, "{range:?} is no range of elements of {} bytes", self.len);
        (range.start / self.item) as u64..(range.end / self.item) as u64
    }

    /// Cuts a range of elements into boxes, and visits them in their order: where a box lies in the view, from which axis on it
    /// has a shape of its own, and its length along that axis.
    #[expect(clippy::cast_possible_truncation, reason = "places in a view of memory")]
    fn cut(&self, axis: usize, at: isize, range: Range<u64>, visit: &mut impl FnMut(isize, usize, u64)) {
        if range.is_empty() {
            return;
        }
        let Some(&stride) = self.strides.get(axis) else { return visit(at, axis, 1) };
        let inner = self.shape[axis + 1..].iter().product::<u64>();
        let place = |i: u64| at + i as isize * stride;
        let (first, last) = (range.start.div_ceil(inner), range.end / inner);
        if first > last {
            // All of it inside one step of this axis.
            let start = last * inner;
            return self.cut(axis + 1, place(last), range.start - start..range.end - start, visit);
        }
        if range.start < first * inner {
            self.cut(axis + 1, place(first - 1), range.start + inner - first * inner..inner, visit);
        }
        if first < last {
            visit(place(first), axis, last - first);
        }
        self.cut(axis + 1, place(last), 0..range.end - last * inner, visit);
    }

    /// Cuts a range into boxes, and hands each to `copy`: where it lies in the view, where among the range's bytes, its shape,
    /// and its strides there and here.
    #[expect(clippy::cast_possible_truncation, reason = "places in a view of memory")]
    fn each(&self, range: &Range<usize>, mut copy: impl FnMut(isize, usize, &[u64], &[isize], &[isize])) {
        let mut at = 0;
        self.cut(0, self.start, self.elements(range), &mut |offset, axis, count| {
            let mut shape = Dims::from_slice(self.shape.get(axis..).unwrap_or_default());
            if let Some(first) = shape.first_mut() {
                *first = count;
            }
            let strides = self.strides.get(axis..).unwrap_or_default();
            copy(offset, at, &shape, strides, &c_strides(&shape, self.item));
            at += shape.iter().product::<u64>() as usize * self.item;
        });
    }

    /// Where a range begins in the view, if it lies together there.
    fn run(&self, range: &Range<usize>) -> Option<isize> {
        let (mut found, mut boxes) = (None, 0);
        self.each(range, |offset, _, shape, strides, _| {
            found = is_contiguous(shape, strides, self.item).then_some(offset);
            boxes += 1;
        });
        found.filter(|_| boxes == 1)
    }
}

/// A box of an input as one sequence. Ranges are in bytes, of whole elements.
#[derive(Debug)]
pub struct FlatInput<'a> {
    sequence: Sequence,
    input: InputView<'a>,
}

impl<'a> InputView<'a> {
    /// A box of this view as a sequence of elements, its axes in this order, the last one fastest (without one: as they are).
    /// `None` if the box is not inside the view, has no elements, or `order` is not one of its axes.
    pub fn flat(&self, at: &[u64], shape: &[u64], order: Option<&[usize]>) -> Option<FlatInput<'a>> {
        let start = self.start_of(at, shape)?;
        let sequence = Sequence::new(start, shape, self.strides(), order, self.item())?;
        Some(FlatInput { sequence, input: self.clone() })
    }
}

impl<'a> FlatInput<'a> {
    /// Bytes of the sequence; more than none.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.sequence.len
    }

    /// Bytes of one element.
    pub fn item(&self) -> usize {
        self.sequence.item
    }

    /// Whether its neighbours lie further apart in the input than other elements do.
    pub fn is_across(&self) -> bool {
        self.sequence.is_across()
    }

    /// Bytes of each of the runs that lie together in the input, if its rows do.
    pub fn row_bytes(&self) -> Option<usize> {
        self.sequence.row_bytes()
    }

    /// The memory of a range, if it lies together in the input.
    ///
    /// # Panics
    /// If it is not a range of whole elements of the sequence.
    pub fn run(&self, range: Range<usize>) -> Option<&'a [u8]> {
        let start = self.sequence.run(&range)?;
        // SAFETY: these bytes lie together inside the input, which is borrowed for 'a.
        Some(unsafe { std::slice::from_raw_parts(self.input.pointer().wrapping_offset(start), range.len()) })
    }

    /// Appends the bytes of a range to `out`.
    ///
    /// # Panics
    /// If it is not a range of whole elements of the sequence.
    pub fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let bytes = range.len();
        out.reserve(bytes);
        let to = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        self.sequence.each(&range, |start, at, shape, strides, together| {
            // SAFETY: the box lies inside the input; the boxes of a range have its bytes, for which there is room, and each is
            // put behind the one before.
            unsafe {
                let from = self.input.pointer().wrapping_offset(start);
                copy_strided(from, strides, to.add(at), together, shape, self.sequence.item);
            }
        });
        // SAFETY: the boxes have initialised all of them.
        unsafe { out.set_len(out.len() + bytes) };
    }
}

/// A tile of an output as one sequence. Ranges are in bytes, of whole elements.
#[derive(Debug)]
pub struct FlatTile<'f, 't, 'a> {
    sequence: Sequence,
    tile: &'f mut Tile<'t, 'a>,
}

impl<'t, 'a> Tile<'t, 'a> {
    /// This tile as a sequence of elements, its axes in this order, the last one fastest (without one: as they are). `None` if it
    /// is not a box of the output, has no elements, or `order` is not one of its axes.
    pub fn flat<'f>(&'f mut self, order: Option<&[usize]>) -> Option<FlatTile<'f, 't, 'a>> {
        let (at, shape) = self.region()?;
        let out = self.output();
        let sequence = Sequence::new(offset(&at, out.strides()), &shape, out.strides(), order, out.item())?;
        Some(FlatTile { sequence, tile: self })
    }
}

impl FlatTile<'_, '_, '_> {
    /// Bytes of the sequence; more than none.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.sequence.len
    }

    /// Whether its neighbours lie further apart in the output than other elements do.
    pub fn is_across(&self) -> bool {
        self.sequence.is_across()
    }

    /// Puts bytes to their places, from the byte `start` of the sequence on.
    ///
    /// # Panics
    /// If they are not whole elements of the sequence.
    pub fn put(&mut self, start: usize, bytes: &[u8]) {
        let range = start..start.saturating_add(bytes.len());
        let copy = if self.tile.is_streamed() { stream_strided } else { copy_strided };
        let (out, from) = (self.tile.output(), bytes.as_ptr());
        self.sequence.each(&range, |start, at, shape, strides, together| {
            // SAFETY: the box lies inside the tile, which is this thread's alone; the boxes of a range have its bytes.
            unsafe {
                let to = out.pointer().wrapping_offset(start);
                copy(from.add(at), together, to, strides, shape, self.sequence.item);
            }
        });
    }
}

#[cfg(test)]
#[path = "flat_tests.rs"]
mod tests;
