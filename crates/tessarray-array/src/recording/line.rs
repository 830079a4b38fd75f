//! One access as a line.

use super::log::now;
use crate::Array;
use serde_json::{Value, json};
use std::time::Duration;
use tessarray_grid::{AxisSelection, Selection};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A selection was read.
    Read,
    /// A selection was written.
    Write,
    /// Elements were added at the end of an axis.
    Append,
    /// An iterator over the chunks of a selection was started. Its time is not known.
    Stream,
}

impl Op {
    /// The name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Append => "append",
            Self::Stream => "stream",
        }
    }
}

/// One call that reads or writes elements of an array, or the same ones of several arrays of one shape.
#[derive(Debug)]
pub struct Access<'a> {
    /// What was done.
    pub op: Op,
    /// The array, or one of them.
    pub array: &'a Array,
    /// Its path, or one that stands for all, such as `*/temperature`.
    pub path: &'a str,
    /// Its shape, before the call.
    pub shape: &'a [u64],
    /// How many arrays.
    pub arrays: u64,
    /// Which elements.
    pub selection: &'a Selection,
    /// Axes that the result lacks, since they were indexed with an integer.
    pub drops: &'a [usize],
    /// Time of the call, or of these arrays' share of it.
    pub time: Option<Duration>,
}

impl Access<'_> {
    /// The line, with its line feed.
    pub(super) fn line(&self) -> String {
        let data_type = self.array.data_type();
        let elements = match self.selection {
            Selection::Axes(axes) => {
                axes.iter().fold(self.arrays, |product, axis| product.saturating_mul(axis.len()))
            }
            Selection::Points(lists) => self.arrays.saturating_mul(lists.first().map_or(1, Vec::len) as u64),
        };
        let mut line = json!({
            "time": now(),
            "process": std::process::id(),
            "op": self.op.name(),
            "store": self.array.store().describe(),
            "path": self.path,
            "shape": self.shape,
            "dtype": data_type.to_string(),
            "drops": self.drops,
            "elements": elements,
            "bytes": elements.saturating_mul(data_type.size() as u64),
            "seconds": self.time.map(|time| time.as_secs_f64()),
        });
        if let Value::Object(fields) = &mut line {
            if self.arrays != 1 {
                fields.insert("arrays".into(), self.arrays.into());
            }
            match self.selection {
                Selection::Axes(axes) => {
                    fields.insert("box".into(), axes.iter().map(span).collect());
                    if axes.iter().any(|axis| matches!(axis, AxisSelection::List(_))) {
                        // Of lists the box says where they lie, and this how many elements they have.
                        fields.insert("counts".into(), axes.iter().map(AxisSelection::len).collect());
                    }
                }
                Selection::Points(lists) => {
                    fields.insert("box".into(), lists.iter().map(|list| around(list)).collect());
                    fields.insert("points".into(), (lists.first().map_or(1, Vec::len) as u64).into());
                }
            }
        }
        format!("{line}\n")
    }
}

/// `[start, stop, step]` of an axis, always upwards: which elements, not in which order.
fn span(axis: &AxisSelection) -> Value {
    match axis {
        AxisSelection::List(list) => around(list),
        AxisSelection::Range { len: 0, .. } => json!([0, 0, 1]),
        AxisSelection::Range { start, step, len } => {
            let reach = (len - 1).saturating_mul(step.unsigned_abs());
            let low = if *step < 0 { start.saturating_sub(reach) } else { *start };
            let step = if *len == 1 { 1 } else { step.unsigned_abs() };
            json!([low, low.saturating_add(reach).saturating_add(1), step])
        }
    }
}

/// The smallest range that holds a list.
fn around(list: &[u64]) -> Value {
    match (list.iter().min(), list.iter().max()) {
        (Some(low), Some(high)) => json!([low, high.saturating_add(1), 1]),
        _ => json!([0, 0, 1]),
    }
}
