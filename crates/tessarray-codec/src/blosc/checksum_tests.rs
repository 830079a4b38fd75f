//! No flipped bit of a frame gives wrong values, whichever way it is read.

use super::checksum::GAP;
use super::raw;
use super::*;
use crate::conformance::random;
use crate::{BytesCodec, Chain, ChunkSpec, CodecError, NamedConfig, Result, Scratch};
use tessarray_buffer::{Arena, DataType};

const COMPRESSORS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
const FILTERS: [&str; 3] = ["noshuffle", "shuffle", "bitshuffle"];

/// A chunk of so many elements of two bytes, in a chain of blosc and what follows.
fn chain(cname: &str, shuffle: &str, blocksize: usize, elements: u64, after: &[&str]) -> Chain {
    let spec = ChunkSpec {
        shape: [elements].into_iter().collect(),
        data_type: DataType::UInt16,
        fill: Box::new([0; 2]),
    };
    let blosc = NamedConfig::new("blosc").with("cname", cname).with("clevel", 5).with("shuffle", shuffle);
    let mut codecs = vec![NamedConfig::new("bytes").with("endian", "little")];
    codecs.push(blosc.with("typesize", 2).with("blocksize", blocksize));
    codecs.extend(after.iter().map(|name| NamedConfig::new(*name)));
    Chain::build(&crate::Registry::new(), &codecs, spec).unwrap()
}

fn encode(chain: &Chain, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    chain.encode(data, &Arena::new(), &mut Scratch::new(), &mut out).unwrap();
    out
}

/// The chunk by every way of reading that verifies: whole, all of its blocks, and the end of the last one.
fn read_all_ways(chain: &Chain, frame: &[u8], len: usize) -> Vec<Result<(usize, Vec<u8>)>> {
    let whole = || {
        let mut out = vec![0; len];
        chain.decode(frame, &mut out, &Arena::new(), &mut Scratch::new()).map(|()| (0, out))
    };
    let tail = len.saturating_sub(3);
    let blocks = |part: bool| {
        let blocks = chain.blocks(frame)?.unwrap();
        let mut out = vec![0; len];
        if let (Some(stored), true) = (blocks.stored(), part) {
            return Ok((tail, stored[tail..].to_vec()));
        }
        if !part {
            return blocks.decode_all(&mut out).map(|()| (0, out));
        }
        let begin = (len - 1) / blocks.block_bytes() * blocks.block_bytes();
        let wanted = tail.max(begin);
        blocks.decode_parts(
            begin / blocks.block_bytes(),
            std::slice::from_ref(&(wanted - begin..len - begin)),
            &mut out,
        )?;
        Ok((wanted, out[wanted..].to_vec()))
    };
    let mut bounded = Vec::new();
    let grown =
        BloscCodec::new(BloscConfig::default()).unwrap().decode_bounded(frame, len + 99, &mut bounded);
    vec![whole(), blocks(false), blocks(true), grown.map(|()| (0, bounded))]
}

fn data(len: usize) -> [Vec<u8>; 4] {
    let noise = random(len, 3);
    let rough = (0..len).map(|i| if i % 2 == 0 { noise[i] & 15 } else { (i / 97) as u8 });
    let mut half = random(len, 5);
    half[..len / 2].fill(7);
    [rough.collect(), vec![9; len], half, noise]
}

/// Frames of every kind of stream, of one block and of several, that compress or do not.
fn frames() -> Vec<(Chain, Vec<u8>, Vec<u8>)> {
    let mut out = Vec::new();
    for cname in COMPRESSORS {
        for shuffle in FILTERS {
            for (elements, blocksize) in [(1, 0), (70, 0), (300, 0), (350, 128), (512, 128)] {
                let chain = chain(cname, shuffle, blocksize, elements, &[]);
                for data in data(2 * elements as usize) {
                    let frame = encode(&chain, &data);
                    out.push((chain.clone(), frame, data));
                }
            }
        }
    }
    out
}

#[test]
fn no_flipped_bit_of_any_frame_gives_wrong_values() {
    let (mut flips, mut frames_seen) = (0, 0);
    let frames = frames();
    let step = if cfg!(miri) { 97 } else { 1 };
    for (chain, frame, data) in &frames {
        for way in read_all_ways(chain, frame, data.len()) {
            let (begin, found) = way.unwrap();
            assert!(found[..] == data[begin..], "{chain:?}");
        }
        frames_seen += 1;
        for bit in (0..frame.len() * 8).step_by(step) {
            let mut bad = frame.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(chain.verify(&bad).is_err(), "bit {bit} of {frame:02x?}");
            for (way, result) in read_all_ways(chain, &bad, data.len()).into_iter().enumerate() {
                assert!(result.is_err(), "way {way}, bit {bit} of {frame:02x?}");
            }
            flips += 1;
        }
    }
    assert!(frames_seen >= 300 && (flips > 100_000 || cfg!(miri)), "{frames_seen} frames, {flips} flips");
}

#[test]
fn no_run_of_bytes_that_is_lost_gives_wrong_values() {
    let noise = random(4096, 17);
    for (chain, frame, data) in frames().into_iter().step_by(7) {
        for len in [2, 3, 4, 8, 16, 64, 512] {
            for begin in 0..frame.len() {
                let end = (begin + len).min(frame.len());
                for kind in 0..3 {
                    let mut bad = frame.clone();
                    match kind {
                        0 => bad[begin..end].fill(0),
                        1 => bad[begin..end].fill(0xFF),
                        _ => bad[begin..end].copy_from_slice(&noise[begin..end]),
                    }
                    if bad == frame {
                        continue;
                    }
                    for result in read_all_ways(&chain, &bad, data.len()).into_iter().flatten() {
                        assert!(result.1 == data[result.0..], "{kind} {begin}..{end} of {frame:02x?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_checksum_codec_behind_takes_the_place_of_the_one_inside() {
    let data = &data(600)[0];
    let inside = encode(&chain("lz4", "shuffle", 128, 300, &[]), data);
    let plain = encode(&chain("lz4", "shuffle", 128, 300, &["crc32c"]), data);
    assert_eq!(inside.len() - GAP, plain.len() - 4);
    let table = 16 + 4 * 600usize.div_ceil(128);
    assert_eq!(inside[table + GAP..], plain[table..plain.len() - 4]);
    // Who reads the one reads the other: a frame without a checksum has none to be verified.
    let chain = chain("lz4", "shuffle", 128, 300, &[]);
    for (begin, found) in
        read_all_ways(&chain, &plain[..plain.len() - 4], 600).into_iter().map(Result::unwrap)
    {
        assert!(found[..] == data[begin..]);
    }
}

#[test]
fn a_wrong_checksum_says_what_is_stored_and_what_was_computed() {
    let data = &data(600)[0];
    let chain = chain("lz4", "shuffle", 128, 300, &[]);
    let mut frame = encode(&chain, data);
    let last = frame.len() - 1;
    frame[last] ^= 1;
    let error = chain.verify(&frame).unwrap_err();
    let table = 16 + 4 * 600usize.div_ceil(128);
    let kept = u32::from_le_bytes(frame[table + 4..table + 8].try_into().unwrap());
    assert!(
        matches!(&error, CodecError::Checksum { codec, stored, .. } if codec == "blosc" && *stored == u64::from(kept)),
        "{error}"
    );
}

#[test]
fn very_large_data_that_do_not_compress_are_a_few_blocks() {
    let header = |nbytes| {
        let data = random(600, 1);
        let codec = BloscCodec::new(BloscConfig { level: 0, ..BloscConfig::default() }).unwrap();
        let mut frame = Vec::new();
        codec.encode(&data, &mut frame).unwrap();
        let small = super::header::Header::read(&frame, frame.len()).unwrap();
        raw::header(&super::header::Header { nbytes, blocksize: 65_535, ..small })
    };
    for (nbytes, blocks) in [(1, 1), (256 << 20, 1), ((256 << 20) + 1, 2), ((2 << 30) - 273, 9)] {
        let raw = header(nbytes);
        assert_eq!(raw.blocks(), blocks, "{nbytes}");
        assert!(raw.cbytes - nbytes <= raw::overhead(nbytes) && raw.cbytes <= i32::MAX as usize, "{nbytes}");
        assert!(raw.blocksize == nbytes || raw.blocksize.is_multiple_of(65_535));
        assert_eq!(raw::head(&raw).len(), raw.table_end() + GAP);
    }
}
