//! The consolidated copy that a group may have of the nodes below it.

use super::types::Node;
use crate::error::{MetaError, Result};
use crate::path::Path;
use serde_json::Value;
use std::collections::BTreeMap;

/// The nodes of a copy, and those that cannot be read.
pub(crate) type Copied = (Option<BTreeMap<String, Node>>, BTreeMap<String, MetaError>);

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
