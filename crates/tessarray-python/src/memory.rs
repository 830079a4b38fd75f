//! NumPy arrays as the engine's views: new ones allocated without zeroing, and the caller's own, without copies.
//!
//! The `unsafe` code of this crate is here, but for the two calls of [`Output::of`], each of which says why it may. What cannot be
//! ruled out is that Python code of another thread writes to an array while the engine reads from it or writes to it: that
//! races as it does with NumPy itself.

#![expect(
    unsafe_code,
    reason = "NumPy's arrays are reached through its C interface, and their memory by its address"
)]

use crate::errors::invalid;
use crate::selection::Request;
use numpy::npyffi::{self, PY_ARRAY_API};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::ptr;
use tessarray::{Block, Dims, InputView, OutputView, Strides, is_distinct};

/// Results of as many bytes begin with a cache line.
const ALIGNED: u64 = 1 << 20;
/// Bytes of a cache line.
const LINE: usize = 64;

/// A new C-ordered array of this dtype, whose memory is not set to anything. A large one begins with a cache line, so that
/// rows of chunks are whole lines more often, and is a view of one that NumPy has allocated, which begins anywhere.
fn empty<'py>(
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

#[expect(clippy::cast_possible_truncation, reason = "NumPy's arrays have 64 dimensions at most")]
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
#[expect(clippy::cast_possible_truncation, reason = "NumPy's arrays have 64 dimensions at most")]
unsafe fn adopt<'py>(
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

/// An array that a read of this call puts its elements into, and nobody else does.
pub struct Output<'py>(Bound<'py, PyUntypedArray>);

impl<'py> Output<'py> {
    /// A new C-ordered array, whose memory is not set to anything.
    pub fn new(py: Python<'py>, descr: &Bound<'py, PyArrayDescr>, shape: &[u64]) -> PyResult<Self> {
        empty(py, descr, shape).map(Self)
    }

    /// The caller's own array; refused if it is not of this dtype and shape, is read-only, or its elements overlap.
    ///
    /// # Safety
    /// Until it is dropped, nobody in Rust reads the array's memory or writes to it but through this.
    pub unsafe fn of(
        array: &Bound<'py, PyUntypedArray>,
        descr: &Bound<'_, PyArrayDescr>,
        shape: &[u64],
    ) -> PyResult<Self> {
        check_out(array, descr, shape)?;
        Ok(Self(array.clone()))
    }

    pub fn array(&self) -> &Bound<'py, PyUntypedArray> {
        &self.0
    }

    pub fn into_array(self) -> Bound<'py, PyUntypedArray> {
        self.0
    }

    /// Where a read of `request`, which has the array's shape, puts its elements.
    pub fn view(&mut self, request: &Request) -> PyResult<OutputView<'_>> {
        let Self(array) = self;
        let Some(strides) = request.engine_strides(array.strides()) else {
            let message =
                "out: elements selected one by one need an output whose elements lie at equal distances";
            return Err(invalid(array.py(), message));
        };
        let item = array.dtype().itemsize();
        // SAFETY: the array has the shape of the request, so that its strides stay inside its memory, and its elements do not
        // overlap; it is this output's own, which is borrowed for as long as the view lives.
        Ok(unsafe { OutputView::from_raw(data(array), &request.selection.shape(), &strides, item) })
    }

    /// The whole array as it lies.
    pub fn whole(&mut self) -> OutputView<'_> {
        let Self(array) = self;
        // SAFETY: the array's own shape and strides; for the rest as in `view`.
        unsafe { OutputView::from_raw(data(array), &shape(array), array.strides(), array.dtype().itemsize()) }
    }
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
fn check_out(
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
    if !is_distinct(wanted, out.strides(), out.dtype().itemsize()) {
        return Err(invalid(py, "out: the elements of the array overlap in memory"));
    }
    Ok(())
}

/// Keeps the memory of a [`Block`] alive for a NumPy array.
#[pyclass(module = "tessarray._native", frozen)]
struct BlockOwner {
    _memory: Vec<u128>,
}

/// A block as a NumPy array, without a copy.
pub fn array_of<'py>(block: Block, descr: &Bound<'py, PyArrayDescr>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let shape = block.shape().to_vec();
    let mut memory = block.into_units();
    let data: *mut u8 = memory.as_mut_ptr().cast();
    let owner = Bound::new(descr.py(), BlockOwner { _memory: memory })?;
    // SAFETY: the block has room for its shape; moving the vector into its owner does not move its memory, which is aligned
    // to 16 bytes.
    unsafe { adopt(descr, &shape, data, owner.into_any()) }
}
