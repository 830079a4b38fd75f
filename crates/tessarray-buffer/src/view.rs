//! Windows on an N-dimensional array in the caller's memory: one to read from, one to write to.
//!
//! An [`InputView`] may be cloned, since nobody writes to it. An [`OutputView`] is the only way to its elements: it cannot be
//! cloned, and its parts come from [`OutputView::split_at`], which gives it up. So safe code cannot write to an element from
//! two threads. [`crate::Tiles`] shares one between threads.

use crate::copy::copy_strided;
use crate::reach::{fits_in, is_distinct};
use smallvec::SmallVec;
use std::marker::PhantomData;

/// A shape or coordinates; up to four dimensions without a heap allocation.
pub type Dims = SmallVec<[u64; 4]>;

/// Byte distances between neighbours, one per dimension; negative and zero are legal.
pub type Strides = SmallVec<[isize; 4]>;

/// Byte strides of a C-ordered array of this shape and element size.
pub fn c_strides(shape: &[u64], item: usize) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(0, shape.len());
    let mut step = item as isize;
    for (stride, &n) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.saturating_mul(isize::try_from(n.max(1)).unwrap_or(isize::MAX));
    }
    strides
}

/// Whether a box of `shape` with these byte strides is one C-ordered run of memory.
pub fn is_contiguous(shape: &[u64], strides: &[isize], item: usize) -> bool {
    // Without elements there is nothing that could lie apart; NumPy's strides are all 0 then.
    if shape.contains(&0) {
        return true;
    }
    let mut expected = item as isize;
    for (&n, &found) in shape.iter().zip(strides).rev() {
        if n != 1 && found != expected {
            return false;
        }
        expected = expected.saturating_mul(isize::try_from(n.max(1)).unwrap_or(isize::MAX));
    }
    true
}

/// A buffer, or a view, does not hold what a shape asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The buffer has another size than the shape.
    #[error(
        "a buffer of {found} bytes was given where shape {shape:?} of {item}-byte elements needs {expected}"
    )]
    Size {
        /// Elements along each axis.
        shape: Vec<u64>,
        /// Bytes of an element.
        item: usize,
        /// Bytes that they need.
        expected: u64,
        /// Bytes of the buffer.
        found: u64,
    },
    /// The strides lead out of the memory, or two elements to the same bytes.
    #[error(
        "shape {shape:?} with strides {strides:?} of {item}-byte elements does not lie in {found} bytes, \
         each element apart from the others"
    )]
    Strides {
        /// Elements along each axis.
        shape: Vec<u64>,
        /// Bytes from one element to the next along each axis.
        strides: Vec<isize>,
        /// Bytes of an element.
        item: usize,
        /// Bytes of the memory.
        found: u64,
    },
}

fn check(shape: &[u64], item: usize, found: usize) -> Result<(), ViewError> {
    let expected = shape.iter().fold(item as u64, |product, &n| product.saturating_mul(n));
    if expected == found as u64 {
        return Ok(());
    }
    Err(ViewError::Size { shape: shape.to_vec(), item, expected, found: found as u64 })
}

macro_rules! view {
    ($name:ident, $pointer:ty) => {
        impl $name<'_> {
            /// Elements along each dimension.
            pub fn shape(&self) -> &[u64] {
                &self.shape
            }

            /// Bytes between neighbours along each dimension.
            pub fn strides(&self) -> &[isize] {
                &self.strides
            }

            /// Bytes of one element.
            pub fn item(&self) -> usize {
                self.item
            }

            /// Bytes of all elements.
            pub fn byte_len(&self) -> u64 {
                self.shape.iter().fold(self.item as u64, |bytes, &n| bytes.saturating_mul(n))
            }

            pub(crate) fn pointer(&self) -> $pointer {
                self.pointer
            }
        }
    };
}

view!(OutputView, *mut u8);
view!(InputView, *const u8);

/// Where a read puts its elements: an array of any strides in the caller's memory.
///
/// Two threads cannot write through one view, nor can a view be copied:
///
/// ```compile_fail,E0499
/// let mut bytes = [0; 8];
/// let mut view = tessarray_buffer::OutputView::new(&mut bytes, &[8], 1).unwrap();
/// let write = |view: &mut tessarray_buffer::OutputView<'_>| drop(view.reborrow());
/// std::thread::scope(|scope| {
///     scope.spawn(|| write(&mut view));
///     scope.spawn(|| write(&mut view));
/// });
/// ```
///
/// ```compile_fail,E0599
/// let mut bytes = [0; 8];
/// let view = tessarray_buffer::OutputView::new(&mut bytes, &[8], 1).unwrap();
/// let other = view.clone();
/// ```
///
/// ```compile_fail,E0382
/// let mut bytes = [0; 8];
/// let view = tessarray_buffer::OutputView::new(&mut bytes, &[8], 1).unwrap();
/// let halves = view.split_at(0, 4);
/// println!("{:?}", view.shape());
/// ```
///
/// Parts that a view was split into go to as many threads:
///
/// ```
/// let mut bytes = [0; 8];
/// let view = tessarray_buffer::OutputView::new(&mut bytes, &[8], 1).unwrap();
/// let (low, high) = view.split_at(0, 4);
/// std::thread::scope(|scope| {
///     scope.spawn(move || drop(low));
///     scope.spawn(move || drop(high));
/// });
/// ```
#[derive(Debug)]
pub struct OutputView<'a> {
    pointer: *mut u8,
    shape: Dims,
    strides: Strides,
    item: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: the view is a mutable borrow of its elements, as `&mut [u8]` is.
unsafe impl Send for OutputView<'_> {}
// SAFETY: through a shared reference nothing is read or written, only described.
unsafe impl Sync for OutputView<'_> {}

impl<'a> OutputView<'a> {
    /// A C-ordered window on a whole buffer.
    ///
    /// # Errors
    /// [`ViewError::Size`] if the buffer has another size than the shape.
    pub fn new(buffer: &'a mut [u8], shape: &[u64], item: usize) -> Result<Self, ViewError> {
        check(shape, item, buffer.len())?;
        // SAFETY: the buffer is borrowed mutably for 'a and has exactly the bytes that the C strides reach.
        Ok(unsafe { Self::from_raw(buffer.as_mut_ptr(), shape, &c_strides(shape, item), item) })
    }

    /// A window on memory that the caller describes.
    ///
    /// # Safety
    /// `shape` and `strides` are of one length. For `'a`, every element that they reach from `pointer` (strides in bytes) is
    /// valid memory of `item` bytes that nobody touches except through this view, and no two elements overlap.
    pub unsafe fn from_raw(pointer: *mut u8, shape: &[u64], strides: &[isize], item: usize) -> Self {
        let (shape, strides) = (Dims::from_slice(shape), Strides::from_slice(strides));
        Self { pointer, shape, strides, item, memory: PhantomData }
    }

    /// The same elements, for as long as this view is not used.
    pub fn reborrow(&mut self) -> OutputView<'_> {
        // SAFETY: the memory is this view's own, which is borrowed mutably for as long as the new one lives.
        unsafe { OutputView::from_raw(self.pointer, &self.shape, &self.strides, self.item) }
    }

    /// The elements before `at` along an axis, and those from there on. An `at` past the end leaves none for the second, and
    /// so does an axis that the view does not have.
    #[expect(clippy::cast_possible_truncation, reason = "places in a view of memory")]
    pub fn split_at(self, axis: usize, at: u64) -> (Self, Self) {
        let Some(&n) = self.shape.get(axis) else {
            let zero = (Dims::from_elem(0, 1), Strides::from_elem(0, 1));
            let none = Self {
                pointer: self.pointer,
                shape: zero.0,
                strides: zero.1,
                item: self.item,
                memory: PhantomData,
            };
            return (self, none);
        };
        let at = at.min(n);
        let part = |pointer: *mut u8, length: u64| {
            let (mut shape, strides) = (self.shape.clone(), self.strides.clone());
            shape[axis] = length;
            Self { pointer, shape, strides, item: self.item, memory: PhantomData }
        };
        // That of an element if there is one past the cut; else it is not used.
        let moved = self.pointer.wrapping_offset((at as isize).wrapping_mul(self.strides[axis]));
        (part(self.pointer, at), part(moved, n - at))
    }

    /// The same memory, whose elements lie one after the other, as an array of another shape and strides (in bytes).
    ///
    /// # Errors
    /// [`ViewError::Strides`] if the elements do not lie one after the other, or the new ones would reach out of them or
    /// overlap.
    pub fn rearranged(self, shape: &[u64], strides: &[isize]) -> Result<Self, ViewError> {
        let bytes = self.byte_len();
        let apart = is_contiguous(&self.shape, &self.strides, self.item)
            && fits_in(bytes, 0, shape, strides, self.item)
            && is_distinct(shape, strides, self.item);
        if !apart {
            let (shape, strides) = (shape.to_vec(), strides.to_vec());
            return Err(ViewError::Strides { shape, strides, item: self.item, found: bytes });
        }
        // SAFETY: the new elements lie in the memory of the old ones, which this view gives up, and do not overlap.
        Ok(unsafe { Self::from_raw(self.pointer, shape, strides, self.item) })
    }
}

/// Where a write takes its elements from: an array of any strides in the caller's memory.
#[derive(Debug, Clone)]
pub struct InputView<'a> {
    pointer: *const u8,
    shape: Dims,
    strides: Strides,
    item: usize,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: the view is a shared borrow of its elements, as `&[u8]` is.
unsafe impl Send for InputView<'_> {}
// SAFETY: as above.
unsafe impl Sync for InputView<'_> {}

impl<'a> InputView<'a> {
    /// A C-ordered window on a whole buffer.
    ///
    /// # Errors
    /// [`ViewError::Size`] if the buffer has another size than the shape.
    pub fn new(buffer: &'a [u8], shape: &[u64], item: usize) -> Result<Self, ViewError> {
        check(shape, item, buffer.len())?;
        // SAFETY: the buffer is borrowed for 'a and has exactly the bytes that the C strides reach.
        Ok(unsafe { Self::from_raw(buffer.as_ptr(), shape, &c_strides(shape, item), item) })
    }

    /// A window on a part of a buffer, from its beginning, with strides in bytes. Elements may overlap.
    ///
    /// # Errors
    /// [`ViewError::Strides`] if they lead out of the buffer.
    pub fn strided(
        buffer: &'a [u8],
        shape: &[u64],
        strides: &[isize],
        item: usize,
    ) -> Result<Self, ViewError> {
        let found = buffer.len() as u64;
        if !fits_in(found, 0, shape, strides, item) {
            let (shape, strides) = (shape.to_vec(), strides.to_vec());
            return Err(ViewError::Strides { shape, strides, item, found });
        }
        // SAFETY: the buffer is borrowed for 'a, and the strides stay inside.
        Ok(unsafe { Self::from_raw(buffer.as_ptr(), shape, strides, item) })
    }

    /// One element, seen as an array of any shape.
    pub fn repeat(element: &'a [u8], shape: &[u64]) -> Self {
        let strides = Strides::from_elem(0, shape.len());
        // SAFETY: every index reaches the one element, which is borrowed for 'a.
        unsafe { Self::from_raw(element.as_ptr(), shape, &strides, element.len()) }
    }

    /// A window on memory that the caller describes.
    ///
    /// # Safety
    /// `shape` and `strides` are of one length. For `'a`, every element that they reach from `pointer` (strides in bytes) is
    /// initialised memory of `item` bytes, to which nobody writes.
    pub unsafe fn from_raw(pointer: *const u8, shape: &[u64], strides: &[isize], item: usize) -> Self {
        let (shape, strides) = (Dims::from_slice(shape), Strides::from_slice(strides));
        Self { pointer, shape, strides, item, memory: PhantomData }
    }

    /// The same elements with one more axis, of length one, before `axis`.
    #[must_use]
    pub fn with_axis(mut self, axis: usize) -> Self {
        let axis = axis.min(self.shape.len());
        self.shape.insert(axis, 1);
        self.strides.insert(axis, 0);
        self
    }

    /// The memory of a box of this view if it is one C-ordered run; `None` if it is not, or not inside the view.
    #[expect(clippy::cast_possible_truncation, reason = "places in a view of memory")]
    pub fn run(&self, at: &[u64], shape: &[u64]) -> Option<&'a [u8]> {
        let start = self.start_of(at, shape)?;
        if !is_contiguous(shape, &self.strides, self.item) {
            return None;
        }
        let bytes = shape.iter().product::<u64>() as usize * self.item;
        // SAFETY: the box is inside the view and contiguous, as checked above.
        Some(unsafe { std::slice::from_raw_parts(self.pointer.offset(start), bytes) })
    }

    /// Copies a box of this view into `to`: from the byte `start` on, with strides in bytes there.
    ///
    /// # Panics
    /// If the box is not inside the view, or its copy not inside `to`.
    pub fn copy_box(&self, at: &[u64], shape: &[u64], to: &mut [u8], start: usize, strides: &[isize]) {
        let from = self.start_of(at, shape);
        let inside = fits_in(to.len() as u64, start as i128, shape, strides, self.item);
        assert!(from.is_some() && inside, "a box {at:?} of {shape:?} is not inside {:?}", self.shape);
        // SAFETY: the box is inside the view; its copy lies in `to`, which is borrowed mutably.
        unsafe {
            let source = self.pointer.wrapping_offset(from.unwrap_or(0));
            let target = to.as_mut_ptr().wrapping_add(start);
            copy_strided(source, &self.strides, target, strides, shape, self.item);
        }
    }

    /// Bytes from the view's first element to that of a box inside; `None` if the box is not inside.
    pub(crate) fn start_of(&self, at: &[u64], shape: &[u64]) -> Option<isize> {
        let inside = at.len() == self.shape.len()
            && shape.len() == self.shape.len()
            && at
                .iter()
                .zip(shape)
                .zip(&self.shape)
                .all(|((&at, &n), &extent)| at.checked_add(n).is_some_and(|end| end <= extent));
        inside.then(|| offset(at, &self.strides))
    }
}

/// Byte offset of the element at these coordinates, which are inside a view of these strides.
#[expect(clippy::cast_possible_truncation, reason = "places in a view of memory")]
pub(crate) fn offset(at: &[u64], strides: &[isize]) -> isize {
    at.iter().zip(strides).map(|(&i, &stride)| (i as isize).wrapping_mul(stride)).sum()
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
