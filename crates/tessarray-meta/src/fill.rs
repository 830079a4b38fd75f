use crate::v2::Endian;
use crate::{MetaError, Path, Result};
use serde_json::Value;
use tessarray_buffer::DataType;
pub fn fill_value_from_json(_data_type: &DataType, _value: &Value, path: &Path<'_>) -> Result<Box<[u8]>> {
    Err(MetaError::unsupported(path, "not written yet"))
}
pub fn fill_value_from_json_v2(
    _data_type: &DataType,
    _endian: Option<Endian>,
    _value: &Value,
    path: &Path<'_>,
) -> Result<Box<[u8]>> {
    Err(MetaError::unsupported(path, "not written yet"))
}
