//! A node of a hierarchy: array or group.

mod copy;
mod types;
mod v3;

pub(crate) use copy::{check_node_path, keep};
pub use types::{GroupMetadata, Node};
