//! What every store promises, as functions that its tests call.
//!
//! `run(|| (guard, store))` runs all of them, each on a fresh store; the guard (a temporary folder, say) lives as
//! long as its store. A store that cannot be written to is filled first and then checked with the reading ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod basic;
mod concurrent;
mod model;

pub use basic::{
    bad_keys_are_refused, conditional_puts, deletes, listings, puts_and_ranges, updates, updates_with_others,
    versions,
};
pub use concurrent::{counters_lose_nothing, values_are_whole};
pub use model::behaves_like_a_map;

use crate::error::Result;
use crate::key::Key;
use crate::request::{Blob, ByteRange, Meta, ReadRequest};
use crate::store::Store;
use std::sync::{Arc, Mutex};

/// Runs every function of the suite, each on a store of its own.
pub fn run<G>(mut make: impl FnMut() -> (G, Arc<dyn Store>)) {
    let checks: [fn(&dyn Store); 10] = [
        puts_and_ranges,
        conditional_puts,
        versions,
        updates,
        updates_with_others,
        deletes,
        listings,
        counters_lose_nothing,
        values_are_whole,
        |_| bad_keys_are_refused(),
    ];
    for check in checks {
        let (_guard, store) = make();
        check(&*store);
    }
    behaves_like_a_map(32, &mut make);
}

/// One answer, its bytes copied.
pub type Answer = Result<Option<(Vec<u8>, Meta)>>;

/// Reads a batch and collects the answers; panics where one is missing or there are two.
pub fn collect(store: &dyn Store, requests: &[ReadRequest]) -> Vec<Answer> {
    let slots: Vec<Mutex<Option<Answer>>> = requests.iter().map(|_| Mutex::new(None)).collect();
    store.read_many(requests, &|i, answer: Result<Option<Blob<'_>>>| {
        let kept = answer.map(|blob| blob.map(|blob| (blob.bytes.to_vec(), blob.meta)));
        let before = slots[i].lock().unwrap().replace(kept);
        assert!(before.is_none(), "request {i} was answered twice");
    });
    slots.into_iter().map(|slot| slot.into_inner().unwrap().expect("a request got no answer")).collect()
}

/// The whole value, `None` where absent.
pub fn whole(store: &dyn Store, key: &Key) -> Option<Vec<u8>> {
    let request = ReadRequest { key: key.clone(), range: ByteRange::All, expect: None };
    collect(store, &[request]).remove(0).unwrap().map(|(bytes, _)| bytes)
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}
