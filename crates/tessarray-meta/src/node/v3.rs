//! Nodes as v3 documents (`zarr.json`), and back.

use super::copy::{Copied, check_node_path, keep};
use super::types::{GroupMetadata, Node};
use crate::array::{Format, array_from_v3};
use crate::error::{MetaError, Result};
use crate::fields::Object;
use crate::limits::Limits;
use crate::path::Path;
use crate::{json, non_finite};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const CONSOLIDATED: &str = "consolidated_metadata";

impl Node {
    /// Parses and validates a `zarr.json`, by its `node_type`.
    ///
    /// # Errors
    /// The same as for [`ArrayMetadata::from_v3`] and [`GroupMetadata::from_v3`]; and a `node_type` that is neither.
    pub fn from_v3(document: &[u8], limits: &Limits) -> Result<Self> {
        let path = Path::root("zarr.json");
        node_from_v3(json::parse_object(document, limits, "zarr.json")?, limits, &path)
    }

    /// The `zarr.json` document.
    pub fn to_v3(&self) -> Vec<u8> {
        json::to_pretty(&self.to_v3_value())
    }

    fn to_v3_value(&self) -> Value {
        match self {
            Self::Array(array) => array.to_v3_value(),
            Self::Group(group) => group.to_v3_value(),
        }
    }
}

impl GroupMetadata {
    /// Parses and validates a `zarr.json` whose `node_type` is `group`, with the consolidated metadata in it, if any.
    ///
    /// # Errors
    /// It is no JSON, is over a limit, or is no group of v3; the error names the place in the document. A damaged node in
    /// the consolidated copy is no error: see [`unread`](Self::unread).
    pub fn from_v3(document: &[u8], limits: &Limits) -> Result<Self> {
        let path = Path::root("zarr.json");
        let mut object = Object::new(json::parse_object(document, limits, "zarr.json")?, &path);
        object.check_format(3)?;
        object.check_node_type("group")?;
        group_from_v3(object, limits)
    }

    /// The `zarr.json` document, consolidated metadata included.
    pub fn to_v3(&self) -> Vec<u8> {
        json::to_pretty(&self.to_v3_value())
    }

    fn to_v3_value(&self) -> Value {
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

fn node_from_v3(document: Map<String, Value>, limits: &Limits, path: &Path<'_>) -> Result<Node> {
    let mut object = Object::new(document, path);
    // An older or newer format is named as such before anything that is unknown in it.
    object.check_format(3)?;
    let (kind, at) = object.required("node_type")?;
    match kind.as_str() {
        Some("array") => array_from_v3(object, limits).map(Node::Array),
        Some("group") => group_from_v3(object, limits).map(Node::Group),
        _ => Err(MetaError::value(&path.key(at), "\"array\" or \"group\"", &kind)),
    }
}

/// The rest of a group document, once its format and node type have been looked at.
fn group_from_v3(mut object: Object<'_>, limits: &Limits) -> Result<GroupMetadata> {
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
