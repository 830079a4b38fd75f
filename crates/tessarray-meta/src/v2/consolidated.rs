//! v2 groups, and consolidated v2 metadata (`.zmetadata`).

use super::read::{array_from_v2, attributes};
use super::write::array_to_v2;
use crate::array::Format;
use crate::error::{MetaError, Result};
use crate::fields::Object;
use crate::limits::Limits;
use crate::node::{GroupMetadata, Node, check_node_path, keep};
use crate::path::Path;
use crate::{json, non_finite};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl GroupMetadata {
    /// Parses a `.zgroup` with its `.zattrs`, if it has one (Zarr v2, "Groups").
    ///
    /// # Errors
    /// The same, for a group of v2.
    pub fn from_v2(zgroup: &[u8], zattrs: Option<&[u8]>, limits: &Limits) -> Result<Self> {
        let path = Path::root(".zgroup");
        let zgroup = json::parse_object(zgroup, limits, ".zgroup")?;
        group_from_members(zgroup, attributes(zattrs, limits)?, &path)
    }

    /// Parses a `.zmetadata`: the root group, and in [`consolidated`](Self::consolidated) every node below it, or
    /// `None` where one of them is in [`unread`](Self::unread).
    ///
    /// # Errors
    /// The document is no JSON, is over a limit, has no root group or a damaged one, or names a node that could point out
    /// of the group.
    pub fn from_zmetadata(document: &[u8], limits: &Limits) -> Result<Self> {
        from_zmetadata(document, limits)
    }

    /// The `.zgroup` and `.zattrs` documents.
    pub fn to_v2(&self) -> (Vec<u8>, Vec<u8>) {
        let (zgroup, zattrs) = group_to_v2(self);
        (json::to_pretty(&zgroup), json::to_pretty(&zattrs))
    }

    /// The `.zmetadata` document of this group and the nodes in [`consolidated`](Self::consolidated). Fails where
    /// one of them cannot be written as v2.
    ///
    /// # Errors
    /// One of the nodes cannot be written as v2: see [`ArrayMetadata::to_v2`](crate::ArrayMetadata::to_v2).
    pub fn to_zmetadata(&self) -> Result<Vec<u8>> {
        to_zmetadata(self).map(|document| json::to_pretty(&document))
    }
}

fn group_from_members(
    zgroup: Map<String, Value>,
    attributes: Map<String, Value>,
    path: &Path<'_>,
) -> Result<GroupMetadata> {
    let mut object = Object::new(zgroup, path);
    object.check_format(2)?;
    // zarr-python puts an empty one into the groups of its .zmetadata, where it says nothing.
    object.optional("consolidated_metadata");
    let extra = object.rest();
    Ok(GroupMetadata { extra, ..GroupMetadata::new(Format::V2, attributes) })
}

fn group_to_v2(group: &GroupMetadata) -> (Value, Value) {
    let mut zgroup = Map::new();
    zgroup.insert("zarr_format".into(), 2.into());
    if group.format == Format::V2 {
        zgroup.extend(group.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    (Value::Object(zgroup), Value::Object(non_finite::mark_v2(group.attributes.clone())))
}

fn from_zmetadata(document: &[u8], limits: &Limits) -> Result<GroupMetadata> {
    let path = Path::root(".zmetadata");
    let mut object = Object::new(json::parse_object(document, limits, ".zmetadata")?, &path);
    let (format, key) = object.required("zarr_consolidated_format")?;
    if format.as_u64() != Some(1) {
        return Err(MetaError::value(&path.key(key), "1", &format));
    }
    let (metadata, key) = object.required("metadata")?;
    let path = path.key(key);
    let mut documents = json::into_object(metadata, &path)?;
    let names: Vec<String> = documents.keys().cloned().collect();
    let Some(root) = documents.remove(".zgroup") else {
        return Err(MetaError::Missing { path: path.key(".zgroup").to_string() });
    };
    let at = path.key(".zgroup");
    let root_attributes = take_attributes(&mut documents, "", &path)?;
    let mut root = group_from_members(json::into_object(root, &at)?, root_attributes, &at)?;
    let mut copied = (Some(BTreeMap::new()), BTreeMap::new());
    for name in &names {
        let at = path.key(name);
        let (prefix, is_array) = match (name.strip_suffix("/.zarray"), name.strip_suffix("/.zgroup")) {
            (Some(prefix), _) => (prefix, true),
            (_, Some(prefix)) => (prefix, false),
            _ => continue,
        };
        check_node_path(prefix, &at)?;
        let Some(document) = documents.remove(name) else { continue };
        let attributes = take_attributes(&mut documents, prefix, &path);
        let node = json::into_object(document, &at).and_then(|document| match is_array {
            true => array_from_v2(document, attributes?, limits, &at).map(Node::Array),
            false => group_from_members(document, attributes?, &at).map(Node::Group),
        });
        if keep(&mut copied, prefix, node).is_some() {
            return Err(MetaError::unsupported(&at, "a node that is both an array and a group"));
        }
    }
    (root.consolidated, root.unread) = copied;
    Ok(root)
}

fn take_attributes(
    documents: &mut Map<String, Value>,
    prefix: &str,
    path: &Path<'_>,
) -> Result<Map<String, Value>> {
    let key = document_key(prefix, ".zattrs");
    let Some(value) = documents.remove(&key) else { return Ok(Map::new()) };
    json::into_object(value, &path.key(&key)).map(non_finite::unmark_v2)
}

fn document_key(prefix: &str, document: &str) -> String {
    if prefix.is_empty() { document.into() } else { format!("{prefix}/{document}") }
}

fn to_zmetadata(group: &GroupMetadata) -> Result<Value> {
    let mut out = Map::new();
    let mut put = |prefix: &str, document: &str, value: Value| {
        out.insert(document_key(prefix, document), value);
    };
    let (zgroup, zattrs) = group_to_v2(group);
    put("", ".zgroup", zgroup);
    put("", ".zattrs", zattrs);
    for (path, node) in group.consolidated.iter().flatten() {
        let ((metadata, zattrs), document) = match node {
            Node::Array(array) => (array_to_v2(array)?, ".zarray"),
            Node::Group(group) => (group_to_v2(group), ".zgroup"),
        };
        put(path, document, metadata);
        put(path, ".zattrs", zattrs);
    }
    Ok(json!({"zarr_consolidated_format": 1, "metadata": out}))
}
