//! The elements that a chunk and an array have in common, as strided boxes, and copies of them from an array into a chunk.
//! Copies the other way go through [`crate::Tile`].

use crate::copy::copy_strided;
use crate::reach::fits_in;
use crate::view::{Dims, InputView, Strides, offset};
use smallvec::SmallVec;

/// Single elements: index in the chunk, index in the array.
type Pairs<'p> = &'p [(u64, u64)];

/// What a chunk and an array have in common along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Along<'p> {
    /// `len` elements from `first` in the chunk, `step` apart; in the array they follow on one another from `out` on.
    Run {
        /// Index of the first in the chunk.
        first: u64,
        /// How far apart they are in the chunk.
        step: i64,
        /// How many.
        len: u64,
        /// Index of the first in the array.
        out: u64,
    },
    /// Single elements: index in the chunk, index in the array.
    Pairs(Pairs<'p>),
}

/// [`Along`] every axis of an array.
pub type AlongAxes<'p> = SmallVec<[Along<'p>; 4]>;

/// A strided box of a chunk, and of an array: where it begins and how it steps, in bytes, on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StridedBox {
    /// Where it begins in the chunk.
    pub chunk: isize,
    /// How it steps there.
    pub chunk_strides: Strides,
    /// Where it begins in the array.
    pub array: isize,
    /// How it steps there.
    pub array_strides: Strides,
    /// Elements along each axis.
    pub shape: Dims,
}

/// Visits what a chunk and an array of these strides have in common as strided boxes: one if every axis is a run, else one for
/// each combination of single elements.
#[expect(clippy::cast_possible_truncation, reason = "places in a chunk and an array that are in memory")]
pub fn boxes(axes: &[Along<'_>], chunk: &[isize], array: &[isize], mut visit: impl FnMut(&StridedBox)) {
    let mut base = StridedBox::default();
    let mut listed: SmallVec<[(usize, Pairs<'_>); 4]> = SmallVec::new();
    for (axis, along) in axes.iter().enumerate() {
        match along {
            Along::Run { first, step, len, out } => {
                base.chunk = base.chunk.wrapping_add((*first as isize).wrapping_mul(chunk[axis]));
                base.array = base.array.wrapping_add((*out as isize).wrapping_mul(array[axis]));
                base.chunk_strides.push((*step as isize).wrapping_mul(chunk[axis]));
                base.array_strides.push(array[axis]);
                base.shape.push(*len);
            }
            Along::Pairs(pairs) => {
                listed.push((axis, pairs));
                base.chunk_strides.push(0);
                base.array_strides.push(0);
                base.shape.push(1);
            }
        }
    }
    if listed.is_empty() {
        return visit(&base);
    }
    if listed.iter().any(|(_, pairs)| pairs.is_empty()) {
        return;
    }
    let (chunk_origin, array_origin) = (base.chunk, base.array);
    let mut which: SmallVec<[usize; 4]> = SmallVec::from_elem(0, listed.len());
    loop {
        (base.chunk, base.array) = (chunk_origin, array_origin);
        for ((axis, pairs), &i) in listed.iter().zip(&which) {
            let (inside, out) = pairs[i];
            base.chunk = base.chunk.wrapping_add((inside as isize).wrapping_mul(chunk[*axis]));
            base.array = base.array.wrapping_add((out as isize).wrapping_mul(array[*axis]));
        }
        visit(&base);
        let next = which.iter_mut().zip(&listed).rev().find_map(|(i, (_, pairs))| {
            *i += 1;
            if *i == pairs.len() {
                *i = 0;
            }
            (*i > 0).then_some(())
        });
        if next.is_none() {
            return;
        }
    }
}

/// Copies one element of `N` bytes, or of `item` if `N` is 0.
///
/// # Safety
/// The element is readable at `from` and writable at `to`, and the two do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_one<const N: usize>(from: *const u8, to: *mut u8, item: usize) {
    // SAFETY: the caller's promise; of a constant size it is one load and one store.
    unsafe { std::ptr::copy_nonoverlapping(from, to, if N == 0 { item } else { N }) }
}

/// Calls a function with the size of an element as a constant if it is one of the common ones, else with 0.
macro_rules! of_item {
    ($item:expr, $N:ident => $call:expr) => {
        match $item {
            1 => {
                const $N: usize = 1;
                $call
            }
            2 => {
                const $N: usize = 2;
                $call
            }
            4 => {
                const $N: usize = 4;
                $call
            }
            8 => {
                const $N: usize = 8;
                $call
            }
            16 => {
                const $N: usize = 16;
                $call
            }
            _ => {
                const $N: usize = 0;
                $call
            }
        }
    };
}
pub(crate) use of_item;

impl InputView<'_> {
    /// Copies what `axes` say from this view into a chunk of these strides.
    ///
    /// # Panics
    /// If an index lies outside the view or the chunk.
    pub fn gather(&self, axes: &[Along<'_>], chunk: &mut [u8], strides: &[isize]) {
        assert!(axes.len() == self.shape().len() && axes.len() == strides.len(), "one per axis");
        for (along, &extent) in axes.iter().zip(self.shape()) {
            let inside = match along {
                Along::Run { len, out, .. } => out.checked_add(*len).is_some_and(|end| end <= extent),
                Along::Pairs(pairs) => pairs.iter().all(|&(_, out)| out < extent),
            };
            assert!(inside, "{along:?} is not inside an axis of {extent}");
        }
        let (bytes, item) = (chunk.len() as u64, self.item());
        boxes(axes, strides, self.strides(), |b| {
            assert!(
                fits_in(bytes, b.chunk as i128, &b.shape, &b.chunk_strides, item),
                "not inside the chunk"
            );
            // SAFETY: both sides were looked at above; the chunk is borrowed mutably.
            unsafe {
                let source = self.pointer().wrapping_offset(b.array);
                let target = chunk.as_mut_ptr().wrapping_offset(b.chunk);
                copy_strided(source, &b.array_strides, target, &b.chunk_strides, &b.shape, item);
            }
        });
    }

    /// Copies single elements of this view, which has one axis, into a chunk: each from the index that is the second of a
    /// pair to the byte that `place` says for the first. Of two at one place the later one stays.
    ///
    /// # Panics
    /// If an index lies outside the view, or a place outside the chunk.
    pub fn gather_points(&self, pairs: &[(u64, u64)], chunk: &mut [u8], place: impl Fn(u64) -> isize) {
        of_item!(self.item(), N => self.gather_points_of::<N>(pairs, chunk, place));
    }

    fn gather_points_of<const N: usize>(
        &self,
        pairs: &[(u64, u64)],
        chunk: &mut [u8],
        place: impl Fn(u64) -> isize,
    ) {
        let item = self.item();
        let (extent, stride) = (self.shape().first().copied().unwrap_or(0), self.strides().first().copied());
        for &(inside, out) in pairs {
            let to = place(inside).cast_unsigned();
            assert!(
                out < extent && to.checked_add(item).is_some_and(|end| end <= chunk.len()),
                "a point outside"
            );
            // SAFETY: the element's index is inside the view, and its place inside the chunk.
            unsafe {
                let from = self.pointer().wrapping_offset(offset(&[out], stride.as_slice()));
                copy_one::<N>(from, chunk.as_mut_ptr().add(to), item);
            }
        }
    }
}

/// Where a strided box lies in a slice: the byte at which its first element begins, and its strides in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Lie<'s> {
    /// The byte of its first element.
    pub start: usize,
    /// Bytes from one element to the next along each axis.
    pub strides: &'s [isize],
}

/// Copies every element of a `shape`d box of `item`-byte elements from one slice to another.
///
/// # Panics
/// If the box is not inside one of them.
pub fn copy_between(from: &[u8], lies: Lie<'_>, to: &mut [u8], comes: Lie<'_>, shape: &[u64], item: usize) {
    let inside =
        |bytes: usize, lie: Lie<'_>| fits_in(bytes as u64, lie.start as i128, shape, lie.strides, item);
    assert!(inside(from.len(), lies) && inside(to.len(), comes), "a box of {shape:?} is not inside");
    // SAFETY: both boxes lie in their slices, of which one is borrowed mutably.
    unsafe {
        let (source, target) =
            (from.as_ptr().wrapping_add(lies.start), to.as_mut_ptr().wrapping_add(comes.start));
        copy_strided(source, lies.strides, target, comes.strides, shape, item);
    }
}
