//! Waiting for the lock of a key.

use super::*;
use crate::waiting::Call;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Runs `act` while somebody else holds the key.
fn held(store: &FileStore, name: &str, act: impl FnOnce()) {
    let (locked, is_locked) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            store
                .update(&key(name), false, &mut |_| {
                    locked.send(()).unwrap();
                    let _ = released.recv();
                    Ok(Update::Put(vec![b"theirs"]))
                })
                .unwrap();
        });
        is_locked.recv().unwrap();
        act();
        drop(release);
    });
}

#[test]
fn a_wait_that_is_called_off_ends_soon_changes_nothing_and_keeps_nobody_waiting() {
    let (_folder, store) = store(FileOptions::new());
    put(&store, "a/b", "old");
    held(&store, "a/b", || {
        let call = Call::default();
        let answer = std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let _entered = call.enter();
                let began = Instant::now();
                (store.put(&key("a/b"), &[b"mine"], PutMode::Overwrite), began)
            });
            while !call.waits() {
                std::thread::yield_now();
            }
            call.call_off();
            worker.join().unwrap()
        });
        match answer.0 {
            Err(StoreError::Interrupted { lock, .. }) => assert!(lock.ends_with("a/b.__lock"), "{lock}"),
            other => panic!("expected Interrupted, got {other:?}"),
        }
        assert!(!call.waits());
        assert_eq!(get(&store, "a/b").unwrap().unwrap(), "old");
    });
    assert_eq!(get(&store, "a/b").unwrap().unwrap(), "theirs");
    // The place in the queue that was left gives the lock back.
    put(&store, "a/b", "next");
    assert_eq!(store.leftovers(&Prefix::root()).unwrap(), []);
}

#[test]
fn a_call_that_was_called_off_still_takes_locks_that_are_free() {
    let (_folder, store) = store(FileOptions::new());
    let call = Call::default();
    call.call_off();
    let _entered = call.enter();
    put(&store, "a", "x");
}

#[test]
fn a_removal_that_waits_can_be_called_off() {
    let (_folder, store) = store(FileOptions::new());
    put(&store, "a/b", "old");
    held(&store, "a/b", || {
        let call = Call::default();
        call.call_off();
        let _entered = call.enter();
        let error = store.delete_prefix(&Prefix::new("a/").unwrap()).unwrap_err();
        assert!(matches!(error, StoreError::Interrupted { .. }), "{error}");
    });
}

#[test]
fn many_who_wait_long_all_get_their_turn() {
    let (_folder, store) = store(FileOptions::new());
    put(&store, "a", "0");
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let add = |text: &[u8]| std::str::from_utf8(text).unwrap().parse::<u32>().unwrap() + 1;
                    store
                        .update(&key("a"), true, &mut |current| {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                            // Longer than waiters try before they queue.
                            std::thread::sleep(Duration::from_millis(2));
                            inside.fetch_sub(1, Ordering::SeqCst);
                            let next = add(&current.unwrap().bytes);
                            Ok(Update::PutOwned(vec![next.to_string().into_bytes()]))
                        })
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(get(&store, "a").unwrap().unwrap(), "40");
}
