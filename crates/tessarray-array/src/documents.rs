//! Where the metadata documents of a node are, and reading and writing them.

use crate::error::{ArrayError, Result};
use std::sync::Arc;
use tessarray_meta::{ArrayMetadata, Format, GroupMetadata, Limits, MetaError, Node};
use tessarray_store::{Key, Prefix, PutMode, Store, Update};

/// The v3 document of any node.
pub(crate) const V3: &str = "zarr.json";
pub(crate) const V2_ARRAY: &str = ".zarray";
pub(crate) const V2_GROUP: &str = ".zgroup";
pub(crate) const V2_ATTRIBUTES: &str = ".zattrs";
pub(crate) const V2_CONSOLIDATED: &str = ".zmetadata";

/// Attributes an error with the document it is in.
pub(crate) fn at(key: &Key) -> impl Fn(MetaError) -> ArrayError {
    move |source| ArrayError::Metadata { key: key.to_string(), source }
}

/// The node under a prefix, v3 first; `None` where there is none. Costs one read for v3 nodes, up to four for v2.
pub(crate) fn load(store: &Arc<dyn Store>, prefix: &Prefix, limits: &Limits) -> Result<Option<Node>> {
    let key = prefix.key(V3)?;
    if let Some((document, _)) = store.get(&key)? {
        return Node::from_v3(&document, limits).map(Some).map_err(at(&key));
    }
    let attributes = || -> Result<_> { Ok(store.get(&prefix.key(V2_ATTRIBUTES)?)?.map(|(bytes, _)| bytes)) };
    let key = prefix.key(V2_ARRAY)?;
    if let Some((document, _)) = store.get(&key)? {
        let node = ArrayMetadata::from_v2(&document, attributes()?.as_deref(), limits);
        return node.map(|array| Some(Node::Array(array))).map_err(at(&key));
    }
    let key = prefix.key(V2_GROUP)?;
    if let Some((document, _)) = store.get(&key)? {
        let node = GroupMetadata::from_v2(&document, attributes()?.as_deref(), limits);
        return node.map(|group| Some(Node::Group(group))).map_err(at(&key));
    }
    Ok(None)
}

/// The node under a prefix, and where a look at each member may be a round trip, a v2 group's consolidated copy with it
/// (one read more). A copy that cannot be read is as good as none: the members themselves are the truth.
pub(crate) fn load_with_copy(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    limits: &Limits,
) -> Result<Option<Node>> {
    let mut node = load(store, prefix, limits)?;
    if let Some(Node::Group(group)) = &mut node
        && group.format == Format::V2
        && !store.is_local()
        && let Some((document, _)) = store.get(&prefix.key(V2_CONSOLIDATED)?)?
        && let Ok(copy) = GroupMetadata::from_zmetadata(&document, limits)
    {
        (group.consolidated, group.unread) = (copy.consolidated, copy.unread);
    }
    Ok(node)
}

/// The document that holds the consolidated copy of a group of this format.
pub(crate) fn copy_in(format: Format) -> &'static str {
    match format {
        Format::V3 => V3,
        Format::V2 => V2_CONSOLIDATED,
    }
}

/// The documents of an array: the one that makes it an array last.
pub(crate) fn of_array(metadata: &ArrayMetadata, prefix: &Prefix) -> Result<Vec<(Key, Vec<u8>)>> {
    match metadata.format {
        Format::V3 => Ok(vec![(prefix.key(V3)?, metadata.to_v3())]),
        Format::V2 => {
            let key = prefix.key(V2_ARRAY)?;
            let (array, attributes) = metadata.to_v2().map_err(at(&key))?;
            Ok(vec![(prefix.key(V2_ATTRIBUTES)?, attributes), (key, array)])
        }
    }
}

/// The documents of a group, consolidated metadata included.
pub(crate) fn of_group(metadata: &GroupMetadata, prefix: &Prefix) -> Result<Vec<(Key, Vec<u8>)>> {
    match metadata.format {
        Format::V3 => Ok(vec![(prefix.key(V3)?, metadata.to_v3())]),
        Format::V2 => {
            let (group, attributes) = metadata.to_v2();
            let mut out = vec![(prefix.key(V2_ATTRIBUTES)?, attributes), (prefix.key(V2_GROUP)?, group)];
            if metadata.consolidated.is_some() {
                let key = prefix.key(V2_CONSOLIDATED)?;
                out.push((key.clone(), metadata.to_zmetadata().map_err(at(&key))?));
            }
            Ok(out)
        }
    }
}

/// Puts documents in order. The last is created only where its key is free, unless `overwrite`.
pub(crate) fn save(store: &Arc<dyn Store>, documents: &[(Key, Vec<u8>)], overwrite: bool) -> Result<()> {
    let last = documents.len().saturating_sub(1);
    for (i, (key, document)) in documents.iter().enumerate() {
        let mode = if i == last && !overwrite { PutMode::Create } else { PutMode::Overwrite };
        store.put(key, &[document], mode)?;
    }
    Ok(())
}

/// Puts the documents of a node that replaces whatever was at its prefix, after [`make_room`].
///
/// Others may have written below the prefix since it was emptied: chunks of the array that was there, or of one that
/// another creator made. They would be taken for this node's. So they are deleted while the key that makes it a node is
/// locked and holds nothing; a document that another creator put there goes first.
pub(crate) fn save_alone(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    documents: &[(Key, Vec<u8>)],
) -> Result<()> {
    let Some(((last, document), others)) = documents.split_last() else { return Ok(()) };
    let mut done = false;
    while !done {
        store.update_with(last, &mut |within, current| {
            let store = within.unwrap_or(store);
            done = current.is_none();
            if !done {
                return Ok(Update::Delete);
            }
            for (key, _) in store.list(prefix)? {
                store.delete(&key)?;
            }
            for (key, document) in others {
                store.put(key, &[document], PutMode::Overwrite)?;
            }
            Ok(Update::Put(vec![document]))
        })?;
    }
    Ok(())
}

/// Makes the groups above a new node that are not there yet, so that the hierarchy is explicit.
pub(crate) fn ensure_parents(
    store: &Arc<dyn Store>,
    path: &str,
    format: Format,
    limits: &Limits,
) -> Result<()> {
    let mut parents: Vec<&str> = vec![""];
    parents.extend(path.match_indices('/').map(|(end, _)| &path[..end]));
    if path.is_empty() {
        return Ok(());
    }
    for parent in parents.into_iter().rev() {
        let prefix = Prefix::from_path(parent)?;
        match load(store, &prefix, limits)? {
            Some(Node::Group(_)) => return Ok(()),
            Some(Node::Array(_)) => {
                let (store, path) = (store.describe(), parent.to_string());
                return Err(ArrayError::WrongNode { store, path, expected: "a group", found: "an array" });
            }
            None => {
                let group = GroupMetadata::new(format, serde_json::Map::new());
                match save(store, &of_group(&group, &prefix)?, false) {
                    Ok(()) | Err(ArrayError::Store(tessarray_store::StoreError::Exists { .. })) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(())
}

/// Makes the documents of a node and of the groups above it survive a loss of power, whoever put them.
pub(crate) fn make_durable(store: &Arc<dyn Store>, path: &str) -> Result<()> {
    let mut keys = Vec::new();
    let above = path.match_indices('/').map(|(end, _)| &path[..end]);
    for node in above.chain((!path.is_empty()).then_some("")).chain([path]) {
        let prefix = Prefix::from_path(node)?;
        for name in [V3, V2_ARRAY, V2_GROUP, V2_ATTRIBUTES, V2_CONSOLIDATED] {
            keys.push(prefix.key(name)?);
        }
    }
    Ok(store.make_durable(&keys)?)
}

/// Tidies a node path: `"/a//b/"` is `a/b`; the store's key rules refuse the rest.
pub(crate) fn clean(path: &str) -> String {
    path.split('/').filter(|segment| !segment.is_empty()).collect::<Vec<_>>().join("/")
}

/// What a node is, for messages.
pub(crate) fn kind(node: &Node) -> &'static str {
    match node {
        Node::Array(_) => "an array",
        Node::Group(_) => "a group",
    }
}

/// Deletes the documents that make a prefix a node.
pub(crate) fn forget(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<()> {
    for name in [V3, V2_ARRAY, V2_GROUP, V2_CONSOLIDATED] {
        store.delete(&prefix.key(name)?)?;
    }
    Ok(())
}

/// Refuses, or removes, what is at a path.
pub(crate) fn make_room(store: &Arc<dyn Store>, path: &str, overwrite: bool, limits: &Limits) -> Result<()> {
    let prefix = Prefix::from_path(path)?;
    if overwrite {
        // What makes it a node goes first: a removal that stops half way must not show deleted chunks as fill.
        forget(store, &prefix)?;
        return Ok(store.delete_prefix(&prefix)?);
    }
    match load(store, &prefix, limits)? {
        None => Ok(()),
        Some(node) => {
            Err(ArrayError::Exists { store: store.describe(), path: path.into(), found: kind(&node) })
        }
    }
}
