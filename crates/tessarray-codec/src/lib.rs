//! Codecs and codec chains: one folder per codec, one list of them ([`Registry`]), one chain that runs them.
//!
//! Every codec declares its exact or maximum sizes, decodes into a buffer it is given, never grows it, and can say
//! which blocks a part of a chunk needs.
#![deny(unsafe_code)] // kernels and foreign calls allow it, each with its reason
#![deny(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod astype;
mod bitround;
mod blosc;
mod bytes;
mod bz2;
mod cast_value;
mod chain;
mod checksum;
mod config;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod deflate;
mod delta;
mod error;
mod fail;
mod fixedscaleoffset;
mod grow;
mod lanes;
mod list;
mod lz4;
mod lzma;
mod number_filter;
mod numerals;
mod numpy;
mod packbits;
mod pcodec;
mod pieces;
mod quantize;
mod registry;
mod room;
mod scale_offset;
mod scratch;
pub mod sharding;
mod shuffle;
mod snappy;
mod spec;
mod streams;
mod traits;
mod transpose;
mod vlen;
mod window;
mod zstd;

pub use blosc::{BloscCodec, BloscConfig, Compressor, Filter};
pub use chain::{BlockTable, Blocks, Chain};
pub use checksum::crc32c;
pub use error::{CodecError, Result};
pub use pieces::Pieces;
pub use registry::{AnyCodec, BuildFn, Registry};
pub use scratch::Scratch;
pub use shuffle::ShuffleCodec;
pub use spec::{ChunkSpec, NamedConfig};
pub use traits::{
    ArrayCodec, BlockCodec, BytesCodec, ChecksumCodec, EncodedSize, InnerChecksum, PieceEncoder, Serializer,
    Trailer,
};
pub use window::Window;
