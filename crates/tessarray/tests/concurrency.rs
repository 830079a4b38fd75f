//! Many threads on one array: no element is lost, no chunk is seen half written, and nothing waits for ever.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use support::{Layout, Place, Plane, Random, watched};
use tessarray::{Arena, Array, InputView, Selection, Session};

const LIMIT: Duration = Duration::from_secs(120);

/// Cuts a box into disjoint boxes at random places.
fn split(start: [u64; 2], shape: [u64; 2], random: &mut Random, out: &mut Vec<([u64; 2], [u64; 2])>) {
    let axis = usize::from(shape[1] > shape[0]);
    if shape[axis] < 4 || shape[0] * shape[1] < 40 || (shape[0] * shape[1] < 400 && random.below(3) == 0) {
        return out.push((start, shape));
    }
    let cut = 1 + random.below(shape[axis] - 1);
    let (mut low, mut high, mut begin) = (shape, shape, start);
    low[axis] = cut;
    high[axis] -= cut;
    begin[axis] += cut;
    split(start, low, random, out);
    split(begin, high, random, out);
}

fn append(array: &Array, rows: &Plane) -> u64 {
    let bytes = rows.bytes();
    array.append(0, &InputView::new(&bytes, &rows.shape, 2).unwrap(), &Arena::new()).unwrap()
}

fn disjoint_writers_lose_nothing(layout: Layout, rounds: u64) {
    for (round, place) in (0..rounds).flat_map(|round| Place::KINDS.map(|kind| (round, kind))) {
        let place = place();
        let session = Session::builder().threads(2).build();
        let target = Plane::random([150, 130], round + 1);
        let array = layout.create(&session, place.store.clone(), "a", &target.shape, &[48, 36]);
        let mut boxes = Vec::new();
        split([0, 0], target.shape, &mut Random::new(round + 7), &mut boxes);
        let mut random = Random::new(round + 99);
        (1..boxes.len()).rev().for_each(|i| boxes.swap(i, random.below(i as u64 + 1) as usize));
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (array, boxes, target, next, store) = (&array, &boxes, &target, &next, &place.store);
                scope.spawn(move || {
                    // Half of the threads have a session and a handle of their own.
                    let own =
                        Array::open(&Session::builder().threads(2).build(), store.clone(), "a").unwrap();
                    let array = if thread % 2 == 0 { array } else { &own };
                    while let Some((start, shape)) = boxes.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let part = target.cut(*start, *shape);
                        array.write_bytes(&Selection::region(start, shape), &part.bytes()).unwrap();
                    }
                });
            }
        });
        let found = Plane::from_bytes(target.shape, &array.read_bytes(&target.all()).unwrap());
        let lost = found.data.iter().zip(&target.data).filter(|(found, right)| found != right).count();
        assert_eq!(lost, 0, "{layout:?}: elements lost of {} boxes", boxes.len());
        place.assert_no_leftovers();
    }
}

#[test]
fn writers_of_disjoint_boxes_of_shards_lose_no_element() {
    watched(LIMIT, || disjoint_writers_lose_nothing(Layout::Sharded, 4));
}

#[test]
fn writers_of_disjoint_boxes_of_chunks_lose_no_element() {
    watched(LIMIT, || disjoint_writers_lose_nothing(Layout::Plain, 3));
}

#[test]
fn writers_of_disjoint_boxes_of_nested_shards_lose_no_element() {
    watched(LIMIT, || disjoint_writers_lose_nothing(Layout::Nested, 2));
}

fn readers_see_chunks_whole(layout: Layout, chunk: [u64; 2]) {
    for place in Place::KINDS {
        let place = place();
        let session = Session::builder().threads(2).build();
        let shape = [96, 90];
        let array = layout.create(&session, place.store.clone(), "a", &shape, &[48, 36]);
        let plane = |value: u16| Plane { shape, data: vec![value; 96 * 90] };
        array.write_bytes(&Selection::all(&shape), &plane(1).bytes()).unwrap();
        let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let own = Array::open(&session, place.store.clone(), "a").unwrap();
                        while !done.load(Ordering::Relaxed) {
                            let found =
                                Plane::from_bytes(shape, &own.read_bytes(&Selection::all(&shape)).unwrap());
                            for row in (0..shape[0]).step_by(chunk[0] as usize) {
                                for column in (0..shape[1]).step_by(chunk[1] as usize) {
                                    let values: BTreeSet<u16> =
                                        found.cut([row, column], chunk).data.into_iter().collect();
                                    assert!(
                                        values.len() == 1 && !values.contains(&0),
                                        "{layout:?} {row} {column}: {values:?}"
                                    );
                                }
                            }
                            reads.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            let mut round = 0;
            while round < 150
                || (reads.load(Ordering::Relaxed) < 30 && readers.iter().all(|r| !r.is_finished()))
            {
                round += 1;
                array.write_bytes(&Selection::all(&shape), &plane(round % 60_000 + 1).bytes()).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn a_reader_beside_an_overwriter_sees_each_inner_chunk_old_or_new() {
    watched(LIMIT, || readers_see_chunks_whole(Layout::Sharded, [16, 12]));
}

#[test]
fn a_reader_beside_an_overwriter_sees_each_plain_chunk_old_or_new() {
    watched(LIMIT, || readers_see_chunks_whole(Layout::Plain, [48, 36]));
}

#[test]
fn concurrent_appends_all_land_in_one_piece() {
    watched(LIMIT, || {
        for (layout, place) in [Layout::Plain, Layout::Sharded, Layout::V2]
            .into_iter()
            .flat_map(|l| Place::KINDS.map(|k| (l, k)))
        {
            let place = place();
            let session = Session::builder().threads(2).build();
            let array = layout.create(&session, place.store.clone(), "a", &[0, 40], &[24, 36]);
            let starts = Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for thread in 0..6u64 {
                    let (array, starts, store, session) = (&array, &starts, &place.store, &session);
                    scope.spawn(move || {
                        let own = Array::open(session, store.clone(), "a").unwrap();
                        for call in 0..10 {
                            let rows = Plane::random([1 + (thread + call) % 5, 40], 1 + thread * 10 + call);
                            let start = append(if call % 2 == 0 { array } else { &own }, &rows);
                            starts.lock().unwrap().push((start, rows));
                        }
                    });
                }
            });
            let mut landed = starts.into_inner().unwrap();
            landed.sort_by_key(|(start, _)| *start);
            let total: u64 = landed.iter().map(|(_, rows)| rows.shape[0]).sum();
            let mut expected = Plane::filled([total, 40]);
            let mut end = 0;
            for (start, rows) in &landed {
                assert_eq!(*start, end, "{layout:?}: a gap or an overlap");
                end += rows.shape[0];
                expected.paste([*start, 0], rows);
            }
            array.refresh().unwrap();
            assert_eq!(array.shape(), [total, 40]);
            assert!(array.read_bytes(&expected.all()).unwrap() == expected.bytes(), "{layout:?}");
            place.assert_no_leftovers();
        }
    });
}

/// Shards large enough that calls go to the session's workers, written in part (so under locks) and read.
fn crowd(array: &Array, thread: u64) {
    let mut random = Random::new(thread + 1);
    for call in 0..6 {
        let start = [random.below(100), random.below(100)];
        let patch = Plane::random([200 + random.below(80), 200 + random.below(80)], 1 + (thread + call) % 30);
        let region = Selection::region(&start, &patch.shape);
        match call % 3 {
            0 => assert_eq!(array.read_bytes(&region).unwrap().len(), patch.bytes().len()),
            _ => array.write_bytes(&region, &patch.bytes()).unwrap(),
        }
    }
}

fn crowded(threads: usize, place: fn() -> Place, layout: Layout) -> (Session, Place, Array) {
    let (session, place) = (Session::builder().threads(threads).build(), place());
    let array = layout.create(&session, place.store.clone(), "a", &[400, 400], &[192, 192]);
    array.write_bytes(&Selection::all(&[400, 400]), &Plane::random([400, 400], 1).bytes()).unwrap();
    (session, place, array)
}

#[test]
fn many_threads_on_a_session_of_two_workers_do_not_wait_for_ever() {
    watched(LIMIT, || {
        for (layout, place) in
            [Layout::Sharded, Layout::Plain].into_iter().flat_map(|l| Place::KINDS.map(|k| (l, k)))
        {
            let (_session, _place, array) = crowded(2, place, layout);
            std::thread::scope(|scope| {
                (0..8).for_each(|t| {
                    drop(scope.spawn({
                        let array = &array;
                        move || crowd(array, t)
                    }))
                })
            });
            array.read_bytes(&Selection::all(&[400, 400])).unwrap();
        }
    });
}

#[test]
fn calls_from_a_rayon_pool_of_the_users_own_do_not_wait_for_ever() {
    watched(LIMIT, || {
        for place in Place::KINDS {
            let (_session, _place, array) = crowded(2, place, Layout::Sharded);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            pool.install(|| (0..12u64).into_par_iter().for_each(|thread| crowd(&array, thread)));
            pool.install(|| {
                (0..12u64).into_par_iter().for_each(|thread| {
                    append(&array, &Plane::random([100, 400], thread + 1));
                });
            });
            array.refresh().unwrap();
            assert_eq!(array.shape(), [1600, 400]);
        }
    });
}

#[test]
fn reads_and_writes_on_the_sessions_own_workers_do_not_wait_for_ever() {
    watched(LIMIT, || {
        for place in Place::KINDS {
            let (session, _place, array) = crowded(2, place, Layout::Sharded);
            session.run(|| (0..12u64).into_par_iter().for_each(|thread| crowd(&array, thread))).unwrap();
        }
    });
}

#[test]
fn appends_on_the_sessions_own_workers_do_not_wait_for_ever() {
    watched(LIMIT, || {
        let session = Session::builder().threads(4).build();
        let rows = Plane::random([48, 1200], 3);
        for round in 0..12 {
            let place = Place::KINDS[round % 2]();
            // Fewer appends than workers: those at leisure take over parts of another's append.
            let array = Layout::Plain.create(&session, place.store.clone(), "a", &[0, 1200], &[24, 24]);
            let jobs = || {
                (0..3 + round).into_par_iter().for_each(|_| {
                    append(&array, &rows);
                });
            };
            session.run(jobs).unwrap();
            array.refresh().unwrap();
            assert_eq!(array.shape(), [(3 + round as u64) * 48, 1200]);
        }
    });
}

#[test]
fn resizes_beside_writers_and_readers_do_not_wait_for_ever() {
    watched(LIMIT, || {
        for place in Place::KINDS {
            let (_session, _place, array) = crowded(2, place, Layout::Sharded);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let array = array.clone();
                    scope.spawn(move || crowd(&array, thread));
                }
                for length in [900, 500, 700, 400, 1000] {
                    array.resize(&[length, 400]).unwrap();
                }
            });
            assert_eq!(array.shape(), [1000, 400]);
            assert!(array.check(true).unwrap().is_empty());
        }
    });
}
