//! A codec chain, ready to run on the chunks of one array: array-to-array codecs, one array-to-bytes codec,
//! bytes-to-bytes codecs (Zarr v3 core, "Codecs").
//!
//! Leading axis permutations are not run: [`Chain::permutation`] tells the caller, who folds them into the copy
//! between chunk and array. What `encode` takes and `decode` gives is the chunk in *stored order*, C-ordered after
//! that permutation.

mod blocks;
mod build;
mod decode;
mod encode;

pub use blocks::{BlockTable, Blocks};

use crate::sharding::Sharding;
use crate::{ArrayCodec, BytesCodec, ChunkSpec, EncodedSize, Serializer};
use std::sync::Arc;

/// One array-to-array codec with the spec of what it is given.
#[derive(Debug, Clone)]
struct ArrayStage {
    codec: Arc<dyn ArrayCodec>,
    decoded: ChunkSpec,
}

/// How the chunk becomes bytes.
#[derive(Debug, Clone)]
pub(crate) enum SerializerStage {
    Plain(Arc<dyn Serializer>),
    Sharding(Arc<Sharding>),
}

/// A chain of codecs, built for chunks of one spec.
#[derive(Debug, Clone)]
pub struct Chain {
    spec: ChunkSpec,
    stored: ChunkSpec,
    permutation: Option<Vec<usize>>,
    array: Vec<ArrayStage>,
    serializer: SerializerStage,
    /// What the serializer is given.
    serialized: ChunkSpec,
    bytes: Vec<Arc<dyn BytesCodec>>,
    /// `sizes[i]` is what bytes codec `i` is given; the last is the encoded chunk.
    sizes: Vec<EncodedSize>,
}

impl Chain {
    /// The chunk as the array sees it.
    pub fn spec(&self) -> &ChunkSpec {
        &self.spec
    }

    /// The chunk in stored order: what `encode` takes and `decode` gives.
    pub fn stored_spec(&self) -> &ChunkSpec {
        &self.stored
    }

    /// Axis `i` of the stored chunk is axis `permutation[i]` of the array's; `None` where the order is the same.
    pub fn permutation(&self) -> Option<&[usize]> {
        self.permutation.as_deref()
    }

    /// How large an encoded chunk can be.
    pub fn encoded_size(&self) -> EncodedSize {
        self.sizes.last().copied().unwrap_or(EncodedSize::Unbounded)
    }

    /// The sharding codec, where inner chunks can be read on their own: nothing stands before or after it.
    pub fn addressable_sharding(&self) -> Option<&Arc<Sharding>> {
        match &self.serializer {
            SerializerStage::Sharding(sharding)
                if self.array.is_empty() && self.bytes.is_empty() && self.permutation.is_none() =>
            {
                Some(sharding)
            }
            _ => None,
        }
    }

    /// Whether the chunk in memory is its own serialisation.
    fn is_identity(&self) -> bool {
        self.array.is_empty()
            && matches!(&self.serializer, SerializerStage::Plain(codec) if codec.is_identity(&self.serialized))
    }
}
