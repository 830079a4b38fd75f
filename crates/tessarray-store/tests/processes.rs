//! Several processes on one directory: locks, kills, and a full disk. The children are this test binary itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tessarray_store::{FileStore, Key, Prefix, PutMode, Store, StoreError, Update};

const ROLE: &str = "TESSARRAY_STORE_TEST_ROLE";
const ROOT: &str = "TESSARRAY_STORE_TEST_ROOT";
const SIZE: usize = 300_000;

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn spawn(role: &str, root: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(ROOT, root)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "run by the other tests, as another process"]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let store = FileStore::new(PathBuf::from(std::env::var_os(ROOT).unwrap())).unwrap();
    match role.as_str() {
        "count" => (0..200).for_each(|_| count(&store)),
        "overwrite" => loop {
            for byte in 0..=255_u8 {
                store.put(&key("a/value"), &[&vec![byte; SIZE]], PutMode::Overwrite).unwrap();
                store
                    .update(&key("a/value"), true, &mut |_| Ok(Update::PutOwned(vec![vec![byte; SIZE]])))
                    .unwrap();
            }
        },
        "fill" => fill(&store),
        other => panic!("no such role: {other}"),
    }
}

fn count(store: &dyn Store) {
    store
        .update(&key("n"), true, &mut |current| {
            let old = current.map_or(0, |blob| String::from_utf8_lossy(&blob.bytes).parse::<u32>().unwrap());
            Ok(Update::PutOwned(vec![(old + 1).to_string().into_bytes()]))
        })
        .unwrap();
}

#[test]
fn four_processes_count_to_800_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..4).map(|_| spawn("count", folder.path())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = FileStore::new(folder.path()).unwrap();
    assert_eq!(&*store.get(&key("n")).unwrap().unwrap().0, b"800");
    assert_eq!(store.leftovers(&Prefix::root()).unwrap(), []);
}

#[test]
fn killing_the_writer_30_times_leaves_whole_values_and_no_stale_lock() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path()).unwrap();
    store.put(&key("a/value"), &[&vec![0; SIZE]], PutMode::Overwrite).unwrap();
    let whole = || {
        let (bytes, _) = store.get(&key("a/value")).unwrap().expect("the value is always there");
        assert!(bytes.len() == SIZE && bytes.iter().all(|byte| *byte == bytes[0]), "a torn value");
        bytes[0]
    };
    let mut found_half = 0;
    for round in 0..30_u64 {
        let before = store.head(&key("a/value")).unwrap();
        let mut child = spawn("overwrite", folder.path());
        while store.head(&key("a/value")).unwrap() == before {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Spread over a loop's length without a clock to agree on.
        let end = Instant::now() + Duration::from_micros(round * 377 % 4000);
        while Instant::now() < end {
            whole();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        whole();
        found_half += store.leftovers(&Prefix::root()).unwrap().len();
        let start = Instant::now();
        store.put(&key("a/value"), &[&vec![1; SIZE]], PutMode::Overwrite).unwrap();
        assert!(start.elapsed() < Duration::from_secs(2));
        assert_eq!(whole(), 1);
        assert_eq!(store.leftovers(&Prefix::root()).unwrap(), []);
    }
    println!("{found_half} of 30 kills left a lock file");
}

/// In a name space of its own, where its disk of one megabyte goes away with it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_value_and_takes_the_next_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let mount =
        "mount -t tmpfs -o size=1m tmpfs \"$1\" || exit 77; exec \"$2\" --exact child --ignored --nocapture";
    let status = Command::new("unshare")
        .args(["-m", "sh", "-c", mount, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .env(ROLE, "fill")
        .env(ROOT, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => {}
        Ok(Some(101)) => panic!("the child failed"),
        other => println!("skipped: no mount name space here ({other:?})"),
    }
}

fn fill(store: &FileStore) {
    let name = key("a/value");
    store.put(&name, &[&vec![7; 200_000]], PutMode::Overwrite).unwrap();
    for level in 0..50_usize {
        let filler = store.root().join("filler");
        std::fs::write(&filler, vec![0; 400_000 + level * 4096]).unwrap();
        let large = vec![8; 700_000];
        match store.put(&name, &[&large], PutMode::Overwrite) {
            Err(StoreError::Full { key }) => assert_eq!(key, "a/value"),
            other => panic!("expected Full, got {other:?}"),
        }
        let (bytes, _) = store.get(&name).unwrap().unwrap();
        assert!(bytes.len() == 200_000 && bytes.iter().all(|byte| *byte == 7));
        assert_eq!(store.leftovers(&Prefix::root()).unwrap(), []);
        std::fs::remove_file(&filler).unwrap();
        store.put(&name, &[&vec![7; 200_000]], PutMode::Overwrite).unwrap();
    }
}
