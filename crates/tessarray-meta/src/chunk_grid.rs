//! How an array is cut into chunks: `regular` (Zarr v3 core) and `rectilinear` (zarr-extensions), whose lengths are listed
//! along each axis.

use crate::error::{MetaError, Result};
use crate::fields::{self, MAX_LENGTH, Object, check_rank, length_text};
use crate::limits::Limits;
use crate::path::Path;
use serde_json::{Value, json};
use tessarray_grid::{Dims, EdgeRuns, Edges, GridError};

/// The chunks (or shards) that an array is cut into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkGrid {
    /// All of this shape; the last along each axis may reach over the end.
    Regular(Vec<u64>),
    /// Lengths of their own along each axis; the product of those is the grid. The last may reach over the end, and
    /// others may lie behind it, as after an axis was made shorter.
    Rectilinear(Vec<Edges>),
}

impl ChunkGrid {
    /// Dimensions.
    pub fn rank(&self) -> usize {
        match self {
            Self::Regular(shape) => shape.len(),
            Self::Rectilinear(axes) => axes.len(),
        }
    }

    /// The shape of the chunks, where it is one by the grid's kind.
    pub fn regular(&self) -> Option<&[u64]> {
        match self {
            Self::Regular(shape) => Some(shape),
            Self::Rectilinear(_) => None,
        }
    }

    /// The lengths of the chunks along each axis.
    pub fn edges(&self) -> Vec<Edges> {
        match self {
            Self::Regular(shape) => shape.iter().map(|&length| Edges::Each(length)).collect(),
            Self::Rectilinear(axes) => axes.clone(),
        }
    }

    /// The shape of the largest chunk.
    pub fn largest(&self) -> Dims {
        match self {
            Self::Regular(shape) => Dims::from_slice(shape),
            Self::Rectilinear(axes) => axes.iter().map(Edges::longest).collect(),
        }
    }

    /// Chunks along each axis of an array of this shape.
    pub fn counts(&self, shape: &[u64]) -> Vec<u64> {
        match self {
            Self::Regular(chunk) => {
                shape.iter().zip(chunk).map(|(&n, &length)| tessarray_grid::chunk_count(n, length)).collect()
            }
            Self::Rectilinear(axes) => shape.iter().zip(axes).map(|(&n, edges)| edges.count(n)).collect(),
        }
    }

    /// The grid of the array when it has this shape: where an axis has grown behind the lengths that are listed, one more
    /// chunk takes the rest, rounded up to a multiple of `units`. Elements keep their chunks.
    ///
    /// # Errors
    /// An axis of 2^63 elements or more.
    pub fn grown(&self, shape: &[u64], units: &[u64]) -> std::result::Result<Self, GridError> {
        let Self::Rectilinear(axes) = self else { return Ok(self.clone()) };
        let unit = |axis: usize| units.get(axis).copied().unwrap_or(1);
        let axes = axes.iter().zip(shape).enumerate().map(|(axis, (edges, &n))| edges.grown(n, unit(axis)));
        axes.collect::<std::result::Result<_, _>>().map(Self::Rectilinear)
    }
}

/// Parses the `chunk_grid` member.
pub(crate) fn parse(value: Value, limits: &Limits, path: &Path<'_>) -> Result<ChunkGrid> {
    let grid = fields::named(value, path)?;
    let at = path.key("configuration");
    let mut configuration = Object::new(grid.configuration, &at);
    let grid = match grid.name.as_str() {
        "regular" => {
            let (shape, key) = configuration.required("chunk_shape")?;
            ChunkGrid::Regular(fields::lengths(shape, 1, limits, &at.key(key))?)
        }
        "rectilinear" => {
            let (kind, key) = configuration.required("kind")?;
            if kind.as_str() != Some("inline") {
                return Err(MetaError::value(&at.key(key), "\"inline\"", &kind));
            }
            let (axes, key) = configuration.required("chunk_shapes")?;
            let path = at.key(key);
            let axes = fields::list(axes, &path)?;
            check_rank(axes.len(), limits, &path)?;
            let axes = axes.into_iter().enumerate().map(|(i, axis)| edges(axis, &path.index(i)));
            ChunkGrid::Rectilinear(axes.collect::<Result<_>>()?)
        }
        other => return Err(MetaError::unknown(path, "chunk grid", other)),
    };
    configuration.finish("setting")?;
    Ok(grid)
}

/// One axis: a length that all chunks have, or a list of lengths and of pairs of a length and how often it comes.
fn edges(value: Value, path: &Path<'_>) -> Result<Edges> {
    let Value::Array(list) = value else {
        return match length(&value) {
            Some(length) => Ok(Edges::Each(length)),
            None => {
                let expected = "a positive integer below 2^63, or an array of chunk lengths";
                Err(MetaError::value(path, expected, &value))
            }
        };
    };
    let mut runs = Vec::new();
    for (i, item) in list.iter().enumerate() {
        let run = match item {
            Value::Array(pair) => match &pair[..] {
                [size, count] => length(size).zip(length(count)),
                _ => None,
            },
            one => length(one).map(|length| (length, 1)),
        };
        match run {
            Some(run) => runs.push(run),
            None => {
                let expected =
                    "a positive integer below 2^63, or a pair of a chunk's length and how many have it";
                return Err(MetaError::value(&path.index(i), expected, item));
            }
        }
    }
    let found = Value::Array(list);
    EdgeRuns::new(runs).map(Edges::Runs).map_err(|error| match error {
        GridError::NoEdges => MetaError::value(path, "at least one chunk length", &found),
        _ => MetaError::value(path, "chunk lengths with a sum below 2^63", &found),
    })
}

fn length(value: &Value) -> Option<u64> {
    value.as_u64().filter(|length| (1..=MAX_LENGTH).contains(length))
}

/// The `chunk_grid` member, as zarr-python writes it: a run of two chunks or more is a pair.
pub(crate) fn to_json(grid: &ChunkGrid) -> Value {
    match grid {
        ChunkGrid::Regular(shape) => json!({"name": "regular", "configuration": {"chunk_shape": shape}}),
        ChunkGrid::Rectilinear(axes) => {
            let axes: Vec<Value> = axes.iter().map(axis_to_json).collect();
            json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": axes}})
        }
    }
}

fn axis_to_json(edges: &Edges) -> Value {
    match edges {
        Edges::Each(length) => (*length).into(),
        Edges::Runs(runs) => {
            let run =
                |length: u64, count: u64| if count == 1 { length.into() } else { json!([length, count]) };
            runs.runs().iter().map(|found| run(found.length, found.count)).collect()
        }
    }
}

/// Checks a grid against the shape of its array, and against the inner chunks of its shards, which take `units`.
pub(crate) fn check(grid: &ChunkGrid, shape: &[u64], path: &Path<'_>) -> Result<()> {
    if grid.rank() != shape.len() {
        let expected = format!("{} lengths, one a dimension", shape.len());
        return Err(MetaError::value(path, expected, &Value::Array(vec![Value::Null; grid.rank()])));
    }
    match grid {
        ChunkGrid::Regular(chunk) => {
            for (i, &length) in chunk.iter().enumerate() {
                if !(1..=MAX_LENGTH).contains(&length) {
                    return Err(MetaError::value(&path.index(i), length_text(1), &length.into()));
                }
            }
        }
        ChunkGrid::Rectilinear(axes) => {
            for (i, (edges, &n)) in axes.iter().zip(shape).enumerate() {
                match edges {
                    Edges::Each(length) if !(1..=MAX_LENGTH).contains(length) => {
                        return Err(MetaError::value(&path.index(i), length_text(1), &(*length).into()));
                    }
                    Edges::Runs(runs) if runs.sum() < n => {
                        let expected =
                            format!("chunk lengths with a sum of at least {n}, the dimension's length");
                        return Err(MetaError::value(&path.index(i), expected, &runs.sum().into()));
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// Checks that shards of listed lengths hold whole inner chunks.
pub(crate) fn check_units(grid: &ChunkGrid, units: &[u64], path: &Path<'_>) -> Result<()> {
    let ChunkGrid::Rectilinear(axes) = grid else { return Ok(()) };
    for (i, (edges, &unit)) in axes.iter().zip(units).enumerate() {
        let odd = match edges {
            Edges::Each(length) => Some(*length).filter(|length| !length.is_multiple_of(unit)),
            Edges::Runs(runs) => {
                runs.runs().iter().map(|run| run.length).find(|length| !length.is_multiple_of(unit))
            }
        };
        if let Some(length) = odd {
            let expected = format!("shard lengths that are multiples of the inner chunk's {unit}");
            return Err(MetaError::value(&path.index(i), expected, &length.into()));
        }
    }
    Ok(())
}
