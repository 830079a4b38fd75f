//! Documents that zarr-python wrote read to the values NumPy holds, and are written back as they were.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_meta::{ArrayMetadata, Format, GroupMetadata, Limits, MetaError, Node};

const V3: &str = include_str!("golden/v3.jsonl");
const V2: &str = include_str!("golden/v2.jsonl");
const CONSOLIDATED_V3: &[u8] = include_bytes!("golden/consolidated_v3.json");
const CONSOLIDATED_V2: &[u8] = include_bytes!("golden/consolidated_v2.json");

fn rows(file: &str) -> impl Iterator<Item = (Map<String, Value>, String)> + '_ {
    file.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["documents"].as_object().unwrap().clone(), row["fill"].as_str().unwrap().to_owned())
    })
}

fn text(documents: &Map<String, Value>, key: &str) -> String {
    documents[key].as_str().unwrap().to_owned()
}

fn read_v2(documents: &Map<String, Value>) -> Result<ArrayMetadata, MetaError> {
    let (zarray, zattrs) = (text(documents, ".zarray"), text(documents, ".zattrs"));
    ArrayMetadata::from_v2(zarray.as_bytes(), Some(zattrs.as_bytes()), &Limits::default())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The document without what zarr-python writes and the specification lets one leave out.
fn normal(document: &[u8]) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, value| key != "configuration" || value != &Value::Object(Map::new()));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_slice(document).unwrap();
    strip(&mut value);
    value.to_string()
}

#[test]
fn v3_arrays_of_zarr_python_are_read_and_written_back_the_same() {
    for (documents, fill) in rows(V3) {
        let document = text(&documents, "zarr.json");
        let array = ArrayMetadata::from_v3(document.as_bytes(), &Limits::default()).expect(&document);
        if cfg!(target_endian = "little") {
            assert_eq!(hex(&array.fill_value), fill, "{document}");
        }
        assert_eq!(normal(&array.to_v3()), normal(document.as_bytes()));
        array.validate(&Limits::default()).unwrap();
        let again = ArrayMetadata::from_v3(&array.to_v3(), &Limits::default()).unwrap();
        assert_eq!(again, array);
        assert_eq!(Node::from_v3(document.as_bytes(), &Limits::default()).unwrap(), Node::Array(array));
    }
}

#[test]
fn v2_arrays_of_zarr_python_are_read_and_written_back_the_same() {
    for (documents, fill) in rows(V2) {
        let array = read_v2(&documents).unwrap_or_else(|e| panic!("{e}: {documents:?}"));
        if cfg!(target_endian = "little") && array.v2.as_ref().is_some_and(|v2| !v2.fill_value_null) {
            assert_eq!(hex(&array.fill_value), fill, "{documents:?}");
        }
        let (zarray, zattrs) = array.to_v2().unwrap();
        assert_eq!(normal(&zarray), normal(text(&documents, ".zarray").as_bytes()));
        let found: Value = serde_json::from_slice(&zattrs).unwrap();
        let expected: Value = serde_json::from_str(&text(&documents, ".zattrs")).unwrap();
        assert_eq!(found, expected);
    }
}

/// What `create` makes has no v2 members of its own: derived from the translated chain, they are those read.
#[test]
fn v2_members_follow_from_the_translated_codec_chain() {
    for (documents, _) in rows(V2) {
        let array = read_v2(&documents).unwrap();
        let (zarray, _) = array.to_v2().unwrap();
        let null = array.v2.as_ref().unwrap().fill_value_null;
        let (derived, _) = ArrayMetadata { v2: None, ..array }.to_v2().unwrap();
        let derived: Value = serde_json::from_slice(&derived).unwrap();
        let zarray: Value = serde_json::from_slice(&zarray).unwrap();
        for (key, expected) in zarray.as_object().unwrap() {
            if key != "fill_value" || !null {
                assert_eq!(&derived[key], expected, "{key} of {zarray}");
            }
        }
    }
}

#[test]
fn structured_types_of_either_version_are_the_same_type() {
    let limits = Limits::default();
    let v3 =
        rows(V3).map(|(d, _)| ArrayMetadata::from_v3(text(&d, "zarr.json").as_bytes(), &limits).unwrap());
    let v2 = rows(V2).map(|(d, _)| read_v2(&d).unwrap());
    let structured = |array: &ArrayMetadata| matches!(array.data_type, DataType::Struct(_));
    let (v3, v2): (Vec<_>, Vec<_>) = (v3.filter(structured).collect(), v2.filter(structured).collect());
    assert_eq!((v3.len(), v2.len()), (1, 1));
    assert_eq!((&v2[0].data_type, &v2[0].fill_value), (&v3[0].data_type, &v3[0].fill_value));
    for array in [&v3[0], &v2[0]] {
        let serializer = array.codecs.iter().find(|codec| codec.name == "bytes").unwrap();
        assert_eq!(serializer.configuration["endian"], "little");
        assert_eq!(array.data_type.size(), 4 + 4 + 3 + 2 + 8);
    }
}

#[test]
fn order_f_filters_and_byte_order_become_codecs() {
    let chains: Vec<(Value, Vec<String>, Value)> = rows(V2)
        .map(|(documents, _)| {
            let array = read_v2(&documents).unwrap();
            let names = array.codecs.iter().map(|codec| codec.name.clone()).collect();
            let zarray = serde_json::from_str(&text(&documents, ".zarray")).unwrap();
            (zarray, names, array.codecs.iter().map(|codec| codec.to_json()).collect())
        })
        .collect();
    let of = |test: &dyn Fn(&Value) -> bool| chains.iter().find(|chain| test(&chain.0)).unwrap();
    let (_, names, chain) = of(&|z| z["order"] == "F");
    assert_eq!(names, &["transpose", "bytes", "zstd"]);
    assert_eq!(chain[0]["configuration"]["order"], serde_json::json!([1, 0]));
    assert_eq!(chain[1]["configuration"]["endian"], "big");
    let (_, names, chain) = of(&|z| z["filters"][0]["id"] == "delta");
    assert_eq!(names, &["numcodecs.delta", "bytes", "shuffle", "fletcher32", "blosc"]);
    assert_eq!(chain[4]["configuration"]["shuffle"], "bitshuffle");
    let (_, names, chain) = of(&|z| z["filters"][0]["id"] == "fixedscaleoffset");
    assert_eq!(names, &["numcodecs.fixedscaleoffset", "bytes", "gzip"]);
    assert_eq!(chain[1]["configuration"]["endian"], "big");
    let (_, names, _) = of(&|z| z["filters"][0]["id"] == "vlen-utf8");
    assert_eq!(names, &["vlen-utf8", "zstd"]);
}

#[test]
fn dimension_names_of_v2_are_taken_from_xarrays_attribute() {
    let (documents, _) =
        rows(V2).find(|(documents, _)| text(documents, ".zattrs").contains("_ARRAY")).unwrap();
    let array = read_v2(&documents).unwrap();
    assert_eq!(array.dimension_names, Some(vec![Some("y".into()), Some("x".into())]));
    assert_eq!(array.attributes.keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn consolidated_metadata_is_read_and_written_back() {
    let group = GroupMetadata::from_v3(CONSOLIDATED_V3, &Limits::default()).unwrap();
    let nodes = group.consolidated.as_ref().unwrap();
    assert_eq!(nodes.keys().collect::<Vec<_>>(), ["a", "a/z", "b"]);
    assert_eq!(GroupMetadata::from_v3(&group.to_v3(), &Limits::default()).unwrap(), group);

    let group = GroupMetadata::from_zmetadata(CONSOLIDATED_V2, &Limits::default()).unwrap();
    let nodes = group.consolidated.as_ref().unwrap();
    assert_eq!(nodes.keys().collect::<Vec<_>>(), ["a", "a/z", "b"]);
    assert_eq!(group.attributes["title"], "t");
    assert_eq!(nodes["b"].attributes()["u"], "m");
    assert!(
        matches!(&nodes["a/z"], Node::Array(array) if array.format == Format::V2 && array.shape == [2, 2])
    );
    let written = group.to_zmetadata().unwrap();
    assert_eq!(GroupMetadata::from_zmetadata(&written, &Limits::default()).unwrap(), group);
}

fn read_anything(document: &[u8]) {
    let limits = Limits::default();
    let _ = Node::from_v3(document, &limits);
    let _ = ArrayMetadata::from_v2(document, Some(document), &limits);
}

fn compact(document: &str) -> Vec<u8> {
    serde_json::from_str::<Value>(document).unwrap().to_string().into_bytes()
}

#[test]
fn no_changed_byte_of_a_golden_document_panics() {
    let documents: Vec<Vec<u8>> = rows(V3).map(|(d, _)| compact(&text(&d, "zarr.json"))).collect();
    let sharded = documents.iter().max_by_key(|document| document.len()).unwrap().clone();
    let v2 = rows(V2).map(|(d, _)| compact(&text(&d, ".zarray")));
    let v2: Vec<Vec<u8>> = v2.collect();
    let filtered = v2.iter().max_by_key(|document| document.len()).unwrap().clone();
    for mut document in [sharded, filtered] {
        for i in 0..document.len() {
            let byte = document[i];
            for other in 0..=255u8 {
                document[i] = other;
                read_anything(&document);
            }
            document[i] = byte;
        }
    }
    for mut document in documents.into_iter().chain(v2) {
        for i in 0..document.len() {
            let byte = document[i];
            for other in [b'9', b'"'] {
                document[i] = other;
                read_anything(&document);
            }
            document[i] = byte;
            read_anything(&document[..i]);
        }
    }
}
