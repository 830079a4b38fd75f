//! The arrays of one variable, and reading them.

use crate::dtype;
use crate::errors::{OrRaise, bad_selection, invalid};
use crate::memory;
use crate::recording;
use crate::selection::{self, Request};
use crate::variable;
use numpy::{PyArray1, PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyEllipsis, PySlice, PyTuple};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tessarray::collection::{Collection, CollectionError, Kind, VariableArrays};
use tessarray::recording::{Access, Op};
use tessarray::{Arena, Array, DataType, OutputView, VarItem, c_strides};

/// The arrays of one variable.
#[pyclass(name = "FoundCore", module = "tessarray._native", frozen)]
pub struct PyFound {
    pub collection: Arc<Collection>,
    pub found: VariableArrays,
}

impl PyFound {
    fn kind(&self, number: usize) -> &Array {
        match &*self.found.kinds[number] {
            Kind::Array(array) => array,
            _ => unreachable!("found arrays are arrays"),
        }
    }

    /// The request of one key for arrays of one shape.
    fn request(&self, key: &Bound<'_, PyAny>, shape: usize, member: usize) -> PyResult<Request> {
        let lengths = &self.found.shapes[shape];
        let dataset = &self.found.members[member].dataset;
        let parsed = strict(key, lengths).and_then(|()| selection::parse(key, lengths));
        parsed.map_err(|error| {
            let py = key.py();
            let reason = error.value(py);
            bad_selection(py, format!("{dataset}/{}, of shape {lengths:?}: {reason}", self.found.variable))
        })
    }
}

/// Refuses slices that reach beyond an axis: across datasets they would give fewer elements here than there, silently.
fn strict(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<()> {
    let py = key.py();
    let items: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let ellipsis = PyEllipsis::get(py);
    let named = items.iter().filter(|item| !item.is(ellipsis) && !item.is_none()).count();
    if named > shape.len() {
        return Err(bad_selection(py, format!("{named} axes were indexed, it has {}", shape.len())));
    }
    let mut axis = 0;
    for item in &items {
        if item.is(ellipsis) {
            axis += shape.len() - named;
        } else if !item.is_none() {
            if let Ok(slice) = item.cast::<PySlice>() {
                let extent = i64::try_from(shape[axis]).unwrap_or(i64::MAX);
                for end in ["start", "stop"] {
                    let bound = slice.getattr(end)?;
                    if bound.is_none() {
                        continue;
                    }
                    let bound: i64 = bound.extract()?;
                    if bound > extent || bound < -extent {
                        let reason = format!("{end} {bound} reaches beyond axis {axis} with size {extent}");
                        return Err(bad_selection(py, reason));
                    }
                }
            }
            axis += 1;
        }
    }
    Ok(())
}

/// Where the elements of each array lie in the result, and its type.
struct Plan {
    /// For each array: its member, and the request.
    reads: Vec<(usize, usize)>,
    requests: Vec<Request>,
    /// Elements of each request.
    sizes: Vec<u64>,
    /// Where each array's elements begin.
    starts: Vec<u64>,
    total: u64,
}

#[pymethods]
impl PyFound {
    fn __len__(&self) -> usize {
        self.found.members.len()
    }

    /// Names of the datasets of the arrays.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.found.members.iter().map(|member| &*member.dataset).collect()
    }

    /// Places of names that have no such array.
    #[getter]
    fn missing(&self) -> &[usize] {
        &self.found.missing
    }

    /// Distinct shapes.
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.found.shapes.iter().map(|shape| PyTuple::new(py, shape)).collect()
    }

    /// Distinct attributes, as JSON.
    #[getter]
    fn attributes(&self) -> Vec<&str> {
        self.found.attributes.iter().map(|text| &**text).collect()
    }

    /// For each kind: dtype, names of the dimensions, fill value as stored (of fixed size), and chunk shape.
    #[getter]
    #[allow(clippy::type_complexity)]
    fn kinds<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyArrayDescr>, Option<Vec<Option<String>>>, Bound<'py, PyBytes>, Vec<u64>)>>
    {
        let kinds = (0..self.found.kinds.len()).map(|number| {
            let metadata = self.kind(number).metadata();
            let descr = dtype::descr(py, &metadata.data_type)?;
            let fill = PyBytes::new(py, &metadata.fill_value);
            Ok((descr, metadata.dimension_names.clone(), fill, self.kind(number).chunk_shape()))
        });
        kinds.collect()
    }

    /// For each array: the number of its kind, of its shape, of its attributes, and its place among the names.
    fn columns<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<i64>>; 4] {
        let column = |of: fn(&tessarray::collection::Member) -> usize| {
            let numbers: Vec<i64> = self.found.members.iter().map(|member| of(member) as i64).collect();
            PyArray1::from_vec(py, numbers)
        };
        [
            column(|member| member.kind),
            column(|member| member.shape),
            column(|member| member.attributes),
            column(|member| member.place),
        ]
    }

    /// Reads a selection of each of the arrays (`members`, all without), one after the other into one flat array: a new
    /// one, or `out`. `keys` is one key for all, or, with `each`, one for each. All must be of one dtype. Gives the array,
    /// the shapes of the parts, each once, and for each array the number of its shape.
    #[pyo3(signature = (keys, each, members = None, out = None))]
    #[allow(clippy::type_complexity)]
    fn read<'py>(
        &self,
        py: Python<'py>,
        keys: Vec<Bound<'py, PyAny>>,
        each: bool,
        members: Option<Vec<usize>>,
        out: Option<Bound<'py, PyUntypedArray>>,
    ) -> PyResult<(Bound<'py, PyUntypedArray>, Vec<Bound<'py, PyTuple>>, Bound<'py, PyArray1<i64>>)> {
        let members = members.unwrap_or_else(|| (0..self.found.members.len()).collect());
        let plan = self.plan(&keys, each, &members)?;
        let first = members.first().ok_or_else(|| invalid(py, "no array to read"))?;
        let data_type = self.kind(self.found.members[*first].kind).data_type();
        let began = recording::started();
        let descr = dtype::descr(py, &data_type)?;
        let shapes = plan.requests.iter().map(|request| PyTuple::new(py, &request.shape[..]));
        let shapes = shapes.collect::<PyResult<Vec<_>>>()?;
        let which = plan.reads.iter().map(|(_, request)| *request as i64).collect();
        let which = PyArray1::from_vec(py, which);
        if data_type.is_variable() {
            if out.is_some() {
                return Err(invalid(py, "out: texts have no memory of their own to be read into"));
            }
            let texts = self.read_texts(py, &plan, &data_type, &descr)?;
            if let Some(began) = began {
                self.note(py, &plan, began.elapsed());
            }
            return Ok((texts, shapes, which));
        }
        let flat = match out {
            Some(out) => {
                memory::check_out(&out, &descr, &[plan.total])?;
                if !out.is_c_contiguous() {
                    return Err(invalid(py, "out: expected elements that lie one after the other"));
                }
                out
            }
            None => memory::empty(py, &descr, &[plan.total])?,
        };
        let whole = memory::whole_output(&flat);
        py.detach(|| self.run(&plan, &whole, &Arena::new())).or_raise(py)?;
        if let Some(began) = began {
            self.note(py, &plan, began.elapsed());
        }
        Ok((flat, shapes, which))
    }
}

impl PyFound {
    fn plan(&self, keys: &[Bound<'_, PyAny>], each: bool, members: &[usize]) -> PyResult<Plan> {
        let mut known: HashMap<(usize, usize), usize> = HashMap::new();
        let mut plan =
            Plan { reads: Vec::new(), requests: Vec::new(), sizes: Vec::new(), starts: Vec::new(), total: 0 };
        for (place, &number) in members.iter().enumerate() {
            let shape = self.found.members[number].shape;
            let key = if each { place } else { 0 };
            let request = match known.get(&(key, shape)) {
                Some(&request) => request,
                None => {
                    let request = self.request(&keys[key], shape, number)?;
                    plan.sizes.push(request.shape.iter().product());
                    plan.requests.push(request);
                    known.insert((key, shape), plan.requests.len() - 1);
                    plan.requests.len() - 1
                }
            };
            plan.reads.push((number, request));
            plan.starts.push(plan.total);
            plan.total += plan.sizes[request];
        }
        Ok(plan)
    }

    /// Notes a read: a line for each selection of each shape, with the number of arrays and their share of the time.
    #[cold]
    fn note(&self, py: Python<'_>, plan: &Plan, time: Duration) {
        let path = format!("*/{}", self.found.variable);
        let mut arrays = vec![(0u64, 0); plan.requests.len()];
        for &(member, request) in &plan.reads {
            arrays[request] = (arrays[request].0 + 1, member);
        }
        for (number, (&(count, member), request)) in arrays.iter().zip(&plan.requests).enumerate() {
            let member = &self.found.members[member];
            let shape = &self.found.shapes[member.shape];
            let share = (count * plan.sizes[number]) as f64 / plan.total.max(1) as f64;
            recording::note(
                py,
                &Access {
                    op: Op::Read,
                    array: self.kind(member.kind),
                    path: &path,
                    shape,
                    arrays: count,
                    selection: &request.selection,
                    drops: &recording::drops(request, shape.len()),
                    time: Some(time.mul_f64(share)),
                },
            );
        }
    }

    fn run(&self, plan: &Plan, out: &OutputView<'_>, arena: &Arena) -> Result<(), CollectionError> {
        let item = out.item();
        let part = |place: usize| {
            let (member, number) = plan.reads[place];
            let request = &plan.requests[number];
            let strides = request.engine_strides(&c_strides(&request.shape, item)).unwrap_or_default();
            let view = memory::part(out, plan.starts[place], &request.selection.shape(), &strides);
            (member, &request.selection, view)
        };
        self.collection.read_each(&self.found, plan.reads.len(), &part, arena)
    }

    fn read_texts<'py>(
        &self,
        py: Python<'py>,
        plan: &Plan,
        data_type: &DataType,
        descr: &Bound<'py, PyArrayDescr>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let mut items = variable::items(plan.total).or_raise(py)?;
        let arena = Arena::new();
        py.detach(|| {
            let view = OutputView::new(&mut items, &[plan.total], VarItem::SIZE)
                .map_err(tessarray::ArrayError::from)?;
            self.run(plan, &view, &arena)
        })
        .or_raise(py)?;
        variable::to_python(descr, data_type, &items, &arena, &[plan.total])
    }
}
