use super::V2Extra;
use crate::{MetaError, Path, Result};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;
pub fn v2_from_codecs(_codecs: &[NamedConfig], _data_type: &DataType, _rank: usize) -> Result<V2Extra> {
    Err(MetaError::unsupported(&Path::root(".zarray"), "not written yet"))
}
