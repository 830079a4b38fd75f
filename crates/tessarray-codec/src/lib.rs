//! Codecs and codec chains: one folder per codec, one list of them ([`Registry`]), one chain that runs them.
//!
//! Every codec declares its exact or maximum sizes, decodes into a buffer it is given, never grows it, and can say
//! which blocks a part of a chunk needs.

mod chain;
mod error;
mod registry;
mod scratch;
pub mod sharding;
mod spec;
mod traits;

pub use chain::{Blocks, Chain};
pub use error::{CodecError, Result};
pub use registry::{AnyCodec, BuildFn, Registry};
pub use scratch::Scratch;
pub use spec::{ChunkSpec, NamedConfig};
pub use traits::{ArrayCodec, BytesCodec, EncodedSize, Serializer};
