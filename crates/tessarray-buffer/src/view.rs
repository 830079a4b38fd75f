//! Raw windows on an N-dimensional array in the caller's memory.

use smallvec::SmallVec;
use std::marker::PhantomData;

/// A shape or coordinates; up to four dimensions without a heap allocation.
pub type Dims = SmallVec<[u64; 4]>;

/// Byte distances between neighbours, one a dimension; negative and zero are legal.
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

/// A buffer does not have the size its shape asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a buffer of {found} bytes was given where shape {shape:?} of {item}-byte elements needs {expected}")]
pub struct ViewError {
    pub shape: Vec<u64>,
    pub item: usize,
    pub expected: u64,
    pub found: u64,
}

fn check(shape: &[u64], item: usize, found: usize) -> Result<(), ViewError> {
    let expected = shape.iter().fold(item as u64, |product, &n| product.saturating_mul(n));
    if expected == found as u64 {
        return Ok(());
    }
    Err(ViewError { shape: shape.to_vec(), item, expected, found: found as u64 })
}

macro_rules! view {
    ($name:ident, $pointer:ty, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone)]
        pub struct $name<'a> {
            pointer: $pointer,
            shape: Dims,
            strides: Strides,
            item: usize,
            lifetime: PhantomData<&'a ()>,
        }

        // SAFETY: the view is a pointer and plain numbers. Its constructors promise that the memory stays valid for
        // `'a`; access from several threads is governed by the unsafe methods that touch the memory.
        unsafe impl Send for $name<'_> {}
        // SAFETY: as above.
        unsafe impl Sync for $name<'_> {}

        impl $name<'_> {
            /// A window on memory that the caller describes.
            ///
            /// # Safety
            /// For `'a`, every element that `shape` and `strides` (in bytes) reach from `pointer` is valid memory of
            /// `item` bytes, not touched by anyone else except through this view and its clones.
            pub unsafe fn from_raw(pointer: $pointer, shape: &[u64], strides: &[isize], item: usize) -> Self {
                Self {
                    pointer,
                    shape: Dims::from_slice(shape),
                    strides: Strides::from_slice(strides),
                    item,
                    lifetime: PhantomData,
                }
            }

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

            /// The first element's address.
            pub fn pointer(&self) -> $pointer {
                self.pointer
            }

            /// Byte offset of an element from the first.
            pub fn offset(&self, at: &[u64]) -> isize {
                at.iter().zip(&self.strides).map(|(&i, &stride)| (i as isize).wrapping_mul(stride)).sum()
            }
        }
    };
}

view!(OutputView, *mut u8, "Where a read puts its elements: an array of any strides in the caller's memory.");
view!(
    InputView,
    *const u8,
    "Where a write takes its elements from: an array of any strides in the caller's memory."
);

/// Whether a box of `shape` with these byte strides is one C-ordered run of memory.
pub fn is_contiguous(shape: &[u64], strides: &[isize], item: usize) -> bool {
    let expected = c_strides(shape, item);
    shape.iter().zip(strides).zip(&expected).all(|((&n, &found), &expected)| n == 1 || found == expected)
}

impl<'a> OutputView<'a> {
    /// A C-ordered window on a whole buffer.
    pub fn new(buffer: &'a mut [u8], shape: &[u64], item: usize) -> Result<Self, ViewError> {
        check(shape, item, buffer.len())?;
        // SAFETY: the buffer is borrowed mutably for 'a and has exactly the bytes the C strides reach.
        Ok(unsafe { Self::from_raw(buffer.as_mut_ptr(), shape, &c_strides(shape, item), item) })
    }
}

impl OutputView<'_> {
    /// The memory of a box of this view, where it is one C-ordered run.
    ///
    /// # Safety
    /// The box lies inside the view, and nobody else touches it while the slice lives.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn run_mut(&self, at: &[u64], shape: &[u64]) -> Option<&mut [u8]> {
        if !is_contiguous(shape, &self.strides, self.item) {
            return None;
        }
        let bytes = shape.iter().product::<u64>() as usize * self.item;
        // SAFETY: the box is inside the view, contiguous, and exclusively ours, as the caller promises.
        Some(unsafe { std::slice::from_raw_parts_mut(self.pointer.offset(self.offset(at)), bytes) })
    }
}

impl InputView<'_> {
    /// The memory of a box of this view, where it is one C-ordered run.
    ///
    /// # Safety
    /// The box lies inside the view, and nobody writes to it while the slice lives.
    pub unsafe fn run(&self, at: &[u64], shape: &[u64]) -> Option<&[u8]> {
        if !is_contiguous(shape, &self.strides, self.item) {
            return None;
        }
        let bytes = shape.iter().product::<u64>() as usize * self.item;
        // SAFETY: the box is inside the view and contiguous, as checked above and promised by the caller.
        Some(unsafe { std::slice::from_raw_parts(self.pointer.offset(self.offset(at)), bytes) })
    }
}

impl<'a> InputView<'a> {
    /// A C-ordered window on a whole buffer.
    pub fn new(buffer: &'a [u8], shape: &[u64], item: usize) -> Result<Self, ViewError> {
        check(shape, item, buffer.len())?;
        // SAFETY: the buffer is borrowed for 'a and has exactly the bytes the C strides reach.
        Ok(unsafe { Self::from_raw(buffer.as_ptr(), shape, &c_strides(shape, item), item) })
    }

    /// One element, seen as an array of any shape.
    pub fn repeat(element: &'a [u8], shape: &[u64]) -> Self {
        let strides = Strides::from_elem(0, shape.len());
        // SAFETY: every index reaches the one element, which is borrowed for 'a.
        unsafe { Self::from_raw(element.as_ptr(), shape, &strides, element.len()) }
    }
}
