//! The `fill_value` member of an array: one element, as JSON and as bytes.

mod packed;
mod read;
mod write;

pub(crate) use read::zero;
pub use read::{fill_value_from_json, fill_value_from_json_v2};
pub(crate) use write::check_fill;
pub use write::{fill_value_to_json, fill_value_to_json_v2};
