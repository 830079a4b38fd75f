use crate::{GroupMetadata, Limits, MetaError, Path, Result};
use serde_json::Value;
pub(crate) fn group_from_v2(
    _zgroup: &[u8],
    _zattrs: Option<&[u8]>,
    _limits: &Limits,
) -> Result<GroupMetadata> {
    Err(MetaError::unsupported(&Path::root(".zgroup"), "not written yet"))
}
pub(crate) fn from_zmetadata(_document: &[u8], _limits: &Limits) -> Result<GroupMetadata> {
    Err(MetaError::unsupported(&Path::root(".zmetadata"), "not written yet"))
}
pub(crate) fn group_to_v2(_group: &GroupMetadata) -> (Value, Value) {
    (Value::Null, Value::Null)
}
pub(crate) fn to_zmetadata(_group: &GroupMetadata) -> Result<Value> {
    Err(MetaError::unsupported(&Path::root(".zmetadata"), "not written yet"))
}
