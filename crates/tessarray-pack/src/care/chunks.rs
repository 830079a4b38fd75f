//! The chunks of rows, to be read and checked.

use crate::catalogue::{Entry, Numbering, Row};
use crate::error::Result;
use crate::id::Id;
use crate::names::join;
use crate::pack::Pack;
use crate::version::Piece;
use crate::version::fetch::Check;
use std::collections::HashMap;
use std::sync::Arc;

impl Pack {
    /// Some of a row's chunks, or its value, and what each is checked against; `ids` are the segments by number.
    pub(super) fn pieces(
        &self,
        row: &Row,
        range: std::ops::Range<usize>,
        node: u64,
        numbering: Option<&Numbering>,
        ids: &[Id],
    ) -> Result<Vec<(Piece, Check)>> {
        let piece = |(number, entry): &(u64, Entry)| {
            let id = usize::try_from(entry.segment).ok().and_then(|at| ids.get(at));
            let id = id.ok_or_else(|| self.damaged("catalogue", "a segment without a name".into()))?;
            let check = match numbering {
                Some(numbering) => Check::chunk(&row.node, node, numbering, *number),
                None => Check::Value(join(&row.node, &row.name)),
            };
            Ok((Piece::stored(*id, *entry), check))
        };
        row.entries[range].iter().map(piece).collect()
    }
}

/// The numbers of the nodes that have one.
pub(super) fn ids_of(rows: &[Row]) -> HashMap<Arc<str>, u64> {
    rows.iter().filter_map(|row| Some((Arc::clone(&row.node), row.id?))).collect()
}
