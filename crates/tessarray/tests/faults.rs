//! Each store call of each operation fails in turn: the error is typed, every object is old or new, an append is all
//! or nothing, nothing is left behind, and the handle goes on working.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use serde_json::{Map, json};
use std::sync::Arc;
use support::{Layout, Place, Plane};
use tessarray::adapters::{Effect, Fault, FaultStore, When};
use tessarray::{
    Arena, Array, ArrayError, Format, Group, InputView, Member, Result, Selection, Session, Store, StoreError,
};

/// Larger than what the executor keeps on the caller's thread, so that the workers' path fails too.
const SHAPE: [u64; 2] = [192, 192];
const OBJECT: [u64; 2] = [48, 48];

fn session() -> Session {
    Session::builder().threads(2).build()
}

/// Runs `act` on what `prepare` made, on fresh stores of each kind, with each of its store calls failing in turn: only
/// that one, or that and all later ones. `judge` is given the subject, the bare store and the words of the case.
fn each_failing_call<T>(
    prepare: impl Fn(Arc<dyn Store>) -> T,
    open: impl Fn(Arc<dyn Store>) -> T,
    act: impl Fn(&T) -> Result<()>,
    judge: impl Fn(&T, &Arc<dyn Store>, &Effect, &str),
) {
    for effect in [Effect::fail(), Effect::LostResponse, Effect::Torn(3)] {
        // A store that is gone for good differs from one that hiccups only in what a caller does after an error.
        let lasting: &[bool] = if matches!(effect, Effect::Fail(_)) { &[false, true] } else { &[false] };
        for (&lasting, place) in lasting.iter().flat_map(|l| Place::KINDS.map(|kind| (l, kind))) {
            for call in 0.. {
                let place = place();
                drop(prepare(place.store.clone()));
                let faults = Arc::new(FaultStore::new(place.store.clone()));
                let subject = open(faults.clone());
                let when = if lasting { When::FromCall(call) } else { When::Call(call) };
                faults.set(Some(Fault { when, effect: effect.clone() }));
                let result = act(&subject);
                let calls = faults.calls();
                faults.set(None);
                let case = format!("{effect:?} at {when:?} of {calls} on {}", place.store.describe());
                match result {
                    Ok(()) if calls <= call => break,
                    // What is absent, or shorter than the tear, cannot be torn.
                    Ok(()) if matches!(effect, Effect::Torn(_)) => continue,
                    Ok(()) => panic!("{case}: nobody said so"),
                    Err(error) => assert_typed(&error, &effect, &case),
                }
                judge(&subject, &place.store, &effect, &case);
                place.assert_no_leftovers();
            }
        }
    }
}

fn assert_typed(error: &ArrayError, effect: &Effect, case: &str) {
    match (error, effect) {
        (ArrayError::Store(StoreError::Other { message, .. }), _) => {
            assert!(message.contains("injected"), "{case}: {error}");
        }
        // A torn document or chunk is the decoder's to find.
        (ArrayError::Metadata { key, .. } | ArrayError::Chunk { key, .. }, Effect::Torn(_)) => {
            assert!(!key.is_empty(), "{case}: {error}");
        }
        _ => panic!("{case}: {error:?}"),
    }
}

fn create(store: Arc<dyn Store>, layout: Layout, old: &Plane) -> Array {
    let array = layout.create(&session(), store, "a/b", &old.shape, &OBJECT);
    array.write_bytes(&old.all(), &old.bytes()).unwrap();
    array
}

fn open(store: Arc<dyn Store>) -> Array {
    Array::open(&session(), store, "a/b").unwrap()
}

fn read(array: &Array) -> Plane {
    let shape = [array.shape()[0], array.shape()[1]];
    Plane::from_bytes(shape, &array.read_bytes(&Selection::all(&shape)).unwrap())
}

/// Every object holds its old or its new value, whole.
fn assert_old_or_new(found: &Plane, old: &Plane, new: &Plane, case: &str) {
    assert_eq!(found.shape, old.shape, "{case}");
    for row in (0..found.shape[0]).step_by(OBJECT[0] as usize) {
        for column in (0..found.shape[1]).step_by(OBJECT[1] as usize) {
            let part = |plane: &Plane| plane.cut([row, column], OBJECT);
            let found = part(found);
            assert!(found == part(old) || found == part(new), "{case}: object at {row}, {column} is mixed");
        }
    }
}

fn a_failed_write_leaves_every_object_old_or_new(layout: Layout) {
    let old = Plane::random(SHAPE, 1);
    let patch = Plane::random([185, 178], 2);
    let mut new = old.clone();
    new.paste([5, 7], &patch);
    let region = Selection::region(&[5, 7], &patch.shape);
    each_failing_call(
        |store| create(store, layout, &old),
        open,
        |array| array.write_bytes(&region, &patch.bytes()),
        |array, store, _, case| {
            assert_old_or_new(&read(array), &old, &new, case);
            assert_old_or_new(&read(&open(store.clone())), &old, &new, case);
            array.write_bytes(&region, &patch.bytes()).unwrap();
            assert!(read(array) == new && read(&open(store.clone())) == new, "{case}: written again");
        },
    );
}

#[test]
fn a_failed_write_to_plain_chunks_leaves_each_old_or_new() {
    a_failed_write_leaves_every_object_old_or_new(Layout::Plain);
}

#[test]
fn a_failed_write_to_shards_leaves_each_old_or_new() {
    a_failed_write_leaves_every_object_old_or_new(Layout::Sharded);
}

#[test]
fn a_failed_write_to_nested_shards_leaves_each_old_or_new() {
    a_failed_write_leaves_every_object_old_or_new(Layout::Nested);
}

fn append(array: &Array, rows: &Plane) -> Result<()> {
    let bytes = rows.bytes();
    let input = InputView::new(&bytes, &rows.shape, 2)?;
    array.append(0, &input, &Arena::new()).map(|_| ())
}

fn a_failed_append_is_all_or_nothing(layout: Layout) {
    let old = Plane::random([100, 192], 1);
    let rows = Plane::random([80, 192], 2);
    let mut new = old.resized([180, 192]);
    new.paste([100, 0], &rows);
    each_failing_call(
        |store| create(store, layout, &old),
        open,
        |array| append(array, &rows),
        |array, store, effect, case| {
            let now = read(&open(store.clone()));
            let landed = now.shape == new.shape;
            assert!(now == if landed { new.clone() } else { old.clone() }, "{case}: neither old nor new");
            assert!(
                !landed || matches!(effect, Effect::LostResponse),
                "{case}: landed, and reported as failed"
            );
            // What the failed append left behind the end never comes into view.
            if landed {
                array.refresh().unwrap();
            }
            let grown = [now.shape[0] + 70, now.shape[1]];
            array.resize(&grown).unwrap();
            assert!(read(array) == now.resized(grown), "{case}: unwritten rows are not fill");
            let mut twice = now.resized([grown[0] + 80, 192]);
            twice.paste([grown[0], 0], &rows);
            append(array, &rows).unwrap();
            assert!(read(array) == twice && read(&open(store.clone())) == twice, "{case}: appended again");
        },
    );
}

#[test]
fn a_failed_append_to_plain_chunks_is_all_or_nothing() {
    a_failed_append_is_all_or_nothing(Layout::Plain);
}

#[test]
fn a_failed_append_to_shards_is_all_or_nothing() {
    a_failed_append_is_all_or_nothing(Layout::Sharded);
}

#[test]
fn a_failed_append_to_a_v2_array_is_all_or_nothing() {
    a_failed_append_is_all_or_nothing(Layout::V2);
}

fn a_failed_resize_shows_no_element_that_was_not_written(from: [u64; 2], to: [u64; 2]) {
    let old = Plane::random(from, 1);
    let new = old.resized(to);
    each_failing_call(
        |store| create(store, Layout::Sharded, &old),
        open,
        |array| array.resize(&to),
        |array, store, _, case| {
            let now = read(&open(store.clone()));
            assert!(now == old || now == new, "{case}: neither old nor new: {:?}", now.shape);
            array.refresh().unwrap();
            assert!(read(array) == now, "{case}: the handle differs");
            array.resize(&to).unwrap();
            assert!(read(array) == new, "{case}: resized again");
            // Elements that a shrink dropped do not come back.
            array.resize(&[190, 190]).unwrap();
            assert!(read(array) == new.resized([190, 190]), "{case}: dropped elements came back");
        },
    );
}

#[test]
fn a_failed_growth_shows_no_element_that_was_not_written() {
    a_failed_resize_shows_no_element_that_was_not_written([100, 150], [180, 185]);
}

#[test]
fn a_failed_shrink_brings_no_dropped_element_back() {
    a_failed_resize_shows_no_element_that_was_not_written([180, 185], [60, 70]);
}

#[test]
fn a_failed_create_leaves_nothing_or_the_array() {
    for layout in [Layout::Sharded, Layout::V2] {
        let spec = layout.spec(&SHAPE, &OBJECT);
        each_failing_call(
            |store| store,
            |store| store,
            |store| Array::create(&session(), store.clone(), "a/b/c", &spec, false).map(|_| ()),
            |store, bare, effect, case| {
                let there = match Array::open(&session(), bare.clone(), "a/b/c") {
                    Ok(array) => array.shape() == SHAPE,
                    Err(ArrayError::NotFound { .. }) => false,
                    Err(error) => panic!("{case}: {error}"),
                };
                assert!(
                    !there || matches!(effect, Effect::LostResponse),
                    "{case}: created, and reported as failed"
                );
                match Array::create(&session(), store.clone(), "a/b/c", &spec, false) {
                    Err(ArrayError::Exists { .. }) if there => {}
                    other => drop(other.unwrap()),
                }
                assert_eq!(Array::open(&session(), bare.clone(), "a/b/c").unwrap().shape(), SHAPE);
                assert!(matches!(
                    Group::open_member(&session(), bare.clone(), "a/b").unwrap(),
                    Member::Group(_)
                ));
            },
        );
    }
}

fn group(store: Arc<dyn Store>, format: Format) -> Group {
    let group = Group::create(&session(), store, "", format, Map::new(), false).unwrap();
    let layout = if format == Format::V2 { Layout::V2 } else { Layout::Sharded };
    group.create_array("a/b", &layout.spec(&SHAPE, &OBJECT), false).unwrap();
    group
}

fn set_attributes(group: &Group) -> Result<()> {
    group.set_attributes(json!({"x": [1, 2]}).as_object().cloned().unwrap())
}

/// A failed change of a group leaves its documents old or new, its members readable and, with `handle`, the group's
/// own handle as it was.
fn a_failed_change_of_a_group(format: Format, handle: bool, change: fn(&Group) -> Result<()>) {
    each_failing_call(
        |store| group(store, format),
        |store| Group::open(&session(), store, "").unwrap(),
        change,
        |group, store, effect, case| {
            let stored = Group::open(&session(), store.clone(), "").unwrap();
            if handle && !matches!(effect, Effect::LostResponse) {
                assert_eq!(
                    group.metadata(),
                    stored.metadata(),
                    "{case}: the handle shows what was not stored"
                );
            }
            assert!(matches!(stored.get("a/b").unwrap(), Some(Member::Array(_))), "{case}");
            change(group).unwrap();
            let stored = Group::open(&session(), store.clone(), "").unwrap();
            assert_eq!(group.metadata().attributes, stored.metadata().attributes, "{case}");
        },
    );
}

#[test]
fn a_failed_change_of_a_group_leaves_its_documents_and_members_readable() {
    for format in [Format::V3, Format::V2] {
        a_failed_change_of_a_group(format, false, Group::consolidate);
        a_failed_change_of_a_group(format, false, set_attributes);
    }
}

#[test]
fn a_failed_change_of_a_group_leaves_its_handle_as_it_was() {
    for format in [Format::V3, Format::V2] {
        a_failed_change_of_a_group(format, true, Group::consolidate);
        a_failed_change_of_a_group(format, true, set_attributes);
    }
}

#[test]
fn failed_attributes_of_an_array_are_not_shown() {
    let attributes = || json!({"x": [1, 2]}).as_object().cloned().unwrap();
    for layout in [Layout::Sharded, Layout::V2] {
        each_failing_call(
            |store| create(store, layout, &Plane::random([50, 50], 1)),
            open,
            |array| array.set_attributes(attributes()),
            |array, store, effect, case| {
                let shown = array.metadata().attributes.clone();
                assert!(shown.is_empty() || shown == attributes(), "{case}");
                if layout != Layout::V2 && !matches!(effect, Effect::LostResponse) {
                    assert_eq!(shown, open(store.clone()).metadata().attributes, "{case}");
                }
                array.set_attributes(attributes()).unwrap();
                assert_eq!(open(store.clone()).metadata().attributes, attributes(), "{case}");
            },
        );
    }
}
