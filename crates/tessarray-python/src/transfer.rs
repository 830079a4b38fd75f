//! Values in and out of an array: between what the user has and what the engine reads and writes.

use crate::array::PyArrayCore;
use crate::errors::{Failure, OrRaise, invalid, of_read};
use crate::fields::Named;
use crate::memory::Output;
use crate::selection::Request;
use crate::{memory, recording, variable};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tessarray::recording::Op;
use tessarray::{Arena, InputView, VarItem};

impl PyArrayCore {
    /// Reads into a new array, allocated once and not zeroed.
    pub fn read_request<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        if self.data_type.is_variable() {
            return self.read_variable(py, request);
        }
        let bytes = request.shape.iter().fold(u128::from(self.data_type.size() as u64), |product, &n| {
            product.saturating_mul(u128::from(n))
        });
        if bytes > isize::MAX as u128 {
            let message =
                format!("a selection of shape {:?}: {bytes} bytes are more than any memory", request.shape);
            return Err(Failure::new("OutOfMemoryError", message).raise(py));
        }
        let mut out = Output::new(py, self.descr(py)?, &request.shape)?;
        self.read_into(py, request, &mut out)?;
        Ok(out.into_array())
    }

    /// Reads into the caller's array, which must have the dtype and shape of the result; into a new one without it.
    pub fn read_to<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let Some(out) = out else { return self.read_request(py, request) };
        let Ok(out) = out.cast::<PyUntypedArray>() else {
            return Err(invalid(
                py,
                format!("out: expected a NumPy array, found {}", out.get_type().qualname()?),
            ));
        };
        #[expect(unsafe_code, reason = "the caller's array is written to in place, as asked for")]
        // SAFETY: this call has no other view of it, and gives none to anybody.
        let mut out = unsafe { Output::of(out, self.descr(py)?, &request.shape)? };
        if self.data_type.is_variable() {
            let read = self.read_variable(py, request)?;
            out.array().set_item(pyo3::types::PyEllipsis::get(py), read)?;
        } else {
            self.read_into(py, request, &mut out)?;
        }
        Ok(out.into_array())
    }

    fn read_into(&self, py: Python<'_>, request: &Request, out: &mut Output<'_>) -> PyResult<()> {
        let mut view = out.view(request)?;
        let arena = Arena::new();
        recording::noted(py, Op::Read, &self.inner, request, || {
            py.detach(|| self.inner.read_into(&request.selection, &mut view, &arena))
                .map_err(|error| of_read(&self.inner, error))
                .or_raise(py)
        })
    }

    fn read_variable<'py>(&self, py: Python<'py>, request: &Request) -> PyResult<Bound<'py, PyUntypedArray>> {
        let elements = request.shape.iter().product::<u64>();
        let mut items = variable::items(elements).or_raise(py)?;
        let arena = Arena::new();
        let shape = request.selection.shape();
        recording::noted(py, Op::Read, &self.inner, request, || {
            py.detach(|| {
                let mut view = tessarray::OutputView::new(&mut items, &shape, VarItem::SIZE)?;
                self.inner.read_into(&request.selection, &mut view, &arena)
            })
            .map_err(|error| of_read(&self.inner, error))
            .or_raise(py)
        })?;
        variable::to_python(self.descr(py)?, &self.data_type, &items, &arena, &request.shape)
    }

    /// Writes any array-like, broadcast to the selection and cast as NumPy's assignment casts.
    pub fn write_request(&self, py: Python<'_>, request: &Request, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let arena = Arena::new();
        let array = self.input(value, &arena)?;
        self.write_array(py, request, &array, &arena, None)
    }

    /// Writes some fields of elements, and leaves the others as they are stored.
    pub fn write_fields<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        named: &Named<'py>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let array = named.elements(value, self.descr(py)?, || self.fill_value(py))?;
        self.write_array(py, request, &array, &Arena::new(), Some(&named.places))
    }

    fn write_array<'py>(
        &self,
        py: Python<'py>,
        request: &Request,
        array: &Bound<'py, PyUntypedArray>,
        arena: &Arena,
        fields: Option<&[usize]>,
    ) -> PyResult<()> {
        if let Some(view) = memory::input_view(request, array)? {
            return self.write_view(py, request, &view, arena, fields);
        }
        // Points taken from an array whose elements do not lie at equal distances: one copy puts them in a row.
        let numpy = py.import("numpy")?;
        let shape = PyTuple::new(py, &request.shape[..])?;
        let flat = numpy
            .call_method1("ascontiguousarray", (numpy.call_method1("broadcast_to", (array, shape))?,))?;
        match memory::input_view(request, flat.cast::<PyUntypedArray>()?)? {
            Some(view) => self.write_view(py, request, &view, arena, fields),
            None => Err(invalid(py, "the input cannot be laid out for this selection")),
        }
    }

    fn write_view(
        &self,
        py: Python<'_>,
        request: &Request,
        view: &InputView<'_>,
        arena: &Arena,
        fields: Option<&[usize]>,
    ) -> PyResult<()> {
        let write = || match fields {
            None => self.inner.write_from(&request.selection, view, arena),
            Some(fields) => self.inner.write_fields(&request.selection, fields, view, arena),
        };
        recording::noted(py, Op::Write, &self.inner, request, || py.detach(write).or_raise(py))
    }

    /// An array-like as an array of this array's dtype; without a copy where it is one.
    pub(crate) fn input<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        arena: &Arena,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let py = value.py();
        if self.data_type.is_variable() {
            return variable::from_python(value, &self.data_type, arena);
        }
        memory::as_array(&self.unmasked(value)?, self.descr(py)?)
    }

    /// Masked elements of a masked array become the array's fill value.
    pub fn unmasked<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        memory::filled(value, || self.fill_value(py))
    }

    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyBytes::new(py, &self.inner.metadata().fill_value);
        py.import("numpy")?.call_method1("frombuffer", (bytes, self.descr(py)?))?.get_item(0)
    }
}
