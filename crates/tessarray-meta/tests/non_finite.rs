//! NaN and the infinities in attributes: read as Python's `json` writes them, told from strings, and written as JSON.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod documents;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;
use tessarray_meta::{
    ArrayMetadata, GroupMetadata, Limits, MetaError, Node, attributes_with_words, non_finite,
    non_finite_value,
};

/// Documents of zarr-python: `{"3": {key: text}, "2": {key: text}}`.
const GOLDEN: &str = include_str!("golden/non_finite.json");

fn check(attributes: &Map<String, Value>) {
    assert!(non_finite(&attributes["missing_value"]).unwrap().is_nan());
    assert_eq!(non_finite(&attributes["valid_range"][0]), Some(f64::NEG_INFINITY));
    assert_eq!(non_finite(&attributes["valid_range"][1]), Some(f64::INFINITY));
    assert!(non_finite(&attributes["nested"]["x"][1]).unwrap().is_nan());
    assert_eq!(attributes["nested"]["x"][2], "NaN");
    assert_eq!(attributes["text"], "a \"NaN\" \\");
}

/// A document that is JSON, whoever reads it.
fn strict(document: &[u8]) -> Value {
    serde_json::from_slice(document).unwrap()
}

/// The attributes of the documents of zarr-python as they are written, and the places of numbers in them.
fn check_written(attributes: &Value, places: &Value) {
    assert_eq!(attributes["missing_value"], "NaN");
    assert_eq!(attributes["valid_range"], json!(["-Infinity", "Infinity"]));
    assert_eq!(attributes["nested"]["x"][2], "NaN");
    assert_eq!(*places, json!(["/missing_value", "/valid_range/0", "/valid_range/1", "/nested/x/1"]));
}

#[test]
fn documents_of_zarr_python_are_read_and_written_as_json() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let text = |format: &str, key: &str| golden[format][key].as_str().unwrap().to_owned();
    let limits = Limits::default();

    let (root, array) = (text("3", "zarr.json"), text("3", "a/zarr.json"));
    let group = GroupMetadata::from_v3(root.as_bytes(), &limits).unwrap();
    check(&group.attributes);
    check(group.consolidated.as_ref().unwrap()["a"].attributes());
    let written = strict(&group.to_v3());
    check_written(&written["attributes"], &written["tessarray"]["non_finite"]);
    assert_eq!(written["tessarray"]["must_understand"], false);
    let member = &written["consolidated_metadata"]["metadata"]["a"];
    check_written(&member["attributes"], &member["tessarray"]["non_finite"]);
    assert_eq!(GroupMetadata::from_v3(&group.to_v3(), &limits).unwrap(), group);
    let node = Node::from_v3(array.as_bytes(), &limits).unwrap();
    check(node.attributes());
    let written = strict(&node.to_v3());
    check_written(&written["attributes"], &written["tessarray"]["non_finite"]);
    assert_eq!(Node::from_v3(&node.to_v3(), &limits).unwrap(), node);

    let (zarray, zattrs) = (text("2", "a/.zarray"), text("2", "a/.zattrs"));
    let array = ArrayMetadata::from_v2(zarray.as_bytes(), Some(zattrs.as_bytes()), &limits).unwrap();
    check(&array.attributes);
    let (zarray, written) = array.to_v2().unwrap();
    check_written(&strict(&written), &strict(&written)["_nc_tessarray_non_finite"]);
    assert_eq!(ArrayMetadata::from_v2(&zarray, Some(&written), &limits).unwrap(), array);
    let zgroup = text("2", ".zgroup");
    let group = GroupMetadata::from_v2(zgroup.as_bytes(), Some(zattrs.as_bytes()), &limits).unwrap();
    let (zgroup, written) = group.to_v2();
    check_written(&strict(&written), &strict(&written)["_nc_tessarray_non_finite"]);
    assert_eq!(GroupMetadata::from_v2(&zgroup, Some(&written), &limits).unwrap(), group);
    let group = GroupMetadata::from_zmetadata(text("2", ".zmetadata").as_bytes(), &limits).unwrap();
    check(&group.attributes);
    check(group.consolidated.as_ref().unwrap()["a"].attributes());
    let written = group.to_zmetadata().unwrap();
    strict(&written);
    assert_eq!(GroupMetadata::from_zmetadata(&written, &limits).unwrap(), group);
}

#[test]
fn a_place_that_others_have_changed_is_what_they_made_of_it() {
    let mark = json!({"must_understand": false, "non_finite": ["/a", "/b/1", "/c~1d", "/gone", 7, "x", ""]});
    let attributes = json!({"a": "not a number", "b": [0, "Infinity"], "c/d": "NaN", "e": "NaN"});
    let document =
        json!({"zarr_format": 3, "node_type": "group", "attributes": attributes, "tessarray": mark});
    let group = GroupMetadata::from_v3(document.to_string().as_bytes(), &Limits::default()).unwrap();
    assert_eq!(group.attributes["a"], "not a number");
    assert_eq!(non_finite(&group.attributes["b"][1]), Some(f64::INFINITY));
    assert!(non_finite(&group.attributes["c/d"]).unwrap().is_nan());
    assert_eq!(group.attributes["e"], "NaN");
    assert!(group.extra.is_empty());
    let written = strict(&group.to_v3());
    assert_eq!(written["tessarray"]["non_finite"], json!(["/b/1", "/c~1d"]));
}

#[test]
fn attributes_in_parts_say_words_where_their_document_does() {
    let group = |value: Value| {
        let members = Map::from_iter([("a".into(), json!([1.5, value, "NaN"]))]);
        GroupMetadata::new(tessarray_meta::Format::V3, members)
    };
    let (number, text) = (group(non_finite_value(f64::NAN)), group("NaN".into()));
    let attributes = strict(&number.to_v3())["attributes"].to_string();
    assert_eq!(strict(&text.to_v3())["attributes"].to_string(), attributes);
    let tight = |text: String| text.split_whitespace().collect::<String>();
    let found = attributes_with_words(&attributes, &number.to_v3()).map(tight);
    assert_eq!(found.as_deref(), Some(r#"{"a":[1.5,NaN,"NaN"]}"#));
    assert_eq!(attributes_with_words(&attributes, &text.to_v3()), None);
    let (_, zattrs) = number.to_v2();
    let found = attributes_with_words(std::str::from_utf8(&zattrs).unwrap(), b"").map(tight);
    assert_eq!(found.as_deref(), Some(r#"{"a":[1.5,NaN,"NaN"]}"#));
}

#[test]
fn only_attributes_may_hold_them() {
    let limits = Limits::default();
    let zarray = documents::v2().to_string();
    let refused = |error: MetaError, path: &str| {
        assert!(matches!(&error, MetaError::Json { path: at, .. } if at == path), "{error}");
    };
    let array = ArrayMetadata::from_v2(zarray.replace("0.0", "NaN").as_bytes(), None, &limits);
    refused(array.unwrap_err(), ".zarray: fill_value");
    let array = ArrayMetadata::from_v2(zarray.as_bytes(), Some(b"NaN"), &limits);
    refused(array.unwrap_err(), ".zattrs");
    let group = GroupMetadata::from_v2(br#"{"zarr_format": 2, "x": -Infinity}"#, None, &limits);
    refused(group.unwrap_err(), ".zgroup: x");
    let copy = |metadata: &str| {
        let head = r#"{"zarr_format": 3, "node_type": "group", "consolidated_metadata":"#;
        let document = format!(r#"{head} {{"kind": "inline", "metadata": {metadata}}}}}"#);
        GroupMetadata::from_v3(document.as_bytes(), &limits)
    };
    let group = r#""zarr_format": 3, "node_type": "group""#;
    assert!(copy(&format!(r#"{{"attributes": {{{group}, "attributes": {{"attributes": NaN}}}}}}"#)).is_ok());
    let error = copy(&format!(r#"{{"a": {{{group}, "x": {{"attributes": {{"a": NaN}}}}}}}}"#)).unwrap_err();
    refused(error, "zarr.json: consolidated_metadata.metadata.a.x.attributes.a");
    let zmetadata = |metadata: &str| {
        let document = format!(r#"{{"zarr_consolidated_format": 1, "metadata": {{".zgroup": {metadata}}}}}"#);
        GroupMetadata::from_zmetadata(document.as_bytes(), &limits)
    };
    assert!(zmetadata(r#"{"zarr_format": 2}, ".zattrs": {"a": NaN}"#).is_ok());
    assert!(
        zmetadata(r#"{"zarr_format": 2}, "a/b/.zgroup": {"zarr_format": 2}, "a/b/.zattrs": {"a": NaN}"#)
            .is_ok()
    );
    refused(zmetadata(r#"{"zarr_format": NaN}"#).unwrap_err(), ".zmetadata: metadata..zgroup.zarr_format");
    refused(
        zmetadata(r#"{"zarr_format": 2}, "a.zattrs": {"a": NaN}"#).unwrap_err(),
        ".zmetadata: metadata.a.zattrs.a",
    );
}

#[test]
fn metadata_built_in_code_holds_them_in_attributes_only() {
    let limits = Limits::default();
    let good = ArrayMetadata::from_v3(documents::v3().to_string().as_bytes(), &limits).unwrap();
    let refused = |change: &dyn Fn(&mut ArrayMetadata), path: &str| {
        let mut array = good.clone();
        change(&mut array);
        let error = array.validate(&limits).unwrap_err();
        assert!(matches!(&error, MetaError::Json { path: at, .. } if at == path), "{error}");
    };
    let nan = || non_finite_value(f64::NAN);
    refused(
        &|array| array.codecs.push(NamedConfig::new("x").with("a", vec![nan()])),
        "metadata: codecs[1].configuration.a[0]",
    );
    refused(&|array| drop(array.extra.insert("x".into(), json!({"y": nan()}))), "metadata: x.y");
    refused(
        &|array| array.dimension_names = Some(vec![None, nan().as_str().map(str::to_owned)]),
        "metadata: dimension_names[1]",
    );
    refused(
        &|array| {
            array.data_type = DataType::String;
            array.fill_value = nan().as_str().unwrap().as_bytes().into();
        },
        "metadata: fill_value",
    );
    let mut array = good.clone();
    array.attributes.insert("x".into(), nan());
    array.validate(&limits).unwrap();
    assert_eq!(ArrayMetadata::from_v3(&array.to_v3(), &limits).unwrap(), array);
}

#[test]
fn a_number_among_the_dimension_names_of_xarray_stays_an_attribute() {
    let zattrs = br#"{"_ARRAY_DIMENSIONS": ["y", NaN]}"#;
    let zarray = documents::v2().to_string();
    let array = ArrayMetadata::from_v2(zarray.as_bytes(), Some(zattrs), &Limits::default()).unwrap();
    assert_eq!(array.dimension_names, None);
    assert!(non_finite(&array.attributes["_ARRAY_DIMENSIONS"][1]).is_some());
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = "[\\\\\"NaInfity\u{f8ff}é\\n{}:,-]{0,9}";
    let leaf = prop_oneof![
        any::<f64>().prop_map(non_finite_value),
        proptest::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]).prop_map(non_finite_value),
        any::<i64>().prop_map(Value::from),
        proptest::sample::select(vec![Value::Null, true.into(), "NaN".into(), "-Infinity".into()]),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((text, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn all_attributes_survive(value in any_value(), key in "[\"NaN\\\\]{0,4}") {
        let group = GroupMetadata::new(tessarray_meta::Format::V3, Map::from_iter([(key, value)]));
        strict(&group.to_v3());
        prop_assert_eq!(&GroupMetadata::from_v3(&group.to_v3(), &Limits::default()).unwrap(), &group);
        let (zgroup, zattrs) = group.to_v2();
        let again = GroupMetadata::from_v2(&zgroup, Some(&zattrs), &Limits::default()).unwrap();
        prop_assert_eq!(&again.attributes, &group.attributes);
    }

    /// Whatever the attributes are, the document is JSON, in serde_json's layout.
    #[test]
    fn the_layout_is_that_of_other_writers(value in any_value()) {
        let group = GroupMetadata::new(tessarray_meta::Format::V2, Map::from_iter([("a".into(), value)]));
        let (_, written) = group.to_v2();
        prop_assert_eq!(serde_json::to_vec_pretty(&strict(&written)).unwrap(), written);
    }
}
