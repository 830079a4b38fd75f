//! Rows as they are made: the chunks of a node cut into rows, and segments named by number.

use super::row::{Entry, Row};
use super::write::ROW_CHUNKS;
use crate::id::Id;
use std::collections::HashMap;
use std::sync::Arc;

/// Cuts the chunks of a node into rows. The first of a node that is reset begins at 0.
pub(crate) fn chunk_rows(
    node: &Arc<str>,
    grid: &Arc<str>,
    reset: bool,
    entries: &[(u64, Entry)],
) -> Vec<Row> {
    let row = |first: u64, gone: bool, entries: &[(u64, Entry)]| Row {
        first,
        gone,
        grid: Some(Arc::clone(grid)),
        entries: entries.to_vec(),
        ..Row::value(Arc::clone(node), "".into())
    };
    let mut rows = Vec::new();
    for (i, run) in entries.chunks(ROW_CHUNKS).enumerate() {
        let first = if reset && i == 0 { 0 } else { run[0].0 };
        rows.push(row(first, reset && i == 0, run));
    }
    if reset && rows.is_empty() {
        rows.push(row(0, true, &[]));
    }
    rows
}

/// Segments by number.
#[derive(Debug, Default)]
pub(crate) struct SegmentTable {
    pub ids: Vec<Id>,
    numbers: HashMap<Id, i32>,
}

impl SegmentTable {
    /// The number of a segment.
    #[expect(clippy::cast_possible_truncation, reason = "a part names fewer than 2^31 segments")]
    pub(crate) fn number(&mut self, id: Id) -> i32 {
        *self.numbers.entry(id).or_insert_with(|| {
            self.ids.push(id);
            self.ids.len() as i32 - 1
        })
    }
}
