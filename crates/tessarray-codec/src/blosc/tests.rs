//! Both directions against C-Blosc, and frames that lie.
#![allow(unsafe_code)] // calls of the reference library

use super::encode::STREAM;
use super::*;
use crate::conformance::random;
use crate::{
    AnyCodec, BlockCodec, BytesCodec, ChunkSpec, EncodedSize, NamedConfig, PieceEncoder, Pieces, Result,
    Window,
};
use serde_json::json;
use std::ffi::CString;
use std::ops::Range;
use std::slice;
use tessarray_buffer::DataType;

const COMPRESSORS: [Compressor; 5] =
    [Compressor::Blosclz, Compressor::Lz4, Compressor::Lz4hc, Compressor::Zlib, Compressor::Zstd];
const FILTERS: [(Filter, i32); 3] = [(Filter::None, 0), (Filter::Bytes, 1), (Filter::Bits, 2)];

/// A smooth gradient with a little noise, in 16 bits.
fn camera(len: usize) -> Vec<u8> {
    let noise = random(len, 11);
    let value = |i: usize| 400 + (i / 2 % 1024) as u16 + u16::from(noise[i / 2] & 15);
    (0..len).map(|i| value(i).to_le_bytes()[i % 2]).collect()
}

fn kinds(len: usize) -> [Vec<u8>; 5] {
    let mut half = random(len, 5);
    half[..len / 2].fill(7);
    [random(len, 3), (0..len).map(|i| (i / 3) as u8).collect(), vec![0; len], camera(len), half]
}

fn codec(compressor: Compressor, level: u8, filter: Filter, typesize: usize, blocksize: usize) -> BloscCodec {
    BloscCodec::new(BloscConfig { compressor, level, filter, typesize, blocksize }).unwrap()
}

fn encode(codec: &BloscCodec, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0xEE; 3];
    codec.encode(data, &mut out).unwrap();
    assert_eq!(out[..3], [0xEE; 3]);
    let frame = out.split_off(3);
    for unit in [1, 3] {
        let mut pieced = vec![0xDD; 2];
        if let Some(done) = codec.encode_pieces(&Scattered { bytes: data, unit }, &mut pieced) {
            done.unwrap();
            assert!(pieced[..2] == [0xDD; 2] && pieced[2..] == frame, "{codec:?} in units of {unit}");
        } else {
            assert!(unit > 1, "{codec:?}");
        }
        if let Some(head) = codec.stored_head(
            &Scattered { bytes: data, unit },
            &[&data[..data.len() / 3], &data[data.len() / 3..]],
        ) {
            let (found, rest) = frame.split_at(head.len());
            assert!(found == head && rest == data, "{codec:?} in units of {unit}");
        }
    }
    frame
}

/// Data that lie nowhere together.
struct Scattered<'a> {
    bytes: &'a [u8],
    unit: usize,
}

impl Pieces for Scattered<'_> {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn unit(&self) -> usize {
        self.unit
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let ends = [range.start, range.end];
        assert!(
            ends.iter().all(|&end| end == self.bytes.len() || end.is_multiple_of(self.unit)),
            "{range:?}"
        );
        out.extend_from_slice(&self.bytes[range]);
    }

    fn whole(&self, _range: Range<usize>) -> Option<&[u8]> {
        None
    }
}

fn c_encode(codec: &BloscCodec, filter: i32, data: &[u8]) -> Vec<u8> {
    let config = codec.settings();
    let name = CString::new(config.compressor.name()).unwrap();
    let mut out = vec![0u8; data.len() + 16];
    // SAFETY: both buffers have the lengths given.
    let len = unsafe {
        blosc_src::blosc_compress_ctx(
            config.level.into(),
            filter,
            config.typesize,
            data.len(),
            data.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            out.len(),
            name.as_ptr(),
            config.blocksize,
            1,
        )
    };
    assert!(len >= 16, "{config:?} {}", data.len());
    out.truncate(len as usize);
    out
}

fn c_decode(frame: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut nbytes = 0;
    let mut out = vec![0u8; len];
    // SAFETY: the frame has the length given, and is one of ours; `out` has the length given.
    let got = unsafe {
        if blosc_src::blosc_cbuffer_validate(frame.as_ptr().cast(), frame.len(), &mut nbytes) != 0 {
            return None;
        }
        blosc_src::blosc_decompress_ctx(frame.as_ptr().cast(), out.as_mut_ptr().cast(), len, 1)
    };
    (got == len as i32).then_some(out)
}

/// Decodes by every way there is, which must agree.
fn decode_all_ways(codec: &BloscCodec, frame: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut out = vec![0xAA; len];
    codec.decode(frame, &mut out)?;
    let mut bounded = vec![1, 2];
    codec.decode_bounded(frame, len, &mut bounded)?;
    assert_eq!(bounded[2..], out);
    let block = codec.block_len(frame, len)?;
    for (index, expected) in out.chunks(block).enumerate().collect::<Vec<_>>().into_iter().rev() {
        let mut part = vec![0x55; expected.len()];
        codec.decode_block(Window::whole(frame), len, index, &mut part)?;
        assert_eq!(part, expected);
        let n = expected.len();
        for wanted in [0..1, 0..n, n / 3..n / 2, n / 7..n / 7 + 1, n - 1..n, n / 2..n / 2] {
            part.fill(0x55);
            if let Some(done) =
                codec.decode_parts(Window::whole(frame), len, index, slice::from_ref(&wanted), &mut part)
            {
                done?;
                assert_eq!(part[wanted.clone()], expected[wanted]);
            }
        }
        // Several parts, one of them twice, with no more than the block's own bytes at hand.
        let Some((head, spans)) = codec.block_spans(frame, len) else { continue };
        let span = spans[index].clone();
        let window = Window::new(&frame[..head], span.start, &frame[span], frame.len());
        let parts = [n / 9..n / 8, n / 5..n / 4, n / 9..n / 9 + 1, n / 3..n / 2];
        part.fill(0x55);
        match codec.decode_parts(window, len, index, &parts, &mut part) {
            Some(done) => done?,
            None => codec.decode_block(window, len, index, &mut part)?,
        }
        for wanted in parts {
            assert_eq!(part[wanted.clone()], expected[wanted]);
        }
    }
    Ok(out)
}

fn check(codec: &BloscCodec, filter: i32, data: &[u8]) {
    let config = codec.settings();
    let label = format!("{config:?}, {} bytes starting {:?}", data.len(), &data[..data.len().min(8)]);
    let ours = encode(codec, data);
    assert!(ours.len() <= data.len() + 32, "{label}: {}", ours.len());
    assert_eq!(codec.encoded_size(data.len()), EncodedSize::AtMost(data.len() + 32));
    assert!(decode_all_ways(codec, &ours, data.len()).unwrap() == data, "ours, by us: {label}");
    assert!(c_decode(&ours, data.len()).as_deref() == Some(data), "ours, by C: {label}");
    // Without a checksum, as C-Blosc writes them.
    let plain = codec.clone().without_checksum();
    let ours = encode(&plain, data);
    assert!(ours.len() <= data.len() + 16, "{label}: {}", ours.len());
    assert_eq!(plain.encoded_size(data.len()), EncodedSize::AtMost(data.len() + 16));
    assert!(c_decode(&ours, data.len()).as_deref() == Some(data), "ours, by C: {label}");
    let theirs = c_encode(codec, filter, data);
    assert!(decode_all_ways(codec, &theirs, data.len()).unwrap() == data, "theirs, by us: {label}");
    // The header differs in nothing but the sizes that depend on how well the search went, and the engine's own blocks.
    let own = config.blocksize == 0 && encode::has_short_streams(config);
    let same = if own { 8 } else { 12 };
    assert_eq!(ours[3..same], theirs[3..same], "{label}");
    if (ours[2] ^ theirs[2]) & 2 == 0 {
        assert_eq!(ours[..3], theirs[..3], "{label}");
    }
    let slack = data.len() / 16 + 64;
    assert!(ours.len() <= theirs.len() + slack, "{label}: {} bytes, C-Blosc {}", ours.len(), theirs.len());
}

#[test]
fn every_setting_agrees_with_c_blosc_in_both_directions() {
    for compressor in COMPRESSORS {
        for level in [0, 1, 5, 9] {
            for (filter, number) in FILTERS {
                for typesize in [1, 2, 3, 4, 8, 16, 17] {
                    let codec = codec(compressor, level, filter, typesize, 0);
                    // The slowest levels make tables of megabytes for each call in C-Blosc.
                    let slow = level == 9 && compressor.is_slow();
                    for len in if slow { vec![1, 1000] } else { vec![0, 1, 100, 127, 128, 129, 5003] } {
                        kinds(len).iter().for_each(|data| check(&codec, number, data));
                    }
                }
            }
        }
    }
}

#[test]
fn several_blocks_with_a_remainder_agree_with_c_blosc() {
    for compressor in COMPRESSORS {
        for (filter, number) in FILTERS {
            for typesize in if compressor.is_slow() { vec![2, 3, 17] } else { vec![1, 2, 3, 4, 8, 16, 17] } {
                for blocksize in [1, 8192 + 3] {
                    let level = if compressor.is_slow() { 1 } else { 5 };
                    let codec = codec(compressor, level, filter, typesize, blocksize);
                    for len in [65_536, 65_536 * 2 + 101] {
                        kinds(len).iter().for_each(|data| check(&codec, number, data));
                    }
                }
            }
        }
    }
}

#[test]
fn data_that_do_not_compress_are_stored_as_they_are() {
    for (typesize, filter) in [(1, Filter::Bytes), (4, Filter::None)] {
        let codec = codec(Compressor::Lz4, 5, filter, typesize, 0);
        let mut data = random(700_001, 9);
        for (codec, bytes) in [(codec.clone(), 32), (codec.clone().without_checksum(), 16)] {
            let head = codec.stored_head(&&data[..], &[&data]).unwrap();
            let frame = encode(&codec, &data);
            assert_eq!(codec.stored(&frame, data.len()).unwrap(), data);
            assert_eq!(frame[..bytes], head);
        }
        // A block far from the first that does compress: then all are blocks.
        data[500_000..600_000].fill(3);
        assert!(codec.stored_head(&&data[..], &[&data]).is_none());
        check(&codec, if filter == Filter::None { 0 } else { 1 }, &data);
    }
}

#[test]
fn automatic_blocks_agree_with_c_blosc() {
    for compressor in COMPRESSORS {
        for level in if compressor.is_slow() { 1..=5 } else { 1..=9 } {
            for typesize in [1, 2, 8] {
                let codec = codec(compressor, level, Filter::Bytes, typesize, 0);
                for len in [32_767, 32_768, 600_000] {
                    check(&codec, 1, &camera(len));
                }
            }
        }
    }
}

#[test]
fn blocks_of_the_fast_compressors_have_short_streams_and_no_rest() {
    let size = |typesize, len| {
        encode::blocksize(codec(Compressor::Lz4, 5, Filter::Bytes, typesize, 0).settings(), len)
    };
    for (typesize, len, blocks) in [
        (2, 65_536, 4),
        (2, 16_384, 1),
        (8, 100_000, 2),
        (8, 160_000, 4),
        (8, 24_000, 1),
        (4, 4 << 20, 128),
        (4, 4, 1),
    ] {
        assert_eq!(size(typesize, len) * blocks, len, "{typesize} {len}");
    }
    // No number of blocks divides a prime number of elements, nor elements that are not whole.
    assert_eq!(size(2, 2 * 65_537), 16_384);
    assert_eq!(size(2, 65_537), 16_384);
    assert_eq!(size(4, 10), 8);
    for len in (1..3_000_000).step_by(9973) {
        for typesize in [2, 4, 8, 16] {
            let size = size(typesize, len);
            assert!(
                size <= (STREAM * typesize).min(len) && (len < typesize || size.is_multiple_of(typesize))
            );
            assert!(size * 3 >= (STREAM * typesize).min(len - len % typesize), "{len} {typesize}");
        }
    }
}

#[test]
fn data_that_start_incompressible_still_compress() {
    for typesize in [1, 2] {
        let codec = codec(Compressor::Lz4, 5, Filter::None, typesize, 0);
        let mut data = random(600_000, 8);
        assert_eq!(encode(&codec, &data).len(), data.len() + 32);
        data[400_000..].fill(3);
        check(&codec, 0, &data);
        assert!(encode(&codec, &data).len() < 420_000);
    }
}

#[test]
fn snappy_round_trips() {
    for (filter, _) in FILTERS {
        let codec = codec(Compressor::Snappy, 5, filter, 2, 0);
        for data in kinds(100_001) {
            let frame = encode(&codec, &data);
            assert!(frame.len() <= data.len() + 32);
            assert!(decode_all_ways(&codec, &frame, data.len()).unwrap() == data);
        }
    }
}

#[test]
fn a_large_element_is_treated_as_bytes() {
    let codec = codec(Compressor::Lz4, 5, Filter::Bytes, 300, 0);
    let data = camera(30_000);
    let frame = encode(&codec, &data);
    assert_eq!(frame[3], 1);
    assert_eq!(c_decode(&frame, data.len()), Some(data));
    assert_eq!(codec.config().configuration["typesize"], 300);
}

/// Small frames of every kind of stream.
fn samples() -> Vec<(BloscCodec, Vec<u8>, usize)> {
    let mut out = Vec::new();
    for compressor in [&COMPRESSORS[..], &[Compressor::Snappy]].concat() {
        for (filter, _) in FILTERS {
            // One block of two streams, and three blocks of one.
            for typesize in [2, 17] {
                let checked = codec(compressor, 5, filter, typesize, 256);
                for codec in [checked.clone().without_checksum(), checked] {
                    out.push((codec.clone(), encode(&codec, &camera(700)), 700));
                    out.push((codec.clone(), encode(&codec, &[9; 700]), 700));
                }
            }
        }
    }
    let checked = codec(Compressor::Lz4, 0, Filter::Bytes, 2, 0);
    for codec in [checked.clone().without_checksum(), checked] {
        out.push((codec.clone(), encode(&codec, &camera(90)), 90));
    }
    out
}

#[test]
fn a_part_of_a_split_block_is_decoded_alone() {
    let data = camera(40_000);
    for typesize in [2, 4, 8, 16] {
        let codec = codec(Compressor::Lz4, 5, Filter::Bytes, typesize, data.len());
        let frame = encode(&codec, &data);
        let mut part = vec![0; data.len()];
        let mut decode = |wanted: Range<usize>| {
            part.fill(0);
            let frame = Window::whole(&frame);
            let done = codec.decode_parts(frame, data.len(), 0, slice::from_ref(&wanted), &mut part);
            done.expect("it saves something").unwrap();
            assert_eq!(part[wanted.clone()], data[wanted]);
        };
        // The last element, too: to decode almost all of the streams takes no longer than to decode all.
        for wanted in [39_999..40_000, 30_001..39_990, 1..40_000, 0..0, 4_000..9_001] {
            decode(wanted);
        }
        assert_eq!(part[20_000..], vec![0; 20_000], "what lies behind it is not decoded");
        assert!(
            codec
                .decode_parts(
                    Window::whole(&frame),
                    data.len(),
                    0,
                    slice::from_ref(&(0..data.len())),
                    &mut part
                )
                .is_none()
        );
        assert!(
            codec
                .decode_parts(Window::whole(&frame), data.len() - 1, 0, slice::from_ref(&(0..5)), &mut part)
                .is_none()
        );
        // A stream that ends too soon.
        let torn = [&frame[..frame.len() - 3000], &[0; 3000]].concat();
        let lost =
            codec.decode_parts(Window::whole(&torn), data.len(), 0, slice::from_ref(&(0..16_000)), &mut part);
        assert!(!matches!(lost, Some(Ok(()))) || part[..16_000] != data[..16_000]);
    }
}

#[test]
fn every_truncation_is_an_error() {
    for (codec, frame, len) in samples() {
        for cut in 0..frame.len() {
            let mut out = vec![0; len];
            let mut bounded = Vec::new();
            assert!(codec.decode(&frame[..cut], &mut out).is_err());
            assert!(codec.decode_bounded(&frame[..cut], len, &mut bounded).is_err());
            assert!(bounded.capacity() <= 2 * len);
            // The same with a header that agrees with the cut.
            if cut >= 16 {
                let mut lying = frame[..cut].to_vec();
                lying[12..16].copy_from_slice(&(cut as u32).to_le_bytes());
                assert!(codec.decode(&lying, &mut out).is_err(), "{:?} cut at {cut}", codec.settings());
            }
        }
        let mut longer = frame.clone();
        longer.push(0);
        assert!(codec.decode(&longer, &mut vec![0; len]).is_err());
    }
}

#[test]
fn any_changed_byte_gives_an_error_or_a_wrong_value_but_no_panic() {
    for (codec, frame, len) in samples() {
        for at in 0..frame.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF, frame[at] ^ 1, frame[at] ^ 0x10, frame[at].wrapping_add(1)]
            {
                let mut bad = frame.clone();
                bad[at] = value;
                let mut out = vec![0; len];
                let _ = codec.decode(&bad, &mut out);
                let mut bounded = Vec::new();
                let _ = codec.decode_bounded(&bad, len, &mut bounded);
                assert!(bounded.len() <= len && bounded.capacity() <= 2 * len + 64);
                if let Ok(block) = codec.block_len(&bad, len) {
                    for index in [0, 1, 2, 3, usize::MAX] {
                        let bytes = len.saturating_sub(index.saturating_mul(block)).min(block);
                        let _ = codec.decode_block(Window::whole(&bad), len, index, &mut vec![0; bytes]);
                        let reversed = std::ops::Range { start: 5, end: 2 };
                        for wanted in [0..bytes / 3, bytes / 4..bytes / 2, 0..usize::MAX, reversed] {
                            let _ = codec.decode_parts(
                                Window::whole(&bad),
                                len,
                                index,
                                &[wanted],
                                &mut vec![0; bytes],
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_lying_header_is_named() {
    // Elements of 17 bytes are not split, so blocks may be small.
    let codec = codec(Compressor::Lz4, 5, Filter::Bytes, 17, 256).without_checksum();
    let frame = encode(&codec, &[9; 700]);
    assert_eq!(codec.block_len(&frame, 700), Ok(255));
    let with = |at: usize, value: i32| {
        let mut bad = frame.clone();
        bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let mut out = vec![0; 700];
        (codec.decode(&bad, &mut out).unwrap_err(), codec.decode_bounded(&bad, 700, &mut Vec::new()))
    };
    assert!(matches!(with(4, 701), (CodecError::Size { expected: 700, .. }, Err(CodecError::Size { .. }))));
    assert!(matches!(with(4, 699).0, CodecError::Size { .. }));
    assert!(matches!(with(4, -1).0, CodecError::Corrupt { .. }));
    assert!(matches!(with(4, i32::MAX).0, CodecError::Truncated { .. }));
    assert!(matches!(with(8, 0).0, CodecError::Corrupt { .. }));
    assert!(matches!(with(8, -5).0, CodecError::Corrupt { .. }));
    assert!(matches!(with(8, 701).0, CodecError::Corrupt { .. }));
    assert!(matches!(with(8, 1).0, CodecError::Truncated { .. }));
    assert!(matches!(with(12, i32::MAX).0, CodecError::Truncated { .. }));
    for start in [-1, 0, 15, 27, i32::MAX] {
        assert!(with(16, start).1.is_err());
    }
    let mut out = vec![0; 300];
    assert!(matches!(
        codec.decode_block(Window::whole(&frame), 700, 0, &mut out),
        Err(CodecError::Size { .. })
    ));
    assert!(matches!(
        codec.decode_block(Window::whole(&frame), 700, 3, &mut []),
        Err(CodecError::Size { .. })
    ));
    assert!(matches!(codec.block_len(&frame, 800), Err(CodecError::Size { expected: 800, .. })));
}

#[test]
fn a_bomb_allocates_no_more_than_its_bytes_could_decode_to() {
    for (number, compressor) in COMPRESSORS.iter().enumerate() {
        let plain = codec(*compressor, 5, Filter::None, 1, 0).without_checksum();
        let mut frame = encode(&plain, &[0; 4096]);
        let claimed = 2_000_000_000u32.to_le_bytes();
        frame[4..8].copy_from_slice(&claimed);
        frame[8..12].copy_from_slice(&claimed);
        let mut out = Vec::new();
        let got = codec(*compressor, 5, Filter::None, 1, 0).decode_bounded(&frame, 2_000_000_000, &mut out);
        assert!(matches!(got, Err(CodecError::Size { .. })), "{number}: {got:?}");
        assert_eq!(out.capacity(), 0);
    }
    let mut real = Vec::new();
    let zeros = codec(Compressor::Zstd, 5, Filter::None, 1, 0);
    zeros.encode(&vec![0; 10 << 20], &mut real).unwrap();
    let mut out = Vec::new();
    assert!(matches!(zeros.decode_bounded(&real, 1 << 20, &mut out), Err(CodecError::Size { .. })));
    assert_eq!(out.capacity(), 0);
    zeros.decode_bounded(&real, 10 << 20, &mut out).unwrap();
    assert_eq!(out.len(), 10 << 20);
}

#[test]
fn unknown_compressors_and_versions_are_refused() {
    let codec = codec(Compressor::Lz4, 5, Filter::Bytes, 2, 0).without_checksum();
    let frame = encode(&codec, &camera(700));
    for (at, value) in [(0, 1), (0, 3), (1, 2), (2, frame[2] | 8), (2, 0xE1), (3, 0)] {
        let mut bad = frame.clone();
        bad[at] = value;
        assert!(matches!(codec.decode(&bad, &mut [0; 700]), Err(CodecError::Corrupt { .. })), "{at} {value}");
    }
}

fn spec(data_type: DataType) -> ChunkSpec {
    ChunkSpec { shape: [8].into_iter().collect(), data_type, fill: Box::new([0; 4]) }
}

fn build(config: &NamedConfig, data_type: DataType) -> Result<std::sync::Arc<dyn BytesCodec>> {
    let mut registry = Registry::empty();
    register(&mut registry);
    match registry.build(config, &spec(data_type))? {
        AnyCodec::Bytes(codec) => Ok(codec),
        other => panic!("{other:?}"),
    }
}

#[test]
fn v3_settings_come_back_as_they_were() {
    let mut config = NamedConfig::new("blosc");
    for (key, value) in [("cname", json!("zstd")), ("clevel", json!(3)), ("shuffle", json!("bitshuffle"))] {
        config = config.with(key, value);
    }
    let config = config.with("typesize", 4).with("blocksize", 65536);
    assert_eq!(build(&config, DataType::Float32).unwrap().config(), config);
    let renamed = NamedConfig { name: "numcodecs.blosc".into(), ..config.clone() };
    assert_eq!(build(&renamed, DataType::Float32).unwrap().config(), config);
}

#[test]
fn numcodecs_settings_are_read_and_written() {
    let shuffle = |number: i32, data_type| {
        let config = NamedConfig::new("blosc").with("cname", "lz4").with("clevel", 5);
        let codec = build(&config.with("shuffle", number).with("blocksize", 0), data_type).unwrap();
        let words = codec.config().configuration;
        (words["shuffle"].as_str().unwrap().to_owned(), words["typesize"].clone())
    };
    assert_eq!(shuffle(0, DataType::Int16), ("noshuffle".into(), json!(2)));
    assert_eq!(shuffle(1, DataType::Int16), ("shuffle".into(), json!(2)));
    assert_eq!(shuffle(2, DataType::Int16), ("bitshuffle".into(), json!(2)));
    assert_eq!(shuffle(-1, DataType::Int16), ("shuffle".into(), json!(2)));
    assert_eq!(shuffle(-1, DataType::UInt8), ("bitshuffle".into(), json!(1)));
    assert_eq!(shuffle(1, DataType::String), ("shuffle".into(), json!(1)));
}

#[test]
fn wrong_settings_are_refused() {
    for (key, value) in [
        ("cname", json!("gzip")),
        ("cname", json!(1)),
        ("clevel", json!(10)),
        ("clevel", json!(-1)),
        ("clevel", json!(1.5)),
        ("shuffle", json!("bytes")),
        ("shuffle", json!(3)),
        ("shuffle", json!(null)),
        ("typesize", json!(0)),
        ("typesize", json!("2")),
        ("blocksize", json!(-1)),
        ("blocksize", json!(1u64 << 40)),
        ("nthreads", json!(4)),
    ] {
        let config = NamedConfig::new("blosc").with(key, value.clone()).for_new();
        let is_absent = value.is_null();
        let refused = matches!(build(&config, DataType::Int16), Err(CodecError::Config { .. }));
        assert!(refused != is_absent, "{key} {value}");
    }
    assert!(BloscCodec::new(BloscConfig { level: 10, ..BloscConfig::default() }).is_err());
    assert!(BloscCodec::new(BloscConfig { typesize: 0, ..BloscConfig::default() }).is_err());
}
