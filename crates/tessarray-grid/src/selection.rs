//! What is wanted of an array, in numbers that are already positive and in bounds or refused.

use crate::dims::Dims;
use crate::error::GridError;

/// The elements wanted along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisSelection {
    /// `len` elements from `start`, `step` apart; a negative step walks down.
    #[allow(missing_docs, reason = "the line above names them")]
    Range { start: u64, step: i64, len: u64 },
    /// These elements, in this order; repeats are legal.
    List(Vec<u64>),
}

impl AxisSelection {
    /// A plain run of elements.
    pub fn run(start: u64, len: u64) -> Self {
        Self::Range { start, step: 1, len }
    }

    /// How many elements are selected.
    pub fn len(&self) -> u64 {
        match self {
            Self::Range { len, .. } => *len,
            Self::List(list) => list.len() as u64,
        }
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks every index against the axis' `extent`.
    ///
    /// # Errors
    /// The first index that lies outside ([`GridError`]).
    pub fn check(&self, axis: usize, extent: u64) -> Result<(), GridError> {
        match self {
            Self::Range { len: 0, .. } => Ok(()),
            Self::Range { start, step, len } => {
                let reach = (len - 1).checked_mul(step.unsigned_abs());
                let last = reach.and_then(|reach| match step {
                    0 => None,
                    1.. => start.checked_add(reach),
                    _ => start.checked_sub(reach),
                });
                match last {
                    Some(last) if *start < extent && last < extent => Ok(()),
                    _ => Err(GridError::Range { axis, start: *start, step: *step, len: *len, extent }),
                }
            }
            Self::List(list) => match list.iter().find(|&&index| index >= extent) {
                Some(&index) => Err(GridError::OutOfBounds { axis, index, extent }),
                None => Ok(()),
            },
        }
    }
}

/// The elements wanted of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// The outer product of one selection an axis (NumPy basic indexing, and orthogonal indexing).
    Axes(Vec<AxisSelection>),
    /// Single elements by their coordinates, one list an axis, all of one length (NumPy vectorised indexing).
    Points(Vec<Vec<u64>>),
}

impl Selection {
    /// The whole array.
    pub fn all(shape: &[u64]) -> Self {
        Self::Axes(shape.iter().map(|&n| AxisSelection::run(0, n)).collect())
    }

    /// A box: `shape` elements from `start`.
    pub fn region(start: &[u64], shape: &[u64]) -> Self {
        Self::Axes(start.iter().zip(shape).map(|(&s, &n)| AxisSelection::run(s, n)).collect())
    }

    /// The shape of the selected elements: one length an axis, or the number of points.
    pub fn shape(&self) -> Dims {
        match self {
            Self::Axes(axes) => axes.iter().map(AxisSelection::len).collect(),
            Self::Points(lists) => Dims::from_slice(&[lists.first().map_or(1, |list| list.len() as u64)]),
        }
    }

    /// Checks rank and bounds against the array's shape.
    ///
    /// # Errors
    /// Another number of axes than the array has, or an index outside it.
    pub fn check(&self, shape: &[u64]) -> Result<(), GridError> {
        let found = match self {
            Self::Axes(axes) => axes.len(),
            Self::Points(lists) => lists.len(),
        };
        if found != shape.len() {
            return Err(GridError::Rank { expected: shape.len(), found });
        }
        match self {
            Self::Axes(axes) => {
                for (axis, (selection, &extent)) in axes.iter().zip(shape).enumerate() {
                    selection.check(axis, extent)?;
                }
            }
            Self::Points(lists) => {
                let expected = lists.first().map_or(0, Vec::len);
                for (axis, (list, &extent)) in lists.iter().zip(shape).enumerate() {
                    if list.len() != expected {
                        return Err(GridError::Points { axis, expected, found: list.len() });
                    }
                    if let Some(&index) = list.iter().find(|&&index| index >= extent) {
                        return Err(GridError::OutOfBounds { axis, index, extent });
                    }
                }
            }
        }
        Ok(())
    }
}
