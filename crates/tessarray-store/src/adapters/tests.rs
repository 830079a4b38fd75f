//! Adapters keep the promises of what they wrap, and their own.

use super::*;
use crate::conformance::{self, collect};
use crate::error::StoreError;
use crate::key::{Key, Prefix};
use crate::memory::MemoryStore;
use crate::request::{ByteRange, PutMode, ReadRequest};
use crate::store::{Store, Update};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn requests(count: u64) -> Vec<ReadRequest> {
    (0..count)
        .map(|offset| ReadRequest {
            key: key("a"),
            range: ByteRange::Span { offset, length: 1 },
            expect: None,
        })
        .collect()
}

#[test]
fn adapters_conform() {
    conformance::run(|| ((), Arc::new(RecordStore::new(memory())) as Arc<dyn Store>));
    conformance::run(|| ((), Arc::new(FaultStore::new(memory())) as Arc<dyn Store>));
    let base = Prefix::new("deep/down/").unwrap();
    conformance::run(|| ((), Arc::new(PrefixStore::new(memory(), base.clone())) as Arc<dyn Store>));
    let how = Throttling { first_byte: Duration::ZERO, bandwidth: u64::MAX, concurrency: 4 };
    conformance::run(|| ((), Arc::new(ThrottleStore::new(memory(), how)) as Arc<dyn Store>));
}

#[test]
fn a_prefix_store_sees_and_changes_its_part_only() {
    let inner = memory();
    inner.put(&key("other"), &[b"x"], PutMode::Overwrite).unwrap();
    let part = PrefixStore::new(inner.clone(), Prefix::new("p/").unwrap());
    part.put(&key("a/b"), &[b"y"], PutMode::Overwrite).unwrap();
    assert_eq!(part.list(&Prefix::root()).unwrap(), [(key("a/b"), 1)]);
    assert!(inner.head(&key("p/a/b")).unwrap().is_some());
    part.delete_prefix(&Prefix::root()).unwrap();
    assert_eq!(inner.list(&Prefix::root()).unwrap(), [(key("other"), 1)]);
}

#[test]
fn a_record_counts_calls_ranges_and_bytes() {
    let store = RecordStore::new(memory());
    store.put(&key("a"), &[b"123", b"45"], PutMode::Overwrite).unwrap();
    let mut batch = requests(3);
    batch.push(ReadRequest { key: key("b"), range: ByteRange::All, expect: None });
    batch.extend(requests(6).pop());
    collect(&store, &batch);
    store.update(&key("a"), true, &mut |_| Ok(Update::Put(vec![b"1234567"]))).unwrap();
    let counts = store.snapshot();
    let read = counts.of(Kind::Read);
    assert_eq!((read.calls, read.ranges, read.runs, read.bytes_read, read.errors), (1, 5, 3, 3, 1));
    assert_eq!(counts.of(Kind::Put).bytes_written, 5);
    let update = counts.of(Kind::Update);
    assert_eq!((update.bytes_read, update.bytes_written), (5, 7));
    assert_eq!(counts.total().calls, 3);
    store.reset();
    assert_eq!(store.snapshot(), Recorded::default());
}

#[test]
fn a_throttled_store_takes_its_time_and_overlaps_requests() {
    let inner = memory();
    inner.put(&key("a"), &[&[0; 100]], PutMode::Overwrite).unwrap();
    let first_byte = Duration::from_millis(20);
    let store = ThrottleStore::new(inner, Throttling { first_byte, bandwidth: 1_000_000, concurrency: 8 });
    assert!(!store.is_local());
    let start = Instant::now();
    assert_eq!(collect(&store, &requests(16)).len(), 16);
    // Two rounds of eight, not sixteen of one; the upper bound is generous to a busy machine.
    assert!(start.elapsed() >= 2 * first_byte && start.elapsed() < 14 * first_byte, "{:?}", start.elapsed());
    let start = Instant::now();
    store.put(&key("b"), &[&[0; 50_000]], PutMode::Overwrite).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(70), "20 ms and 50 kB at 1 MB/s");
}

#[test]
fn a_fault_hits_the_call_or_range_it_names_and_no_other() {
    let store = FaultStore::new(memory());
    store.put(&key("a"), &[b"0123456789"], PutMode::Overwrite).unwrap();
    store.set(Some(Fault { when: When::Range(4), effect: Effect::fail() }));
    let failed = |answers: Vec<conformance::Answer>| -> Vec<usize> {
        (0..answers.len()).filter(|i| answers[*i].is_err()).collect()
    };
    assert_eq!(failed(collect(&store, &requests(3))), []);
    assert_eq!(failed(collect(&store, &requests(3))), [1]);
    assert_eq!((store.calls(), store.ranges()), (2, 6));
    store.set(Some(Fault { when: When::FromCall(1), effect: Effect::fail() }));
    assert!(store.head(&key("a")).is_ok());
    assert!(store.head(&key("a")).is_err() && store.delete(&key("a")).is_err());
    let gone = Effect::Fail(Arc::new(|key| StoreError::Full { key: key.into() }));
    store.set(Some(Fault { when: When::Call(0), effect: gone }));
    let full = store.put(&key("a"), &[b"x"], PutMode::Overwrite);
    assert!(matches!(full, Err(StoreError::Full { key }) if key == "a"));
    store.set(Some(Fault { when: When::Call(0), effect: Effect::Torn(2) }));
    let all = ReadRequest { key: key("a"), range: ByteRange::All, expect: None };
    let (bytes, meta) = collect(&store, &[all]).remove(0).unwrap().unwrap();
    assert_eq!((bytes.as_slice(), meta.size), (&b"01"[..], 10));
    store.set(Some(Fault { when: When::Call(0), effect: Effect::LostResponse }));
    assert!(store.put(&key("a"), &[b"done"], PutMode::Overwrite).is_err());
    assert_eq!(conformance::whole(&store, &key("a")).unwrap(), b"done");
}

#[test]
fn a_read_only_store_reads_and_refuses_the_rest() {
    let inner = memory();
    inner.put(&key("a"), &[b"x"], PutMode::Overwrite).unwrap();
    let store = ReadOnlyStore::new(inner);
    assert_eq!(conformance::whole(&store, &key("a")).unwrap(), b"x");
    let refused =
        |result: crate::error::Result<()>| assert!(matches!(result, Err(StoreError::ReadOnly { .. })));
    refused(store.put(&key("a"), &[], PutMode::Overwrite).map(|_| ()));
    refused(store.update(&key("a"), true, &mut |_| Ok(Update::Keep)));
    refused(store.delete(&key("a")).map(|_| ()));
    refused(store.delete_prefix(&Prefix::root()));
    assert!(store.is_read_only() && store.list(&Prefix::root()).unwrap().len() == 1);
}
