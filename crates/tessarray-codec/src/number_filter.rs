//! The filters of numcodecs: array codecs that make of each number another, perhaps of another type.

use crate::lanes::Types;
use crate::{AnyCodec, ArrayCodec, ChunkSpec, NamedConfig, Result};
use std::fmt::Debug;
use std::sync::Arc;

/// What one filter does to numbers; buffers have the sizes that its types and the chunk say.
pub(crate) trait NumberFilter: Debug + Send + Sync {
    /// Its name in errors.
    const NAME: &'static str;

    /// The types of decoded and encoded numbers.
    fn types(&self) -> &Types;

    /// The Zarr JSON it is written as.
    fn config(&self) -> NamedConfig;

    /// Encodes numbers one by one, in C order.
    fn encode(&self, input: &[u8], out: &mut [u8]);

    /// Decodes them.
    fn decode(&self, input: &[u8], out: &mut [u8]);
}

/// A filter as a codec of a chain.
#[derive(Debug)]
struct FilterCodec<F>(F);

/// The codec of a filter.
pub(crate) fn codec(filter: impl NumberFilter + 'static) -> AnyCodec {
    AnyCodec::Array(Arc::new(FilterCodec(filter)))
}

impl<F: NumberFilter> ArrayCodec for FilterCodec<F> {
    fn config(&self) -> NamedConfig {
        self.0.config()
    }

    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec> {
        self.0.types().encoded_spec(F::NAME, decoded, |input, out| self.0.encode(input, out))
    }

    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.0.types().check(F::NAME, decoded, input.len(), out.len())?;
        self.0.encode(input, out);
        Ok(())
    }

    fn decode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.0.types().check(F::NAME, decoded, out.len(), input.len())?;
        self.0.decode(input, out);
        Ok(())
    }
}
