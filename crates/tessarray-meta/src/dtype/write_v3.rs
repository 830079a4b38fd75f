use serde_json::Value;
use tessarray_buffer::DataType;
pub fn data_type_to_json(data_type: &DataType) -> Value {
    Value::from(data_type.zarr_name())
}
