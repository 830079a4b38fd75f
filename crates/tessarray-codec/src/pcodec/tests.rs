use crate::conformance::{Flips, bytes_codec_for, check_bytes_codec, samples, serializer, spec};
use crate::{CodecError, NamedConfig, Registry};
use tessarray_buffer::{DataType, TimeUnit};

const TYPES: [DataType; 12] = [
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
    DataType::TimeDelta64 { unit: TimeUnit::Second, scale: 1 },
];

#[test]
fn conforms_as_a_serializer() {
    for data_type in TYPES {
        for shape in [&[0u64][..], &[], &[20, 5]] {
            let spec = spec(data_type.clone(), shape);
            for input in samples(spec.byte_len()) {
                serializer(&NamedConfig::new("pcodec").with("level", 4), &spec, &input);
            }
        }
    }
}

#[test]
fn conforms_as_a_compressor() {
    let config = NamedConfig::new("pcodec_bytes").with("level", 2).with("equal_pages_up_to", 3000);
    for data_type in [DataType::UInt16, DataType::Float64] {
        let spec = spec(data_type.clone(), &[64]);
        let codec = bytes_codec_for(&config, &spec);
        check_bytes_codec(codec.as_ref(), data_type.size(), Flips::MayPass);
    }
}

#[test]
fn every_setting_of_numcodecs_is_taken_and_what_does_not_fit_is_named() {
    let spec = spec(DataType::Int32, &[100]);
    let input = samples(400)[1].clone();
    for config in [
        NamedConfig::new("pcodec").with("mode_spec", "classic").with("delta_spec", "no_op"),
        NamedConfig::new("pcodec").with("delta_spec", "none").with("paging_spec", "equal_pages_up_to"),
        NamedConfig::new("pcodec").with("delta_spec", "try_lookback"),
        NamedConfig::new("numcodecs.pcodec")
            .with("delta_spec", "try_consecutive")
            .with("delta_encoding_order", 2),
        NamedConfig::new("numcodecs.pcodec").with("delta_encoding_order", 1).with("level", 12),
    ] {
        serializer(&config, &spec, &input);
    }
    for config in [
        NamedConfig::new("pcodec").with("level", 13),
        NamedConfig::new("pcodec").with("mode_spec", "try"),
        NamedConfig::new("pcodec").with("delta_spec", "no_op").with("delta_encoding_order", 1),
        NamedConfig::new("pcodec").with("equal_pages_up_to", 0),
    ] {
        let error = Registry::new().build(&config.for_new(), &spec).unwrap_err();
        assert!(matches!(error, CodecError::Config { .. }), "{error}");
    }
}

#[test]
fn a_chunk_of_another_type_is_an_error() {
    let codec = |data_type| bytes_codec_for(&NamedConfig::new("pcodec_bytes"), &spec(data_type, &[10]));
    let mut encoded = Vec::new();
    codec(DataType::Int32).encode(&samples(40)[1], &mut encoded).unwrap();
    assert!(codec(DataType::Float32).decode(&encoded, &mut [0; 40]).is_err());
}
