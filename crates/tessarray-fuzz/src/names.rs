//! Keys, and the directories of zip files.

use crate::{Outcome, Target};
use std::io::Write;
use std::path::{Component, Path};
use std::sync::Mutex;
use tessarray_store::{ByteRange, Key, PutMode, ReadRequest, ReadSink, Store, ZipStore};

const KEYS: [&str; 9] =
    ["zarr.json", "a/b/c/0/0", "../x", "/abs", "a//b", "a/./b", "a\\b", "c:\\x", "\u{202e}/\u{0}"];

/// A key that is accepted stays below any folder it is joined to, and is the text it was made of.
fn key(input: &[u8]) -> Outcome {
    let text = std::str::from_utf8(input).map_err(|_| "not UTF-8".to_owned())?;
    let key = Key::new(text).map_err(|error| error.to_string())?;
    assert_eq!(key.as_str(), text);
    assert!(!text.contains('\0') && !text.is_empty());
    for component in Path::new(text).components() {
        assert!(matches!(component, Component::Normal(_)), "{text:?} leaves its root by {component:?}");
    }
    Ok(())
}

fn zip_seeds() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.zip");
    let store = ZipStore::create(&path).unwrap();
    for (name, value) in [("zarr.json", &b"{}"[..]), ("c/0", &[7; 100]), ("c/1", b"")] {
        store.put(&Key::new(name).unwrap(), &[value], PutMode::Overwrite).unwrap();
    }
    store.close().unwrap();
    vec![std::fs::read(path).unwrap()]
}

/// Everything that a zip file lists is read within the file's own bounds.
fn zip(input: &[u8]) -> Outcome {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(input).unwrap();
    let store = ZipStore::open(file.path()).map_err(|error| error.to_string())?;
    let refused = Mutex::new(None);
    for name in KEYS.iter().copied().chain(["c/0", "c/1"]) {
        let Ok(key) = Key::new(name) else { continue };
        let request = ReadRequest { key, range: ByteRange::All, expect: None };
        let sink: &ReadSink<'_> = &|_, answer| {
            if let Err(error) = answer {
                *refused.lock().unwrap() = Some(error.to_string());
            }
        };
        store.read_many(&[request], sink);
    }
    refused.into_inner().unwrap().map_or(Ok(()), Err)
}

pub fn targets() -> Vec<Target> {
    vec![
        Target::new("key", KEYS.iter().map(|text| text.as_bytes().to_vec()).collect(), key),
        Target::new("zip_directory", zip_seeds(), zip),
    ]
}
