//! Groups and consolidated metadata that must be refused, and what must not keep a group from being opened.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod documents;

use documents::{v2, v3, with};
use serde_json::{Value, json};
use tessarray_meta::{GroupMetadata, Limits, MetaError, Node};

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
    // A damaged node costs the copy, and is named; where it lies does not.
    let mut bad = v3();
    bad["shape"] = json!([1, -1]);
    for (node, expected) in [(bad, "metadata.a/b.shape[1]"), (json!(3), "metadata.a/b: expected an object")] {
        let found = inline("a/b", node.clone()).unwrap();
        assert_eq!(found.consolidated, None);
        let error = found.unread["a/b"].to_string();
        assert!(error.contains(expected), "{error}");
        assert!(inline("a/../b", node).is_err());
    }
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
    ] {
        let error = GroupMetadata::from_zmetadata(document.as_bytes(), &limits).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(GroupMetadata::from_v2(br#"{"zarr_format":1}"#, None, &limits).is_err());
}

/// One node that needs a newer release, or is spoilt, costs the consolidated copy, and not the group.
#[test]
fn a_consolidated_node_that_is_not_understood_does_not_close_the_group() {
    let limits = Limits::default();
    let good = json!({"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}});
    let of = |pointer: &str, value: Value| {
        let spoilt: Value = serde_json::from_slice(&with(v3(), pointer, Some(value))).unwrap();
        let metadata = json!({"g": good, "new": spoilt, "z": good});
        let copy = json!({"kind": "inline", "must_understand": false, "metadata": metadata});
        let document = json!({"attributes": {"t": 1}, "zarr_format": 3, "consolidated_metadata": copy, "node_type": "group"});
        (copy, GroupMetadata::from_v3(document.to_string().as_bytes(), &limits))
    };
    for (pointer, value) in [
        ("/data_type", json!("float128")),
        ("/chunk_grid/name", json!("hexagonal")),
        ("/codecs", json!([{"name": "pickle"}])),
        ("/next_big_thing", json!(1)),
        ("/zarr_format", json!(4)),
        ("/chunk_grid/configuration/chunk_shape", json!([1u64 << 40, 1u64 << 40])),
        ("/shape", json!("x")),
        ("/fill_value", json!([])),
        ("/codecs", json!([])),
        ("/node_type", json!("grub")),
    ] {
        let (copy, group) = of(pointer, value);
        let mut group = group.unwrap();
        assert_eq!(group.consolidated, None, "{pointer}");
        assert_eq!(group.unread.keys().collect::<Vec<_>>(), ["new"], "{pointer}");
        assert_eq!(group.attributes["t"], 1);
        // It is written back for others, until there is a new one.
        let written: Value = serde_json::from_slice(&group.to_v3()).unwrap();
        assert_eq!(written["consolidated_metadata"], copy);
        assert_eq!(GroupMetadata::from_v3(&group.to_v3(), &limits).unwrap(), group);
        group.consolidated =
            Some([("g".into(), Node::from_v3(good.to_string().as_bytes(), &limits).unwrap())].into());
        group.unread.clear();
        let again = GroupMetadata::from_v3(&group.to_v3(), &limits).unwrap();
        assert_eq!(again.consolidated, group.consolidated);
    }
    let zmetadata = |zarray: Value| {
        let metadata = json!({".zgroup": {"zarr_format": 2}, ".zattrs": {"t": 1}, "o/.zarray": zarray,
            "z/.zgroup": {"zarr_format": 2}});
        let document = json!({"zarr_consolidated_format": 1, "metadata": metadata});
        GroupMetadata::from_zmetadata(document.to_string().as_bytes(), &limits)
    };
    let changed =
        |pointer: &str, value: Value| serde_json::from_slice(&with(v2(), pointer, Some(value))).unwrap();
    assert_eq!(zmetadata(v2()).unwrap().consolidated.unwrap().len(), 2);
    let object = changed("/dtype", json!("|O"));
    let pickle = changed("/filters", json!([{"id": "pickle"}]));
    for zarray in [object, pickle, changed("/shape", json!([-1, 1])), json!({}), json!([])] {
        let group = zmetadata(zarray).unwrap();
        assert_eq!(group.unread.keys().collect::<Vec<_>>(), ["o"]);
        assert_eq!((group.consolidated, &group.attributes["t"]), (None, &json!(1)));
    }
}
