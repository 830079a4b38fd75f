//! Many threads on one key.

use super::{key, whole};
use crate::request::PutMode;
use crate::store::{Store, Update};

/// 8 threads add to one counter and to one of their own: no addition is lost.
pub fn counters_lose_nothing(store: &dyn Store) {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 25;
    let add = |name: &str| {
        store
            .update(&key(name), true, &mut |current| {
                let old =
                    current.map_or(0, |blob| String::from_utf8_lossy(&blob.bytes).parse::<u64>().unwrap());
                Ok(Update::PutOwned(vec![(old + 1).to_string().into_bytes()]))
            })
            .unwrap();
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    add("count/all");
                    add(&format!("count/{thread}"));
                }
            });
        }
    });
    assert_eq!(whole(store, &key("count/all")).unwrap(), (THREADS * ROUNDS).to_string().as_bytes());
    assert_eq!(whole(store, &key("count/0")).unwrap(), ROUNDS.to_string().as_bytes());
}

/// Readers beside writers see one whole value or another, never parts of two, and never none; puts that create
/// succeed once.
pub fn values_are_whole(store: &dyn Store) {
    const SIZE: usize = 100_000;
    let name = key("w/value");
    store.put(&name, &[&vec![0; SIZE]], PutMode::Overwrite).unwrap();
    let created = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 1..=3_u8 {
            let (name, created) = (&name, &created);
            scope.spawn(move || {
                for _ in 0..30 {
                    let half = vec![thread; SIZE / 2];
                    store.put(name, &[&half, &half], PutMode::Overwrite).unwrap();
                }
                if store.put(&key("w/once"), &[&[thread]], PutMode::Create).is_ok() {
                    created.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
            scope.spawn(move || {
                for _ in 0..60 {
                    let bytes = whole(store, name).expect("the value is always there");
                    assert!(
                        bytes.len() == SIZE && bytes.iter().all(|byte| *byte == bytes[0]),
                        "a torn value"
                    );
                }
            });
        }
    });
    assert_eq!(created.into_inner(), 1);
}
