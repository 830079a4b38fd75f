//! The metadata of a group, and consolidated metadata.

use crate::fields::Object;
use crate::node::node_from_v3;
use crate::v2::consolidated;
use crate::{Format, Limits, MetaError, Node, Path, Result, json};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a group's metadata document says.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMetadata {
    /// The version the group is stored in.
    pub format: Format,
    /// The user's attributes.
    pub attributes: Map<String, Value>,
    /// A copy of the metadata of every node below the group, by path relative to it (`a/b`); `None` where the group
    /// was not consolidated.
    pub consolidated: Option<BTreeMap<String, Node>>,
    /// Members that are not part of the format, and that say readers may ignore them; written back unchanged.
    pub extra: Map<String, Value>,
}

impl GroupMetadata {
    /// A group of this format and these attributes, not consolidated.
    pub fn new(format: Format, attributes: Map<String, Value>) -> Self {
        Self { format, attributes, consolidated: None, extra: Map::new() }
    }

    /// Parses and validates a `zarr.json` whose `node_type` is `group`, with the consolidated metadata in it, if any.
    pub fn from_v3(document: &[u8], limits: &Limits) -> Result<Self> {
        let path = Path::root("zarr.json");
        let mut object = Object::new(json::parse_object(document, limits, "zarr.json")?, &path);
        object.check_format(3)?;
        object.check_node_type("group")?;
        group_from_v3(object, limits)
    }

    /// Parses a `.zgroup` with its `.zattrs`, if it has one (Zarr v2, "Groups").
    pub fn from_v2(zgroup: &[u8], zattrs: Option<&[u8]>, limits: &Limits) -> Result<Self> {
        consolidated::group_from_v2(zgroup, zattrs, limits)
    }

    /// Parses a `.zmetadata`: the root group, and in [`consolidated`](Self::consolidated) every node below it.
    pub fn from_zmetadata(document: &[u8], limits: &Limits) -> Result<Self> {
        consolidated::from_zmetadata(document, limits)
    }

    /// The `zarr.json` document, consolidated metadata included.
    pub fn to_v3(&self) -> Vec<u8> {
        json::to_pretty(&self.to_v3_value())
    }

    /// The `.zgroup` and `.zattrs` documents.
    pub fn to_v2(&self) -> (Vec<u8>, Vec<u8>) {
        let (zgroup, zattrs) = consolidated::group_to_v2(self);
        (json::to_pretty(&zgroup), json::to_pretty(&zattrs))
    }

    /// The `.zmetadata` document of this group and the nodes in [`consolidated`](Self::consolidated). Fails where
    /// one of them cannot be written as v2.
    pub fn to_zmetadata(&self) -> Result<Vec<u8>> {
        consolidated::to_zmetadata(self).map(|document| json::to_pretty(&document))
    }

    pub(crate) fn to_v3_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("attributes".into(), Value::Object(self.attributes.clone()));
        out.insert("zarr_format".into(), 3.into());
        if let Some(nodes) = &self.consolidated {
            let metadata = nodes.iter().map(|(path, node)| (path.clone(), node.to_v3_value()));
            let metadata = Value::Object(metadata.collect());
            let inline = json!({"kind": "inline", "must_understand": false, "metadata": metadata});
            out.insert("consolidated_metadata".into(), inline);
        }
        out.insert("node_type".into(), "group".into());
        out.extend(self.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(out)
    }
}

/// The rest of a group document, once its format and node type have been looked at.
pub(crate) fn group_from_v3(mut object: Object<'_>, limits: &Limits) -> Result<GroupMetadata> {
    let attributes = object.attributes()?;
    let consolidated = match object.optional("consolidated_metadata") {
        // zarr-python 3.0 wrote null into groups that were not consolidated.
        Some(Value::Null) => None,
        Some(value) => consolidated_from_v3(value, limits, &object.path().key("consolidated_metadata"))?,
        None => None,
    };
    let extra = object.finish("member")?;
    Ok(GroupMetadata { format: Format::V3, attributes, consolidated, extra })
}

fn consolidated_from_v3(
    value: Value,
    limits: &Limits,
    path: &Path<'_>,
) -> Result<Option<BTreeMap<String, Node>>> {
    let mut object = Object::of(value, path)?;
    let optional = object.optional("must_understand") == Some(Value::Bool(false));
    let (kind, key) = object.required("kind")?;
    if kind.as_str() != Some("inline") {
        // A kind that may be ignored costs the reader speed, not data.
        return match kind.as_str() {
            Some(_) if optional => Ok(None),
            Some(name) => Err(MetaError::unknown(&path.key(key), "kind of consolidated metadata", name)),
            None => Err(MetaError::value(&path.key(key), "\"inline\"", &kind)),
        };
    }
    let (metadata, key) = object.required("metadata")?;
    let at = path.key(key);
    let mut nodes = BTreeMap::new();
    for (name, document) in json::into_object(metadata, &at)? {
        let at = at.key(&name);
        check_node_path(&name, &at)?;
        let node = node_from_v3(json::into_object(document, &at)?, limits, &at)?;
        nodes.insert(name.clone(), node);
    }
    Ok(Some(nodes))
}

/// Refuses paths of nodes that could point out of the group.
pub(crate) fn check_node_path(name: &str, path: &Path<'_>) -> Result<()> {
    let segment_ok = |segment: &str| {
        !segment.is_empty()
            && !segment.bytes().all(|b| b == b'.')
            && !segment.contains('\\')
            && !segment.chars().any(char::is_control)
    };
    if name.len() <= 4096 && name.split('/').all(segment_ok) {
        return Ok(());
    }
    Err(MetaError::value(path, "a node's path relative to the group, as \"a/b\"", &Value::from(name)))
}
