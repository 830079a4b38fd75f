//! What a pack knows of an array: how its keys are read, and how its objects are cut into chunks.

mod array;
mod kinds;
mod shard_map;

pub(crate) use array::PackedArray;
pub(crate) use kinds::Layouts;
pub(crate) use shard_map::ShardMap;
