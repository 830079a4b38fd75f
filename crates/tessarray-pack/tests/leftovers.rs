//! What killed writers left half written goes; what a writer is at work on, and every value, stays.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use support::{commit, content, create, history, open};
use tessarray_pack::{Id, Keep, Leftovers};
use tessarray_store::{FileStore, Store};

const STEPS: u64 = 3;

/// A file of so many bytes, last written so many hours ago; its descriptor, as the writer has it.
fn left(path: &Path, bytes: usize, hours: u64) -> File {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, vec![1; bytes]).unwrap();
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
    file
}

fn lock_files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => found.extend(lock_files(&path)),
            path if path.to_string_lossy().ends_with(".__lock") => drop(found.insert(path)),
            _ => {}
        }
    }
    found
}

#[test]
fn files_of_killed_writers_are_counted_and_removed_and_those_of_live_ones_stay() {
    for repair in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(FileStore::new(folder.path()).unwrap());
        let pack = create(&store);
        (1..=STEPS).for_each(|n| assert!(commit(&pack, n).is_ok()));
        let place = |name: &str| folder.path().join(name);
        let id = || Id::random().unwrap();
        let dead = [
            format!("segments/{}.seg.__lock", id()),
            format!("catalogue/{}.parquet.__lock", id()),
            format!("commits/{:020}.json.__lock", 9),
            "tags/one.json.__lock".into(),
            "locks/0badcafe.__lock".into(),
            "latest.json.__lock".into(),
        ];
        dead.iter().for_each(|name| drop(left(&place(name), 1000, 25)));
        // Just written, by one who is between two steps; and held, however long.
        let young = place(&format!("segments/{}.seg.__lock", id()));
        drop(left(&young, 10, 0));
        let held = place(&format!("segments/{}.seg.__lock", id()));
        let writer = left(&held, 10, 1000);
        writer.lock().unwrap();

        let found = pack.leftovers().unwrap();
        assert_eq!(found, Leftovers { files: dead.len() as u64, bytes: 1000 * dead.len() as u64 });
        assert_eq!(pack.check(true, &mut |_, _| {}).unwrap(), [], "they are no damage");
        if repair {
            pack.repair(false, &mut |_, _| {}).unwrap();
            assert_eq!(pack.leftovers().unwrap(), found);
            assert_eq!(pack.repair(true, &mut |_, _| {}).unwrap().version, None);
        } else {
            let keep = Keep { versions: 100, retention: Duration::from_secs(86_400) };
            let would = pack.expire(&keep, true).unwrap();
            assert_eq!((would.files, would.bytes), (found.files, found.bytes));
            assert_eq!(pack.leftovers().unwrap(), found);
            assert_eq!(pack.expire(&keep, false).unwrap(), would);
        }
        assert_eq!(pack.leftovers().unwrap(), Leftovers::default());
        assert_eq!(lock_files(folder.path()), BTreeSet::from([young.clone(), held.clone()]));
        let version = open(&store).unwrap().latest().unwrap();
        assert_eq!(version.number(), STEPS, "nothing was removed that a version could name");
        assert_eq!(content(&*version.store()).unwrap(), history(STEPS)[usize::try_from(STEPS).unwrap()]);
        drop(writer);
        assert_eq!(pack.leftovers().unwrap().files, 1, "its writer has died by now");
    }
}
