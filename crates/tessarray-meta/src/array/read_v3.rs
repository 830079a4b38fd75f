use crate::fields::Object;
use crate::{ArrayMetadata, Limits, MetaError, Path, Result, json};
pub(super) fn from_v3(document: &[u8], limits: &Limits) -> Result<ArrayMetadata> {
    let path = Path::root("zarr.json");
    let mut object = Object::new(json::parse_object(document, limits, "zarr.json")?, &path);
    object.check_format(3)?;
    object.check_node_type("array")?;
    array_from_v3(object, limits)
}
pub(crate) fn array_from_v3(object: Object<'_>, _limits: &Limits) -> Result<ArrayMetadata> {
    Err(MetaError::unsupported(object.path(), "not written yet"))
}
