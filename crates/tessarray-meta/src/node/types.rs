//! What the documents of a hierarchy say: of an array, or of a group, which may have a copy of what lies below it.

use crate::array::{ArrayMetadata, Format};
use crate::error::MetaError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The metadata of an array or of a group.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // arrays are the common case, and what callers unpack
pub enum Node {
    /// An array.
    Array(ArrayMetadata),
    /// A group.
    Group(GroupMetadata),
}

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

impl Node {
    /// The attributes of either.
    pub fn attributes(&self) -> &Map<String, Value> {
        match self {
            Self::Array(array) => &array.attributes,
            Self::Group(group) => &group.attributes,
        }
    }
}

impl GroupMetadata {
    /// A group of this format and these attributes, not consolidated.
    pub fn new(format: Format, attributes: Map<String, Value>) -> Self {
        Self { format, attributes, consolidated: None, unread: BTreeMap::new(), extra: Map::new() }
    }
}
