//! A codec of another crate: checked by the same functions as the engine's own, and used by name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::ops::Range;
use std::sync::Arc;
use tessarray::{
    AnyCodec, Array, ArraySpec, BlockCodec, BytesCodec, ChunkChoice, CodecChoice, CodecError, DataType,
    EncodedSize, MemoryStore, NamedConfig, Selection, Session, Window,
};
use tessarray_codec::conformance::{Flips, check_bytes_codec};

const NAME: &str = "example.folded";
/// Bytes of a block.
const BLOCK: usize = 256;

/// Every block backwards. Blocks decode on their own.
#[derive(Debug)]
struct Folded;

fn wrong(expected: usize, found: usize) -> CodecError {
    CodecError::Size { codec: NAME.into(), expected: expected as u64, found: found.to_string() }
}

fn fold(bytes: &[u8], out: &mut [u8]) {
    for (bytes, out) in bytes.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        out.iter_mut().zip(bytes.iter().rev()).for_each(|(out, byte)| *out = *byte);
    }
}

impl BytesCodec for Folded {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(NAME)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::Exact(decoded)
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = out.len();
        out.resize(start + input.len(), 0);
        fold(input, &mut out[start..]);
        Ok(())
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
        if input.len() != out.len() {
            return Err(wrong(out.len(), input.len()));
        }
        fold(input, out);
        Ok(())
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        if input.len() > limit {
            return Err(wrong(limit, input.len()));
        }
        self.encode(input, out)
    }

    fn blocks(&self) -> Option<&dyn BlockCodec> {
        Some(self)
    }
}

impl BlockCodec for Folded {
    fn block_len(&self, input: &[u8], decoded: usize) -> Result<usize, CodecError> {
        if input.len() == decoded { Ok(BLOCK) } else { Err(wrong(decoded, input.len())) }
    }

    fn block_spans(&self, input: &[u8], _: usize) -> Option<(usize, Vec<Range<usize>>)> {
        let blocks = 0..input.len().div_ceil(BLOCK);
        Some((0, blocks.map(|i| i * BLOCK..input.len().min((i + 1) * BLOCK)).collect()))
    }

    fn stored<'a>(&self, _: &'a [u8], _: usize) -> Option<&'a [u8]> {
        None
    }

    fn decode_block(
        &self,
        input: Window<'_>,
        _: usize,
        block: usize,
        out: &mut [u8],
    ) -> Result<(), CodecError> {
        let start = block.saturating_mul(BLOCK);
        let bytes = input.get(start..start.saturating_add(out.len()));
        fold(bytes.ok_or_else(|| wrong(out.len(), 0))?, out);
        Ok(())
    }

    fn decode_parts(
        &self,
        _: Window<'_>,
        _: usize,
        _: usize,
        _: &[Range<usize>],
        _: &mut [u8],
    ) -> Option<Result<(), CodecError>> {
        None
    }
}

#[test]
fn it_passes_the_checks_of_the_engines_own_codecs() {
    check_bytes_codec(&Folded, 1, Flips::MayPass);
}

#[test]
#[should_panic(expected = "block 1 differs")]
fn blocks_that_differ_from_the_whole_are_found() {
    /// Gives the first block for any.
    #[derive(Debug)]
    struct First;

    impl BytesCodec for First {
        fn config(&self) -> NamedConfig {
            Folded.config()
        }
        fn encoded_size(&self, decoded: usize) -> EncodedSize {
            Folded.encoded_size(decoded)
        }
        fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
            Folded.encode(input, out)
        }
        fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
            Folded.decode(input, out)
        }
        fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
            Folded.decode_bounded(input, limit, out)
        }
        fn blocks(&self) -> Option<&dyn BlockCodec> {
            Some(self)
        }
    }

    impl BlockCodec for First {
        fn block_len(&self, input: &[u8], decoded: usize) -> Result<usize, CodecError> {
            Folded.block_len(input, decoded)
        }
        fn block_spans(&self, _: &[u8], _: usize) -> Option<(usize, Vec<Range<usize>>)> {
            None
        }
        fn stored<'a>(&self, _: &'a [u8], _: usize) -> Option<&'a [u8]> {
            None
        }
        fn decode_block(
            &self,
            input: Window<'_>,
            decoded: usize,
            _: usize,
            out: &mut [u8],
        ) -> Result<(), CodecError> {
            Folded.decode_block(input, decoded, 0, out)
        }
        fn decode_parts(
            &self,
            _: Window<'_>,
            _: usize,
            _: usize,
            _: &[Range<usize>],
            _: &mut [u8],
        ) -> Option<Result<(), CodecError>> {
            None
        }
    }

    check_bytes_codec(&First, 1, Flips::MayPass);
}

#[test]
fn an_array_with_it_reads_whole_and_in_part() {
    let session = Session::builder().threads(2).build();
    session.register_codec(NAME, |_, _| Ok(AnyCodec::Bytes(Arc::new(Folded))));
    let mut spec = ArraySpec::new(&[64, 64], DataType::UInt8);
    spec.chunks = ChunkChoice::Shape(vec![32, 64]);
    spec.compressors = CodecChoice::List(vec![NamedConfig::new(NAME)]);
    let array = Array::create(&session, Arc::new(MemoryStore::new()), "a", &spec, false).unwrap();
    let values: Vec<u8> = (0..64 * 64).map(|i: u32| (i * 7 % 251) as u8).collect();
    array.write_bytes(&Selection::all(&[64, 64]), &values).unwrap();
    assert_eq!(array.read_bytes(&Selection::all(&[64, 64])).unwrap(), values);
    let part = array.read_bytes(&Selection::region(&[30, 5], &[3, 2])).unwrap();
    let expected: Vec<u8> = (30..33).flat_map(|row| values[row * 64 + 5..row * 64 + 7].to_vec()).collect();
    assert_eq!(part, expected);
}
