//! Members of v3 arrays that must be refused, each with the place that the error must name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod documents;

use documents::{refused_v3, v3, with};
use serde_json::{Value, json};
use tessarray_meta::{ArrayMetadata, Limits};

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
            json!("hexagonal"),
            "zarr.json: chunk_grid: unknown chunk grid \"hexagonal\"".into(),
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
            json!([{"name": "transpose", "configuration": {"order": "K"}}, "bytes"]),
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
