//! Arrays that are changed by path inside a pack, beside transactions, in thousands of orders: a scheduler chooses, at each
//! call of the store below, whose turn it is. That store has no locks, as object stores have none.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../../tessarray-pack/tests/support/scheduled.rs"]
mod scheduled;

use scheduled::{Scheduled, explore};
use shuttle::thread;
use std::sync::Arc;
use tessarray::pack::{Pack, PackError, PackOptions};
use tessarray::{
    Arena, Array, ArrayError, ArraySpec, ChunkChoice, DataType, InputView, Key, PutMode, Selection, Session,
    ShardChoice, Store,
};

fn session() -> Session {
    Session::builder().threads(1).build()
}

fn array(store: Arc<dyn Store>) -> Array {
    Array::open(&session(), store, "a").unwrap()
}

fn open(store: &Arc<dyn Store>) -> Pack {
    Pack::open(Arc::clone(store), PackOptions::default()).unwrap()
}

/// A pack with an array of no rows, in chunks of two or in shards of two such chunks.
fn place(shards: bool) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(Scheduled::new(false));
    let pack = Pack::create(Arc::clone(&store), PackOptions::default()).unwrap();
    let transaction = pack.begin().unwrap();
    let shards = if shards { ShardChoice::Shape(vec![4]) } else { ShardChoice::None };
    let spec = ArraySpec {
        fill_value: Some(0.into()),
        chunks: ChunkChoice::Shape(vec![2]),
        shards,
        ..ArraySpec::new(&[0], DataType::Int64)
    };
    Array::create(&session(), transaction.store(), "a", &spec, false).unwrap();
    transaction.commit("make").unwrap();
    store
}

fn append(array: &Array, numbers: &[i64]) -> Result<u64, ArrayError> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    array.append(0, &InputView::new(&bytes, &[numbers.len() as u64], 8).unwrap(), &Arena::new())
}

/// Changes the array in a transaction, again and again until no other writer was faster.
fn transact(pack: &Pack, change: impl Fn(&Array) -> Result<(), ArrayError>) {
    loop {
        let transaction = pack.begin().unwrap();
        change(&array(transaction.store())).unwrap();
        match transaction.commit("rows") {
            Ok(_) => return,
            Err(PackError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// One who appends numbers from `first` on, each by a commit of its own.
fn by_transactions(store: &Arc<dyn Store>, numbers: [i64; 2]) -> thread::JoinHandle<()> {
    let pack = open(store);
    thread::spawn(move || {
        for number in numbers {
            transact(&pack, |array| append(array, &[number]).map(drop));
        }
    })
}

/// The same by path.
fn by_path(store: &Arc<dyn Store>, numbers: [i64; 2]) -> thread::JoinHandle<()> {
    let store = open(store).auto_store();
    thread::spawn(move || {
        let array = array(store);
        for number in numbers {
            append(&array, &[number]).unwrap();
        }
    })
}

fn numbers(store: &Arc<dyn Store>) -> Vec<i64> {
    let array = array(open(store).latest().unwrap().store());
    let bytes = array.read_bytes(&Selection::all(&array.shape())).unwrap();
    bytes.chunks_exact(8).map(|item| i64::from_ne_bytes(item.try_into().unwrap())).collect()
}

/// Each of the numbers up to `last` is there once, and those that one writer appended are in its order.
fn assert_rows(store: &Arc<dyn Store>, last: i64) {
    let found = numbers(store);
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=last).collect::<Vec<_>>(), "{found:?}");
    for first in (1..=last).step_by(2).filter(|first| *first < last) {
        let at = |number| found.iter().position(|found| *found == number);
        assert!(at(first) < at(first + 1), "{found:?}");
    }
    assert_eq!(open(store).check(true, &mut |_, _| {}).unwrap(), []);
}

#[test]
fn rows_appended_by_path_and_in_transactions_all_stay() {
    explore(160, || {
        let store = place(false);
        let writers = [by_path(&store, [1, 2]), by_transactions(&store, [3, 4])];
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert_rows(&store, 4);
    });
}

#[test]
fn rows_appended_by_path_and_in_two_rows_of_transactions_all_stay_in_shards() {
    explore(80, || {
        let store = place(true);
        let writers =
            [by_path(&store, [1, 2]), by_transactions(&store, [3, 4]), by_transactions(&store, [5, 6])];
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert_rows(&store, 6);
    });
}

#[test]
fn rows_appended_by_several_by_path_without_locks_all_stay() {
    explore(80, || {
        let store = place(false);
        let writers = [[1, 2], [3, 4], [5, 6]].map(|numbers| by_path(&store, numbers));
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert_rows(&store, 6);
    });
}

/// A repair that removes what lies behind the end, beside those who append there.
#[test]
fn strays_removed_by_path_beside_appends_take_no_row_with_them() {
    explore(160, || {
        let store = place(false);
        let transaction = open(&store).begin().unwrap();
        for stray in ["a/c/0", "a/c/1"] {
            transaction.store().put(&Key::new(stray).unwrap(), &[&[9; 16]], PutMode::Overwrite).unwrap();
        }
        transaction.commit("strays").unwrap();
        let tidy = {
            let store = open(&store).auto_store();
            thread::spawn(move || array(store).remove_strays().map(drop).unwrap())
        };
        let writers = [by_path(&store, [1, 2]), by_transactions(&store, [3, 4])];
        writers.into_iter().chain([tidy]).for_each(|writer| writer.join().unwrap());
        assert_rows(&store, 4);
    });
}

/// What is shown by a growth is fill, and what was appended stays, whoever is first.
#[test]
fn growth_by_path_beside_appends_shows_fill_and_takes_no_row() {
    explore(160, || {
        let store = place(false);
        transact(&open(&store), |array| append(array, &[7, 7, 7]).map(drop));
        transact(&open(&store), |array| array.resize(&[1]));
        let grow = {
            let store = open(&store).auto_store();
            thread::spawn(move || {
                let array = array(store);
                let rows = array.shape()[0];
                // Others may have appended since: then this takes rows away, as was asked.
                array.resize(&[rows + 2]).unwrap();
            })
        };
        let writer = by_transactions(&store, [1, 2]);
        grow.join().unwrap();
        writer.join().unwrap();
        let found = numbers(&store);
        let grown: &[&[i64]] =
            &[&[7, 0, 0, 1, 2], &[7, 1, 0, 2], &[7, 1, 2], &[7, 1, 2, 0], &[7, 1, 0, 0, 2], &[7, 1, 2, 0, 0]];
        assert!(grown.contains(&&found[..]), "{found:?}");
    });
}

/// Writes of a part of a chunk, which read the rest of it, lose nothing that others put there.
#[test]
fn parts_of_chunks_written_by_path_and_in_transactions_all_stay() {
    explore(160, || {
        let store = place(true);
        transact(&open(&store), |array| append(array, &[0; 4]).map(drop));
        let write = |array: &Array, at: u64| {
            array.write_bytes(&Selection::region(&[at], &[1]), &(at as i64 + 1).to_ne_bytes())
        };
        let by_path = [0, 3].map(|at| {
            let store = open(&store).auto_store();
            thread::spawn(move || write(&array(store), at).unwrap())
        });
        let in_transaction = {
            let pack = open(&store);
            thread::spawn(move || transact(&pack, |array| write(array, 1).and_then(|()| write(array, 2))))
        };
        by_path.into_iter().chain([in_transaction]).for_each(|writer| writer.join().unwrap());
        assert_eq!(numbers(&store), [1, 2, 3, 4]);
    });
}

/// A handle writes all rows that it knows while others append to the same chunk: with a number, or with fill, which removes
/// the chunk unless somebody else's rows are in it.
#[test]
fn rows_appended_beside_a_write_of_all_rows_that_an_older_handle_knows_stay() {
    for (shards, number) in [(false, 9), (false, 0), (true, 9), (true, 0)] {
        explore(80, move || {
            let store = place(shards);
            transact(&open(&store), |array| append(array, &[7]).map(drop));
            let older = array(open(&store).auto_store());
            let over = thread::spawn(move || {
                older.write_bytes(&Selection::all(&[1]), &i64::to_ne_bytes(number)).unwrap();
            });
            let writers = [by_path(&store, [1, 2]), by_transactions(&store, [3, 4])];
            writers.into_iter().chain([over]).for_each(|writer| writer.join().unwrap());
            let mut found = numbers(&store);
            assert_eq!(found.remove(0), number, "{found:?}");
            found.sort_unstable();
            assert_eq!(found, [1, 2, 3, 4]);
        });
    }
}
