//! Documents that are right, to be spoilt in one place.

#![allow(dead_code)] // each test file uses some of these

use serde_json::{Value, json};
use tessarray_meta::{ArrayMetadata, Limits, MetaError, Node};

pub fn v3() -> Value {
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

pub fn v2() -> Value {
    json!({
        "zarr_format": 2, "shape": [100, 100], "chunks": [10, 20], "dtype": "<f4", "fill_value": 0.0, "order": "C",
        "filters": [{"id": "shuffle", "elementsize": 4}], "compressor": {"id": "zstd", "level": 1},
        "dimension_separator": "."
    })
}

/// The document with the member at `pointer` set, or removed where `value` is `None`.
pub fn with(mut document: Value, pointer: &str, value: Option<Value>) -> Vec<u8> {
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

pub fn refused_v3(document: &[u8]) -> MetaError {
    let error = ArrayMetadata::from_v3(document, &Limits::default());
    let node = Node::from_v3(document, &Limits::default());
    let error = error.expect_err(&String::from_utf8_lossy(document));
    assert!(node.is_err());
    error
}

pub fn refused_v2(document: &[u8]) -> MetaError {
    ArrayMetadata::from_v2(document, None, &Limits::default()).expect_err(&String::from_utf8_lossy(document))
}
