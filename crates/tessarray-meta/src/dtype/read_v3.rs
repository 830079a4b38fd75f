use crate::{MetaError, Path, Result};
use serde_json::Value;
use tessarray_buffer::DataType;
pub fn parse_data_type(_value: &Value, path: &Path<'_>) -> Result<DataType> {
    Err(MetaError::unsupported(path, "not written yet"))
}
