//! Metadata documents: what is accepted is written and read back equal.

use crate::Target;
use tessarray_meta::{ArrayMetadata, GroupMetadata, Limits};

const V3: [&str; 4] = [
    r#"{"zarr_format": 3, "node_type": "array", "shape": [16, 16], "data_type": "float32", "fill_value": "NaN",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 8]}}, "attributes": {"a": [1, null]},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "dimension_names": ["y", null],
        "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
                   {"name": "bytes", "configuration": {"endian": "little"}},
                   {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle",
                                                       "typesize": 4, "blocksize": 0}}, {"name": "crc32c"}]}"#,
    r#"{"zarr_format": 3, "node_type": "array", "shape": [64], "data_type": {"name": "numpy.datetime64",
        "configuration": {"unit": "ns", "scale_factor": 1}}, "fill_value": "NaT", "storage_transformers": [],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [32]}},
        "chunk_key_encoding": {"name": "v2"}, "x": {"must_understand": false},
        "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [8], "index_location": "start",
          "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
          "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}]}"#,
    r#"{"zarr_format": 3, "node_type": "array", "shape": [16, 9, 6], "data_type": "int8", "fill_value": 1,
        "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes":
          [[2, [4, 3], 6], 4, [[2, 3]]]}}, "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}]}"#,
    r#"{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": {"name": "struct", "configuration":
        {"fields": [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "complex64"}]}},
        "fill_value": {"a": 1, "b": [0.0, "Infinity"]},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]}"#,
];

const V2: [&str; 2] = [
    r#"{"zarr_format": 2, "shape": [10, 10], "chunks": [4, 3], "dtype": ">f8", "fill_value": "-Infinity",
        "order": "F", "filters": [{"id": "delta", "dtype": ">f8"}], "dimension_separator": "/",
        "compressor": {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 2, "blocksize": 0}}"#,
    r#"{"zarr_format": 2, "shape": [5], "chunks": [2], "dtype": [["a", "<i4"], ["b", "|S3"]],
        "fill_value": "AAAAAAAAAA==", "order": "C", "filters": null, "compressor": null}"#,
];

/// Groups with a copy of the metadata below them.
fn groups_v3() -> Vec<Vec<u8>> {
    let group = |nodes: &str| {
        let document = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}, "consolidated_metadata":
            {"kind": "inline", "must_understand": false, "metadata": {NODES}}}"#;
        document.replace("NODES", nodes).into_bytes()
    };
    let empty = r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;
    vec![group(""), group(&format!(r#""g": {empty}, "g/a": {}, "g/b": {}"#, V3[0], V3[1])), empty.into()]
}

fn groups_v2() -> Vec<Vec<u8>> {
    let document = r#"{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, ".zattrs": {"a": 1},
        "g/.zgroup": {"zarr_format": 2}, "g/a/.zarray": ARRAY, "g/a/.zattrs": {"units": "K"}}}"#;
    V2.iter().map(|array| document.replace("ARRAY", array).into_bytes()).collect()
}

fn seeds(documents: &[&str]) -> Vec<Vec<u8>> {
    documents.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn targets() -> Vec<Target> {
    vec![
        Target::new("metadata_v3", seeds(&V3), |input| {
            let limits = Limits::default();
            let read = ArrayMetadata::from_v3(input, &limits).map_err(|error| error.to_string())?;
            let written = read.to_v3();
            let again = ArrayMetadata::from_v3(&written, &limits)
                .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&written)));
            assert_eq!(again.to_v3(), written, "a document that was written is read as another");
            Ok(())
        }),
        Target::new("metadata_v2", seeds(&V2), |input| {
            let limits = Limits::default();
            let read = ArrayMetadata::from_v2(input, None, &limits).map_err(|error| error.to_string())?;
            let (array, attributes) = read.to_v2().map_err(|error| error.to_string())?;
            let again = ArrayMetadata::from_v2(&array, Some(&attributes), &limits)
                .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&array)));
            assert_eq!(again.to_v2().unwrap().0, array, "a document that was written is read as another");
            Ok(())
        }),
        Target::new("group_v3", groups_v3(), |input| {
            let limits = Limits::default();
            let read = GroupMetadata::from_v3(input, &limits).map_err(|error| error.to_string())?;
            let written = read.to_v3();
            let again = GroupMetadata::from_v3(&written, &limits)
                .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&written)));
            assert_eq!(again.to_v3(), written, "a document that was written is read as another");
            paths_stay_below(&again);
            Ok(())
        }),
        Target::new("group_v2", groups_v2(), |input| {
            let limits = Limits::default();
            let read = GroupMetadata::from_zmetadata(input, &limits).map_err(|error| error.to_string())?;
            let written = read.to_zmetadata().map_err(|error| error.to_string())?;
            let again = GroupMetadata::from_zmetadata(&written, &limits)
                .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&written)));
            assert_eq!(
                again.to_zmetadata().unwrap(),
                written,
                "a document that was written is read as another"
            );
            paths_stay_below(&again);
            Ok(())
        }),
    ]
}

/// No node of a group names one outside it.
fn paths_stay_below(group: &GroupMetadata) {
    for path in group.consolidated.iter().flatten().map(|(path, _)| path).chain(group.unread.keys()) {
        let climbs = path.split('/').any(|segment| segment.is_empty() || segment == "." || segment == "..");
        assert!(!climbs, "{path:?} leads out of the group");
    }
}
