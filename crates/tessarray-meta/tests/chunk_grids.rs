//! Chunk grids whose lengths are listed: read in every form, written as zarr-python writes them, and refused where they
//! cut nothing or do not reach.

#![allow(clippy::unwrap_used)] // a failure here is a failed test

use proptest::prelude::*;
use serde_json::{Value, json};
use tessarray_meta::{ArrayMetadata, ChunkGrid, Limits, MetaError};

fn document(shape: &[u64], configuration: &Value, codecs: &Value) -> Vec<u8> {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "rectilinear", "configuration": configuration},
        "chunk_key_encoding": {"name": "default"}, "codecs": codecs, "attributes": {},
    });
    document.to_string().into_bytes()
}

fn read(shape: &[u64], chunk_shapes: &Value) -> Result<ArrayMetadata, MetaError> {
    let configuration = json!({"kind": "inline", "chunk_shapes": chunk_shapes});
    ArrayMetadata::from_v3(&document(shape, &configuration, &json!(["bytes"])), &Limits::default())
}

fn sharded(
    shape: &[u64],
    chunk_shapes: &Value,
    inner: &Value,
    order: Option<&Value>,
) -> Result<ArrayMetadata, MetaError> {
    let mut codecs = vec![json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": inner, "codecs": ["bytes"], "index_codecs": ["bytes"]}})];
    if let Some(order) = order {
        codecs.insert(0, json!({"name": "transpose", "configuration": {"order": order}}));
    }
    let configuration = json!({"kind": "inline", "chunk_shapes": chunk_shapes});
    ArrayMetadata::from_v3(&document(shape, &configuration, &json!(codecs)), &Limits::default())
}

fn written(metadata: &ArrayMetadata) -> Value {
    let document: Value = serde_json::from_slice(&metadata.to_v3()).unwrap();
    document["chunk_grid"]["configuration"]["chunk_shapes"].clone()
}

fn lengths(metadata: &ArrayMetadata, axis: usize) -> Vec<u64> {
    let edges = &metadata.chunk_grid.edges()[axis];
    (0..edges.count(metadata.shape[axis])).map(|chunk| edges.length(chunk)).collect()
}

#[test]
fn every_form_of_the_specification_is_read_and_the_shortest_written() {
    let forms = json!([[[2, 3]], [[1, 6]], [1, [2, 1], 3], [[1, 3], 3], [6], [2, 2, 2], 4]);
    let metadata = read(&[6; 7], &forms).unwrap();
    let expected: [&[u64]; 7] = [&[2, 2, 2], &[1; 6], &[1, 2, 3], &[1, 1, 1, 3], &[6], &[2, 2, 2], &[4, 4]];
    for (axis, expected) in expected.iter().enumerate() {
        assert_eq!(lengths(&metadata, axis), *expected, "axis {axis}");
    }
    let short = json!([[[2, 3]], [[1, 6]], [1, 2, 3], [[1, 3], 3], [6], [[2, 3]], 4]);
    assert_eq!(written(&metadata), short);
    assert_eq!(metadata.grid_shape(), [3, 6, 3, 4, 1, 3, 2]);
    assert_eq!(metadata.chunk_grid.largest()[..], [2, 1, 3, 3, 6, 2, 4]);
}

#[test]
fn lengths_behind_the_end_are_kept() {
    let metadata = read(&[5], &json!([[4, 4, 9]])).unwrap();
    assert_eq!((metadata.grid_shape(), written(&metadata)), (vec![2], json!([[[4, 2], 9]])));
    assert_eq!(read(&[0], &json!([[4]])).unwrap().grid_shape(), [0]);
    assert_eq!(read(&[], &json!([])).unwrap().chunk_grid.rank(), 0);
}

#[test]
fn documents_that_cut_nothing_are_refused_by_place() {
    let at = "zarr.json: chunk_grid.configuration.chunk_shapes";
    for (shapes, place) in [
        (json!([[]]), "[0]: expected at least one chunk length"),
        (json!([[3, 0, 7]]), "[0][1]: expected a positive integer"),
        (json!([[3, -1, 8]]), "[0][1]: expected a positive integer"),
        (json!([[3, 7.0]]), "[0][1]: expected a positive integer"),
        (json!([[3, "7"]]), "[0][1]: expected a positive integer"),
        (json!([[3, true]]), "[0][1]: expected a positive integer"),
        (json!([[3, null, 7]]), "[0][1]: expected a positive integer"),
        (json!([[[5, 0]]]), "[0][0]: expected a positive integer"),
        (json!([[[0, 5]]]), "[0][0]: expected a positive integer"),
        (json!([[[5, 2, 1]]]), "[0][0]: expected a positive integer"),
        (json!([[[5]]]), "[0][0]: expected a positive integer"),
        (json!([[[[5, 1], 2]]]), "[0][0]: expected a positive integer"),
        (
            json!([[5, 4]]),
            "[0]: expected chunk lengths with a sum of at least 10, the dimension's length, found 9",
        ),
        (json!([[[1, 1u64 << 62], [1, 1u64 << 62]]]), "[0]: expected chunk lengths with a sum below 2^63"),
        (json!([[[1u64 << 62, 4]]]), "[0]: expected chunk lengths with a sum below 2^63"),
        (json!([[[3, u64::MAX]]]), "[0][0]: expected a positive integer"),
        (json!([0]), "[0]: expected a positive integer"),
        (json!(["10"]), "[0]: expected a positive integer"),
        (json!([{"a": 1}]), "[0]: expected a positive integer"),
        (json!([[10], [10]]), ": expected 1 lengths"),
        (json!([]), ": expected 1 lengths"),
        (json!(10), ": expected an array"),
        (json!([[1u64 << 40]]), ": bytes of a chunk"),
    ] {
        let error = read(&[10], &shapes).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{at}{place}")), "{shapes}: {error}");
    }
    for (configuration, place) in [
        (json!({"chunk_shapes": [[10]]}), "kind: missing"),
        (json!({"kind": "reference", "chunk_shapes": [[10]]}), "kind: expected \"inline\""),
        (json!({"kind": "inline"}), "chunk_shapes: missing"),
        (json!({"kind": "inline", "chunk_shapes": [[10]], "order": 1}), "order"),
    ] {
        let document = document(&[10], &configuration, &json!(["bytes"]));
        let error = ArrayMetadata::from_v3(&document, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("chunk_grid.configuration.{place}")), "{error}");
    }
}

#[test]
fn a_run_of_any_number_of_chunks_takes_what_its_bytes_take() {
    let metadata = read(&[1 << 62], &json!([[[1, 1u64 << 62]]])).unwrap();
    assert_eq!(metadata.grid_shape(), [1 << 62]);
    let ChunkGrid::Rectilinear(axes) = &metadata.chunk_grid else { panic!() };
    assert!(matches!(&axes[0], tessarray_grid::Edges::Runs(runs) if runs.runs().len() == 1));
}

#[test]
fn shards_hold_whole_inner_chunks() {
    assert!(sharded(&[10, 8], &json!([[4, 6], 8]), &json!([2, 4]), None).is_ok());
    let error = sharded(&[10, 8], &json!([[4, 6], [4, 2, 2]]), &json!([2, 4]), None).unwrap_err().to_string();
    assert!(
        error.contains("chunk_shapes[1]: expected shard lengths that are multiples of the inner chunk's 4"),
        "{error}"
    );
    assert!(sharded(&[10, 8], &json!([[4, 6], [4, 2, 2]]), &json!([2, 2]), None).is_ok());
    // Behind a transpose the inner chunks are those of other axes.
    assert!(sharded(&[10, 8], &json!([[4, 6], [4, 3, 1]]), &json!([1, 2]), Some(&json!([1, 0]))).is_ok());
    assert!(sharded(&[10, 8], &json!([[4, 6], [4, 3, 1]]), &json!([2, 1]), Some(&json!([1, 0]))).is_err());
}

#[test]
fn zarr_v2_has_no_listed_lengths() {
    let mut metadata = read(&[10], &json!([[3, 7]])).unwrap();
    assert!(metadata.to_v2().unwrap_err().to_string().contains("chunks of unequal lengths in Zarr v2"));
    metadata.format = tessarray_meta::Format::V2;
    assert!(metadata.validate(&Limits::default()).is_err());
}

#[test]
fn an_axis_that_grows_gets_one_more_chunk() {
    let metadata = read(&[10, 6], &json!([[3, 7], 4])).unwrap();
    let grown = metadata.reshaped(&[15, 9]).unwrap();
    assert_eq!((written(&grown), grown.grid_shape()), (json!([[3, 7, 5], 4]), vec![3, 3]));
    let shorter = grown.reshaped(&[2, 1]).unwrap();
    assert_eq!((written(&shorter), shorter.grid_shape()), (json!([[3, 7, 5], 4]), vec![1, 1]));
    assert_eq!(written(&shorter.reshaped(&[15, 1]).unwrap()), json!([[3, 7, 5], 4]));
    let shards = sharded(&[10, 8], &json!([[4, 6], 8]), &json!([2, 4]), None).unwrap();
    assert_eq!(written(&shards.reshaped(&[13, 8]).unwrap()), json!([[4, 6, 4], 8]));
    assert!(metadata.reshaped(&[u64::MAX, 1]).is_err());
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_equal(
        axes in prop::collection::vec(
            prop_oneof![
                (1u64..9).prop_map(|n| json!(n)),
                prop::collection::vec(prop_oneof![
                    (1u64..9).prop_map(|n| json!(n)),
                    (1u64..9, 1u64..1_000_000).prop_map(|(n, count)| json!([n, count])),
                ], 1..6).prop_map(Value::Array),
            ], 0..4),
    ) {
        let metadata = read(&vec![1; axes.len()], &Value::Array(axes)).unwrap();
        prop_assert_eq!(&ArrayMetadata::from_v3(&metadata.to_v3(), &Limits::default()).unwrap(), &metadata);
        metadata.validate(&Limits::default()).unwrap();
    }
}
