use crate::v2::Endian;
use crate::{MetaError, Path, Result};
use serde_json::Value;
use tessarray_buffer::DataType;
/// A v2 `dtype`, as a data type and the byte order it is stored in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct V2DataType {
    pub data_type: DataType,
    /// `None` where elements have no byte order.
    pub endian: Option<Endian>,
}
/// `object`: the data type of `|O`, from the filters.
pub fn parse_v2_data_type(_value: &Value, _object: Option<&DataType>, path: &Path<'_>) -> Result<V2DataType> {
    Err(MetaError::unsupported(path, "not written yet"))
}
pub fn data_type_to_v2(_data_type: &DataType, _endian: Endian) -> Value {
    Value::Null
}
