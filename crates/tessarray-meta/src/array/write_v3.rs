use crate::ArrayMetadata;
use serde_json::Value;
pub(super) fn array_to_v3(_array: &ArrayMetadata) -> Value {
    Value::Null
}
