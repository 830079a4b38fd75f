//! Every pair of changes, made on one version by two transactions: the second to commit is refused exactly if the
//! changes overlap, and what both did is there if not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::Arc;
use support::*;
use tessarray_pack::{Pack, PackError};
use tessarray_store::{MemoryStore, Prefix, PutMode, Store};

/// What becomes of the places of an array's chunks.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// They stay: attributes, or more rows or columns.
    Stays,
    /// They are others: another chunk shape, or fewer rows.
    Moves,
}

/// One transaction's change, and what it says of itself; nodes are `g/a` and `g/b` below the group `g`.
struct Change {
    name: &'static str,
    make: fn(&dyn Store),
    /// Documents and values that it writes or removes one by one.
    values: &'static [&'static str],
    /// Chunks that it writes or removes one by one.
    chunks: &'static [&'static str],
    /// What it removes with all that is under it.
    removes: Option<&'static str>,
    /// If it writes the document of `g/a`.
    layout: Option<Layout>,
    /// How many columns of chunks `g/a` has for it.
    columns: u64,
}

fn put(store: &dyn Store, name: &str, bytes: &[u8]) {
    store.put(&key(name), &[bytes], PutMode::Overwrite).unwrap();
}

fn delete(store: &dyn Store, name: &str) {
    store.delete(&key(name)).unwrap();
}

/// The document of an array of `rows` by `columns`, in chunks of 2 by 2 or `chunk`.
fn document(rows: u64, columns: u64, chunk: u64, n: u64) -> Vec<u8> {
    let text = String::from_utf8(array(n)).unwrap();
    let shaped = text.replace("\"shape\": [4, 6]", &format!("\"shape\": [{rows}, {columns}]"));
    shaped.replace("[2, 2]", &format!("[{chunk}, 2]")).into_bytes()
}

const A: &str = "g/a/zarr.json";

fn changes() -> Vec<Change> {
    let plain =
        Change { name: "", make: |_| {}, values: &[], chunks: &[], removes: None, layout: None, columns: 3 };
    macro_rules! change {
        ($name:literal, $make:expr $(, $field:ident: $value:expr)*) => {
            Change { name: $name, make: $make, $($field: $value,)* ..plain }
        };
    }
    use Layout::{Moves, Stays};
    vec![
        change!("a chunk", |s| put(s, "g/a/c/0/1", &[1; 4]), chunks: &["g/a/c/0/1"]),
        change!("the same chunk", |s| put(s, "g/a/c/0/1", &[2; 4]), chunks: &["g/a/c/0/1"]),
        change!("a chunk over another", |s| put(s, "g/a/c/0/0", &[3; 4]), chunks: &["g/a/c/0/0"]),
        change!("a chunk away", |s| delete(s, "g/a/c/0/0"), chunks: &["g/a/c/0/0"]),
        change!("a chunk of another array", |s| put(s, "g/b/c/0/1", &[4; 4]), chunks: &["g/b/c/0/1"]),
        change!("attributes", |s| put(s, A, &document(4, 6, 2, 7)), values: &[A], layout: Some(Stays)),
        change!("more rows", |s| put(s, A, &document(6, 6, 2, 0)), values: &[A], layout: Some(Stays)),
        change!("more rows, with values", |s| {
            put(s, A, &document(6, 6, 2, 0));
            put(s, "g/a/c/2/0", &[5; 4]);
        }, values: &[A], chunks: &["g/a/c/2/0"], layout: Some(Stays)),
        change!("more columns", |s| put(s, A, &document(4, 8, 2, 0)), values: &[A], layout: Some(Stays), columns: 4),
        change!("more columns, with values", |s| {
            put(s, A, &document(4, 8, 2, 0));
            put(s, "g/a/c/0/3", &[6; 4]);
        }, values: &[A], chunks: &["g/a/c/0/3"], layout: Some(Stays), columns: 4),
        change!("fewer rows", |s| put(s, A, &document(2, 6, 2, 0)), values: &[A], layout: Some(Moves)),
        change!("larger chunks", |s| put(s, A, &document(4, 6, 4, 0)), values: &[A], layout: Some(Moves)),
        change!("the array away", |s| {
            s.delete_prefix(&Prefix::new("g/a/").unwrap()).unwrap();
        }, removes: Some("g/a/")),
        change!("the group away", |s| {
            s.delete_prefix(&Prefix::new("g/").unwrap()).unwrap();
        }, removes: Some("g/")),
        change!("a value", |s| put(s, "notes", b"one"), values: &["notes"]),
        change!("the same value", |s| put(s, "notes", b"two"), values: &["notes"]),
        change!("a value away", |s| delete(s, "notes"), values: &["notes"]),
        change!("a value in the group", |s| put(s, "g/notes", b"three"), values: &["g/notes"]),
        change!("a new group", |s| put(s, "h/zarr.json", GROUP), values: &["h/zarr.json"]),
        change!("a group beside", |s| put(s, "gg/zarr.json", GROUP), values: &["gg/zarr.json"]),
        change!("the group again", |s| put(s, "g/zarr.json", br#"{"zarr_format": 3, "node_type": "group"}"#),
            values: &["g/zarr.json"]),
    ]
}

/// A pack with the array `g/a`, `g/b`, and a value.
fn base() -> Pack {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let pack = create(&store);
    let transaction = pack.begin().unwrap();
    let s = transaction.store();
    for (name, bytes) in [("zarr.json", GROUP), ("g/zarr.json", GROUP), ("notes", b"zero".as_slice())] {
        put(&*s, name, bytes);
    }
    for array in ["a", "b"] {
        put(&*s, &format!("g/{array}/zarr.json"), &document(4, 6, 2, 0));
        for chunk in ["0/0", "1/0", "1/2"] {
            put(&*s, &format!("g/{array}/c/{chunk}"), &[9; 4]);
        }
    }
    transaction.commit("base").unwrap();
    pack
}

/// Whether a change that removes what the other has written, or wrote to, is in the way of it.
fn under(removes: Option<&str>, other: &Change) -> bool {
    let all = || other.values.iter().chain(other.chunks);
    removes.is_some_and(|prefix| all().any(|name| name.starts_with(prefix)))
}

fn overlap(one: &Change, two: &Change) -> bool {
    let both = |these: &[&str], those: &[&str]| these.iter().any(|name| those.contains(name));
    let of_a = |change: &Change| change.chunks.iter().any(|name| name.starts_with("g/a/"));
    let moved = |change: &Change, other: &Change| change.layout == Some(Layout::Moves) && of_a(other);
    // Chunks are numbered along the rows, so those of an array of other columns have other numbers.
    let reaches = |change: &Change| change.layout.is_some() || of_a(change);
    let numbered = reaches(one) && reaches(two) && (of_a(one) || of_a(two));
    both(one.values, two.values)
        || both(one.chunks, two.chunks)
        || under(one.removes, two)
        || under(two.removes, one)
        || moved(one, two)
        || moved(two, one)
        || (numbered && one.columns != two.columns)
}

/// Changes that say the same of what was not there, or take the same away: they may both be made.
fn agree(one: &Change, two: &Change) -> bool {
    let same = ["a new group", "a group beside", "a value in the group", "a value away"];
    one.name == two.name && same.contains(&one.name)
}

#[test]
fn a_commit_is_refused_exactly_if_it_overlaps_with_one_made_meanwhile() {
    let mut wrong = Vec::new();
    for one in changes() {
        for two in changes() {
            // Two removals of nodes, of which one may hold the other: whichever way, nothing of them is left.
            if one.removes.is_some() && two.removes.is_some() {
                continue;
            }
            let pack = base();
            let (first, second) = (pack.begin().unwrap(), pack.begin().unwrap());
            (one.make)(&*first.store());
            (two.make)(&*second.store());
            first.commit(one.name).unwrap();
            let refused = match second.commit(two.name) {
                Ok(_) => false,
                Err(PackError::Conflict { .. }) => true,
                Err(other) => panic!("{} after {}: {other}", two.name, one.name),
            };
            if refused != (overlap(&one, &two) && !agree(&one, &two)) {
                wrong.push(format!("{:?} after {:?}: refused: {refused}", two.name, one.name));
            } else if !refused {
                both_are_there(&pack, &one, &two);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The version has what one store had if both changes were made to it.
fn both_are_there(pack: &Pack, one: &Change, two: &Change) {
    let model = MemoryStore::new();
    for (name, bytes) in content(&*base().latest().unwrap().store()).unwrap() {
        put(&model, &name, &bytes);
    }
    (one.make)(&model);
    (two.make)(&model);
    let mut expected = content(&model).unwrap();
    if one.layout.is_some_and(|layout| layout == Layout::Moves) || two.layout == Some(Layout::Moves) {
        // What becomes of chunks outside the shape, or of another chunk shape, is the array's to say.
        expected.retain(|name, _| !name.starts_with("g/a/c/"));
    }
    let found = content(&*pack.latest().unwrap().store()).unwrap();
    for (name, bytes) in expected {
        assert_eq!(found.get(&name), Some(&bytes), "{name}: {:?} after {:?}", two.name, one.name);
    }
}
