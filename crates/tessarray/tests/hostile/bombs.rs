//! Chunks that decode to far more than was declared.

use super::{MARGIN, MIB, chunk_error, document, memory, open, store};
use serde_json::json;
use tessarray::{
    AnyCodec, Arena, ArrayError, ChunkSpec, CodecError, DataType, Dims, NamedConfig, OutputView, Registry,
    Selection,
};

const KEY: &str = "a/c/0/0";

fn spec() -> ChunkSpec {
    ChunkSpec { shape: Dims::from_slice(&[16, 16]), data_type: DataType::UInt8, fill: Box::new([0]) }
}

fn encode(config: &NamedConfig, input: &[u8]) -> Vec<u8> {
    let Ok(AnyCodec::Bytes(codec)) = Registry::new().build(config, &spec()) else {
        panic!("{}", config.name)
    };
    let mut out = Vec::new();
    codec.encode(input, &mut out).unwrap();
    out
}

fn blosc(name: &str) -> NamedConfig {
    let config = NamedConfig::new("blosc").with("cname", name).with("clevel", 5).with("typesize", 1);
    config.with("shuffle", "noshuffle").with("blocksize", 0)
}

/// Name, codecs after `bytes`, and the bomb.
fn bombs() -> Vec<(&'static str, Vec<NamedConfig>, Vec<u8>)> {
    let zeros = vec![0; 256 * MIB];
    let named = |name: &str| NamedConfig::new(name);
    let (zstd, gzip) = (named("zstd"), named("gzip").with("level", 1));
    let mut out = Vec::new();
    let mut add = |name, codecs: &[&NamedConfig], bytes| {
        out.push((name, codecs.iter().map(|&codec| codec.clone()).collect(), bytes));
    };
    let zstd_bomb = encode(&zstd, &zeros);
    add("zstd", &[&zstd], zstd_bomb.clone());
    add("gzip", &[&gzip], encode(&gzip, &zeros));
    add("gzip of 4 members", &[&gzip], encode(&gzip, &zeros[..64 * MIB]).repeat(4));
    let zlib = named("numcodecs.zlib").with("level", 1);
    add("zlib", &[&zlib], encode(&zlib, &zeros));
    let lz4 = named("numcodecs.lz4");
    add("lz4", &[&lz4], encode(&lz4, &zeros));
    let bz2 = named("numcodecs.bz2").with("level", 9);
    add("bz2", &[&bz2], encode(&bz2, &zeros[..64 * MIB]));
    let snappy = named("numcodecs.snappy");
    add("snappy", &[&snappy], encode(&snappy, &zeros));
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        add("blosc", &[&blosc(cname)], encode(&blosc(cname), &zeros));
    }
    // Bombs whose inner size nobody declares, and one that a checksum vouches for.
    add("zstd in zstd", &[&zstd, &zstd], encode(&zstd, &zstd_bomb));
    add("zstd in gzip", &[&zstd, &gzip], encode(&gzip, &zeros[..128 * MIB]));
    add("zlib in lz4", &[&zlib, &lz4], encode(&lz4, &zeros));
    let crc = named("crc32c");
    add("zstd and crc32c", &[&zstd, &crc], encode(&crc, &zstd_bomb));
    out
}

/// Headers that declare what does not follow.
fn lies() -> Vec<(&'static str, Vec<NamedConfig>, Vec<u8>)> {
    let one = |name: &str| vec![NamedConfig::new(name)];
    vec![
        ("lz4 of 2 GiB", one("numcodecs.lz4"), [&0x7FFF_FFFFu32.to_le_bytes()[..], &[0; 60]].concat()),
        ("lz4 of 4 GiB", one("numcodecs.lz4"), vec![0xFF; 64]),
        (
            "snappy of 4 GiB",
            one("numcodecs.snappy"),
            [&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F][..], &[0; 60]].concat(),
        ),
        // A frame header with a content size of 2^62, one segment, then a raw block.
        (
            "zstd of 2^62",
            one("zstd"),
            [&[0x28, 0xB5, 0x2F, 0xFD, 0xE0][..], &(1u64 << 62).to_le_bytes(), &[1, 0, 0]].concat(),
        ),
        // Version 2, memcpyed, of 2^31 - 1 bytes in blocks as large.
        (
            "blosc of 2 GiB",
            vec![blosc("lz4")],
            [
                &[2, 1, 0x02, 1][..],
                &0x7FFF_FFFFu32.to_le_bytes(),
                &0x7FFF_FFFFu32.to_le_bytes(),
                &[40, 0, 0, 0],
                &[0; 24],
            ]
            .concat(),
        ),
    ]
}

fn json_codecs(codecs: &[NamedConfig]) -> serde_json::Value {
    let mut list = vec![json!({"name": "bytes"})];
    list.extend(codecs.iter().map(NamedConfig::to_json));
    list.into()
}

#[test]
fn a_bomb_ends_at_the_declared_size() {
    let alone = memory::alone();
    for (name, codecs, bytes) in bombs().into_iter().chain(lies()) {
        let document = document(&json_codecs(&codecs)).to_string();
        let store = store(&[("a/zarr.json", document.as_bytes()), (KEY, &bytes)]);
        let array = open(&store).unwrap();
        for selection in [Selection::all(&[16, 16]), Selection::region(&[3, 3], &[1, 1])] {
            let (result, peak) = memory::peak(&alone, || array.read_bytes(&selection));
            let error = result.unwrap_err();
            let source = chunk_error(&error, KEY, name);
            assert!(
                matches!(
                    source,
                    CodecError::Size { .. } | CodecError::Corrupt { .. } | CodecError::Truncated { .. }
                ),
                "{name}: {error:?}"
            );
            assert!(error.to_string().contains("chunk [0, 0]"), "{name}: {error}");
            assert!(peak <= 256 + MARGIN, "{name}: {} KiB", peak >> 10);
        }
        let (result, peak) =
            memory::peak(&alone, || array.write_bytes(&Selection::region(&[3, 3], &[1, 1]), &[1]));
        chunk_error(&result.unwrap_err(), KEY, name);
        assert!(peak <= 256 + MARGIN, "{name}: {} KiB to write", peak >> 10);
        let (findings, peak) = memory::peak(&alone, || array.check(true).unwrap());
        assert!(
            findings.len() == 1 && peak <= 256 + MARGIN,
            "{name}: check: {findings:?}, {} KiB",
            peak >> 10
        );
    }
}

#[test]
fn a_bomb_of_variable_length_elements_is_bounded_too() {
    let alone = memory::alone();
    let zstd = NamedConfig::new("zstd");
    let zeros = encode(&zstd, &vec![0; 256 * MIB]);
    // One element of 2^32 - 2 bytes is declared, and one of 100 MB that is there.
    let declared = encode(&zstd, &[[16, 0, 0, 0], [0xFE, 0xFF, 0xFF, 0xFF]].concat());
    for (name, bytes) in [("zeros", zeros), ("a declared element", declared)] {
        let mut document = document(&json!([{"name": "vlen-utf8"}, {"name": "zstd"}]));
        document["data_type"] = json!("string");
        document["fill_value"] = json!("");
        document["shape"] = json!([4, 4]);
        document["chunk_grid"]["configuration"]["chunk_shape"] = json!([4, 4]);
        let store = store(&[("a/zarr.json", document.to_string().as_bytes()), (KEY, &bytes)]);
        let array = open(&store).unwrap();
        let mut out = vec![0; 16 * 16];
        let mut view = OutputView::new(&mut out, &[4, 4], 16).unwrap();
        let (result, peak) =
            memory::peak(&alone, || array.read_into(&Selection::all(&[4, 4]), &mut view, &Arena::new()));
        let error = result.unwrap_err();
        assert!(matches!(&error, ArrayError::Chunk { .. }), "{name}: {error:?}");
        chunk_error(&error, KEY, name);
        // Such a chunk has no declared size: the chain grants it 32 MiB, and the decoder needs its window.
        assert!(peak <= 256 + MARGIN + 16 * MIB, "{name}: {} KiB", peak >> 10);
    }
}

#[test]
fn a_declared_chunk_far_larger_than_its_bytes_costs_the_declared_chunk_at_most() {
    let alone = memory::alone();
    for codec in ["zstd", "gzip", "numcodecs.lz4", "numcodecs.snappy", "numcodecs.bz2", "blosc"] {
        let config = if codec == "blosc" { blosc("lz4") } else { NamedConfig::new(codec) };
        let config = if codec == "gzip" { config.with("level", 1) } else { config };
        let mut document = document(&json_codecs(std::slice::from_ref(&config)));
        document["shape"] = json!([64 * MIB, 1]);
        document["chunk_grid"]["configuration"]["chunk_shape"] = json!([64 * MIB, 1]);
        let bytes = encode(&config, &[5; 1000]);
        let store = store(&[("a/zarr.json", document.to_string().as_bytes()), (KEY, &bytes)]);
        let array = open(&store).unwrap();
        let (result, peak) = memory::peak(&alone, || array.read_bytes(&Selection::region(&[9, 0], &[1, 1])));
        chunk_error(&result.unwrap_err(), KEY, codec);
        assert!(peak <= 64 * MIB + MARGIN, "{codec}: {} KiB", peak >> 10);
    }
}
