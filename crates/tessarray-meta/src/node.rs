//! A node of a hierarchy: array or group.

use crate::array::array_from_v3;
use crate::fields::Object;
use crate::group::group_from_v3;
use crate::{ArrayMetadata, GroupMetadata, Limits, MetaError, Path, Result, json};
use serde_json::{Map, Value};

/// The metadata of an array or of a group.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // arrays are the common case, and what callers unpack
pub enum Node {
    /// An array.
    Array(ArrayMetadata),
    /// A group.
    Group(GroupMetadata),
}

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

    pub(crate) fn to_v3_value(&self) -> Value {
        match self {
            Self::Array(array) => array.to_v3_value(),
            Self::Group(group) => group.to_v3_value(),
        }
    }

    /// The attributes of either.
    pub fn attributes(&self) -> &Map<String, Value> {
        match self {
            Self::Array(array) => &array.attributes,
            Self::Group(group) => &group.attributes,
        }
    }
}

pub(crate) fn node_from_v3(document: Map<String, Value>, limits: &Limits, path: &Path<'_>) -> Result<Node> {
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
