//! Hostile input, from a shard's index to the keys of a store: every case gives a typed error that names the key or
//! the coordinates, and no allocation beyond the declared chunk plus 32 MiB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

#[path = "../support/mod.rs"]
mod support;

mod bombs;
mod flips;
mod keys;
mod memory;
mod metadata;
mod shards;

use std::sync::Arc;
use tessarray::{Array, ArrayError, CodecError, MemoryStore, PutMode, Result, Session, Store};

const MIB: usize = 1 << 20;

/// What a chunk may cost beyond its declared size.
const MARGIN: usize = 32 * MIB;

fn session() -> Session {
    Session::builder().threads(1).build()
}

/// A store that holds these values.
fn store(values: &[(&str, &[u8])]) -> Arc<dyn Store> {
    let store = MemoryStore::new();
    for (key, value) in values {
        store.put(&support::key(key), &[value], PutMode::Overwrite).unwrap();
    }
    Arc::new(store)
}

fn open(store: &Arc<dyn Store>) -> Result<Array> {
    Array::open(&session(), store.clone(), "a")
}

/// The `zarr.json` of a 16 x 16 array of bytes, one chunk, with these codecs.
fn document(codecs: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({
        "zarr_format": 3, "node_type": "array", "shape": [16, 16], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [16, 16]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "codecs": codecs, "attributes": {}
    })
}

/// The error must be about this value, and say so.
fn assert_names(error: &ArrayError, key: &str, case: &str) {
    let named = match error {
        ArrayError::Chunk { key, .. }
        | ArrayError::ShardIndex { key, .. }
        | ArrayError::Metadata { key, .. } => key,
        other => panic!("{case}: {other:?}"),
    };
    assert_eq!(named, key, "{case}");
    assert!(error.to_string().contains(key), "{case}: {error}");
}

/// A chunk that could not be decoded, and why.
fn chunk_error<'e>(error: &'e ArrayError, key: &str, case: &str) -> &'e CodecError {
    assert_names(error, key, case);
    match error {
        ArrayError::Chunk { source, .. } => source,
        other => panic!("{case}: {other:?}"),
    }
}

/// CRC-32C, bit by bit: independent of what is tested.
fn crc32c(bytes: &[u8]) -> [u8; 4] {
    let crc = bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg()))
    });
    (!crc).to_le_bytes()
}
