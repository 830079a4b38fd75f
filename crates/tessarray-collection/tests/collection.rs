//! Datasets that are added, changed and removed in several versions, as a collection sees them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

use serde_json::Map;
use std::sync::Arc;
use tessarray_array::{Array, ArraySpec, Session};
use tessarray_buffer::{Arena, DataType, InputView, OutputView};
use tessarray_collection::{
    Collection, CollectionError, NewVariable, Number, ReadPart, ReadPlan, Statistics, add, describe,
};
use tessarray_grid::{AxisSlice, Selection};
use tessarray_pack::{Pack, PackError, PackOptions, STATISTICS, Transaction};
use tessarray_store::{MemoryStore, Prefix, Store};

fn pack() -> Pack {
    Pack::create(Arc::new(MemoryStore::new()), PackOptions::default()).unwrap()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn put(session: &Session, transaction: &Transaction, name: &str, variables: &[(&str, Vec<f32>)]) {
    try_put(session, transaction, name, variables).unwrap();
}

fn try_put(
    session: &Session,
    transaction: &Transaction,
    name: &str,
    variables: &[(&str, Vec<f32>)],
) -> Result<(), CollectionError> {
    let nowhere: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut spec = ArraySpec::new(&[4], DataType::Float32);
    spec.chunks = tessarray_array::ChunkChoice::Shape(vec![4]);
    let metadata = spec.metadata(session).unwrap();
    let kind = Array::from_metadata(session, nowhere, "", metadata).unwrap();
    let (arena, held): (Arena, Vec<Vec<u8>>) =
        (Arena::new(), variables.iter().map(|(_, values)| bytes(values)).collect());
    let new: Vec<NewVariable<'_>> = variables
        .iter()
        .zip(&held)
        .map(|((name, values), bytes)| NewVariable {
            name: (*name).into(),
            kind: &kind,
            shape: vec![values.len() as u64],
            attributes: Map::new(),
            values: InputView::new(bytes, &[values.len() as u64], 4).unwrap(),
            bytes: Some(bytes),
            missing: None,
            texts: None,
            arena: &arena,
        })
        .collect();
    let groups: Vec<(String, Map<_, _>)> = variables
        .iter()
        .filter_map(|(name, _)| Some((name.rsplit_once('/')?.0.to_string(), Map::new())))
        .collect();
    add(session, &transaction.store(), name, Map::new(), &groups, &new)
}

fn commit(pack: &Pack, work: impl FnOnce(&Transaction)) {
    let transaction = pack.begin().unwrap();
    work(&transaction);
    transaction.commit("test").unwrap();
}

fn names(collection: &Collection) -> Vec<String> {
    collection.index().unwrap().names().iter().map(|name| name.to_string()).collect()
}

fn read(collection: &Collection, variable: &str, names: Option<&[String]>) -> Vec<Vec<f32>> {
    let found = collection.find(variable, names).unwrap();
    let lengths: Vec<u64> = found.members.iter().map(|member| found.shapes[member.shape][0]).collect();
    let selections: Vec<Selection> = lengths.iter().map(|n| Selection::all(&[*n])).collect();
    let total = lengths.iter().sum::<u64>();
    let mut held = vec![0xff; total as usize * 4];
    let view = OutputView::new(&mut held, &[total], 4).unwrap();
    let part = |place: usize| ReadPart {
        member: place,
        selection: &selections[place],
        strides: &[4],
        elements: lengths[place],
    };
    collection.read_each(&found, lengths.len(), &part, view, &Arena::new()).unwrap();
    let mut values = held.as_chunks::<4>().0.iter().map(|one| f32::from_ne_bytes(*one));
    lengths.iter().map(|&n| values.by_ref().take(n as usize).collect()).collect()
}

fn known(pack: &Pack, path: &str) -> Option<Statistics> {
    let bytes = pack.latest().unwrap().value(path, STATISTICS).unwrap()?;
    Statistics::from_json(&bytes)
}

#[test]
fn what_was_added_changed_and_removed_in_several_versions() {
    let (session, pack) = (Session::new(), pack());
    commit(&pack, |t| {
        // Sorted as texts, `a-b/v` lies between `a` and `a/v`.
        for name in ["a", "a-b", "b", "c"] {
            put(&session, t, name, &[("v", vec![1.0, 2.0]), ("deep/w", vec![3.0])]);
        }
    });
    commit(&pack, |t| {
        put(&session, t, "d", &[("v", vec![4.0, 5.0, 6.0])]);
        t.store().delete_prefix(&Prefix::from_path("b").unwrap()).unwrap();
    });
    for i in 0..20 {
        commit(&pack, |t| put(&session, t, &format!("e{i:02}"), &[("v", vec![i as f32])]));
    }
    let collection = Collection::new(&session, pack.latest().unwrap());
    let mut expected: Vec<String> = ["a", "a-b", "c", "d"].map(String::from).to_vec();
    expected.extend((0..20).map(|i| format!("e{i:02}")));
    assert_eq!(names(&collection), expected);
    let index = collection.index().unwrap();
    let variables: Vec<(&str, usize)> = index.variables().iter().map(|v| (&*v.name, v.len())).collect();
    assert_eq!(variables, [("deep/w", 3), ("v", 24)]);
    assert!(!index.variables()[0].is_empty());
    let values = read(&collection, "v", None);
    assert_eq!(
        &values[..5],
        [vec![1.0, 2.0], vec![1.0, 2.0], vec![1.0, 2.0], vec![4.0, 5.0, 6.0], vec![0.0]]
    );
    assert_eq!(values[23], [19.0]);

    // The same, looked up one by one, without an index.
    let fresh = Collection::new(&session, pack.latest().unwrap());
    let asked = ["d", "b", "a", "nothing"].map(String::from);
    assert_eq!(read(&fresh, "v", Some(&asked)), [vec![4.0, 5.0, 6.0], vec![1.0, 2.0]]);
    assert_eq!(fresh.find("v", Some(&asked)).unwrap().missing, [1, 3]);
    assert!(fresh.contains("a").unwrap() && !fresh.contains("b").unwrap() && !fresh.contains("a/v").unwrap());
    assert!(fresh.find("deep", Some(&asked)).unwrap().members.is_empty(), "a group is no variable");
    // And with it.
    fresh.index().unwrap();
    assert_eq!(read(&fresh, "v", Some(&asked)), [vec![4.0, 5.0, 6.0], vec![1.0, 2.0]]);
    assert!(fresh.contains("a").unwrap() && !fresh.contains("b").unwrap());

    // An older version is what it was.
    let before = Collection::new(&session, pack.version(1).unwrap());
    assert_eq!(names(&before), ["a", "a-b", "b", "c"]);
    // One kind for all lengths.
    let found = collection.find("v", None).unwrap();
    assert_eq!((found.kinds.len(), found.shapes.len()), (1, 3));
    assert_eq!(found.path(&found.members[1]), "a-b/v");
}

#[test]
fn names_that_are_taken_or_none() {
    let (session, pack) = (Session::new(), pack());
    commit(&pack, |t| {
        put(&session, t, "a", &[("v", vec![1.0])]);
        let again = try_put(&session, t, "a", &[("v", vec![1.0])]);
        assert!(matches!(again, Err(CollectionError::Exists { name }) if name == "a"));
        for name in ["", "a/b", "__a", ".", ".."] {
            let refused = try_put(&session, t, name, &[]);
            assert!(matches!(refused, Err(CollectionError::Name { .. })), "{name:?}");
        }
    });
}

#[test]
fn statistics_are_there_only_while_they_hold() {
    let (session, pack) = (Session::new(), pack());
    commit(&pack, |t| put(&session, t, "a", &[("v", vec![1.0, 5.0])]));
    assert_eq!(known(&pack, "a/v").unwrap().max, Some(Number::Float(5.0)));

    // Another value, put past the collection.
    let raw = |t: &Transaction, value: f32| {
        let array = Array::open(&session, t.store(), "a/v").unwrap();
        array.write_bytes(&Selection::region(&[0], &[1]), &value.to_ne_bytes()).unwrap();
    };
    commit(&pack, |t| raw(t, 9.0));
    assert_eq!(known(&pack, "a/v"), None);
    commit(&pack, |t| {
        assert!(describe(&session, &t.store(), "a/v", Some(&5f32.to_ne_bytes()), None).unwrap());
    });
    let described = known(&pack, "a/v").unwrap();
    assert_eq!((described.max, described.nulls), (Some(Number::Float(9.0)), 1));

    // In one transaction, the last word counts.
    commit(&pack, |t| {
        assert!(describe(&session, &t.store(), "a/v", None, None).unwrap());
        raw(t, 7.0);
    });
    assert_eq!(known(&pack, "a/v"), None);

    // Attributes say what a missing value is: with them, nothing is known any more.
    commit(&pack, |t| {
        assert!(describe(&session, &t.store(), "a/v", None, None).unwrap());
    });
    commit(&pack, |t| {
        let array = Array::open(&session, t.store(), "a/v").unwrap();
        let mut attributes = Map::new();
        attributes.insert("_FillValue".into(), 7.into());
        array.set_attributes(attributes).unwrap();
    });
    assert_eq!(known(&pack, "a/v"), None);
    // A compaction changes no value.
    commit(&pack, |t| {
        assert!(describe(&session, &t.store(), "a/v", None, None).unwrap());
    });
    pack.compact("compact", &mut |_, _| {}).unwrap();
    assert_eq!(known(&pack, "a/v").unwrap().max, Some(Number::Float(7.0)));
}

#[test]
fn two_who_change_one_array_leave_no_statistics_and_no_conflict() {
    let (session, pack) = (Session::new(), pack());
    commit(&pack, |t| put(&session, t, "a", &[("v", (0..16u8).map(f32::from).collect())]));
    let change = |t: &Transaction, at: u64, value: f32, described: bool| {
        let array = Array::open(&session, t.store(), "a/v").unwrap();
        array.write_bytes(&Selection::region(&[at], &[1]), &value.to_ne_bytes()).unwrap();
        if described {
            describe(&session, &t.store(), "a/v", None, None).unwrap();
        }
    };
    for (first, second) in [(true, true), (true, false), (false, true)] {
        commit(&pack, |t| {
            describe(&session, &t.store(), "a/v", None, None).unwrap();
        });
        let (one, two) = (pack.begin().unwrap(), pack.begin().unwrap());
        change(&one, 0, 100.0, first);
        change(&two, 12, 200.0, second);
        one.commit("one").unwrap();
        assert_eq!(known(&pack, "a/v").is_some(), first);
        two.commit("two").unwrap();
        assert_eq!(known(&pack, "a/v"), None, "neither knew of the other");
    }
    // Nor do they hold where another has said anew what a missing value is.
    let attributes = |t: &Transaction, fill: u8| {
        let mut map = Map::new();
        map.insert("_FillValue".into(), fill.into());
        Array::open(&session, t.store(), "a/v").unwrap().set_attributes(map).unwrap();
    };
    for others_first in [true, false] {
        commit(&pack, |t| {
            describe(&session, &t.store(), "a/v", None, None).unwrap();
        });
        let (one, two) = (pack.begin().unwrap(), pack.begin().unwrap());
        let (first, second) = if others_first { (&one, &two) } else { (&two, &one) };
        attributes(&one, 3 + u8::from(others_first));
        change(&two, 12, 5.0, true);
        first.commit("first").unwrap();
        second.commit("second").unwrap();
        assert_eq!(known(&pack, "a/v"), None, "{others_first}");
    }
    // The same chunk is a conflict, as ever.
    let (one, two) = (pack.begin().unwrap(), pack.begin().unwrap());
    change(&one, 0, 1.0, true);
    change(&two, 1, 2.0, true);
    one.commit("one").unwrap();
    assert!(matches!(two.commit("two"), Err(PackError::Conflict { path, .. }) if path == "a/v"));
}

#[test]
fn statistics_are_no_difference_of_their_own() {
    let (session, pack) = (Session::new(), pack());
    commit(&pack, |t| put(&session, t, "a", &[("v", vec![1.0])]));
    let found = pack.diff(0, 1).unwrap();
    assert_eq!(found.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["a", "a/v"]);
}

#[test]
fn dimensions_of_letters_are_those_that_only_letters_have_and_have_last() {
    let (session, pack) = (Session::new(), pack());
    let make = |t: &Transaction, path: &str, data_type: DataType, dims: [&str; 2]| {
        let mut spec = ArraySpec::new(&[2, 3], data_type);
        spec.dimension_names = Some(dims.map(|name| Some(name.to_owned())).to_vec());
        Array::create(&session, t.store(), path, &spec, false).unwrap();
    };
    commit(&pack, |t| put(&session, t, "a", &[("v", vec![1.0])]));
    commit(&pack, |t| {
        make(t, "a/platform", DataType::FixedBytes(1), ["prof", "string8"]);
        make(t, "a/flags", DataType::FixedBytes(1), ["prof", "level"]);
        make(t, "a/temperature", DataType::Float32, ["prof", "level"]);
        make(t, "a/turned", DataType::FixedBytes(1), ["first", "string4"]);
        make(t, "a/name", DataType::FixedBytes(1), ["string4", "string2"]);
    });
    let collection = Collection::new(&session, pack.latest().unwrap());
    let found: Vec<&str> = collection.letter_dimensions().unwrap().iter().map(String::as_str).collect();
    assert_eq!(found, ["string2", "string8"]);
}

#[test]
fn a_strict_read_gives_the_same_slices_of_every_array_or_names_the_one_that_is_too_short() {
    let session = Session::builder().threads(2).build();
    let pack = pack();
    commit(&pack, |t| {
        put(&session, t, "a", &[("v", vec![1.0, 2.0, 3.0])]);
        put(&session, t, "b", &[("v", vec![4.0, 5.0, 6.0])]);
        put(&session, t, "short", &[("v", vec![7.0])]);
    });
    let collection = Collection::new(&session, pack.latest().unwrap());
    let found = collection.find("v", None).unwrap();
    let read = |members: &[usize], slices: &[AxisSlice]| {
        let plan = ReadPlan::strict(&found, members, slices).map_err(|error| error.to_string())?;
        let mut held = vec![0xff; plan.total() as usize * 4];
        let view = OutputView::new(&mut held, &[plan.total()], 4).unwrap();
        collection.read(&found, &plan, view, &Arena::new()).unwrap();
        let values = held.as_chunks::<4>().0.iter().map(|one| f32::from_ne_bytes(*one));
        Ok::<_, String>((plan.selected().len(), values.collect::<Vec<f32>>()))
    };
    // One selection for the arrays of one shape; the output is in the order that was asked for.
    let backwards = AxisSlice { start: None, stop: Some(-3), step: -1 };
    assert_eq!(read(&[1, 0], &[AxisSlice::run(-2, 3)]), Ok((1, vec![5.0, 6.0, 2.0, 3.0])));
    assert_eq!(read(&[0, 1], &[backwards]), Ok((1, vec![3.0, 2.0, 6.0, 5.0])));
    assert_eq!(read(&[2, 0, 2], &[]), Ok((2, vec![7.0, 1.0, 2.0, 3.0, 7.0])));
    assert_eq!(read(&[], &[AxisSlice::run(0, 9)]), Ok((0, vec![])));
    let error = read(&[0, 1, 2], &[AxisSlice::run(0, 2)]).unwrap_err();
    assert!(
        error.contains("short/v, of shape [1]") && error.contains("stop 2 reaches beyond axis 0"),
        "{error}"
    );
    let error = read(&[0], &[AxisSlice::ALL, AxisSlice::ALL]).unwrap_err();
    assert!(error.contains("a/v") && error.contains("2 axes"), "{error}");
}
