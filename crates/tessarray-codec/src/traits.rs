//! The three kinds of codec (Zarr v3 core, "Codecs"): array to array, array to bytes, bytes to bytes.

use crate::{ChunkSpec, NamedConfig, Pieces, Result, Window};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
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
    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec>;

    /// For a pure axis permutation: axis `i` of the encoded chunk is axis `order[i]` of the decoded one. Such codecs
    /// are folded into the copies on both ends and never run on their own.
    fn permutation(&self) -> Option<&[usize]> {
        None
    }

    /// Encodes one chunk. `out` has exactly the encoded spec's bytes.
    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()>;

    /// Decodes one chunk; `decoded` is the same spec as for `encode`, and `out` has exactly its bytes.
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
    fn encode(&self, spec: &ChunkSpec, input: &[u8], arena: &Arena, out: &mut Vec<u8>) -> Result<()>;

    /// Decodes into exactly the chunk's bytes; variable-length elements are put into `arena`.
    fn decode(&self, spec: &ChunkSpec, input: &[u8], out: &mut [u8], arena: &Arena) -> Result<()>;
}

/// Bytes to bytes: compression, shuffles and checksums.
///
/// No decode method allocates more than its output and a scratch of the same order, whatever the input says.
pub trait BytesCodec: Debug + Send + Sync {
    /// The Zarr JSON this codec is written as.
    fn config(&self) -> NamedConfig;

    /// The numcodecs JSON for Zarr v2 metadata, where it differs from `id` = name plus the same settings.
    fn config_v2(&self) -> Option<NamedConfig> {
        None
    }

    /// Size of the encoding of `decoded` bytes.
    fn encoded_size(&self, decoded: usize) -> EncodedSize;

    /// Appends the encoding of `input` to `out`.
    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// As [`encode`](Self::encode), of bytes that are asked for a block at a time. `None`, and nothing done, where the codec
    /// needs all of them at once, or in other units than [`Pieces::unit`].
    fn encode_pieces(&self, _input: &dyn Pieces, _out: &mut Vec<u8>) -> Option<Result<()>> {
        None
    }

    /// Where the encoding of `input` is a few bytes and then `input` as it is, as with data that do not compress: those bytes.
    /// `runs` are the bytes of `input`, run by run.
    fn stored_head(&self, _input: &dyn Pieces, _runs: &[&[u8]]) -> Option<Vec<u8>> {
        None
    }

    /// Where `input` has the decoded bytes as they are: those bytes.
    fn stored<'a>(&self, _input: &'a [u8], _decoded: usize) -> Option<&'a [u8]> {
        None
    }

    /// Decodes into `out`, which has exactly the decoded size: fewer or more bytes are
    /// [`CodecError::Size`](crate::CodecError), found without producing more than one byte too many.
    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<()>;

    /// Decodes bytes whose size is not known beyond `limit` (another codec's output), appending to `out`. Grows
    /// `out` as data arrive, never from a declared size alone.
    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()>;

    /// Verifies a checksum that the encoding holds inside, where that is possible without its decoded bytes. Encodings without
    /// one pass.
    fn verify_inside(&self, _input: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Whether the encoding holds a checksum of its decoded bytes, so that only to decode it verifies it.
    fn checks_decoded(&self, _input: &[u8]) -> bool {
        false
    }

    /// As [`decode`](Self::decode), of bytes that have passed [`verify_inside`](Self::verify_inside).
    fn decode_verified(&self, input: &[u8], out: &mut [u8]) -> Result<()> {
        self.decode(input, out)
    }

    /// The same codec, whose encodings hold no checksum inside, for chains that have one after it; `None` where they hold none,
    /// or where the settings ask for it.
    fn without_own_checksum(&self) -> Option<Arc<dyn BytesCodec>> {
        None
    }

    /// For checksums: verifies `input` and returns the part of it that is the decoded data, without a copy.
    fn verify<'a>(&self, _input: &'a [u8]) -> Option<Result<&'a [u8]>> {
        None
    }

    /// Whether encoding appends a few bytes to what is encoded, and changes nothing of it: then [`seal`](Self::seal) does it
    /// in place.
    fn is_seal(&self) -> bool {
        false
    }

    /// Encodes in place what `out` holds from `start` on. Only where [`is_seal`](Self::is_seal).
    fn seal(&self, _out: &mut Vec<u8>, _start: usize) {}

    /// What [`seal`](Self::seal) would append to these bytes, one part after the other; `None` where it needs them together.
    fn seal_of(&self, _parts: &[&[u8]]) -> Option<Vec<u8>> {
        None
    }

    /// For checksums: the part of `input` that is the decoded data, where `input` was verified before.
    fn payload<'a>(&self, _input: &'a [u8]) -> Option<&'a [u8]> {
        None
    }

    /// Whether this is a checksum: what [`verify`](Self::verify) answers for.
    fn is_checksum(&self) -> bool {
        false
    }

    /// Where the blocks lie in `input`: how many bytes at its beginning any block needs, and exactly the bytes each block
    /// needs beside them. Only where [`block_len`](Self::block_len) gave a size.
    fn block_spans(&self, _input: &[u8], _decoded: usize) -> Option<(usize, Vec<Range<usize>>)> {
        None
    }

    /// Decodes of block `block` (of all, where there are no blocks) the bytes `parts` to their places in `out`, which has the
    /// block's bytes; what becomes of the others is left open. `None` where that saves nothing, or a checksum would go
    /// unseen. `decoded` is the whole decoded size; of `input` the block's own bytes are at hand.
    fn decode_parts(
        &self,
        _input: Window<'_>,
        _decoded: usize,
        _block: usize,
        _parts: &[Range<usize>],
        _out: &mut [u8],
    ) -> Option<Result<()>> {
        None
    }

    /// Where the encoded bytes consist of blocks that decode on their own: the decoded bytes of a block (the last may
    /// be shorter). `decoded` is the whole decoded size and is checked against the header.
    fn block_len(&self, _input: &[u8], _decoded: usize) -> Result<Option<usize>> {
        Ok(None)
    }

    /// Decodes block number `block` into `out`, which has exactly that block's bytes; verifies nothing that
    /// [`verify_inside`](Self::verify_inside) does. Only where
    /// [`block_len`](Self::block_len) gave a size; of `input` the block's own bytes are at hand.
    fn decode_block(
        &self,
        _input: Window<'_>,
        _decoded: usize,
        _block: usize,
        _out: &mut [u8],
    ) -> Result<()> {
        Err(crate::CodecError::Chain { reason: format!("{} has no blocks", self.config().name) })
    }
}
