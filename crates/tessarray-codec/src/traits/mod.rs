//! The three kinds of codec (Zarr v3 core, "Codecs"): array to array, array to bytes, bytes to bytes.

mod blocks;
mod checksum;

pub use blocks::{BlockCodec, PieceEncoder};
pub use checksum::{ChecksumCodec, InnerChecksum, Trailer};

use crate::{ChunkSpec, NamedConfig, Result};
use std::fmt::Debug;
use tessarray_buffer::Arena;

/// How large an encoded chunk can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodedSize {
    /// Always exactly this many bytes.
    Exact(usize),
    /// At most this many bytes for any input.
    AtMost(usize),
    /// No bound from the shape alone (variable-length elements).
    Unbounded,
}

/// Array to array: changes values, type or axis order of a chunk. Arrays are C-ordered and in the machine's byte order.
pub trait ArrayCodec: Debug + Send + Sync {
    /// The Zarr JSON this codec is written as.
    fn config(&self) -> NamedConfig;

    /// Shape, type and fill value of what `encode` produces from chunks of `decoded`.
    ///
    /// # Errors
    /// Chunks that the codec cannot encode: their type, or a fill value that it cannot hold.
    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec>;

    /// For a pure axis permutation: axis `i` of the encoded chunk is axis `order[i]` of the decoded one. Such codecs
    /// are folded into the copies on both ends and never run on their own.
    fn permutation(&self) -> Option<&[usize]> {
        None
    }

    /// Encodes one chunk. `out` has exactly the encoded spec's bytes.
    ///
    /// # Errors
    /// Values that the codec cannot hold; buffers of another size than the specs say.
    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()>;

    /// Decodes one chunk; `decoded` is the same spec as for `encode`, and `out` has exactly its bytes.
    ///
    /// # Errors
    /// Values that `encode` does not give; buffers of another size than the specs say.
    fn decode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()>;
}

/// Array to bytes: serialises a C-ordered chunk.
pub trait Serializer: Debug + Send + Sync {
    /// The Zarr JSON this codec is written as.
    fn config(&self) -> NamedConfig;

    /// How large `encode`'s output is.
    fn encoded_size(&self, spec: &ChunkSpec) -> EncodedSize;

    /// Whether encoded bytes and in-memory bytes are the same, so that `encode` and `decode` need not run.
    fn is_identity(&self, _spec: &ChunkSpec) -> bool {
        false
    }

    /// Appends the encoded chunk to `out`. Variable-length elements are [`VarItem`](tessarray_buffer::VarItem)s into
    /// `arena`.
    ///
    /// # Errors
    /// Values that the codec cannot hold; no memory for the encoding.
    fn encode(&self, spec: &ChunkSpec, input: &[u8], arena: &Arena, out: &mut Vec<u8>) -> Result<()>;

    /// Decodes into exactly the chunk's bytes; variable-length elements are put into `arena`.
    ///
    /// # Errors
    /// Damaged or truncated bytes; fewer or more than the chunk has.
    fn decode(&self, spec: &ChunkSpec, input: &[u8], out: &mut [u8], arena: &Arena) -> Result<()>;
}

/// Bytes to bytes: compression, shuffles and checksums.
///
/// No decode method allocates more than its output and a scratch of the same order, whatever the input says. What only some
/// codecs can do besides is a trait of its own, and a method that gives it: a codec overrides those that hold for it.
///
/// # Examples
/// ```
/// use tessarray_codec::{BytesCodec, CodecError, EncodedSize, NamedConfig, Result};
///
/// /// Every bit the other way round.
/// #[derive(Debug)]
/// struct Inverted;
///
/// impl BytesCodec for Inverted {
///     fn config(&self) -> NamedConfig {
///         NamedConfig::new("example.inverted")
///     }
///
///     fn encoded_size(&self, decoded: usize) -> EncodedSize {
///         EncodedSize::Exact(decoded)
///     }
///
///     fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
///         out.extend(input.iter().map(|byte| !byte));
///         Ok(())
///     }
///
///     fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
///         let wrong = |expected| CodecError::Size {
///             codec: "example.inverted".into(),
///             expected,
///             found: input.len().to_string(),
///         };
///         if input.len() != out.len() {
///             return Err(wrong(out.len() as u64));
///         }
///         out.iter_mut().zip(input).for_each(|(out, byte)| *out = !byte);
///         Ok(())
///     }
///
///     fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
///         let size = input.len().min(limit.saturating_add(1));
///         if size > limit {
///             return Err(CodecError::Size {
///                 codec: "example.inverted".into(),
///                 expected: limit as u64,
///                 found: input.len().to_string(),
///             });
///         }
///         self.encode(input, out)
///     }
/// }
///
/// let mut encoded = Vec::new();
/// Inverted.encode(&[1, 2, 3], &mut encoded)?;
/// let mut out = [0; 3];
/// Inverted.decode(&encoded, &mut out)?;
/// assert_eq!(out, [1, 2, 3]);
/// # Ok::<(), CodecError>(())
/// ```
pub trait BytesCodec: Debug + Send + Sync {
    /// The Zarr JSON this codec is written as.
    fn config(&self) -> NamedConfig;

    /// Size of the encoding of `decoded` bytes.
    fn encoded_size(&self, decoded: usize) -> EncodedSize;

    /// Appends the encoding of `input` to `out`.
    ///
    /// # Errors
    /// Bytes that the codec cannot hold; no memory for the encoding.
    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// Decodes into `out`, which has exactly the decoded size.
    ///
    /// # Errors
    /// Damaged or truncated bytes. Fewer or more decoded bytes are [`CodecError::Size`](crate::CodecError), found without
    /// producing more than one byte too many.
    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()>;

    /// Decodes bytes whose size is not known beyond `limit` (another codec's output), appending to `out`. Grows
    /// `out` as data arrive, never from a declared size alone.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); more bytes than `limit` are [`CodecError::Size`](crate::CodecError). Nothing is appended
    /// then.
    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()>;

    /// The codec as a checksum, if it is one: its encoding is the data and a few bytes before or after them.
    fn checksum(&self) -> Option<&dyn ChecksumCodec> {
        None
    }

    /// The checksum that encodings may hold inside, if the codec has one.
    fn inner_checksum(&self) -> Option<&dyn InnerChecksum> {
        None
    }

    /// The codec as one that decodes parts of an encoding, if it can.
    fn blocks(&self) -> Option<&dyn BlockCodec> {
        None
    }

    /// The codec as one that encodes bytes which do not lie together, if it can.
    fn pieces(&self) -> Option<&dyn PieceEncoder> {
        None
    }
}
