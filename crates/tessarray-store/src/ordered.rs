//! Listings of a store that keeps its keys in an ordered map.

use crate::key::{Key, Prefix};
use crate::request::ListEntry;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Keys under a prefix with their sizes, in order.
pub(crate) fn list<V>(map: &BTreeMap<Key, V>, prefix: &Prefix, size: impl Fn(&V) -> u64) -> Vec<(Key, u64)> {
    map.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded))
        .take_while(|(key, _)| prefix.contains(key))
        .map(|(key, value)| (key.clone(), size(value)))
        .collect()
}

/// The next level under a prefix. Jumps over what lies deeper: costs a look-up an entry, not a key.
pub(crate) fn list_dir<V>(
    map: &BTreeMap<Key, V>,
    prefix: &Prefix,
    size: impl Fn(&V) -> u64,
) -> Vec<ListEntry> {
    let mut entries = Vec::new();
    let mut from = Bound::Included(prefix.as_str().to_owned());
    loop {
        let bound = (from.as_ref().map(String::as_str), Bound::Unbounded);
        let Some((key, value)) = map.range::<str, _>(bound).next() else { break };
        let Some(rest) = key.as_str().strip_prefix(prefix.as_str()) else { break };
        match rest.split_once('/') {
            None => {
                entries.push(ListEntry::Key(key.clone(), size(value)));
                from = Bound::Excluded(key.to_string());
            }
            Some((segment, _)) => {
                let Ok(deeper) = prefix.join(segment) else { break };
                // '0' is the character after '/': the first string past everything under the deeper prefix.
                from = Bound::Included(format!("{}0", deeper.path()));
                entries.push(ListEntry::Prefix(deeper));
            }
        }
    }
    entries.sort();
    entries
}
