//! Reads that bring fewer bytes than were asked for, and creations whose deletions stop half way: an error, never
//! fill values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use support::{Layout, Place, Plane};
use tessarray::adapters::{Effect, Fault, FaultStore, When};
use tessarray::{
    Array, ArrayError, CodecChoice, Key, ListEntry, Meta, Prefix, PutMode, ReadRequest, ReadSink, Selection,
    Session, Store, StoreError, UpdateFn, Version,
};

const OBJECT: [u64; 2] = [24, 24];

fn prepared(store: &Arc<dyn Store>, layout: Layout, raw: bool) -> Plane {
    let plane = Plane::random([40, 45], 3);
    let session = Session::builder().threads(1).build();
    let array = if raw {
        let mut spec = layout.spec(&plane.shape, &OBJECT);
        spec.compressors = CodecChoice::List(Vec::new());
        Array::create(&session, store.clone(), "a", &spec, false).unwrap()
    } else {
        layout.create(&session, store.clone(), "a", &plane.shape, &OBJECT)
    };
    array.write_bytes(&plane.all(), &plane.bytes()).unwrap();
    plane
}

#[test]
fn a_torn_read_is_an_error_and_never_fill() {
    let layouts = Layout::ALL.map(|layout| (layout, false)).into_iter();
    let session = Session::builder().threads(2).build();
    let (mut errors, mut whole) = (0, 0);
    for (layout, raw) in layouts.chain([(Layout::Plain, true), (Layout::Sharded, true)]) {
        for place in Place::KINDS {
            let place = place();
            let plane = prepared(&place.store, layout, raw);
            let faults = Arc::new(FaultStore::new(place.store.clone()));
            for selection in [plane.all(), Selection::region(&[3, 20], &[30, 9])] {
                let expected =
                    Array::open(&session, place.store.clone(), "a").unwrap().read_bytes(&selection).unwrap();
                // A fresh handle each time, whose index cache is empty.
                let open = || Array::open(&session, faults.clone(), "a").unwrap();
                let clean = open();
                faults.set(None);
                clean.read_bytes(&selection).unwrap();
                let ranges = faults.ranges();
                for (range, kept) in
                    (0..ranges).flat_map(|range| [0, 1, 4, 19, 100, 1000].map(|kept| (range, kept)))
                {
                    let array = open();
                    faults.set(Some(Fault { when: When::Range(range), effect: Effect::Torn(kept) }));
                    let result = array.read_bytes(&selection);
                    faults.set(None);
                    match result {
                        Ok(found) => {
                            whole += 1;
                            assert!(
                                found == expected,
                                "{layout:?}: range {range} torn to {kept}: wrong values"
                            );
                        }
                        Err(error) => {
                            errors += 1;
                            let (ArrayError::Chunk { key, .. } | ArrayError::ShardIndex { key, .. }) = &error
                            else {
                                panic!("{layout:?}: range {range} torn to {kept}: {error:?}");
                            };
                            assert!(
                                error.to_string().contains(key.as_str()) && key.starts_with("a/"),
                                "{error}"
                            );
                        }
                    }
                    assert!(array.read_bytes(&selection).unwrap() == expected, "the handle goes on");
                }
            }
        }
    }
    assert!(errors > 500 && whole > 50, "{errors} errors, {whole} whole");
}

#[test]
fn a_torn_document_is_an_error_that_names_it() {
    for (layout, name) in [(Layout::Sharded, "a/zarr.json"), (Layout::V2, "a/.zarray")] {
        let place = Place::memory();
        prepared(&place.store, layout, false);
        let size = place.store.get(&support::key(name)).unwrap().unwrap().0.len();
        let faults = Arc::new(FaultStore::new(place.store.clone()));
        for kept in 0..size {
            let when = if layout == Layout::V2 { When::Range(1) } else { When::Range(0) };
            faults.set(Some(Fault { when, effect: Effect::Torn(kept) }));
            let error = Array::open(&Session::builder().threads(1).build(), faults.clone(), "a").unwrap_err();
            assert!(matches!(&error, ArrayError::Metadata { key, .. } if key == name), "{kept}: {error:?}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn a_store_that_fails_is_never_taken_for_one_that_has_nothing() {
    let session = Session::builder().threads(2).build();
    for layout in Layout::ALL {
        let place = Place::memory();
        let plane = prepared(&place.store, layout, false);
        let faults = Arc::new(FaultStore::new(place.store.clone()));
        for effect in [Effect::fail(), Effect::LostResponse] {
            for call in 0.. {
                faults.set(Some(Fault { when: When::Call(call), effect: effect.clone() }));
                let result =
                    Array::open(&session, faults.clone(), "a").and_then(|a| a.read_bytes(&plane.all()));
                let reached = faults.calls() > call;
                match result {
                    Err(ArrayError::Store(StoreError::Other { .. })) if reached => {}
                    Ok(found) if !reached => {
                        assert!(found == plane.bytes());
                        break;
                    }
                    other => panic!("{layout:?}: {effect:?} at call {call}: {other:?}"),
                }
            }
        }
    }
}

/// A store whose `delete_prefix` fails after some of the values, as the trait allows it to.
#[derive(Debug)]
struct HalfDeleting {
    inner: Arc<dyn Store>,
    values: usize,
}

impl Store for HalfDeleting {
    fn describe(&self) -> String {
        self.inner.describe()
    }
    fn is_local(&self) -> bool {
        true
    }
    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        self.inner.read_many(requests, sink);
    }
    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> Result<Version, StoreError> {
        self.inner.put(key, parts, mode)
    }
    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> Result<(), StoreError> {
        self.inner.update(key, read, decide)
    }
    fn delete(&self, key: &Key) -> Result<bool, StoreError> {
        self.inner.delete(key)
    }
    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        for (key, _) in self.inner.list(prefix)?.into_iter().take(self.values) {
            self.inner.delete(&key)?;
        }
        Err(StoreError::Other { key: prefix.to_string(), message: "stopped half way".into() })
    }
    fn head(&self, key: &Key) -> Result<Option<Meta>, StoreError> {
        self.inner.head(key)
    }
    fn list(&self, prefix: &Prefix) -> Result<Vec<(Key, u64)>, StoreError> {
        self.inner.list(prefix)
    }
    fn list_dir(&self, prefix: &Prefix) -> Result<Vec<ListEntry>, StoreError> {
        self.inner.list_dir(prefix)
    }
}

#[test]
fn an_overwrite_that_stops_half_way_never_shows_deleted_chunks_as_fill() {
    for layout in [Layout::Plain, Layout::Sharded, Layout::V2] {
        for values in 0..6 {
            let place = Place::memory();
            let plane = prepared(&place.store, layout, false);
            let session = Session::builder().threads(1).build();
            let store = Arc::new(HalfDeleting { inner: place.store.clone(), values });
            let spec = layout.spec(&[10, 10], &OBJECT);
            Array::create(&session, store, "a", &spec, true).unwrap_err();
            match Array::open(&session, place.store.clone(), "a") {
                Err(ArrayError::NotFound { .. }) => {}
                Ok(array) => {
                    let found = array.read_bytes(&plane.all()).unwrap();
                    assert!(found == plane.bytes(), "{layout:?}: fill in place of {values} deleted values");
                }
                Err(error) => panic!("{layout:?}: {error}"),
            }
        }
    }
}
