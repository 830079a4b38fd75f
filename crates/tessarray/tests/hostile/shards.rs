//! Shards whose index lies, its checksum right; and shards that end too early.

use super::{MIB, assert_names, crc32c, document, memory, open, store};
use serde_json::{Value, json};
use tessarray::{ArrayError, Selection};

const NONE: (u64, u64) = (u64::MAX, u64::MAX);
const GOOD: [(u64, u64); 4] = [(0, 64), (64, 64), (128, 64), (192, 64)];
const KEY: &str = "a/c/0/0";
const INDEX: u64 = 4 * 16 + 4;

fn sharding(location: &str) -> Value {
    json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [8, 8], "codecs": [{"name": "bytes"}], "index_location": location,
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    }}])
}

/// 256 bytes in four inner chunks, and an index whose checksum is right. Offsets count from the first data byte.
fn shard(location: &str, entries: [(u64, u64); 4]) -> Vec<u8> {
    let base = if location == "start" { INDEX } else { 0 };
    let mut index = Vec::new();
    for (offset, length) in entries {
        let offset = if offset >= 1 << 40 { offset } else { offset + base };
        index.extend(offset.to_le_bytes());
        index.extend(length.to_le_bytes());
    }
    index.extend(crc32c(&index));
    let data: Vec<u8> = (1..=255).chain([7]).collect();
    if location == "start" { [index, data].concat() } else { [data, index].concat() }
}

fn first(entry: (u64, u64)) -> [(u64, u64); 4] {
    [entry, GOOD[1], GOOD[2], GOOD[3]]
}

/// Ways to touch a shard: read it whole, in parts and by element, and write a part of it.
fn touches() -> Vec<Selection> {
    vec![
        Selection::all(&[16, 16]),
        Selection::region(&[1, 1], &[3, 3]),
        Selection::region(&[0, 0], &[1, 1]),
        Selection::Points(vec![vec![2, 5], vec![3, 1]]),
    ]
}

#[test]
fn a_good_shard_made_by_hand_is_read() {
    let _alone = memory::alone();
    for location in ["start", "end"] {
        let document = document(&sharding(location)).to_string();
        let store = store(&[("a/zarr.json", document.as_bytes()), (KEY, &shard(location, GOOD))]);
        assert_eq!(
            open(&store).unwrap().read_bytes(&Selection::region(&[0, 0], &[1, 9])).unwrap()[6..],
            [7, 8, 65]
        );
    }
}

#[test]
fn an_index_that_lies_is_refused_whole() {
    let alone = memory::alone();
    let far = 1 << 62;
    let lies: [(&str, [(u64, u64); 4]); 14] = [
        ("starts past the end", first((100_000, 64))),
        ("ends past the end", first((300, 64))),
        ("ends one byte past the data", [GOOD[0], GOOD[1], GOOD[2], (193, 64)]),
        ("an offset of 2^62", first((far, 64))),
        ("a length of 2^62", first((0, far))),
        ("wraps around", first((u64::MAX - 31, 64))),
        ("sums to 2^64", first((u64::MAX - 63, 64))),
        ("an offset of 2^64 - 2", first((u64::MAX - 1, 1))),
        ("half missing: the offset", first((u64::MAX, 64))),
        ("half missing: the length", first((0, u64::MAX))),
        ("overlaps the next", first((32, 64))),
        ("is the next", first((64, 64))),
        ("holds all others", first((0, 256))),
        ("the last overlaps the first", [(64, 64), (128, 64), (192, 64), (65, 10)]),
    ];
    for (location, (lie, entries)) in ["start", "end"].into_iter().flat_map(|l| lies.map(|lie| (l, lie))) {
        let document = document(&sharding(location)).to_string();
        let store = store(&[("a/zarr.json", document.as_bytes()), (KEY, &shard(location, entries))]);
        refused(&alone, &store, &format!("{location}: {lie}"));
    }
    let start = document(&sharding("start")).to_string();
    for offset in [0, 1, INDEX - 1] {
        let mut index: Vec<u8> =
            [offset, 64].into_iter().chain([u64::MAX; 6]).flat_map(u64::to_le_bytes).collect();
        index.extend(crc32c(&index));
        index.resize(400, 0);
        let store = store(&[("a/zarr.json", start.as_bytes()), (KEY, &index)]);
        refused(&alone, &store, &format!("an entry at byte {offset} of the index"));
    }
}

fn refused(alone: &std::sync::MutexGuard<'_, ()>, store: &std::sync::Arc<dyn tessarray::Store>, case: &str) {
    let array = open(store).unwrap();
    let before = store.get(&super::support::key(KEY)).unwrap().map(|(bytes, _)| bytes);
    for selection in touches() {
        let (result, peak) = memory::peak(alone, || array.read_bytes(&selection));
        let error = result.unwrap_err();
        assert!(matches!(&error, ArrayError::ShardIndex { .. }), "{case}: {error:?}");
        assert_names(&error, KEY, case);
        assert!(error.to_string().contains("shard [0, 0]"), "{case}: {error}");
        assert!(peak <= MIB, "{case}: {peak} bytes for {selection:?}");
        if selection.shape()[..] != [16, 16] {
            let data = vec![9; selection.shape().iter().product::<u64>() as usize];
            let error = array.write_bytes(&selection, &data).unwrap_err();
            assert_names(&error, KEY, case);
        }
    }
    assert_eq!(
        store.get(&super::support::key(KEY)).unwrap().map(|(bytes, _)| bytes),
        before,
        "{case}: changed"
    );
    let findings = array.check(true).unwrap();
    assert!(
        findings.iter().all(|finding| finding.key == KEY) && !findings.is_empty(),
        "{case}: {findings:?}"
    );
    // A write that replaces all of it needs nothing of it.
    array.write_bytes(&Selection::all(&[16, 16]), &[3; 256]).unwrap();
    assert_eq!(array.read_bytes(&Selection::all(&[16, 16])).unwrap(), [3; 256], "{case}");
}

#[test]
fn an_entry_of_a_wrong_length_spoils_its_own_chunk_alone() {
    let _alone = memory::alone();
    let entries =
        [("short", first((0, 63))), ("empty", first((0, 0))), ("long", [(0, 65), (65, 64), (129, 64), NONE])];
    for (case, entries) in entries {
        let document = document(&sharding("end")).to_string();
        let store = store(&[("a/zarr.json", document.as_bytes()), (KEY, &shard("end", entries))]);
        let array = open(&store).unwrap();
        for selection in touches() {
            let error = array.read_bytes(&selection).unwrap_err();
            assert_names(&error, KEY, case);
            assert!(
                matches!(&error, ArrayError::Chunk { chunk, .. } if chunk == &[0, 0]),
                "{case}: {error:?}"
            );
        }
        assert_eq!(array.read_bytes(&Selection::region(&[0, 8], &[8, 8])).unwrap().len(), 64, "{case}");
        array.write_bytes(&Selection::region(&[2, 2], &[1, 1]), &[1]).unwrap_err();
    }
}

#[test]
fn a_shard_cut_at_any_length_is_an_error_and_never_fill() {
    let _alone = memory::alone();
    for location in ["start", "end"] {
        let document = document(&sharding(location)).to_string();
        let whole = shard(location, GOOD);
        for length in 0..whole.len() {
            let store = store(&[("a/zarr.json", document.as_bytes()), (KEY, &whole[..length])]);
            let array = open(&store).unwrap();
            for selection in touches() {
                let case = format!("{location}: {length} of {} bytes", whole.len());
                let error = array.read_bytes(&selection).unwrap_err();
                assert!(matches!(error, ArrayError::ShardIndex { .. }), "{case}: {error:?}");
                assert_names(&error, KEY, &case);
            }
            array.write_bytes(&Selection::region(&[1, 1], &[2, 2]), &[1; 4]).unwrap_err();
            assert!(!array.check(false).unwrap().is_empty());
        }
    }
}

#[test]
fn shards_in_shards_may_lie_at_any_depth() {
    let _alone = memory::alone();
    let inner = sharding("end")[0].clone();
    let mut outer = sharding("end");
    outer[0]["configuration"]["chunk_shape"] = json!([16, 16]);
    outer[0]["configuration"]["codecs"] = json!([inner]);
    let mut document = document(&outer);
    document["shape"] = json!([32, 32]);
    document["chunk_grid"]["configuration"]["chunk_shape"] = json!([32, 32]);
    let document = document.to_string();
    for (case, entries) in [
        ("past the end", first((300, 64))),
        ("wraps", first((u64::MAX - 31, 64))),
        ("alias", first((64, 64))),
    ] {
        let lying = shard("end", entries);
        // The first child is missing, so that the lying one does not start at byte 0.
        let good = shard("end", GOOD);
        let n = good.len() as u64;
        let data = [good, lying].concat();
        let mut index: Vec<u8> = [NONE, (0, n), (n, n), NONE]
            .into_iter()
            .flat_map(|(o, l)| [o, l])
            .flat_map(u64::to_le_bytes)
            .collect();
        index.extend(crc32c(&index));
        let store = store(&[("a/zarr.json", document.as_bytes()), (KEY, &[data, index].concat())]);
        let array = open(&store).unwrap();
        let error = array.read_bytes(&Selection::region(&[16, 0], &[1, 1])).unwrap_err();
        assert!(
            matches!(&error, ArrayError::ShardIndex { shard, .. } if shard == &[1, 0]),
            "{case}: {error:?}"
        );
        assert_names(&error, KEY, case);
    }
}
