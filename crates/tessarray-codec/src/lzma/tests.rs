use crate::conformance::{self, Flips, bytes_codec, samples};
use crate::{CodecError, NamedConfig, Registry};
use serde_json::{Value, json};

fn raw(filters: Value) -> NamedConfig {
    NamedConfig::new("numcodecs.lzma").with("format", 3).with("filters", filters)
}

#[test]
fn every_format_conforms() {
    conformance::bytes(&NamedConfig::new("lzma").with("preset", 0), Flips::AreSeen);
    conformance::bytes(&NamedConfig::new("lzma").with("format", 2).with("preset", 0), Flips::MayPass);
    conformance::bytes(&raw(json!([{"id": 33, "preset": 0}])), Flips::MayPass);
}

#[test]
fn every_check_and_filter_gives_the_bytes_back() {
    let mut configs: Vec<NamedConfig> =
        [0, 1, 4, 10].map(|check| NamedConfig::new("lzma").with("check", check)).into();
    configs.push(NamedConfig::new("numcodecs.lzma").with("preset", 1u32 | 1 << 31));
    configs.push(raw(json!([{"id": 3, "dist": 4}, {"id": 33, "preset": 1, "dict_size": 65536, "lc": 2}])));
    configs
        .push(raw(json!([{"id": 0x4000_0000_0000_0001_u64, "preset": 3, "mf": 4, "mode": 1, "depth": 9}])));
    for id in 4..=9 {
        configs.push(raw(json!([{"id": id, "start_offset": 16}, {"id": 33}])));
    }
    for config in configs {
        let codec = bytes_codec(&config);
        for data in [0, 1, 5_000, 300_000].into_iter().flat_map(samples) {
            let mut encoded = Vec::new();
            codec.encode(&data, &mut encoded).unwrap();
            let mut out = vec![0; data.len()];
            codec.decode(&encoded, &mut out).unwrap();
            assert!(out == data, "{config:?}");
        }
    }
}

#[test]
fn streams_after_one_another_decode_to_their_concatenation() {
    let codec = bytes_codec(&NamedConfig::new("lzma"));
    let mut streams = Vec::new();
    codec.encode(&[1; 1000], &mut streams).unwrap();
    codec.encode(&[2; 500], &mut streams).unwrap();
    let mut out = vec![0; 1500];
    codec.decode(&streams, &mut out).unwrap();
    assert_eq!((out[999], out[1000]), (1, 2));
}

/// A header of the format "alone" that asks for a dictionary of 4 GiB.
#[test]
fn a_declared_dictionary_is_not_trusted() {
    let codec = bytes_codec(&NamedConfig::new("lzma").with("format", 2));
    let mut bomb = vec![0x5D, 0, 0, 0, 0xF0];
    bomb.extend([0xFF; 8]);
    bomb.extend([0; 20]);
    let error = codec.decode(&bomb, &mut [0; 100]).unwrap_err();
    assert!(matches!(error, CodecError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("256 MiB"), "{error}");
}

#[test]
fn settings_that_cannot_be_are_named() {
    let spec = conformance::spec(tessarray_buffer::DataType::UInt8, &[4]);
    for (config, word) in [
        (NamedConfig::new("lzma").with("format", 4), "format"),
        (NamedConfig::new("lzma").with("format", 3), "filters"),
        (NamedConfig::new("lzma").with("check", 3), "check"),
        (NamedConfig::new("lzma").with("preset", 10), "preset"),
        (NamedConfig::new("lzma").with("filters", json!([{"id": 33}])), "format 3"),
        (raw(json!([])), "filters"),
        (raw(json!([{"id": 3}])), "compressor at its end"),
        (raw(json!([{"id": 33}, {"id": 3}])), "compressor at its end"),
        (raw(json!([{"id": 10}, {"id": 33}])), "no filter has the id 10"),
        (raw(json!([{"id": 33, "dict_size": 1}])), "dict_size"),
        (raw(json!([{"id": 3, "dist": 257}, {"id": 33}])), "dist"),
        (raw(json!([{"id": 3, "distance": 1}, {"id": 33}])), "distance"),
    ] {
        let error = Registry::new().build(&config.for_new(), &spec).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}
