//! Chunk lengths along each axis, as Python sees them.

use crate::array::tuple;
use crate::errors::{Failure, invalid};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tessarray::Edges;

/// The most chunk lengths along one axis that are listed.
const MOST_SIZES: u64 = 1 << 28;

/// The lengths of the chunks along each axis, the last clipped.
pub fn sizes<'py>(py: Python<'py>, edges: &[Edges], shape: &[u64]) -> PyResult<Bound<'py, PyTuple>> {
    let mut axes = Vec::with_capacity(shape.len());
    for (axis, (edges, &n)) in edges.iter().zip(shape).enumerate() {
        let count = edges.count(n);
        if count > MOST_SIZES {
            let message = format!("axis {axis} has {count} chunks, too many to list their lengths");
            return Err(invalid(py, message));
        }
        let size = |chunk| edges.length(chunk).min(n - edges.begin(chunk));
        axes.push(tuple(py, &(0..count).map(size).collect::<Vec<u64>>())?);
    }
    PyTuple::new(py, axes)
}

/// The one shape of all chunks. Where there is none, the error names the property that was asked, and the one that answers.
pub fn one_shape<'py>(
    py: Python<'py>,
    (name, sizes): (&str, &str),
    edges: &[Edges],
) -> PyResult<Bound<'py, PyTuple>> {
    match edges.iter().map(Edges::each).collect::<Option<Vec<u64>>>() {
        Some(shape) => tuple(py, &shape),
        None => {
            let message = format!(
                "{name}: the array has a rectilinear chunk grid, of unequal lengths: use {sizes} instead"
            );
            Err(Failure::new("UnequalChunksError", message).raise(py))
        }
    }
}
