//! Data types in JSON: the names and objects of v3, and the NumPy type strings of v2.

mod read_v3;
mod v2;
mod write_v3;

pub use read_v3::parse_data_type;
pub use v2::{V2DataType, data_type_to_v2, parse_v2_data_type};
pub use write_v3::data_type_to_json;
