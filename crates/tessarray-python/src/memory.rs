//! NumPy arrays as the engine's views: new ones allocated without zeroing, and the caller's own, without copies.
//!
//! The one place of this crate with `unsafe` code.

use crate::errors::invalid;
use crate::selection::Request;
use numpy::npyffi::{self, PY_ARRAY_API};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::ptr;
use tessarray::{ArrayError, Dims, InputView, OutputView, Strides};

/// Results of as many bytes begin with a cache line.
const ALIGNED: u64 = 1 << 20;
/// Bytes of a cache line.
const LINE: usize = 64;

/// A new C-ordered array of this dtype. Its memory is not set to anything. A large one begins with a cache line, so that
/// rows of chunks are whole lines more often, and is a view of one that NumPy has allocated, which begins anywhere.
pub fn empty<'py>(
    py: Python<'py>,
    descr: &Bound<'py, PyArrayDescr>,
    shape: &[u64],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let bytes = shape.iter().fold(descr.itemsize() as u64, |bytes, &n| bytes.saturating_mul(n));
    if bytes < ALIGNED || descr.has_object() {
        return allocate(py, descr, shape);
    }
    let room = allocate(py, &numpy::dtype::<u8>(py), &[bytes.saturating_add(LINE as u64)])?;
    let start = data(&room);
    // SAFETY: there is room for the bytes from the first line on; the array keeps it, and nobody else has it.
    unsafe { adopt(descr, shape, start.add(start.align_offset(LINE)), room.into_any()) }
}

fn allocate<'py>(
    py: Python<'py>,
    descr: &Bound<'py, PyArrayDescr>,
    shape: &[u64],
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let mut dims = Strides::new();
    for &n in shape {
        dims.push(isize::try_from(n)?);
    }
    // SAFETY: `PyArray_NewFromDescr` takes over the reference to the dtype that `into_dtype_ptr` gives up, reads
    // `dims.len()` lengths, and returns a new reference or null with an exception set.
    let array = unsafe {
        let class = npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type);
        let descr = descr.clone().into_dtype_ptr();
        let (rank, lengths) = (dims.len() as i32, dims.as_mut_ptr());
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            descr,
            rank,
            lengths,
            ptr::null_mut(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)?
    };
    Ok(array.cast_into()?)
}

/// A NumPy array on memory that `owner` keeps alive and nobody else writes to.
///
/// # Safety
/// `data` has room for a C-ordered array of this shape and dtype, stays where it is while `owner` lives, and is
/// aligned for the dtype. The dtype holds no references to objects.
pub unsafe fn adopt<'py>(
    descr: &Bound<'py, PyArrayDescr>,
    shape: &[u64],
    data: *mut u8,
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = owner.py();
    let mut dims = Strides::new();
    for &n in shape {
        dims.push(isize::try_from(n)?);
    }
    // SAFETY: as in `empty`, with the caller's memory; `PyArray_SetBaseObject` takes over the reference to the owner.
    let array = unsafe {
        let class = npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type);
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            descr.clone().into_dtype_ptr(),
            dims.len() as i32,
            dims.as_mut_ptr(),
            ptr::null_mut(),
            data.cast(),
            npyffi::NPY_ARRAY_WRITEABLE,
            ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        if PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), owner.into_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        array
    };
    Ok(array.cast_into()?)
}

fn data(array: &Bound<'_, PyUntypedArray>) -> *mut u8 {
    // SAFETY: a NumPy array always has its fields, and the reference keeps it alive.
    unsafe { (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast() }
}

fn is_writeable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: as in `data`.
    unsafe {
        (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr())).flags & npyffi::NPY_ARRAY_WRITEABLE != 0
    }
}

/// The array's shape in the engine's numbers.
pub fn shape(array: &Bound<'_, PyUntypedArray>) -> Dims {
    array.shape().iter().map(|&n| n as u64).collect()
}

/// Where a read of `request` puts its elements. `array` has the request's shape (checked by [`check_out`] where it
/// is the caller's own).
pub fn output_view<'a>(request: &Request, array: &'a Bound<'_, PyUntypedArray>) -> PyResult<OutputView<'a>> {
    let Some(strides) = request.engine_strides(array.strides()) else {
        let message =
            "out: elements selected one by one need an output whose elements lie at equal distances";
        return Err(invalid(array.py(), message));
    };
    let item = array.dtype().itemsize();
    // SAFETY: the array is alive for 'a and has the shape of the request, so its strides stay inside its memory.
    // Another Python thread that touches the same array at the same time races as it would with NumPy itself.
    Ok(unsafe { OutputView::from_raw(data(array), &request.selection.shape(), &strides, item) })
}

/// Where a write of `request` takes its elements from; length-one and missing dimensions of `array` are broadcast.
pub fn input_view<'a>(
    request: &Request,
    array: &'a Bound<'_, PyUntypedArray>,
) -> PyResult<Option<InputView<'a>>> {
    let Some(strides) = broadcast(array, &request.shape) else {
        let message = format!(
            "could not broadcast an input of shape {:?} into shape {:?}",
            array.shape(),
            &request.shape[..]
        );
        return Err(invalid(array.py(), message));
    };
    let Some(strides) = request.engine_strides(&strides) else { return Ok(None) };
    let item = array.dtype().itemsize();
    // SAFETY: the array is alive for 'a; `broadcast` gave stride 0 to every dimension the array does not have.
    Ok(Some(unsafe { InputView::from_raw(data(array), &request.selection.shape(), &strides, item) }))
}

/// A whole array as it lies, for an append.
pub fn whole_view<'a>(array: &'a Bound<'_, PyUntypedArray>) -> InputView<'a> {
    // SAFETY: the array's own shape and strides, and it is alive for 'a.
    unsafe { InputView::from_raw(data(array), &shape(array), array.strides(), array.dtype().itemsize()) }
}

/// The same elements with an axis of length one more.
pub fn with_axis(view: InputView<'_>, axis: usize) -> InputView<'_> {
    let (mut shape, mut strides) = (Dims::from_slice(view.shape()), Strides::from_slice(view.strides()));
    shape.insert(axis.min(view.shape().len()), 1);
    strides.insert(axis.min(view.shape().len()), 0);
    // SAFETY: an axis of one element reaches no others.
    unsafe { InputView::from_raw(view.pointer(), &shape, &strides, view.item()) }
}

/// A whole array as it lies, to read into: new, or looked at by [`check_out`].
pub fn whole_output<'a>(array: &'a Bound<'_, PyUntypedArray>) -> OutputView<'a> {
    // SAFETY: as in `whole_view`.
    unsafe { OutputView::from_raw(data(array), &shape(array), array.strides(), array.dtype().itemsize()) }
}

/// The elements of a flat, contiguous view from `start` on, as an array of this shape; `strides` are in bytes, and stay
/// within the shape's number of elements. Callers give each part to one reader only.
pub fn part<'a>(flat: &OutputView<'a>, start: u64, shape: &[u64], strides: &[isize]) -> OutputView<'a> {
    // SAFETY: the caller has counted the elements of all parts when it made the flat array.
    unsafe {
        let pointer = flat.pointer().add(start as usize * flat.item());
        OutputView::from_raw(pointer, shape, strides, flat.item())
    }
}

/// The bytes of an array whose elements lie one after the other in C order.
pub fn bytes<'a>(array: &'a Bound<'_, PyUntypedArray>) -> Option<&'a [u8]> {
    if !array.is_c_contiguous() {
        return None;
    }
    // SAFETY: the array has so many bytes, and is alive for 'a; see `output_view` for other threads.
    Some(unsafe { std::slice::from_raw_parts(data(array), array.len() * array.dtype().itemsize()) })
}

/// An array-like as an array of this dtype; without a copy where it is one.
pub fn as_array<'py>(
    value: &Bound<'py, PyAny>,
    descr: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = value.cast::<PyUntypedArray>()
        && array.dtype().is_equiv_to(descr)
    {
        return Ok(array.clone());
    }
    Ok(value.py().import("numpy")?.call_method1("asarray", (value, descr))?.cast_into()?)
}

/// A masked array with `fill` where it is masked; anything else as it is.
pub fn filled<'py>(
    value: &Bound<'py, PyAny>,
    fill: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if value.cast_exact::<PyUntypedArray>().is_ok() || !is_masked(value)? {
        return Ok(value.clone());
    }
    value.call_method1("filled", (fill()?,))
}

/// Whether it is a `numpy.ma.MaskedArray`; looked up among subclasses of arrays alone.
fn is_masked(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.cast::<PyUntypedArray>().is_err() {
        return Ok(false);
    }
    let class = value.py().import("numpy.ma")?.getattr("MaskedArray")?;
    value.is_instance(&class)
}

/// NumPy's rule for assignments: leading dimensions of length one may be missing or extra, others must agree or be 1.
fn broadcast(array: &Bound<'_, PyUntypedArray>, target: &[u64]) -> Option<Strides> {
    let (mut shape, mut strides) = (array.shape(), array.strides());
    while shape.len() > target.len() {
        if shape[0] != 1 {
            return None;
        }
        (shape, strides) = (&shape[1..], &strides[1..]);
    }
    let mut out = Strides::from_elem(0, target.len() - shape.len());
    for ((&n, &stride), &wanted) in shape.iter().zip(strides).zip(&target[target.len() - shape.len()..]) {
        match n {
            _ if n as u64 == wanted => out.push(stride),
            1 => out.push(0),
            _ => return None,
        }
    }
    Some(out)
}

/// Refuses an output of the wrong dtype or shape, a read-only one, and one whose elements overlap.
pub fn check_out(
    out: &Bound<'_, PyUntypedArray>,
    descr: &Bound<'_, PyArrayDescr>,
    wanted: &[u64],
) -> PyResult<()> {
    let py = out.py();
    if !out.dtype().is_equiv_to(descr) {
        return Err(invalid(
            py,
            format!("out: expected dtype {}, found {}", descr.as_any(), out.dtype().as_any()),
        ));
    }
    if shape(out)[..] != *wanted {
        return Err(invalid(py, format!("out: expected shape {wanted:?}, found {:?}", out.shape())));
    }
    if !is_writeable(out) {
        return Err(invalid(py, "out: the array is read-only"));
    }
    if out.is_empty() {
        return Ok(());
    }
    let mut axes: Vec<(usize, usize)> =
        out.strides().iter().map(|stride| stride.unsigned_abs()).zip(out.shape().iter().copied()).collect();
    axes.retain(|&(_, n)| n > 1);
    axes.sort_unstable();
    let mut reach = out.dtype().itemsize();
    for (stride, n) in axes {
        if stride < reach {
            return Err(invalid(py, "out: the elements of the array overlap in memory"));
        }
        reach = stride.saturating_mul(n - 1).saturating_add(reach);
    }
    Ok(())
}

/// Memory for one chunk, owned by nobody in Python yet; not set to anything.
pub struct Block {
    /// Held as 16-byte units so that it is aligned for every dtype. Only its capacity is used.
    memory: Vec<u128>,
    shape: Vec<u64>,
    item: usize,
}

/// Keeps the memory of a [`Block`] alive for a NumPy array.
#[pyclass(module = "tessarray._native", frozen)]
struct BlockOwner {
    _memory: Vec<u128>,
}

impl Block {
    /// Room for a C-ordered array of `shape` and elements of `item` bytes.
    ///
    /// # Errors
    /// [`ArrayError::Memory`] where there is none.
    pub fn new(shape: &[u64], item: usize) -> Result<Self, ArrayError> {
        let bytes = shape.iter().fold(item as u64, |product, &n| product.saturating_mul(n));
        let units = usize::try_from(bytes.div_ceil(16)).unwrap_or(usize::MAX);
        let mut memory = Vec::new();
        memory.try_reserve_exact(units).map_err(|_| ArrayError::Memory { what: "chunk", bytes })?;
        Ok(Self { memory, shape: shape.to_vec(), item })
    }

    /// Where a read puts the elements.
    pub fn view(&mut self) -> OutputView<'_> {
        let strides = tessarray::c_strides(&self.shape, self.item);
        // SAFETY: the capacity covers the shape, and the block is borrowed for as long as the view lives.
        unsafe { OutputView::from_raw(self.memory.as_mut_ptr().cast(), &self.shape, &strides, self.item) }
    }

    /// The bytes, after a read has filled them.
    pub fn bytes(&self) -> &[u8] {
        let len = self.shape.iter().fold(self.item, |product, &n| product.saturating_mul(n as usize));
        // SAFETY: callers have filled the whole block through `view`; the capacity covers the length.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), len) }
    }

    /// The block as a NumPy array, without a copy.
    pub fn into_array<'py>(
        mut self,
        descr: &Bound<'py, PyArrayDescr>,
        shape: &[u64],
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let data: *mut u8 = self.memory.as_mut_ptr().cast();
        let owner = Bound::new(descr.py(), BlockOwner { _memory: self.memory })?;
        // SAFETY: the block has room for the shape; moving the vector into its owner does not move its memory, which
        // is aligned to 16 bytes.
        unsafe { adopt(descr, shape, data, owner.into_any()) }
    }
}
