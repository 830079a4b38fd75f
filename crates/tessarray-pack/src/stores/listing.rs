//! The keys of a version or a transaction, in order.

use crate::version::{Content, Listing};
use std::collections::BTreeMap;
use tessarray_store::{Key, ListEntry, Prefix, Result};

/// All keys under a prefix, with their sizes.
pub(super) fn list(content: &dyn Content, listing: &Listing, prefix: &Prefix) -> Result<Vec<(Key, u64)>> {
    let keys = listing.keys(|node| content.array(node))?;
    let keys = keys.into_iter().filter(|(key, _)| key.starts_with(prefix.as_str()));
    let mut found = keys.map(|(key, size)| Ok((Key::new(&key)?, size))).collect::<Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

/// The next level of a listing.
pub(super) fn list_dir(content: &dyn Content, listing: &Listing, prefix: &Prefix) -> Result<Vec<ListEntry>> {
    let mut entries: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for (key, size) in list(content, listing, prefix)? {
        let Some(rest) = key.as_str().strip_prefix(prefix.as_str()) else { continue };
        match rest.split_once('/') {
            Some((segment, _)) => entries.entry(segment.to_string()).or_insert(None),
            None => entries.entry(rest.to_string()).or_insert(Some(size)),
        };
    }
    let entry = |(name, size): (String, Option<u64>)| match size {
        Some(size) => Ok(ListEntry::Key(prefix.key(&name)?, size)),
        None => Ok(ListEntry::Prefix(prefix.join(&name)?)),
    };
    let mut found = entries.into_iter().map(entry).collect::<Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}
