//! What durable writes sync beside their own file and folder.

use super::*;

fn durable(root: &Path) -> FileStore {
    FileStore::with_options(root, FileOptions::new().durable(true)).unwrap()
}

/// How often each kind of sync was done by `act`: of names above, of files, of folders.
fn syncs(store: &FileStore, act: impl FnOnce()) -> [usize; 3] {
    store.trace.lock().unwrap().clear();
    act();
    let trace = store.trace.lock().unwrap();
    [Step::SyncAbove, Step::SyncFile, Step::SyncFolder]
        .map(|kind| trace.iter().filter(|step| **step == kind).count())
}

#[test]
fn folders_that_somebody_else_made_are_synced_once_by_each_handle() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("new/root");
    std::fs::create_dir_all(root.join("a/b/c")).unwrap();
    let store = durable(&root);
    assert_eq!(
        syncs(&store, || put(&store, "a/b/c/x", "1")),
        [4, 1, 1],
        "a, b and c, and the root's own name"
    );
    assert_eq!(syncs(&store, || put(&store, "a/b/c/y", "1")), [0, 1, 1], "known by now");
    assert_eq!(syncs(&store, || put(&store, "a/b/d/x", "1")), [1, 1, 1], "a new one below known ones");
    assert_eq!(syncs(&store, || put(&store, "x", "1")), [0, 1, 1]);
    let other = durable(&root);
    assert_eq!(syncs(&other, || put(&other, "a/b/c/x", "1")), [4, 1, 1], "another handle cannot know");
    assert_eq!(syncs(&other, || assert!(other.delete(&key("a/b/c/x")).unwrap())), [0, 0, 1]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_was_removed_and_made_again_is_another_one() {
    for by_us in [false, true] {
        let (_folder, store) = store(FileOptions::new().durable(true));
        for round in 0..20 {
            assert_eq!(
                syncs(&store, || put(&store, "a/b/x", "1")),
                [if round == 0 { 3 } else { 2 }, 1, 1],
                "{by_us} {round}"
            );
            if by_us {
                store.delete_prefix(&Prefix::new("a/").unwrap()).unwrap();
            } else {
                std::fs::remove_dir_all(store.root().join("a")).unwrap();
                std::fs::create_dir_all(store.root().join("a/b")).unwrap();
            }
        }
    }
}

#[test]
fn values_of_others_are_made_durable_with_the_way_to_them_each_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let quick = FileStore::new(folder.path().join("root")).unwrap();
    for name in ["a/x", "a/y", "b/x", "c"] {
        put(&quick, name, name);
    }
    let keys = ["a/x", "a/y", "b/x", "c", "absent", "none/x"].map(key);
    for store in [&quick, &durable(quick.root())] {
        assert_eq!(syncs(store, || store.make_durable(&keys).unwrap()), [3, 4, 3]);
        assert_eq!(syncs(store, || store.make_durable(&[]).unwrap()), [0, 0, 0]);
    }
    *quick.fail.lock().unwrap() = Some((Step::SyncFile, 5));
    let refused = quick.make_durable(&keys).unwrap_err();
    assert!(matches!(refused, StoreError::Poisoned { code: Some(5), .. }), "{refused}");
    *quick.fail.lock().unwrap() = None;
    assert!(matches!(quick.put(&key("d"), &[b"x"], PutMode::Overwrite), Err(StoreError::Poisoned { .. })));
}

#[test]
fn a_failed_sync_of_a_removal_poisons_too() {
    let (_folder, store) = store(FileOptions::new().durable(true));
    put(&store, "a/b/x", "1");
    *store.fail.lock().unwrap() = Some((Step::SyncFolder, 5));
    let error = store.delete_prefix(&Prefix::new("a/").unwrap()).unwrap_err();
    *store.fail.lock().unwrap() = None;
    assert!(matches!(error, StoreError::Poisoned { .. }), "{error}");
    assert!(matches!(store.delete(&key("x")), Err(StoreError::Poisoned { .. })));
}

#[cfg(unix)]
#[test]
fn folders_above_that_may_not_be_opened_are_no_hindrance() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let above = folder.path().join("closed");
    std::fs::create_dir_all(above.join("root")).unwrap();
    // To walk through, not to look into.
    std::fs::set_permissions(&above, std::fs::Permissions::from_mode(0o311)).unwrap();
    let store = durable(&above.join("root"));
    put(&store, "a", "x");
    assert_eq!(get(&store, "a").unwrap().unwrap(), "x");
    std::fs::set_permissions(&above, std::fs::Permissions::from_mode(0o755)).unwrap();
}
