//! Packs of each release are read by all later ones. `tests/fixtures/v1` is a pack of ten steps, compacted after the
//! sixth and with a tag; `v1-durable` is the same with commits that say that they are durable. Both were made by
//! `TESSARRAY_MAKE_FIXTURE=folder cargo test -p tessarray-pack --test fixtures`, and are never made anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::{commit, content, create, history, open};
use tessarray_store::{FileOptions, FileStore, Store};

const STEPS: u64 = 10;

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version)
}

fn make(folder: &Path) {
    let options = FileOptions::new().durable(true);
    let store: Arc<dyn Store> = Arc::new(FileStore::with_options(folder, options).unwrap());
    let pack = create(&store);
    for n in 1..=6 {
        commit(&pack, n).unwrap();
    }
    pack.compact("compact", &mut |_, _| {}).unwrap();
    pack.tag("six", 6).unwrap();
    for n in 7..=STEPS {
        commit(&pack, n).unwrap();
    }
}

#[test]
fn packs_of_every_release_are_read() {
    if let Ok(folder) = std::env::var("TESSARRAY_MAKE_FIXTURE") {
        make(Path::new(&folder));
    }
    let history = history(STEPS);
    let kept = std::fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert!(!kept.is_empty());
    for folder in kept {
        let options = FileOptions::new().read_only(true);
        let store: Arc<dyn Store> = Arc::new(FileStore::with_options(&folder, options).unwrap());
        let pack = open(&store).unwrap();
        assert_eq!(pack.latest().unwrap().number(), STEPS + 1);
        let durable = folder.ends_with("v1-durable");
        assert!(pack.versions().unwrap().iter().all(|commit| commit.durable == durable));
        assert_eq!(pack.tags().unwrap(), [("six".to_string(), 6)]);
        for number in 0..=STEPS + 1 {
            // Version 7 is the compaction of version 6.
            let step = if number > 6 { number - 1 } else { number };
            let found = content(&*pack.version(number).unwrap().store()).unwrap();
            assert_eq!(found, history[step as usize], "{}: version {number}", folder.display());
        }
        assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), []);
    }
}
