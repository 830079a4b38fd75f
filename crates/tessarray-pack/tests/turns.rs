//! Threads that change a pack by path at once: none waits for ever, and each change is there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;
use support::*;
use tessarray_store::{MemoryStore, PutMode, Store};

/// Rounds in one pack; short histories make cheap commits.
const ROUNDS: usize = 250;
/// Longer than any machine takes for the rounds of one pack: whoever is not back by then waits for ever.
const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn two_threads_that_put_at_once_wait_for_each_other_and_not_for_ever() {
    for _ in 0..scaled(2) {
        let base: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let auto = create(&base).auto_store();
        let (both, (ended, ends)) = (Arc::new(Barrier::new(2)), mpsc::channel());
        for name in ["a", "b"] {
            let (auto, both, ended) = (Arc::clone(&auto), Arc::clone(&both), ended.clone());
            std::thread::spawn(move || {
                for round in 0..ROUNDS {
                    both.wait();
                    auto.put(&key(name), &[&round.to_le_bytes()], PutMode::Overwrite).unwrap();
                }
                ended.send(()).unwrap();
            });
        }
        drop(ended);
        for _ in 0..2 {
            ends.recv_timeout(LIMIT).expect("a thread waits for ever, or panicked");
        }
        for name in ["a", "b"] {
            let (bytes, _) = auto.get(&key(name)).unwrap().unwrap();
            assert_eq!(*bytes, (ROUNDS - 1).to_le_bytes(), "{name}");
        }
    }
}
