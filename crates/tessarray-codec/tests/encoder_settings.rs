//! Settings that decoding does not need: of data that are there none refuses a read, of a new array each is checked.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation)]

use serde_json::{Value, json};
use tessarray_buffer::{Arena, DataType};
use tessarray_codec::{AnyCodec, ChunkSpec, CodecError, NamedConfig, Registry};

const LEN: usize = 400;

/// Every codec's settings that only its encoder needs.
const SETTINGS: [(&str, &[&str]); 9] = [
    ("blosc", &["cname", "clevel", "shuffle", "typesize", "blocksize"]),
    ("zstd", &["level", "checksum"]),
    ("gzip", &["level"]),
    ("zlib", &["level"]),
    ("bz2", &["level"]),
    ("lz4", &["acceleration"]),
    ("bitround", &["keepbits"]),
    ("pcodec", &["level", "mode_spec", "paging_spec", "equal_pages_up_to"]),
    ("pcodec_bytes", &["level", "mode_spec", "paging_spec", "equal_pages_up_to"]),
];

/// What other writers put there, and what nobody should.
fn odd_values() -> Vec<Value> {
    vec![
        json!(1_000_000_000_000_i64),
        json!(-1_000_000_000_000_i64),
        json!(u64::MAX),
        json!(-1e300),
        json!(2.5),
        json!("NO"),
        json!("9999999999999999999999"),
        json!("quick"),
        json!(""),
        json!([1]),
        json!({"fast": true}),
    ]
}

fn spec() -> ChunkSpec {
    ChunkSpec {
        shape: [LEN as u64 / 4].into_iter().collect(),
        data_type: DataType::Float32,
        fill: Box::new([0; 4]),
    }
}

fn encoded(codec: &AnyCodec, input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match codec {
        AnyCodec::Array(codec) => {
            out.resize(input.len(), 0);
            codec.encode(&spec(), input, &mut out).unwrap();
        }
        AnyCodec::Serializer(codec) => codec.encode(&spec(), input, &Arena::new(), &mut out).unwrap(),
        AnyCodec::Bytes(codec) => codec.encode(input, &mut out).unwrap(),
    }
    out
}

fn decoded(codec: &AnyCodec, input: &[u8]) -> Vec<u8> {
    let mut out = vec![0xA5; LEN];
    match codec {
        AnyCodec::Array(codec) => codec.decode(&spec(), input, &mut out).unwrap(),
        AnyCodec::Serializer(codec) => codec.decode(&spec(), input, &mut out, &Arena::new()).unwrap(),
        AnyCodec::Bytes(codec) => codec.decode(input, &mut out).unwrap(),
    }
    out
}

/// The codec with the settings that it cannot do without.
fn plain(name: &str) -> NamedConfig {
    let config = NamedConfig::new(name);
    if name == "bitround" { config.with("keepbits", 23) } else { config }
}

#[test]
fn what_only_the_encoder_needs_refuses_no_read_and_no_write_and_is_checked_in_new_arrays() {
    let registry = Registry::new();
    let input: Vec<u8> = (0..LEN as u32 / 4).flat_map(|i| (i as f32 * 1.5).to_ne_bytes()).collect();
    for (name, settings) in SETTINGS {
        let usual = registry.build(&plain(name), &spec()).unwrap();
        let chunk = encoded(&usual, &input);
        for &setting in settings {
            let mut refused = 0;
            for value in odd_values() {
                let config = plain(name).with(setting, value.clone());
                let odd = registry
                    .build(&config, &spec())
                    .unwrap_or_else(|error| panic!("{name} {setting} {value}: {error}"));
                assert_eq!(decoded(&odd, &chunk), input, "{name} {setting} {value}");
                if name != "bitround" {
                    assert_eq!(decoded(&usual, &encoded(&odd, &input)), input, "{name} {setting} {value}");
                }
                match registry.build(&config.for_new(), &spec()) {
                    Ok(_) => {}
                    Err(CodecError::Config { reason, .. }) => {
                        assert!(reason.contains(setting), "{reason}");
                        refused += 1;
                    }
                    Err(other) => panic!("{name} {setting} {value}: {other}"),
                }
            }
            // An acceleration below 1 is one to the library itself.
            assert!(refused >= odd_values().len() - 1, "{name} {setting}: {refused} refused");
        }
    }
}

#[test]
fn the_nearest_value_is_the_one_that_is_taken() {
    let registry = Registry::new();
    for (name, setting, given, taken) in [
        ("zstd", "level", json!(100), json!(22)),
        ("zstd", "level", json!("13"), json!(13)),
        ("zstd", "level", json!(1.0), json!(1)),
        ("zstd", "checksum", json!("NO"), json!(false)),
        ("zstd", "checksum", json!("YES"), json!(true)),
        ("zstd", "checksum", json!(0), json!(false)),
        ("lz4", "acceleration", json!(1_000_000), json!(65_537)),
        ("gzip", "level", json!(12), json!(9)),
        ("bz2", "level", json!(0), json!(1)),
        ("blosc", "clevel", json!(11), json!(9)),
        ("blosc", "typesize", json!(0), json!(4)),
        ("shuffle", "elementsize", json!(0), json!(4)),
    ] {
        let written = match registry.build(&NamedConfig::new(name).with(setting, given), &spec()).unwrap() {
            AnyCodec::Bytes(codec) => codec.config(),
            other => panic!("{other:?}"),
        };
        assert_eq!(written.configuration[setting], taken, "{name} {setting}");
    }
}
