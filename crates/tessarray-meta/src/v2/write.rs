use crate::{ArrayMetadata, MetaError, Path, Result};
use serde_json::Value;
pub(crate) fn array_to_v2(_array: &ArrayMetadata) -> Result<(Value, Value)> {
    Err(MetaError::unsupported(&Path::root(".zarray"), "not written yet"))
}
