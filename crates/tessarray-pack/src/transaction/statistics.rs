//! What is known of an array's values: a small document beside its metadata, which goes with the values.
//!
//! Who writes an array may put one under [`STATISTICS`]. A commit that changes an array's chunks or metadata and puts none
//! takes the old one away; so does one that finds another transaction has changed the same array meanwhile. So a
//! document that is there tells of the values that are there.

use super::overlay::{NewValue, Overlay, ValueChange};
use crate::catalogue::{Part, Row};
use crate::error::{PackError, Result};
use crate::names::{STATISTICS, V2_ARRAY, V2_ATTRIBUTES, V3, is_document, join};
use crate::version::Snapshot;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Takes the statistics away of arrays that a transaction changed without putting new ones.
pub(crate) fn drop_old(overlay: &mut Overlay, base: &Snapshot, mut stamp: impl FnMut() -> u64) -> Result<()> {
    let name: Arc<str> = STATISTICS.into();
    let documents = overlay.values.keys().filter(|(_, name)| is_document(name)).map(|(node, _)| node);
    let changed: BTreeSet<Arc<str>> = documents.chain(overlay.chunks.keys()).cloned().collect();
    for node in changed {
        let place = (node, Arc::clone(&name));
        if !overlay.values.contains_key(&place) && base.value_row(&place.0, STATISTICS)?.is_some() {
            overlay.values.insert(place, ValueChange { value: NewValue::Gone, id: None, stamp: stamp() });
        }
    }
    Ok(())
}

/// Takes the statistics away of arrays that we and, meanwhile, another transaction changed in any way: their chunks, or
/// their metadata, which say what a missing value is. `true` where our rows are not what they were.
pub(crate) fn drop_shared(ours: &mut Vec<Row>, theirs: &Part) -> Result<bool> {
    let mut nodes: Vec<(Arc<str>, bool)> = Vec::new();
    for row in ours.iter() {
        let of_values = row.name.is_empty() || *row.name == *STATISTICS;
        match nodes.last_mut() {
            Some((node, known)) if *node == row.node => *known |= of_values,
            _ => nodes.push((Arc::clone(&row.node), of_values)),
        }
    }
    let mut changed = false;
    for (node, by_us) in nodes {
        let by_them = |name: &str| Ok::<_, PackError>(theirs.row(&node, name, u64::MAX)?.is_some());
        let values = by_them("")? || by_them(STATISTICS)?;
        let metadata = by_us && (by_them(V3)? || by_them(V2_ARRAY)? || by_them(V2_ATTRIBUTES)?);
        if !values && !metadata {
            continue;
        }
        let place = ours.binary_search_by(|row| row.key().cmp(&(node.as_bytes(), STATISTICS.as_bytes(), 0)));
        let gone = Row { gone: true, ..Row::value(Arc::clone(&node), STATISTICS.into()) };
        match place {
            Ok(at) if ours[at].gone => {}
            Ok(at) => {
                ours[at] = Row { stamp: ours[at].stamp, ..gone };
                changed = true;
            }
            Err(at) => {
                let stamp = crate::version::stamp_of(&join(&node, STATISTICS));
                ours.insert(at, Row { stamp, ..gone });
                changed = true;
            }
        }
    }
    Ok(changed)
}
