use crate::{ArrayMetadata, Limits, MetaError, Path, Result};
pub(crate) fn from_v2(_zarray: &[u8], _zattrs: Option<&[u8]>, _limits: &Limits) -> Result<ArrayMetadata> {
    Err(MetaError::unsupported(&Path::root(".zarray"), "not written yet"))
}
