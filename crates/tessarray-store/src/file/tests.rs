//! What holds for directories beyond what holds for every store.

use super::handle::Step;
use super::*;
use crate::conformance;
use crate::error::StoreError;
use crate::key::LOCK_SUFFIX;
use crate::request::ByteRange;
use crate::store::Update;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn store(options: FileOptions) -> (TempDir, FileStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::with_options(folder.path().join("new/root"), options).unwrap();
    (folder, store)
}

fn boxed((folder, store): (TempDir, FileStore)) -> (TempDir, Arc<dyn Store>) {
    (folder, Arc::new(store))
}

/// The two ways of staying below the root.
fn both_ways() -> Vec<(TempDir, FileStore)> {
    let portable = store(FileOptions::new());
    #[cfg(target_os = "linux")]
    portable.1.root.without_kernel_checks();
    vec![store(FileOptions::new()), portable]
}

fn put(store: &FileStore, name: &str, value: &str) {
    store.put(&key(name), &[value.as_bytes()], PutMode::Overwrite).unwrap();
}

fn get(store: &FileStore, name: &str) -> Result<Option<String>> {
    Ok(store.get(&key(name))?.map(|(bytes, _)| String::from_utf8(bytes.to_vec()).unwrap()))
}

mod durable;
mod waits;

#[test]
fn directories_conform() {
    conformance::run(|| boxed(store(FileOptions::new())));
}

#[test]
fn directories_that_follow_links_conform() {
    conformance::run(|| boxed(store(FileOptions::new().follow_links(true))));
}

#[test]
fn durable_directories_conform() {
    conformance::puts_and_ranges(&*boxed(store(FileOptions::new().durable(true))).1);
    let (_folder, durable) = boxed(store(FileOptions::new().durable(true)));
    conformance::deletes(&*durable);
}

#[cfg(target_os = "linux")]
#[test]
fn directories_without_the_kernels_checks_conform() {
    conformance::run(|| boxed(both_ways().remove(1)));
}

#[test]
fn a_durable_put_syncs_the_file_before_the_rename_and_the_folder_after_it() {
    use Step::*;
    for durable in [false, true] {
        let (_folder, store) = store(FileOptions::new().durable(durable));
        put(&store, "a/b", "x");
        let steps = store.trace.lock().unwrap().clone();
        let head: &[Step] = if durable { &[SyncAbove, SyncAbove] } else { &[] };
        let tail: &[Step] = if durable { &[SyncFile, Rename, SyncFolder] } else { &[Rename] };
        assert_eq!(steps, [head, &[Open, Lock, Truncate, Write], tail].concat());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_failing_step_of_a_write_leaves_the_old_value_and_no_file() {
    use Step::*;
    let (eio, enospc, edquot) = (5, 28, 122);
    for step in [SyncAbove, Open, Lock, Truncate, Write, SyncFile, Rename, SyncFolder] {
        for code in [eio, enospc, edquot] {
            let (_folder, made) = store(FileOptions::new().durable(true));
            put(&made, "a/b", "old");
            // A handle that has not synced anything yet.
            let store = FileStore::with_options(made.root(), FileOptions::new().durable(true)).unwrap();
            *store.fail.lock().unwrap() = Some((step, code));
            let error = store.put(&key("a/b"), &[b"new"], PutMode::Overwrite).unwrap_err();
            *store.fail.lock().unwrap() = None;
            match step {
                SyncAbove | SyncFile | SyncFolder => {
                    assert!(matches!(error, StoreError::Poisoned { .. }), "{step:?} {error}");
                    let again = store.put(&key("c"), &[b"x"], PutMode::Overwrite);
                    assert!(
                        matches!(again, Err(StoreError::Poisoned { code: Some(kept), .. }) if kept == code),
                        "no retry after a failed fsync, and its cause is kept"
                    );
                    assert!(matches!(store.delete(&key("a/b")), Err(StoreError::Poisoned { .. })));
                }
                _ if code == eio => assert!(matches!(error, StoreError::Io { .. }), "{step:?} {error}"),
                _ => assert!(matches!(error, StoreError::Full { .. }), "{step:?} {error}"),
            }
            let expected = if step == SyncFolder { "new" } else { "old" };
            assert_eq!(get(&store, "a/b").unwrap().unwrap(), expected, "{step:?}");
            let leftovers = store.leftovers(&Prefix::root()).unwrap();
            // A file that could not be locked belongs to whoever locks it next.
            assert_eq!(leftovers.len(), usize::from(step == Lock), "{step:?}");
            let reopened = FileStore::new(store.root()).unwrap();
            assert_eq!(reopened.remove_leftovers(&Prefix::root()).unwrap(), leftovers);
            assert_eq!(store.leftovers(&Prefix::root()).unwrap(), []);
            put(&reopened, "a/b", "newer");
        }
    }
}

#[test]
fn what_a_killed_writer_left_is_used_again_or_removed() {
    let (_folder, store) = store(FileOptions::new());
    put(&store, "a/b", "old");
    let left = store.root().join("a/b.__lock");
    std::fs::write(&left, "half a value that is long").unwrap();
    assert_eq!(store.list(&Prefix::root()).unwrap(), [(key("a/b"), 3)]);
    assert_eq!(store.list_dir(&Prefix::new("a/").unwrap()).unwrap(), [ListEntry::Key(key("a/b"), 3)]);
    let expected = [Leftover { path: left.clone(), size: 25 }];
    assert_eq!(store.leftovers(&Prefix::root()).unwrap(), expected);
    put(&store, "a/b", "new");
    assert_eq!(get(&store, "a/b").unwrap().unwrap(), "new");
    assert!(!left.exists());
    std::fs::write(&left, "again").unwrap();
    store
        .update(&key("a/c"), false, &mut |_| {
            // One is idle; ours is held.
            assert_eq!(store.leftovers(&Prefix::root()).unwrap().len(), 2);
            let removed = store.remove_leftovers(&Prefix::root()).unwrap();
            assert_eq!(removed.iter().map(|left| left.size).collect::<Vec<_>>(), [5]);
            Ok(Update::Put(vec![b"c"]))
        })
        .unwrap();
    assert_eq!(get(&store, "a/c").unwrap().unwrap(), "c");
    std::fs::write(&left, "again").unwrap();
    store.delete_prefix(&Prefix::new("a/").unwrap()).unwrap();
    assert!(!store.root().join("a").exists());
}

#[cfg(unix)]
#[test]
fn links_out_of_the_root_are_refused_and_others_followed() {
    use std::os::unix::fs::symlink;
    for (folder, store) in both_ways() {
        let outside = folder.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        put(&store, "in/value", "inside");
        let root = store.root();
        symlink(&outside, root.join("absolute")).unwrap();
        symlink("../../outside", root.join("relative")).unwrap();
        symlink(outside.join("secret"), root.join("file")).unwrap();
        symlink("in", root.join("alias")).unwrap();
        symlink("in/value", root.join("same")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        let outside_root = |result: Result<()>| match result {
            Err(StoreError::OutsideRoot { link, .. }) => assert!(link.contains("new/root/"), "{link}"),
            other => panic!("expected OutsideRoot, got {other:?}"),
        };
        for name in ["absolute/secret", "relative/secret", "file"] {
            outside_root(get(&store, name).map(|_| ()));
            outside_root(store.head(&key(name)).map(|_| ()));
        }
        for name in ["absolute/new", "relative/new", "absolute/deeper/new"] {
            outside_root(store.put(&key(name), &[b"x"], PutMode::Overwrite).map(|_| ()));
            outside_root(store.delete(&key(name)).map(|_| ()));
        }
        outside_root(store.list(&Prefix::new("absolute/").unwrap()).map(|_| ()));
        outside_root(store.list(&Prefix::root()).map(|_| ()));
        // A put over a link to a file replaces the link.
        put(&store, "file", "mine");
        assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "secret");
        // A lock file that is a link is not written through.
        symlink(outside.join("secret"), root.join("trap.__lock")).unwrap();
        assert!(store.put(&key("trap"), &[b"x"], PutMode::Overwrite).is_err());
        assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "secret");
        assert_eq!(get(&store, "alias/value").unwrap().unwrap(), "inside");
        assert_eq!(get(&store, "same").unwrap().unwrap(), "inside");
        assert!(get(&store, "dangling").unwrap().is_none());
        std::fs::remove_file(root.join("absolute")).unwrap();
        std::fs::remove_file(root.join("relative")).unwrap();
        symlink("..", root.join("in/up")).unwrap();
        // A link back up is entered once, not forever.
        let listed = store.list(&Prefix::new("in/").unwrap()).unwrap();
        assert!(listed.contains(&(key("in/value"), 6)) && listed.len() < 20, "{listed:?}");
        // Everything goes, and nothing outside does.
        store.delete_prefix(&Prefix::root()).unwrap();
        assert!(outside.join("secret").exists());
        assert_eq!(std::fs::read_dir(root).unwrap().count(), 0);
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_where_that_was_asked_for() {
    let (folder, store) = store(FileOptions::new().follow_links(true));
    let outside = folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    put(&store, "a", "x");
    std::os::unix::fs::symlink(&outside, store.root().join("link")).unwrap();
    put(&store, "link/value", "there");
    assert_eq!(std::fs::read_to_string(outside.join("value")).unwrap(), "there");
    assert_eq!(store.list(&Prefix::root()).unwrap(), [(key("a"), 1), (key("link/value"), 5)]);
}

#[cfg(unix)]
#[test]
fn a_root_that_is_a_link_or_is_made_anew_stays_open() {
    let (folder, store) = store(FileOptions::new());
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(store.root(), &link).unwrap();
    let through = FileStore::new(&link).unwrap();
    put(&store, "a/b", "one");
    assert_eq!(get(&through, "a/b").unwrap().unwrap(), "one");
    std::fs::remove_dir_all(store.root()).unwrap();
    assert!(get(&store, "a/b").unwrap().is_none());
    put(&store, "a/b", "two");
    assert_eq!(get(&through, "a/b").unwrap().unwrap(), "two");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_no_value_and_never_waited_for() {
    for (_folder, store) in both_ways() {
        put(&store, "a/b", "x");
        let made = std::process::Command::new("mkfifo").arg(store.root().join("pipe")).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(matches!(get(&store, "pipe"), Err(StoreError::Io { .. })));
            assert_eq!(store.list(&Prefix::root()).unwrap().len(), 1);
        }
        assert!(get(&store, "a").unwrap().is_none());
        assert!(get(&store, "a/b/c").unwrap().is_none());
        assert!(matches!(store.put(&key("a"), &[b"x"], PutMode::Overwrite), Err(StoreError::Io { .. })));
        assert!(matches!(store.put(&key("a/b/c"), &[b"x"], PutMode::Overwrite), Err(StoreError::Io { .. })));
        assert_eq!(store.leftovers(&Prefix::root()).unwrap(), []);
    }
}

#[test]
fn names_that_are_no_keys_are_left_out_of_listings() {
    let (_folder, store) = store(FileOptions::new());
    put(&store, "a", "x");
    std::fs::write(store.root().join("new\nline"), "").unwrap();
    std::fs::write(store.root().join(format!("b{LOCK_SUFFIX}")), "").unwrap();
    assert_eq!(store.list(&Prefix::root()).unwrap(), [(key("a"), 1)]);
}

#[test]
fn read_only_stores_refuse_every_change_and_touch_nothing() {
    let (folder, store) = store(FileOptions::new().read_only(true));
    assert!(store.is_read_only());
    let refused = |result: Result<()>| assert!(matches!(result, Err(StoreError::ReadOnly { .. })));
    refused(store.put(&key("a"), &[], PutMode::Overwrite).map(|_| ()));
    refused(store.update(&key("a"), true, &mut |_| Ok(Update::Keep)));
    refused(store.delete(&key("a")).map(|_| ()));
    refused(store.delete_prefix(&Prefix::root()));
    refused(store.remove_leftovers(&Prefix::root()).map(|_| ()));
    assert!(get(&store, "a").unwrap().is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn reads_inside_a_sink_and_large_values_are_whole() {
    let (_folder, store) = store(FileOptions::new());
    let large = vec![3_u8; (64 << 20) + 5];
    store.put(&key("large"), &[&large], PutMode::Overwrite).unwrap();
    put(&store, "small", "small");
    let request = |name: &str| ReadRequest { key: key(name), range: ByteRange::All, expect: None };
    store.read_many(&[request("small"), request("large")], &|_, outer| {
        let outer = outer.unwrap().unwrap();
        let before = outer.bytes.to_vec();
        store.read_many(&[request("large"), request("small")], &|i, inner| {
            assert_eq!(inner.unwrap().unwrap().bytes.len(), [large.len(), 5][i]);
        });
        assert_eq!(*outer.bytes, before[..]);
    });
}

#[cfg(unix)]
#[test]
fn a_range_past_the_end_of_a_short_file_costs_no_memory_and_a_sparse_giant_no_abort() {
    let (_folder, store) = store(FileOptions::new());
    put(&store, "a", "x");
    let file = std::fs::OpenOptions::new().write(true).open(store.root().join("a")).unwrap();
    let request = |range| ReadRequest { key: key("a"), range, expect: None };
    let span = request(ByteRange::Span { offset: 0, length: 1 << 60 });
    let answer = conformance::collect(&store, &[span]).remove(0);
    assert!(matches!(answer, Err(StoreError::OutOfRange { .. })));
    if file.set_len(1 << 62).is_ok() {
        let answer = conformance::collect(&store, &[request(ByteRange::All)]).remove(0);
        assert!(matches!(answer, Err(StoreError::Io { .. })), "{answer:?}");
    }
}
