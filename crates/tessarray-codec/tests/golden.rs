//! Encodings made by numcodecs (golden/make.py), zarr-python and zarrs (golden/make_extensions.py) decode to what they
//! were made of, and where the bytes are determined ours are the same.

#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::Value;
use tessarray_buffer::{Arena, DataType, VarItem};
use tessarray_codec::{AnyCodec, ChunkSpec, NamedConfig, Registry};

const CASES: &str = include_str!("golden/cases.jsonl");
const EXTENSIONS: &str = include_str!("golden/extensions.jsonl");

struct Case {
    line: usize,
    kind: String,
    config: NamedConfig,
    spec: ChunkSpec,
    input: Vec<u8>,
    decoded: Vec<u8>,
    encoded: Vec<u8>,
    exact: bool,
    words: Vec<Vec<u8>>,
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn data_type(name: &str, codec: &str) -> DataType {
    match name {
        "|b1" => DataType::Bool,
        "|i1" => DataType::Int8,
        "|u1" => DataType::UInt8,
        "<i2" => DataType::Int16,
        "<i4" => DataType::Int32,
        "<i8" => DataType::Int64,
        "<u2" => DataType::UInt16,
        "<u4" => DataType::UInt32,
        "<u8" => DataType::UInt64,
        "<f2" => DataType::Float16,
        "<f4" => DataType::Float32,
        "<f8" => DataType::Float64,
        "O" | "|O" if codec.ends_with("utf8") => DataType::String,
        "O" | "|O" => DataType::Bytes,
        other => panic!("{other}"),
    }
}

fn cases(kinds: &[&str]) -> Vec<Case> {
    let all = CASES.lines().chain(EXTENSIONS.lines()).enumerate().map(|(i, line)| {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        let mut config = NamedConfig::new(text("name"));
        config.configuration = case["configuration"].as_object().unwrap().clone();
        let data_type = data_type(&text("dtype"), &config.name);
        let words: Vec<Vec<u8>> = case["input"].as_array().map_or(vec![], |words| {
            let word = |word: &Value| word.as_str().unwrap().to_owned();
            words
                .iter()
                .map(|w| if data_type == DataType::Bytes { unhex(&word(w)) } else { word(w).into_bytes() })
                .collect()
        });
        let input = unhex(&text("input"));
        let elements = if words.is_empty() { input.len() / data_type.size() } else { words.len() };
        let fill = vec![0; data_type.size()].into();
        let spec = ChunkSpec { shape: [elements as u64].into_iter().collect(), data_type, fill };
        let exact = case["exact"] == true;
        let (decoded, encoded) = (unhex(&text("decoded")), unhex(&text("encoded")));
        Case { line: i + 1, kind: text("kind"), config, spec, input, decoded, encoded, exact, words }
    });
    let some: Vec<Case> = all.filter(|case| kinds.contains(&case.kind.as_str())).collect();
    assert!(!some.is_empty());
    some
}

#[test]
fn bytes_codecs_read_and_write_what_numcodecs_does() {
    for case in cases(&["bytes"]) {
        let AnyCodec::Bytes(codec) = Registry::new().build(&case.config, &case.spec).unwrap() else {
            panic!()
        };
        let mut out = vec![0; case.decoded.len()];
        codec.decode(&case.encoded, &mut out).unwrap_or_else(|error| panic!("line {}: {error}", case.line));
        assert_eq!(out, case.decoded, "line {}", case.line);
        let mut encoded = Vec::new();
        codec.encode(&case.input, &mut encoded).unwrap();
        if case.exact {
            assert_eq!(encoded, case.encoded, "line {}", case.line);
        }
    }
}

#[test]
#[cfg(target_endian = "little")]
fn array_codecs_read_and_write_what_numcodecs_does() {
    for case in cases(&["array", "array-encode"]) {
        let AnyCodec::Array(codec) = Registry::new().build(&case.config, &case.spec).unwrap() else {
            panic!()
        };
        let spec = codec.encoded_spec(&case.spec).unwrap();
        let mut encoded = vec![0; spec.byte_len()];
        codec.encode(&case.spec, &case.input, &mut encoded).unwrap();
        assert_eq!(encoded, case.encoded, "line {}: {:?}", case.line, case.config);
        if case.kind == "array" {
            let mut out = vec![0; case.decoded.len()];
            codec.decode(&case.spec, &case.encoded, &mut out).unwrap();
            assert_eq!(out, case.decoded, "line {}: {:?}", case.line, case.config);
        }
    }
}

#[test]
#[cfg(target_endian = "little")]
fn pcodec_reads_and_writes_what_numcodecs_does() {
    for case in cases(&["serializer"]) {
        let registry = Registry::new();
        let AnyCodec::Serializer(codec) = registry.build(&case.config, &case.spec).unwrap() else { panic!() };
        let arena = Arena::new();
        let mut out = vec![0; case.input.len()];
        codec.decode(&case.spec, &case.encoded, &mut out, &arena).unwrap();
        assert_eq!(out, case.input, "line {}", case.line);
        let mut encoded = Vec::new();
        codec.encode(&case.spec, &case.input, &arena, &mut encoded).unwrap();
        codec.decode(&case.spec, &encoded, &mut out, &arena).unwrap();
        assert_eq!(out, case.input, "line {}", case.line);
        // The bytes are the same while both are the same version of pco.
        assert_eq!(encoded, case.encoded, "line {}", case.line);
        let bytes = NamedConfig { name: "pcodec_bytes".into(), ..case.config };
        let AnyCodec::Bytes(codec) = registry.build(&bytes, &case.spec).unwrap() else { panic!() };
        out.fill(0);
        codec.decode(&case.encoded, &mut out).unwrap();
        assert_eq!(out, case.input, "line {}", case.line);
    }
}

#[test]
#[cfg(target_endian = "little")]
fn packbits_reads_and_writes_what_zarrs_does() {
    for case in cases(&["packed"]) {
        let registry = Registry::new();
        let AnyCodec::Serializer(codec) = registry.build(&case.config, &case.spec).unwrap() else { panic!() };
        let arena = Arena::new();
        let mut encoded = Vec::new();
        codec.encode(&case.spec, &case.input, &arena, &mut encoded).unwrap();
        assert_eq!(encoded, case.encoded, "line {}: {:?}", case.line, case.config);
        let mut out = vec![0; case.decoded.len()];
        codec.decode(&case.spec, &case.encoded, &mut out, &arena).unwrap();
        assert_eq!(out, case.decoded, "line {}: {:?}", case.line, case.config);
    }
}

#[test]
fn variable_length_elements_are_what_numcodecs_makes_of_them() {
    for case in cases(&["vlen"]) {
        let AnyCodec::Serializer(codec) = Registry::new().build(&case.config, &case.spec).unwrap() else {
            panic!()
        };
        let arena = Arena::new();
        let mut out = vec![0; case.spec.byte_len()];
        codec.decode(&case.spec, &case.encoded, &mut out, &arena).unwrap();
        let buffers = arena.buffers();
        let items = out.as_chunks::<{ VarItem::SIZE }>().0.iter().map(VarItem::from_bytes);
        let words: Vec<Vec<u8>> =
            items.map(|item| Arena::resolve(&buffers, item).unwrap().to_vec()).collect();
        assert_eq!(words, case.words, "line {}", case.line);
        let mut encoded = Vec::new();
        codec.encode(&case.spec, &out, &arena, &mut encoded).unwrap();
        assert_eq!(encoded, case.encoded, "line {}", case.line);
    }
}
