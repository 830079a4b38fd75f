//! Documents that must be refused, each with the place that the error must name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod documents;

use documents::{refused_v2, refused_v3, v2, v3, with};
use serde_json::{Value, json};
use tessarray_meta::{ArrayMetadata, Limits, MetaError, Node};

const SHARD: &str = "zarr.json: codecs[0].configuration";

#[test]
fn a_missing_member_is_named() {
    for member in [
        "zarr_format",
        "node_type",
        "shape",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "codecs",
    ] {
        let error = refused_v3(&with(v3(), &format!("/{member}"), None));
        assert_eq!(error, MetaError::Missing { path: format!("zarr.json: {member}") });
    }
    for member in ["chunk_shape", "codecs", "index_codecs"] {
        let error = refused_v3(&with(v3(), &format!("/codecs/0/configuration/{member}"), None));
        assert_eq!(error, MetaError::Missing { path: format!("{SHARD}.{member}") });
    }
    for member in ["zarr_format", "shape", "chunks", "dtype", "order"] {
        let error = refused_v2(&with(v2(), &format!("/{member}"), None));
        assert_eq!(error, MetaError::Missing { path: format!(".zarray: {member}") });
    }
}

#[test]
fn sizes_are_limited_before_anything_is_allocated() {
    let mut huge = v3();
    huge["codecs"][0]["configuration"]["chunk_shape"] = json!([1, 1]);
    huge["chunk_grid"]["configuration"]["chunk_shape"] = json!([1 << 18, 1 << 18]);
    let error = refused_v3(huge.to_string().as_bytes()).to_string();
    assert!(error.contains("inner chunks of a shard 68719476736, over the limit of 268435456"), "{error}");

    let mut wide = v3();
    wide["codecs"] = json!(["bytes"]);
    wide["chunk_grid"]["configuration"]["chunk_shape"] = json!([1 << 20, 1 << 20]);
    let error = refused_v3(wide.to_string().as_bytes()).to_string();
    assert!(
        error.contains("chunk_grid.configuration.chunk_shape: bytes of a chunk 4398046511104"),
        "{error}"
    );

    let mut inner = v3();
    inner["chunk_grid"]["configuration"]["chunk_shape"] = json!([1 << 17, 1 << 17]);
    inner["codecs"][0]["configuration"]["chunk_shape"] = json!([1 << 17, 1 << 16]);
    let error = refused_v3(inner.to_string().as_bytes()).to_string();
    assert!(error.contains(&format!("{SHARD}.chunk_shape: bytes of a chunk")), "{error}");

    // Huge shapes are legal: nothing is allocated for what is not read.
    let mut far = v3();
    far["shape"] = json!([i64::MAX, i64::MAX]);
    let far = ArrayMetadata::from_v3(far.to_string().as_bytes(), &Limits::default()).unwrap();
    assert_eq!(far.grid_shape(), [922337203685477581, 461168601842738791]);

    let limits = Limits::default();
    let long = vec![b' '; limits.max_document_bytes + 1];
    assert!(matches!(Node::from_v3(&long, &limits), Err(MetaError::TooLarge { .. })));
}

#[test]
fn text_that_is_not_strict_json_is_refused_with_its_place() {
    let doc = v3().to_string();
    let cases: Vec<(String, &str)> = vec![
        ("".into(), "zarr.json: not valid JSON: EOF"),
        ("null".into(), "zarr.json: expected an object, found null"),
        ("[]".into(), "zarr.json: expected an object, found an array"),
        (
            doc.replace("\"fill_value\":0.0", "\"fill_value\":NaN"),
            "zarr.json: fill_value: not valid JSON: NaN and",
        ),
        (
            doc.replace("\"fill_value\":0.0", "\"fill_value\":-Infinity"),
            "zarr.json: fill_value: not valid JSON: NaN",
        ),
        (
            doc.replace("\"fill_value\":0.0", "\"fill_value\":Infinity"),
            "zarr.json: fill_value: not valid JSON: NaN",
        ),
        (
            doc.replace("\"fill_value\":0.0", "\"fill_value\":1e400"),
            "zarr.json: fill_value: not valid JSON: number",
        ),
        (doc.replace("\"fill_value\":0.0", "\"fill_value\":0x0"), "zarr.json: not valid JSON: expected"),
        (doc.replace("\"fill_value\":0.0", "\"fill_value\":'0'"), "zarr.json: fill_value: not valid JSON"),
        (
            doc.replace("[10,20]", "[10,20,]"),
            "zarr.json: chunk_grid.configuration.chunk_shape[2]: not valid JSON",
        ),
        (
            doc.replace("[10,20]", "[10,1e400]"),
            "zarr.json: chunk_grid.configuration.chunk_shape[1]: not valid JSON",
        ),
        (doc.replace("\"shape\":", "\"shape\":[1],\"shape\":"), "zarr.json: shape: duplicate member"),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":{\"a\":{\"b\":1,\"b\":1}}"),
            "zarr.json: attributes.a.b: dup",
        ),
        (doc.clone() + "x", "zarr.json: not valid JSON: trailing"),
        (format!("\u{feff}{doc}"), "zarr.json: not valid JSON"),
        (doc[..doc.len() - 10].into(), "not valid JSON: EOF"),
        ("[".repeat(1_000_000), "nested deeper than 32 levels"),
        (
            doc.replace("\"y\"", "\n NaN"),
            "zarr.json: dimension_names[0]: not valid JSON: NaN and Infinity are no JSON numbers (they are written as \
             strings) at line 2 column 2",
        ),
        (doc.replace("[10,20]", "[10,-Infinity]"), "chunk_shape[1]: not valid JSON: NaN and"),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":NaN"),
            "zarr.json: attributes: not valid JSON: NaN and",
        ),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":{NaN:1}"),
            "zarr.json: attributes: not valid JSON: NaN and",
        ),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":{\"a\":-NaN}"),
            "zarr.json: attributes.a: not valid JSON",
        ),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":{\"a\":NaNa}"),
            "zarr.json: attributes: not valid JSON",
        ),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":{\"a\":[1NaN]}"),
            "attributes.a[1]: not valid JSON: NaN and",
        ),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":{\"a\":nan}"),
            "zarr.json: attributes.a: not valid JSON",
        ),
        ("NaN".into(), "zarr.json: not valid JSON: NaN and"),
        (
            doc.replace("\"attributes\":{}", "\"attributes\":{\"a\":\"\\uf8fftessarray:NaN\"}"),
            "zarr.json: attributes.a: expected text other than what stands for NaN",
        ),
        ("{\"a\":".repeat(1_000_000), "nested deeper than 32 levels"),
        (
            doc.replace("\"attributes\":{}", &format!("\"attributes\":{{\"a\":{}", "[".repeat(99))),
            "zarr.json: attributes.a[0]",
        ),
    ];
    for (document, expected) in cases {
        let error = refused_v3(document.as_bytes()).to_string();
        assert!(error.contains(expected), "{error}\nis not\n{expected}");
        assert!(error.len() < 400, "{error}");
    }
    let mut bytes = doc.into_bytes();
    bytes[3] = 0xff;
    assert!(matches!(refused_v3(&bytes), MetaError::Json { .. }));
}

#[test]
fn fill_values_out_of_range_are_refused() {
    let table: Vec<(&str, Value)> = vec![
        ("bool", json!(2)),
        ("bool", json!(0.5)),
        ("bool", json!("true")),
        ("uint8", json!(256)),
        ("uint8", json!(-1)),
        ("uint8", json!(0.5)),
        ("uint8", json!("1")),
        ("int8", json!(128)),
        ("int16", json!(-32769)),
        ("int32", json!(2147483648u32)),
        ("int64", json!(9223372036854775808u64)),
        ("uint64", json!(18446744073709551616.0)),
        ("uint64", json!("NaN")),
        ("float16", json!(65520)),
        ("bfloat16", json!(3.4e38 * 10.0)),
        ("float64", json!("0x7fc00000")),
        ("complex64", json!(1.0)),
        ("complex64", json!([1.0])),
        ("complex64", json!([1.0, "x"])),
        ("complex128", json!([1.0, 2.0, 3.0])),
        ("string", json!(0)),
        ("variable_length_bytes", json!("%%%")),
        ("bytes", json!([1, 256])),
        ("r16", json!([1])),
        ("r16", json!([1, 2, 3])),
        ("r16", json!("AQ==")),
    ];
    for (data_type, fill) in table {
        let mut document = v3();
        document["data_type"] = data_type.into();
        document["fill_value"] = fill.clone();
        let error = refused_v3(document.to_string().as_bytes());
        assert!(matches!(&error, MetaError::Value { .. }), "{data_type} {fill}: {error}");
        assert!(error.to_string().starts_with("zarr.json: fill_value"), "{error}");
    }
}

#[test]
fn a_v2_member_that_is_wrong_is_named() {
    ArrayMetadata::from_v2(v2().to_string().as_bytes(), None, &Limits::default()).unwrap();
    let table: Vec<(&str, Value, &str)> = vec![
        ("/zarr_format", json!(3), ".zarray: zarr_format: expected 2, found 3"),
        ("/zarr_format", json!(9), ".zarray: zarr_format: format version 9 is newer"),
        ("/shape", json!([1, "x"]), ".zarray: shape[1]"),
        ("/chunks", json!([0, 1]), ".zarray: chunks[0]: expected a positive integer"),
        ("/chunks", json!([1]), ".zarray: chunks: expected 2 lengths"),
        ("/chunks", json!([1u64 << 40, 1u64 << 40]), ".zarray: chunks: bytes of a chunk 2^64 or more"),
        ("/chunks", json!([1u64 << 40, 1]), ".zarray: chunks: bytes of a chunk 4398046511104"),
        ("/dtype", json!("f4"), ".zarray: dtype: expected a NumPy type string"),
        ("/dtype", json!("<f16"), ".zarray: dtype: unknown data type \"<f16\""),
        ("/dtype", json!("|f4"), ".zarray: dtype: expected a byte order"),
        ("/dtype", json!("|S0"), ".zarray: dtype: expected elements of 1"),
        ("/dtype", json!("<U99999999"), ".zarray: dtype: expected elements of 1"),
        ("/dtype", json!("<U-1"), ".zarray: dtype: expected a NumPy type string"),
        ("/dtype", json!("<M8[x]"), ".zarray: dtype"),
        ("/dtype", json!("<M8[ns"), ".zarray: dtype"),
        ("/dtype", json!("é"), ".zarray: dtype"),
        ("/dtype", json!(""), ".zarray: dtype"),
        ("/dtype", json!("|O"), ".zarray: dtype: codec \"|O\" is refused"),
        ("/dtype", json!([]), ".zarray: dtype: expected at least one field"),
        ("/dtype", json!([["a", "|O"]]), ".zarray: dtype[0][1]: codec \"|O\" is refused"),
        ("/dtype", json!([["a", "<f4"], ["b", ">f4"]]), ".zarray: dtype[1]: not supported"),
        ("/dtype", json!([["a", "<f4", [2]]]), ".zarray: dtype[0]: not supported"),
        ("/dtype", json!([["a"]]), ".zarray: dtype[0]: expected a pair"),
        ("/dtype", json!(null), ".zarray: dtype"),
        ("/order", json!("A"), ".zarray: order: expected \"C\" or \"F\""),
        ("/fill_value", json!("x"), ".zarray: fill_value"),
        ("/fill_value", json!(1e300), ".zarray: fill_value"),
        ("/dimension_separator", json!(".."), ".zarray: dimension_separator: expected"),
        ("/filters", json!({}), ".zarray: filters: expected an array"),
        ("/filters", json!([1]), ".zarray: filters[0]: expected an object"),
        ("/filters", json!([{}]), ".zarray: filters[0].id: missing"),
        ("/filters", json!([{"id": 1}]), ".zarray: filters[0].id: expected a string"),
        ("/filters", json!([{"id": "pickle"}]), ".zarray: filters[0].id: codec \"pickle\" is refused"),
        ("/filters", json!([{"id": "json2"}]), ".zarray: filters[0].id: codec \"json2\" is refused"),
        ("/filters", json!([{"id": "msgpack2"}]), ".zarray: filters[0].id: codec"),
        ("/filters", json!([{"id": "categorize"}]), ".zarray: filters[0].id: codec"),
        ("/filters", json!([{"id": "vlen-array"}]), ".zarray: filters[0]: not supported"),
        ("/filters", json!([{"id": "vlen-utf8"}]), ".zarray: filters[0]: expected a filter for float32"),
        (
            "/filters",
            json!([{"id": "zlib"}, {"id": "delta", "dtype": "<f4"}]),
            ".zarray: filters[1]: not supported",
        ),
        (
            "/filters",
            json!([{"id": "astype", "encode_dtype": "x"}]),
            ".zarray: filters[0].encode_dtype: expected a NumPy type",
        ),
        (
            "/filters",
            json!(vec![json!({"id": "shuffle"}); 40]),
            ".zarray: filters: filters 40, over the limit",
        ),
        ("/compressor", json!("zlib"), ".zarray: compressor: expected an object"),
        ("/compressor", json!({"id": "pickle"}), ".zarray: compressor.id: codec \"pickle\" is refused"),
        ("/compressor", json!({"level": 1}), ".zarray: compressor.id: missing"),
    ];
    for (pointer, value, expected) in table {
        let error = refused_v2(&with(v2(), pointer, Some(value))).to_string();
        assert!(error.contains(expected), "{pointer}:\n    {error}\nis not\n    {expected}");
    }
}

/// hdmf-dev/hdmf-zarr#385: a harmless object codec in front must not hide the one behind it.
#[test]
fn a_vlen_filter_does_not_hide_an_object_codec() {
    let mut document = v2();
    document["dtype"] = json!("|O");
    document["fill_value"] = json!("");
    for filters in [
        json!([{"id": "vlen-utf8"}, {"id": "pickle"}]),
        json!([{"id": "pickle"}, {"id": "vlen-utf8"}]),
        json!([{"id": "vlen-utf8"}, {"id": "json2"}]),
    ] {
        document["filters"] = filters;
        let error = refused_v2(document.to_string().as_bytes());
        assert!(matches!(error, MetaError::Forbidden { .. }), "{error}");
        // Only one of them runs code.
        assert_eq!(error.to_string().contains("runs code"), error.to_string().contains("pickle"), "{error}");
    }
}
