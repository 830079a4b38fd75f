//! Packs: commit files and parts of the catalogue, under checksums that fit whatever they say.

use crate::Target;
use std::sync::Arc;
use tessarray_codec::crc32c;
use tessarray_pack::{Pack, PackOptions};
use tessarray_store::{Key, MemoryStore, Prefix, PutMode, Store};

const ARRAY: &[u8] = br#"{"zarr_format": 3, "node_type": "array", "shape": [40], "data_type": "uint8",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}}, "attributes": {},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": 0, "codecs": [{"name": "bytes"}]}"#;

/// The files of a small pack of two versions.
fn files() -> Vec<(Key, Vec<u8>)> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = Pack::create(Arc::clone(&store), PackOptions::default()).unwrap();
    for n in 0..2u8 {
        let transaction = pack.begin().unwrap();
        let put = |key: &str, bytes: &[u8]| {
            transaction.store().put(&Key::new(key).unwrap(), &[bytes], PutMode::Overwrite).unwrap();
        };
        put("a/zarr.json", ARRAY);
        (0..10).for_each(|i| put(&format!("a/c/{i}"), &[n + 1; 4]));
        put("notes", &vec![n; 20_000]);
        transaction.commit("fuzz").unwrap();
    }
    let keys = store.list(&Prefix::root()).unwrap();
    keys.into_iter().map(|(key, _)| (key.clone(), store.get(&key).unwrap().unwrap().0.to_vec())).collect()
}

fn of_kind(files: &[(Key, Vec<u8>)], kind: &str) -> Vec<Vec<u8>> {
    let here = files.iter().filter(|(key, _)| key.as_str().starts_with(kind));
    here.map(|(_, bytes)| bytes.clone()).collect()
}

/// A commit's text without its checksum.
fn text(commit: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(commit).unwrap();
    text.rsplit_once(",\"crc32c\":\"").unwrap().0.into()
}

pub fn targets() -> Vec<Target> {
    let files = files();
    // The last, whose place the input takes.
    let commits: Vec<Vec<u8>> =
        of_kind(&files, "commits/").last().map(|commit| text(commit)).into_iter().collect();
    let parts = of_kind(&files, "catalogue/");
    vec![
        Target::new("pack_commit", commits, move |input| {
            let store = MemoryStore::new();
            for (key, bytes) in files.iter().filter(|(key, _)| key.as_str() != "latest.json") {
                store.put(key, &[bytes], PutMode::Overwrite).unwrap();
            }
            let crc = crc32c::crc32c(input);
            let sealed = [input, format!(",\"crc32c\":\"{crc:08x}\"}}\n").as_bytes()].concat();
            let key = Key::new("commits/00000000000000000002.json").unwrap();
            store.put(&key, &[&sealed], PutMode::Overwrite).unwrap();
            let pack = Pack::open(Arc::new(store), PackOptions::default()).map_err(|e| e.to_string())?;
            let version = pack.latest().map_err(|error| error.to_string())?;
            let store = version.store();
            for (key, _) in store.list(&Prefix::root()).map_err(|error| error.to_string())? {
                store.get(&key).map_err(|error| error.to_string())?;
            }
            Ok(())
        }),
        Target::new("pack_part", parts, |input| tessarray_pack::hostile::rows(input).map(|_| ())),
    ]
}
