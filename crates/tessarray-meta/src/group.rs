//! The metadata of a group, and consolidated metadata.

use crate::fields::Object;
use crate::node::node_from_v3;
use crate::v2::consolidated;
use crate::{Format, Limits, MetaError, Node, Path, Result, json, non_finite};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a group's metadata document says.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMetadata {
    /// The version the group is stored in.
    pub format: Format,
    /// The user's attributes.
    pub attributes: Map<String, Value>,
    /// A copy of the metadata of every node below the group, by path relative to it (`a/b`); `None` if the group was
    /// not consolidated, and if a node in the copy cannot be read. Such a copy costs the reader speed, not the other
    /// nodes: each has its own document.
    pub consolidated: Option<BTreeMap<String, Node>>,
    /// Nodes in the copy that cannot be read, and why: they are damaged, or need what this release does not have.
    pub unread: BTreeMap<String, MetaError>,
    /// Members that are not part of the format, and that say readers may ignore them, and a v3 group's consolidated
    /// metadata that was not understood; written back unchanged.
    pub extra: Map<String, Value>,
}

const CONSOLIDATED: &str = "consolidated_metadata";

impl GroupMetadata {
    /// A group of this format and these attributes, not consolidated.
    pub fn new(format: Format, attributes: Map<String, Value>) -> Self {
        Self { format, attributes, consolidated: None, unread: BTreeMap::new(), extra: Map::new() }
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

    /// Parses a `.zmetadata`: the root group, and in [`consolidated`](Self::consolidated) every node below it, or
    /// `None` where one of them is in [`unread`](Self::unread).
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
            out.insert(CONSOLIDATED.into(), inline);
        }
        out.insert("node_type".into(), "group".into());
        for (key, value) in &self.extra {
            // A copy that was not understood gives way to one that was made since.
            out.entry(key.as_str()).or_insert_with(|| value.clone());
        }
        non_finite::mark_v3(&self.attributes, &mut out);
        Value::Object(out)
    }
}

/// The rest of a group document, once its format and node type have been looked at.
pub(crate) fn group_from_v3(mut object: Object<'_>, limits: &Limits) -> Result<GroupMetadata> {
    let mut attributes = object.attributes()?;
    // zarr-python 3.0 wrote null into groups that were not consolidated.
    let copy = object.optional(CONSOLIDATED).filter(|copy| !copy.is_null());
    let (consolidated, unread) = match &copy {
        Some(copy) => consolidated_from_v3(copy, limits, &object.path().key(CONSOLIDATED))?,
        None => (None, BTreeMap::new()),
    };
    let mut extra = object.finish("member")?;
    non_finite::unmark_v3(&mut attributes, &mut extra);
    if let (None, Some(copy)) = (&consolidated, copy) {
        extra.insert(CONSOLIDATED.into(), copy);
    }
    Ok(GroupMetadata { format: Format::V3, attributes, consolidated, unread, extra })
}

/// The nodes of a copy, and those that cannot be read.
pub(crate) type Copied = (Option<BTreeMap<String, Node>>, BTreeMap<String, MetaError>);

/// `None` where the copy, or a node in it, is not for this reader. The rest is checked all the same: a path that could
/// point out of the group is an error, whatever is under it.
fn consolidated_from_v3(value: &Value, limits: &Limits, path: &Path<'_>) -> Result<Copied> {
    let Value::Object(members) = value else {
        return Err(MetaError::value(path, "an object", value));
    };
    let required =
        |key: &str| members.get(key).ok_or_else(|| MetaError::Missing { path: path.key(key).to_string() });
    let kind = required("kind")?;
    if kind.as_str() != Some("inline") {
        // A kind that may be ignored costs the reader speed, not data.
        let at = path.key("kind");
        return match kind.as_str() {
            Some(_) if members.get("must_understand") == Some(&Value::Bool(false)) => {
                Ok((None, BTreeMap::new()))
            }
            Some(name) => Err(MetaError::unknown(&at, "kind of consolidated metadata", name)),
            None => Err(MetaError::value(&at, "\"inline\"", kind)),
        };
    }
    let at = path.key("metadata");
    let Value::Object(documents) = required("metadata")? else {
        return Err(MetaError::value(&at, "an object", required("metadata")?));
    };
    let mut copied = (Some(BTreeMap::new()), BTreeMap::new());
    for (name, document) in documents {
        let at = at.key(name);
        check_node_path(name, &at)?;
        let object = json::into_object(document.clone(), &at);
        keep(&mut copied, name, object.and_then(|object| node_from_v3(object, limits, &at)));
    }
    Ok(copied)
}

/// Adds a node to a consolidated copy, or gives the copy up if the node cannot be read. Returns what it replaces.
pub(crate) fn keep((nodes, unread): &mut Copied, name: &str, node: Result<Node>) -> Option<Node> {
    match node {
        Ok(node) => nodes.as_mut()?.insert(name.to_owned(), node),
        Err(error) => {
            *nodes = None;
            unread.insert(name.to_owned(), error);
            None
        }
    }
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
