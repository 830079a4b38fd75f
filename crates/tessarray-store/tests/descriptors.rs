//! Open stores do not use up the descriptors of a process. In a process of its own, since it counts them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use tessarray_store::{FileStore, Key, PutMode, Store};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn thousands_of_open_stores_hold_a_few_hundred_descriptors_and_all_read_and_write() {
    let folder = tempfile::tempdir().unwrap();
    let before = descriptors();
    let key = Key::new("a/b").unwrap();
    let make = |number: u32| {
        let store = FileStore::new(folder.path().join(number.to_string())).unwrap();
        store.put(&key, &[&number.to_le_bytes()], PutMode::Create).unwrap();
        store
    };
    let stores: Vec<FileStore> = (0..1000).map(make).collect();
    for round in 0..2 {
        for (number, store) in stores.iter().enumerate() {
            let found = store.get(&key).unwrap().unwrap().0;
            assert_eq!(found[..], (number as u32).to_le_bytes(), "round {round}");
        }
        assert!(descriptors() - before < 300, "{} descriptors", descriptors() - before);
    }
    // A root that is removed and made again is found again, whether its descriptor was kept or not.
    for number in [0, 999] {
        std::fs::remove_dir_all(folder.path().join(number.to_string())).unwrap();
        assert!(stores[number].get(&key).unwrap().is_none());
        make(number as u32);
        assert!(stores[number].get(&key).unwrap().is_some());
    }
    drop(stores);
    assert!(descriptors() <= before + 2, "all are closed with their stores");
    // Those that come later are kept again.
    let store = make(5000);
    assert_eq!(store.get(&key).unwrap().unwrap().0[..], 5000u32.to_le_bytes());
    assert!(descriptors() > before);
}
