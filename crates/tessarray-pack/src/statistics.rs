//! What is known of an array's values: a small document beside its metadata, which goes with the values.
//!
//! Who writes an array may put one under [`STATISTICS`]. A commit that changes an array's chunks or metadata and puts none
//! takes the old one away; so does one that finds another transaction has changed the same array meanwhile. So a
//! document that is there tells of the values that are there.

use crate::Result;
use crate::catalogue::{Part, Row};
use crate::content::join;
use crate::info::is_document;
use crate::overlay::{Change, NewValue, Overlay};
use crate::snapshot::Snapshot;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The name of the document.
pub const STATISTICS: &str = "statistics.json";

/// Takes the statistics away of arrays that a transaction changed without putting new ones.
pub(crate) fn drop_old(overlay: &mut Overlay, base: &Snapshot, mut stamp: impl FnMut() -> u64) -> Result<()> {
    let name: Arc<str> = STATISTICS.into();
    let documents = overlay.values.keys().filter(|(_, name)| is_document(name)).map(|(node, _)| node);
    let changed: BTreeSet<Arc<str>> = documents.chain(overlay.chunks.keys()).cloned().collect();
    for node in changed {
        let place = (node, Arc::clone(&name));
        if !overlay.values.contains_key(&place) && base.value_row(&place.0, STATISTICS)?.is_some() {
            overlay.values.insert(place, Change { value: NewValue::Gone, id: None, stamp: stamp() });
        }
    }
    Ok(())
}

/// Takes the statistics away of arrays that we and, meanwhile, another transaction changed. `true` where our rows are
/// not what they were.
pub(crate) fn drop_shared(ours: &mut Vec<Row>, theirs: &Part) -> Result<bool> {
    let mut nodes: Vec<Arc<str>> = ours.iter().map(|row| Arc::clone(&row.node)).collect();
    nodes.dedup();
    let mut changed = false;
    for node in nodes {
        let by_us = |ours: &[Row], name: &str| ours.iter().any(|row| row.node == node && *row.name == *name);
        let by_them = |name: &str| Ok::<_, crate::PackError>(theirs.row(&node, name, u64::MAX)?.is_some());
        // Groups have no chunks and no statistics, and nothing happens to them here.
        let touched = by_them("")? || by_them(STATISTICS)?;
        if !touched || !(by_us(ours, "") || by_us(ours, STATISTICS)) {
            continue;
        }
        let place =
            ours.binary_search_by(|row| row.place().cmp(&(node.as_bytes(), STATISTICS.as_bytes(), 0)));
        let gone = Row { gone: true, ..Row::value(Arc::clone(&node), STATISTICS.into()) };
        match place {
            Ok(at) if ours[at].gone => {}
            Ok(at) => {
                ours[at] = Row { stamp: ours[at].stamp, ..gone };
                changed = true;
            }
            Err(at) => {
                let stamp = crate::content::stamp_of(&join(&node, STATISTICS));
                ours.insert(at, Row { stamp, ..gone });
                changed = true;
            }
        }
    }
    Ok(changed)
}
