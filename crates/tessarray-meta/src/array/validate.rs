use crate::{ArrayMetadata, Limits, MetaError, Path, Result};
pub(super) fn validate(_array: &ArrayMetadata, _limits: &Limits, path: &Path<'_>) -> Result<()> {
    Err(MetaError::unsupported(path, "not written yet"))
}
