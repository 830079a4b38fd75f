//! Documents that must be refused, each with the place that the error must name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use serde_json::{Value, json};
use tessarray_meta::{ArrayMetadata, GroupMetadata, Limits, MetaError, Node};

fn v3() -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": [100, 100], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 20]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0, "attributes": {},
        "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [5, 10],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "index_location": "end"
        }}],
        "dimension_names": ["y", null], "storage_transformers": []
    })
}

fn v2() -> Value {
    json!({
        "zarr_format": 2, "shape": [100, 100], "chunks": [10, 20], "dtype": "<f4", "fill_value": 0.0, "order": "C",
        "filters": [{"id": "shuffle", "elementsize": 4}], "compressor": {"id": "zstd", "level": 1},
        "dimension_separator": "."
    })
}

/// The document with the member at `pointer` set, or removed where `value` is `None`.
fn with(mut document: Value, pointer: &str, value: Option<Value>) -> Vec<u8> {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = document.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(members), Some(value)) => drop(members.insert(key.into(), value)),
        (Value::Object(members), None) => drop(members.shift_remove(key)),
        (Value::Array(items), Some(value)) => items[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    document.to_string().into_bytes()
}

fn refused_v3(document: &[u8]) -> MetaError {
    let error = ArrayMetadata::from_v3(document, &Limits::default());
    let node = Node::from_v3(document, &Limits::default());
    let error = error.expect_err(&String::from_utf8_lossy(document));
    assert!(node.is_err());
    error
}

fn refused_v2(document: &[u8]) -> MetaError {
    ArrayMetadata::from_v2(document, None, &Limits::default()).expect_err(&String::from_utf8_lossy(document))
}

fn nested_shardings(depth: usize) -> Value {
    let bytes = json!([{"name": "bytes"}]);
    (0..depth).fold(bytes.clone(), |codecs, _| {
        json!([{"name": "sharding_indexed", "configuration":
            {"chunk_shape": [1, 1], "codecs": codecs, "index_codecs": bytes}}])
    })
}

const SHARD: &str = "zarr.json: codecs[0].configuration";

#[test]
fn a_v3_member_that_is_wrong_is_named() {
    ArrayMetadata::from_v3(v3().to_string().as_bytes(), &Limits::default()).unwrap();
    let dt = |name: &str, configuration: Value| json!({"name": name, "configuration": configuration});
    let chunks = "zarr.json: chunk_grid.configuration.chunk_shape";
    let table: Vec<(&str, Value, String)> = vec![
        ("/zarr_format", json!("3"), "zarr.json: zarr_format: expected 3, found \"3\"".into()),
        ("/zarr_format", json!(2), "zarr.json: zarr_format: expected 3, found 2".into()),
        ("/zarr_format", json!(4), "zarr.json: zarr_format: format version 4 is newer than 3".into()),
        ("/node_type", json!("arrays"), "zarr.json: node_type: expected".into()),
        ("/node_type", json!(1), "zarr.json: node_type: expected".into()),
        ("/shape", json!(100), "zarr.json: shape: expected an array, found 100".into()),
        ("/shape", json!(null), "zarr.json: shape: expected an array, found null".into()),
        (
            "/shape/1",
            json!(-1),
            "zarr.json: shape[1]: expected an integer from 0 to 2^63 - 1, found -1".into(),
        ),
        ("/shape/1", json!(1.5), "zarr.json: shape[1]".into()),
        ("/shape/0", json!(9223372036854775808u64), "zarr.json: shape[0]".into()),
        ("/shape/0", json!(true), "zarr.json: shape[0]".into()),
        ("/shape", json!([1]), "zarr.json: dimension_names: expected 1 names".into()),
        ("/shape", json!(vec![1; 65]), "zarr.json: shape: dimensions 65, over the limit of 64".into()),
        ("/shape", json!(vec![1; 1000]), "zarr.json: shape: dimensions 1000".into()),
        ("/data_type", json!("float33"), "zarr.json: data_type: unknown data type \"float33\"".into()),
        ("/data_type", json!(4), "zarr.json: data_type: expected a name".into()),
        ("/data_type", json!({}), "zarr.json: data_type.name: missing".into()),
        ("/data_type", json!({"name": 3}), "zarr.json: data_type.name: expected a string, found 3".into()),
        ("/data_type", json!("r7"), "zarr.json: data_type: expected r and a number of bits".into()),
        ("/data_type", json!("r0"), "zarr.json: data_type".into()),
        ("/data_type", json!("r99999999999"), "zarr.json: data_type".into()),
        ("/data_type", json!("numpy.datetime64"), "zarr.json: data_type.configuration.unit: missing".into()),
        (
            "/data_type",
            dt("numpy.datetime64", json!({"unit": "fortnight", "scale_factor": 1})),
            "zarr.json: data_type.configuration.unit: expected a NumPy time unit".into(),
        ),
        (
            "/data_type",
            dt("numpy.timedelta64", json!({"unit": "ns", "scale_factor": 0})),
            "zarr.json: data_type.configuration.scale_factor".into(),
        ),
        (
            "/data_type",
            dt("numpy.timedelta64", json!({"unit": "ns", "scale_factor": 2147483648u32})),
            "zarr.json: data_type.configuration.scale_factor".into(),
        ),
        (
            "/data_type",
            dt("fixed_length_utf32", json!({"length_bytes": 6})),
            "zarr.json: data_type.configuration.length_bytes: expected a multiple of 4, found 6".into(),
        ),
        (
            "/data_type",
            dt("raw_bytes", json!({"length_bytes": 0})),
            "zarr.json: data_type.configuration.length_bytes: expected an integer from 1".into(),
        ),
        (
            "/data_type",
            dt("null_terminated_bytes", json!({"length_bytes": 1u64 << 40})),
            "zarr.json: data_type.configuration.length_bytes".into(),
        ),
        (
            "/data_type",
            dt("float32", json!({"x": 1})),
            "zarr.json: data_type.configuration.x: unknown".into(),
        ),
        (
            "/data_type",
            dt("struct", json!({"fields": []})),
            "zarr.json: data_type.configuration.fields".into(),
        ),
        (
            "/data_type",
            dt("struct", json!({"fields": [{"name": "a", "data_type": "string"}]})),
            "zarr.json: data_type.configuration.fields[0]: expected a data type of fixed size".into(),
        ),
        (
            "/data_type",
            dt("struct", json!({"fields": [["a", "int8"], ["a", "int8"]]})),
            "zarr.json: data_type.configuration.fields[1]: expected a field name, used once".into(),
        ),
        (
            "/data_type",
            dt("structured", json!({"fields": [["a", "int8", 3]]})),
            "zarr.json: data_type.configuration.fields[0]: expected a pair".into(),
        ),
        ("/chunk_grid", json!("regular"), format!("{chunks}: missing")),
        (
            "/chunk_grid/name",
            json!("rectilinear"),
            "zarr.json: chunk_grid: unknown chunk grid \"rectilinear\"".into(),
        ),
        (
            "/chunk_grid/configuration/chunk_shape/1",
            json!("x"),
            format!("{chunks}[1]: expected a positive integer"),
        ),
        (
            "/chunk_grid/configuration/chunk_shape/0",
            json!(0),
            format!("{chunks}[0]: expected a positive integer"),
        ),
        ("/chunk_grid/configuration/chunk_shape/0", json!(-5), format!("{chunks}[0]")),
        ("/chunk_grid/configuration/chunk_shape/0", json!(u64::MAX), format!("{chunks}[0]")),
        ("/chunk_grid/configuration/chunk_shape", json!([10]), format!("{chunks}: expected 2 lengths")),
        (
            "/chunk_grid/configuration/chunk_shape",
            json!([1u64 << 62, 1u64 << 62]),
            format!("{chunks}: bytes of a shard 2^64 or more, over the limit"),
        ),
        (
            "/chunk_grid/configuration/chunk_shape",
            json!([1u64 << 40, 10]),
            format!("{chunks}: bytes of a shard 43980465111040, over"),
        ),
        (
            "/chunk_grid/configuration/origin",
            json!([0]),
            "zarr.json: chunk_grid.configuration.origin: unknown".into(),
        ),
        ("/chunk_grid/x", json!(1), "zarr.json: chunk_grid.x: unknown member \"x\"".into()),
        (
            "/chunk_key_encoding/name",
            json!("v4"),
            "zarr.json: chunk_key_encoding: unknown chunk key encoding \"v4\"".into(),
        ),
        (
            "/chunk_key_encoding/configuration/separator",
            json!("../"),
            "zarr.json: chunk_key_encoding.configuration.separator: expected \"/\" or \".\", found \"../\""
                .into(),
        ),
        (
            "/chunk_key_encoding/configuration",
            json!([]),
            "zarr.json: chunk_key_encoding.configuration".into(),
        ),
        ("/fill_value", json!(null), "zarr.json: fill_value: expected a number that fits float32".into()),
        ("/fill_value", json!("nan"), "zarr.json: fill_value".into()),
        ("/fill_value", json!("0x7fc0"), "zarr.json: fill_value".into()),
        ("/fill_value", json!("0x+fc00000"), "zarr.json: fill_value".into()),
        ("/fill_value", json!(1e300), "zarr.json: fill_value".into()),
        ("/fill_value", json!("1.5"), "zarr.json: fill_value".into()),
        ("/fill_value", json!([0.0]), "zarr.json: fill_value".into()),
        ("/codecs", json!([]), "zarr.json: codecs: expected at least one codec".into()),
        ("/codecs", json!({}), "zarr.json: codecs: expected an array".into()),
        ("/codecs", json!(vec!["bytes"; 33]), "zarr.json: codecs: codecs 33, over the limit of 32".into()),
        ("/codecs/0", json!(null), "zarr.json: codecs[0]: expected a name".into()),
        ("/codecs/0/name", json!(["bytes"]), "zarr.json: codecs[0].name: expected a string".into()),
        (
            "/codecs/0/configuration",
            json!(1),
            "zarr.json: codecs[0].configuration: expected an object".into(),
        ),
        ("/codecs/0/must_understand", json!("no"), "zarr.json: codecs[0].must_understand".into()),
        ("/codecs/0/version", json!(1), "zarr.json: codecs[0].version: unknown member".into()),
        (
            "/codecs",
            json!(["numcodecs.pickle"]),
            "zarr.json: codecs[0]: codec \"numcodecs.pickle\" is refused".into(),
        ),
        ("/codecs", json!(["pickle"]), "zarr.json: codecs[0]: codec \"pickle\" is refused".into()),
        (
            "/codecs/0/configuration/codecs",
            json!(["pickle"]),
            format!("{SHARD}.codecs[0]: codec \"pickle\" is refused"),
        ),
        (
            "/codecs/0/configuration/index_codecs",
            json!(["numcodecs.pickle"]),
            format!("{SHARD}.index_codecs[0]: codec"),
        ),
        (
            "/codecs/0/configuration/chunk_shape",
            json!([3, 10]),
            format!("{SHARD}.chunk_shape[0]: expected a divisor"),
        ),
        (
            "/codecs/0/configuration/chunk_shape",
            json!([5, 0]),
            format!("{SHARD}.chunk_shape[1]: expected a positive"),
        ),
        (
            "/codecs/0/configuration/chunk_shape",
            json!([5]),
            format!("{SHARD}.chunk_shape: expected 2 lengths"),
        ),
        (
            "/codecs/0/configuration/chunk_shape",
            json!("x"),
            format!("{SHARD}.chunk_shape: expected an array"),
        ),
        (
            "/codecs/0/configuration/index_location",
            json!("middle"),
            format!("{SHARD}.index_location: expected"),
        ),
        ("/codecs/0/configuration/index_location", json!(1), format!("{SHARD}.index_location: expected")),
        ("/codecs/0/configuration/codecs", json!([]), format!("{SHARD}.codecs: expected at least one")),
        (
            "/codecs/0/configuration/index_codecs",
            json!([]),
            format!("{SHARD}.index_codecs: expected at least one"),
        ),
        (
            "/codecs/0/configuration/index_codecs",
            json!(["bytes", "zstd"]),
            format!("{SHARD}.index_codecs[1]: expected a codec of fixed output size, found \"zstd\""),
        ),
        ("/codecs", nested_shardings(5), "nested shardings 5, over the limit of 4".into()),
        (
            "/codecs",
            json!([{"name": "transpose", "configuration": {"order": "F"}}, "bytes"]),
            "zarr.json: codecs[0].configuration.order: expected a permutation of 2 axes".into(),
        ),
        (
            "/codecs",
            json!([{"name": "transpose", "configuration": {"order": [0, 0]}}, "bytes"]),
            "zarr.json: codecs[0].configuration.order".into(),
        ),
        (
            "/codecs",
            json!([{"name": "transpose", "configuration": {"order": [0, 2]}}, "bytes"]),
            "zarr.json: codecs[0].configuration.order".into(),
        ),
        ("/attributes", json!([]), "zarr.json: attributes: expected an object".into()),
        ("/attributes", json!(null), "zarr.json: attributes: expected an object".into()),
        ("/dimension_names", json!(["y"]), "zarr.json: dimension_names: expected 2 names".into()),
        (
            "/dimension_names",
            json!(["y", 2]),
            "zarr.json: dimension_names[1]: expected a string or null".into(),
        ),
        ("/dimension_names", json!("yx"), "zarr.json: dimension_names: expected an array".into()),
        (
            "/storage_transformers",
            json!([{"name": "encrypt"}]),
            "zarr.json: storage_transformers[0]: unknown storage transformer \"encrypt\"".into(),
        ),
        ("/storage_transformers", json!("none"), "zarr.json: storage_transformers: expected an array".into()),
        ("/next_big_thing", json!({}), "zarr.json: next_big_thing: unknown member".into()),
        ("/next_big_thing", json!(false), "zarr.json: next_big_thing: unknown member".into()),
        (
            "/next_big_thing",
            json!({"must_understand": true}),
            "zarr.json: next_big_thing: unknown member \"next_big_thing\"".into(),
        ),
        (
            "/next_big_thing",
            json!({"must_understand": 0}),
            "zarr.json: next_big_thing: unknown member \"next_big_thing\"".into(),
        ),
    ];
    for (pointer, value, expected) in table {
        let error = refused_v3(&with(v3(), pointer, Some(value))).to_string();
        assert!(error.contains(&expected), "{pointer}:\n    {error}\nis not\n    {expected}");
    }
}

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
        ("bool", json!(1)),
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
            ".zarray: filters[0]: expected a NumPy type",
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
    }
}

#[test]
fn groups_are_checked_as_well() {
    let limits = Limits::default();
    let group = |member: &str, value: Value| {
        let mut document = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
        document[member] = value;
        GroupMetadata::from_v3(document.to_string().as_bytes(), &limits)
    };
    let inline = |name: &str, node: Value| {
        let metadata = json!({name: node});
        group(
            "consolidated_metadata",
            json!({"kind": "inline", "must_understand": false, "metadata": metadata}),
        )
    };
    let node = json!({"zarr_format": 3, "node_type": "group"});
    assert!(inline("a/b", node.clone()).is_ok());
    assert!(group("consolidated_metadata", json!(null)).is_ok());
    for name in ["", "/", "/a", "a/", "a//b", "..", "a/../b", ".", "a/./b", "a\\b", "a\u{0}", "...", "a\n"] {
        let error = inline(name, node.clone()).unwrap_err();
        assert!(matches!(&error, MetaError::Value { .. }), "{name:?}: {error}");
        let zmetadata = json!({"zarr_consolidated_format": 1, "metadata":
            {".zgroup": {"zarr_format": 2}, format!("{name}/.zgroup"): {"zarr_format": 2}}});
        let error = GroupMetadata::from_zmetadata(zmetadata.to_string().as_bytes(), &limits);
        assert!(error.is_err(), "{name:?}");
    }
    let mut bad = v3();
    bad["shape"] = json!([1, -1]);
    let error = inline("a/b", bad).unwrap_err().to_string();
    assert!(
        error.starts_with("zarr.json: consolidated_metadata.a/b.shape[1]")
            || error.contains("metadata.a/b.shape[1]"),
        "{error}"
    );
    for (member, value, expected) in [
        ("consolidated_metadata", json!(3), "zarr.json: consolidated_metadata: expected an object"),
        (
            "consolidated_metadata",
            json!({"kind": "sql"}),
            "zarr.json: consolidated_metadata.kind: unknown kind",
        ),
        (
            "consolidated_metadata",
            json!({"kind": "inline"}),
            "zarr.json: consolidated_metadata.metadata: missing",
        ),
        ("node_type", json!("array"), "zarr.json: node_type: expected \"group\""),
        ("attributes", json!(1), "zarr.json: attributes: expected an object"),
        ("zarr_format", json!(7), "zarr.json: zarr_format: format version 7 is newer"),
        ("x", json!(1), "zarr.json: x: unknown member"),
    ] {
        let error = group(member, value).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for (document, expected) in [
        ("{}", ".zmetadata: zarr_consolidated_format: missing"),
        (
            r#"{"zarr_consolidated_format":2,"metadata":{}}"#,
            ".zmetadata: zarr_consolidated_format: expected 1",
        ),
        (r#"{"zarr_consolidated_format":1,"metadata":{}}"#, ".zmetadata: metadata..zgroup: missing"),
        (
            r#"{"zarr_consolidated_format":1,"metadata":{".zgroup":{"zarr_format":2},"a/.zarray":{}}}"#,
            "a/.zarray.zarr_format: missing",
        ),
    ] {
        let error = GroupMetadata::from_zmetadata(document.as_bytes(), &limits).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(GroupMetadata::from_v2(br#"{"zarr_format":1}"#, None, &limits).is_err());
}
