//! A small hierarchy to work on, and what all tests of packs say of it.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]
#![allow(dead_code, reason = "each test file uses a part")]

mod hooked;

#[allow(unused_imports, reason = "each test file uses a part")]
pub use hooked::Hooked;
use std::collections::BTreeMap;
use std::sync::Arc;
use tessarray_pack::{Clock, Pack, PackOptions, Result};
use tessarray_store::{Key, Prefix, PutMode, Store, StoreError};

pub const GROUP: &[u8] = br#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;

pub fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

/// An array of one byte elements, 4 rows of 6 in chunks of 2 x 2; `n` tells documents apart.
pub fn array(n: u64) -> Vec<u8> {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "uint8",
    "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2, 2]}}}},
    "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "/"}}}},
    "fill_value": 0, "codecs": [{{"name": "bytes"}}], "attributes": {{"n": {n}}}}}"#
    )
    .into_bytes()
}

pub fn create(store: &Arc<dyn Store>) -> Pack {
    Pack::create(Arc::clone(store), PackOptions::default()).unwrap()
}

pub fn open(store: &Arc<dyn Store>) -> Result<Pack> {
    Pack::open(Arc::clone(store), PackOptions::default())
}

/// The same pack, on a machine whose clock is so many hours ahead.
pub fn open_ahead(store: &Arc<dyn Store>, hours: i64) -> Result<Pack> {
    let options = PackOptions { clock: Clock::ahead(hours * 3_600_000), ..PackOptions::default() };
    Pack::open(Arc::clone(store), options)
}

/// Step `n` of a history: what a transaction changes in it.
pub fn change(store: &dyn Store, n: u64) -> tessarray_store::Result<()> {
    let put = |name: &str, bytes: &[u8]| store.put(&key(name), &[bytes], PutMode::Overwrite).map(|_| ());
    put("zarr.json", GROUP)?;
    put("a/zarr.json", &array(n))?;
    put(&format!("a/c/{}/{}", n % 2, n % 3), &[n as u8; 4])?;
    put("a/c/0/0", &[n as u8; 4])?;
    put("notes", format!("step {n}").as_bytes())?;
    put("large", &vec![n as u8; 20_000])?;
    if n % 4 == 3 {
        store.delete(&key("notes"))?;
        store.delete_prefix(&Prefix::new("b/").unwrap())?;
    } else {
        put("b/zarr.json", &array(n))?;
        put(&format!("b/c/1/{}", n % 3), &[n as u8; 4])?;
    }
    Ok(())
}

/// Everything in a store, by key.
pub type Content = BTreeMap<String, Vec<u8>>;

pub fn content(store: &dyn Store) -> tessarray_store::Result<Content> {
    let mut found = BTreeMap::new();
    for (key, size) in store.list(&Prefix::root())? {
        let (bytes, _) = store.get(&key)?.ok_or_else(|| StoreError::Other {
            key: key.to_string(),
            message: "listed, and not there".into(),
        })?;
        assert_eq!(bytes.len() as u64, size, "{key}");
        found.insert(key.to_string(), bytes.to_vec());
    }
    Ok(found)
}

/// What the hierarchy is after each of so many steps, from 0.
pub fn history(steps: u64) -> Vec<Content> {
    let model = tessarray_store::MemoryStore::new();
    let mut all = vec![Content::new()];
    for n in 1..=steps {
        change(&model, n).unwrap();
        all.push(content(&model).unwrap());
    }
    all
}

/// One step as a transaction.
pub fn commit(pack: &Pack, n: u64) -> Result<Option<u64>> {
    let transaction = pack.begin()?;
    change(&*transaction.store(), n)?;
    transaction.commit(&format!("step {n}"))
}

/// Every file below a pack.
pub fn files(store: &dyn Store) -> Vec<(Key, Vec<u8>)> {
    let keys = store.list(&Prefix::root()).unwrap();
    keys.into_iter().map(|(key, _)| (key.clone(), store.get(&key).unwrap().unwrap().0.to_vec())).collect()
}

/// A store with these files.
pub fn store_of(files: &[(Key, Vec<u8>)]) -> Arc<dyn Store> {
    let store = tessarray_store::MemoryStore::new();
    for (key, bytes) in files {
        store.put(key, &[bytes], PutMode::Overwrite).unwrap();
    }
    Arc::new(store)
}

/// Numbers that look random and are the same each time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

/// So many, or as many times more as a long run asks for; its random numbers are others too.
pub fn scaled(count: usize) -> usize {
    let scale = std::env::var("TESSARRAY_TEST_SCALE").ok().and_then(|text| text.parse::<f64>().ok());
    (count as f64 * scale.unwrap_or(1.0).max(1.0)) as usize
}
