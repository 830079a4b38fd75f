//! Byte orders and settings of v2 filters and compressors, as numcodecs means them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod documents;

use serde_json::{Value, json};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;
use tessarray_meta::{ArrayMetadata, Limits, v2_from_codecs};

/// The array of these members, translated to v3.
fn read(dtype: Value, filters: Value, compressor: Value) -> ArrayMetadata {
    let mut document = documents::v2();
    document["dtype"] = dtype;
    document["filters"] = filters;
    document["compressor"] = compressor;
    document["fill_value"] = Value::Null;
    ArrayMetadata::from_v2(document.to_string().as_bytes(), None, &Limits::default()).unwrap()
}

fn endian(array: &ArrayMetadata) -> Value {
    let bytes = array.codecs.iter().find(|codec| codec.name == "bytes").unwrap();
    bytes.configuration.get("endian").cloned().unwrap_or_default()
}

#[test]
fn the_serializer_has_the_byte_order_of_what_the_last_filter_gives() {
    let native = if cfg!(target_endian = "big") { "big" } else { "little" };
    let table = [
        (json!(">f4"), json!(null), json!("big")),
        (json!(">f4"), json!([{"id": "bitround", "keepbits": 9}]), json!("big")),
        (
            json!(">f4"),
            json!([{"id": "astype", "encode_dtype": "<f2", "decode_dtype": ">f4"}]),
            json!("little"),
        ),
        (json!("<f4"), json!([{"id": "astype", "encode_dtype": ">f2", "decode_dtype": "<f4"}]), json!("big")),
        (
            json!(">f4"),
            json!([{"id": "astype", "encode_dtype": "float16", "decode_dtype": ">f4"}]),
            json!(native),
        ),
        (json!("<i4"), json!([{"id": "delta", "dtype": ">i4"}]), json!("big")),
        (json!("<i4"), json!([{"id": "delta", "dtype": ">i4", "astype": null}]), json!("big")),
        (json!("<i4"), json!([{"id": "delta", "dtype": "<i4", "astype": ">i2"}]), json!("big")),
        (
            json!(">f8"),
            json!([{"id": "quantize", "digits": 2, "dtype": ">f8", "astype": "f4"}]),
            json!(native),
        ),
        (
            json!(">f8"),
            json!([{"id": "fixedscaleoffset", "scale": 1, "offset": 0, "dtype": ">f8", "astype": "|u1"}]),
            json!(null),
        ),
        (json!("|b1"), json!([{"id": "packbits"}]), json!(null)),
        (
            json!("<f8"),
            json!([{"id": "astype", "encode_dtype": ">f4", "decode_dtype": "<f8"}, {"id": "bitround", "keepbits": 9}]),
            json!("big"),
        ),
    ];
    for (dtype, filters, expected) in table {
        let array = read(dtype, filters.clone(), json!({"id": "zlib", "level": 1}));
        assert_eq!(endian(&array), expected, "{filters}");
    }
}

/// zarr-python takes what pcodec decodes for bytes of the array's own order, so the values in it are swapped ones.
#[test]
fn a_big_endian_array_with_pcodec_is_swapped_as_zarr_python_swaps_it() {
    let array = read(json!(">f4"), json!(null), json!({"id": "pcodec", "level": 8}));
    let names: Vec<&str> = array.codecs.iter().map(|codec| codec.name.as_str()).collect();
    assert_eq!((names, endian(&array)), (vec!["bytes", "pcodec_bytes"], json!("big")));
    let written = v2_from_codecs(&array.codecs, &array.data_type, 2).unwrap();
    assert_eq!((written.dtype, &written.compressor.unwrap()["id"]), (json!(">f4"), &json!("pcodec")));
}

#[test]
fn chains_are_written_with_the_names_and_settings_of_numcodecs() {
    let bytes = |endian: &str| NamedConfig::new("bytes").with("endian", endian);
    let written = |data_type: DataType, chain: &[NamedConfig]| {
        let v2 = v2_from_codecs(chain, &data_type, 2).unwrap();
        json!([v2.dtype, v2.filters, v2.compressor])
    };
    let blosc = NamedConfig::new("numcodecs.blosc")
        .with("cname", "zstd")
        .with("clevel", 5)
        .with("shuffle", "bitshuffle")
        .with("typesize", 4)
        .with("blocksize", 0);
    assert_eq!(
        written(DataType::Float32, &[bytes("big"), blosc]),
        json!([">f4", null, {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 2, "blocksize": 0}])
    );
    let zstd = |checksum: bool| NamedConfig::new("zstd").with("level", 3).with("checksum", checksum);
    assert_eq!(
        written(DataType::Int8, &[NamedConfig::new("bytes"), zstd(true), zstd(false)]),
        json!(["|i1", [{"id": "zstd", "level": 3, "checksum": true}], {"id": "zstd", "level": 3}])
    );
    let crc = |name: &str, location: &str| NamedConfig::new(name).with("location", location);
    assert_eq!(
        written(DataType::Int8, &[crc("numcodecs.crc32", "start"), crc("numcodecs.crc32", "end")]),
        json!(["|i1", [{"id": "crc32"}], {"id": "crc32", "location": "end"}])
    );

    // Types that v3 lets one leave out, in the byte order that the serializer has.
    let delta = NamedConfig::new("numcodecs.delta");
    assert_eq!(
        written(DataType::Int32, &[delta.clone(), bytes("big")]),
        json!([">i4", [{"id": "delta", "dtype": ">i4", "astype": ">i4"}], null])
    );
    let cast = NamedConfig::new("numcodecs.astype").with("encode_dtype", "float32");
    assert_eq!(
        written(DataType::Float64, &[cast.clone(), bytes("big")]),
        json!([">f8", [{"id": "astype", "encode_dtype": ">f4", "decode_dtype": ">f8"}], null])
    );
    // Types that are named stay, but for the byte order of the last.
    let named = delta.with("dtype", "<i4").with("astype", "<i2");
    assert_eq!(
        written(DataType::Int32, &[named.clone(), NamedConfig::new("numcodecs.bitround"), bytes("big")]),
        json!(["<i4", [{"id": "delta", "dtype": "<i4", "astype": ">i2"}, {"id": "bitround"}], null])
    );
    if cfg!(target_endian = "little") {
        let pcodec = NamedConfig::new("numcodecs.pcodec").with("level", 8);
        assert_eq!(
            written(DataType::Float64, &[cast.with("decode_dtype", ">f8"), pcodec]),
            json!([">f8", [{"id": "astype", "encode_dtype": "<f4", "decode_dtype": ">f8"}], {"id": "pcodec", "level": 8}])
        );
    }
}

/// What is written reads as a chain that stores the same bytes.
#[test]
fn written_chains_are_read_back() {
    let filters = [
        NamedConfig::new("numcodecs.delta"),
        NamedConfig::new("numcodecs.delta").with("astype", "<i8"),
        NamedConfig::new("numcodecs.astype").with("encode_dtype", "float64"),
    ];
    for filter in filters {
        for order in ["little", "big"] {
            let chain = [filter.clone(), NamedConfig::new("bytes").with("endian", order)];
            let v2 = v2_from_codecs(&chain, &DataType::Int32, 2).unwrap();
            let array = read(v2.dtype.clone(), json!(v2.filters), json!(null));
            assert_eq!(endian(&array), order, "{v2:?}");
            assert_eq!(v2_from_codecs(&array.codecs, &DataType::Int32, 2).unwrap(), v2);
        }
    }
}
