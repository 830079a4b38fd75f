//! Whoever deletes looks again under the lock: what a writer was told is stored stays, whoever tidies up beside it.
//!
//! A store that lets a writer in between every listing and what is done with it makes each race happen every time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Place, key, watched};
use tessarray::{
    Appender, Arena, Array, ArraySpec, ChunkChoice, DataType, FindingKind, Group, InputView, Key, ListEntry,
    MemoryStore, Meta, Prefix, PutMode, ReadRequest, ReadSink, Result, Selection, Session, Store, StoreError,
    UpdateFn, Version, check_store, repair_store,
};

type StoreResult<T> = std::result::Result<T, StoreError>;
type Writer = Box<dyn FnOnce() + Send>;

/// Lets the next writer work after each listing. One that waits for a lock of whoever has listed is waited for in vain,
/// for a while.
struct Between {
    inner: Arc<dyn Store>,
    writers: Mutex<Vec<Writer>>,
    threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
}

impl std::fmt::Debug for Between {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Between")
    }
}

impl Between {
    fn new(inner: &Arc<dyn Store>, writers: Vec<Writer>) -> Arc<Self> {
        Arc::new(Self { inner: inner.clone(), writers: Mutex::new(writers), threads: Mutex::default() })
    }

    fn let_one_in(&self) {
        let Some(writer) = self.writers.lock().unwrap().pop() else { return };
        let (done, ended) = channel();
        self.threads.lock().unwrap().push(std::thread::spawn(move || {
            writer();
            let _ = done.send(());
        }));
        let _ = ended.recv_timeout(Duration::from_millis(300));
    }

    /// Waits for all, and says how many never came.
    fn end(&self) -> usize {
        self.threads.lock().unwrap().drain(..).for_each(|thread| thread.join().unwrap());
        self.writers.lock().unwrap().len()
    }
}

impl Store for Between {
    fn describe(&self) -> String {
        self.inner.describe()
    }
    fn is_local(&self) -> bool {
        true
    }
    fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        self.inner.read_many(requests, sink);
    }
    fn put(&self, key: &Key, parts: &[&[u8]], mode: PutMode) -> StoreResult<Version> {
        self.inner.put(key, parts, mode)
    }
    fn update(&self, key: &Key, read: bool, decide: &mut UpdateFn<'_, '_>) -> StoreResult<()> {
        self.inner.update(key, read, decide)
    }
    fn delete(&self, key: &Key) -> StoreResult<bool> {
        self.inner.delete(key)
    }
    fn delete_prefix(&self, prefix: &Prefix) -> StoreResult<()> {
        self.inner.delete_prefix(prefix)?;
        self.let_one_in();
        Ok(())
    }
    fn head(&self, key: &Key) -> StoreResult<Option<Meta>> {
        self.inner.head(key)
    }
    fn list(&self, prefix: &Prefix) -> StoreResult<Vec<(Key, u64)>> {
        let found = self.inner.list(prefix)?;
        self.let_one_in();
        Ok(found)
    }
    fn list_dir(&self, prefix: &Prefix) -> StoreResult<Vec<ListEntry>> {
        self.inner.list_dir(prefix)
    }
}

fn session() -> Session {
    Session::builder().threads(1).build()
}

fn spec(rows: u64) -> ArraySpec {
    ArraySpec {
        fill_value: Some(0.into()),
        chunks: ChunkChoice::Shape(vec![2]),
        ..ArraySpec::new(&[rows], DataType::Int64)
    }
}

fn rows(from: i64, n: i64) -> Vec<u8> {
    (from..from + n).flat_map(i64::to_ne_bytes).collect()
}

fn append(array: &Array, bytes: &[u8]) -> Result<u64> {
    let n = bytes.len() as u64 / 8;
    array.append(0, &InputView::new(bytes, &[n], 8)?, &Arena::new())
}

fn numbers(store: &Arc<dyn Store>, path: &str) -> Vec<i64> {
    let array = Array::open(&session(), store.clone(), path).unwrap();
    let bytes = array.read_bytes(&Selection::all(&array.shape())).unwrap();
    bytes.chunks_exact(8).map(|item| i64::from_ne_bytes(item.try_into().unwrap())).collect()
}

/// A place with an array of the numbers 1..=4, and writers that append two more each.
fn place(writers: i64) -> (Arc<dyn Store>, Vec<Writer>) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(&session(), store.clone(), "a", &spec(0), false).unwrap();
    append(&array, &rows(1, 4)).unwrap();
    let writers = (0..writers).map(|_| -> Writer {
        let store = store.clone();
        Box::new(move || {
            let array = Array::open(&session(), store, "a").unwrap();
            let next = i64::try_from(array.shape()[0]).unwrap() + 1;
            append(&array, &rows(next, 2)).unwrap();
        })
    });
    let writers = writers.collect();
    (store, writers)
}

#[test]
fn a_repair_beside_appends_deletes_no_row() {
    let (store, writers) = place(2);
    store.put(&key("a/c/2"), &[b"a crashed append left this"], PutMode::Overwrite).unwrap();
    store.put(&key("a/c/90"), &[b"and this"], PutMode::Overwrite).unwrap();
    let between = Between::new(&store, writers);
    let found = repair_store(&session(), &(between.clone() as _), "", true).unwrap();
    assert_eq!(between.end(), 0);
    // The first has become a row meanwhile, or was removed before it could.
    assert!(found.iter().all(|one| one.kind == FindingKind::OutOfBounds), "{found:?}");
    assert!(found.iter().any(|one| one.key == "a/c/90"));
    assert_eq!(numbers(&store, "a"), (1..=8).collect::<Vec<_>>());
    assert_eq!(check_store(&session(), &store, "", true).unwrap(), []);
}

#[test]
fn a_check_beside_appends_and_replacements_finds_nothing_in_what_is_whole() {
    let (store, mut writers) = place(1);
    // Objects of an append that has not put the shape yet are not data, and no damage either.
    let ahead = store.get(&key("a/c/0")).unwrap().unwrap().0;
    store.put(&key("a/c/2"), &[&ahead], PutMode::Overwrite).unwrap();
    let replaced = store.clone();
    writers.insert(0, {
        Box::new(move || {
            let spec = ArraySpec { chunks: ChunkChoice::Shape(vec![3]), ..spec(3) };
            let array = Array::create(&session(), replaced, "a", &spec, true).unwrap();
            array.write_bytes(&Selection::all(&[3]), &rows(70, 3)).unwrap();
        })
    });
    let between = Between::new(&store, writers);
    let found = check_store(&session(), &(between.clone() as _), "", true).unwrap();
    assert_eq!((found, between.writers.lock().unwrap().len()), (vec![], 1));
    let found = check_store(&session(), &(between.clone() as _), "", true).unwrap();
    assert_eq!((found, between.end()), (vec![], 0));
}

#[test]
fn a_shrink_beside_an_append_deletes_no_row_of_it() {
    let (store, writers) = place(1);
    let between = Between::new(&store, writers);
    let array = Array::open(&session(), between.clone(), "a").unwrap();
    array.resize(&[2]).unwrap();
    assert_eq!(between.end(), 0);
    // The append began where it found the array: before the shrink, which then dropped it, or behind it.
    assert_eq!(numbers(&store, "a"), [1, 2, 3, 4]);
}

#[test]
fn an_array_that_replaces_another_shows_no_chunk_of_it() {
    let (store, _) = place(0);
    let old = Array::open(&session(), store.clone(), "a").unwrap();
    let late: Writer = Box::new(move || old.write_bytes(&Selection::all(&[4]), &rows(90, 4)).unwrap());
    let between = Between::new(&store, vec![late]);
    Array::create(&session(), between.clone(), "a", &spec(4), true).unwrap();
    assert_eq!(between.end(), 0);
    assert_eq!(numbers(&store, "a"), [0; 4]);
}

#[test]
fn of_two_who_replace_an_array_one_is_left_whole() {
    let (store, _) = place(0);
    let other = store.clone();
    let late: Writer = Box::new(move || {
        let array = Array::create(&session(), other, "a", &spec(6), true).unwrap();
        array.write_bytes(&Selection::all(&[6]), &rows(50, 6)).unwrap();
    });
    let between = Between::new(&store, vec![late]);
    Array::create(&session(), between.clone(), "a", &spec(4), true).unwrap();
    assert_eq!(between.end(), 0);
    assert_eq!(numbers(&store, "a"), [0; 4]);
}

/// Counts down, also when its thread panics.
struct Ended<'a>(&'a AtomicU64);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Every kind of writer, and two who repair, all at once and for long enough to meet.
#[test]
fn repairs_beside_all_writers_at_once_lose_no_row() {
    watched(Duration::from_secs(120), || Place::KINDS.map(|kind| all_at_once(&kind().store)));
}

fn all_at_once(store: &Arc<dyn Store>) {
    const COUNT: i64 = 300;
    let make = |name: &str, rows| {
        Array::create(&session(), store.clone(), name, &spec(rows), true).unwrap();
        Array::open(&session(), store.clone(), name).unwrap()
    };
    let (appended, streamed) = (make("appended", 0), make("streamed", 0));
    let (resized, boxes) = (make("resized", 0), make("boxes", COUNT as u64));
    let root = Group::open(&session(), store.clone(), "").unwrap();
    let append_rows = || {
        (1..=COUNT).for_each(|i| {
            append(&appended, &rows(i, 1)).unwrap();
        })
    };
    let stream = || {
        let appender = Appender::new(&streamed, 0, 64).unwrap();
        for i in 1..=COUNT {
            appender.append(&InputView::new(&rows(i, 1), &[1], 8).unwrap()).unwrap();
        }
        appender.close().unwrap();
    };
    let write_boxes = || {
        for i in 1..=COUNT {
            boxes.write_bytes(&Selection::region(&[i as u64 - 1], &[1]), &rows(i, 1)).unwrap();
        }
    };
    // Grows, is written, shrinks: what is inside at any moment is what was written there.
    let resize = || {
        for i in 0..COUNT / 10 {
            let n = i % 7 + 3;
            resized.resize(&[n as u64]).unwrap();
            resized.write_bytes(&Selection::all(&[n as u64]), &rows(1, n)).unwrap();
            assert_eq!(numbers(store, "resized"), (1..=n).collect::<Vec<_>>());
            resized.resize(&[2]).unwrap();
            assert_eq!(numbers(store, "resized"), [1, 2]);
        }
    };
    let replace = || {
        for i in 1..COUNT / 4 {
            append(&make("replaced", 0), &rows(i, 5)).unwrap();
            assert_eq!(numbers(store, "replaced"), (i..i + 5).collect::<Vec<_>>());
        }
    };
    let delete = || {
        for i in 1..COUNT / 4 {
            append(&make("deleted", 0), &rows(i, 5)).unwrap();
            assert_eq!(numbers(store, "deleted"), (i..i + 5).collect::<Vec<_>>());
            assert!(root.delete("deleted").unwrap());
        }
    };
    let writers: [&(dyn Fn() + Sync); 6] = [&append_rows, &stream, &write_boxes, &resize, &replace, &delete];
    let left = AtomicU64::new(writers.len() as u64);
    std::thread::scope(|scope| {
        for writer in writers {
            let ended = Ended(&left);
            scope.spawn(move || {
                let _ended = ended;
                writer();
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                while left.load(Ordering::SeqCst) > 0 {
                    let found = repair_store(&session(), store, "", true).unwrap();
                    let damage: Vec<_> = found.iter().filter(|one| one.kind.is_damage()).collect();
                    assert!(damage.is_empty(), "what a writer did was taken for damage: {damage:?}");
                }
            });
        }
    });
    let all: Vec<i64> = (1..=COUNT).collect();
    for name in ["appended", "streamed", "boxes"] {
        assert_eq!(numbers(store, name), all, "{name}");
    }
}
