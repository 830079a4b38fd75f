use crate::v2::Endian;
use serde_json::Value;
use tessarray_buffer::DataType;
pub fn fill_value_to_json(_data_type: &DataType, _fill: &[u8]) -> Value {
    Value::Null
}
pub fn fill_value_to_json_v2(_data_type: &DataType, _endian: Option<Endian>, _fill: &[u8]) -> Value {
    Value::Null
}
