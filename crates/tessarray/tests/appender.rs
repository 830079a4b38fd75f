//! The streaming writer: rows in order, whole rows of chunks, and nothing dropped where the store fails.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod support;

use std::sync::Arc;
use support::{Layout, Place, Plane, bytes_of};
use tessarray::adapters::{Effect, Fault, FaultStore, When};
use tessarray::{Appender, Array, InputView, Session};

const COLUMNS: u64 = 70;

fn empty(layout: Layout, place: &Place, session: &Session) -> Array {
    let array = layout.create(session, place.store.clone(), "a", &[1, COLUMNS], &[24, 36]);
    array.resize(&[0, COLUMNS]).unwrap();
    array
}

fn row(plane: &Plane, from: u64, rows: u64) -> Vec<u8> {
    bytes_of(&plane.data[(from * COLUMNS) as usize..((from + rows) * COLUMNS) as usize])
}

#[test]
fn rows_come_in_order_whatever_the_layout_and_the_memory() {
    for layout in Layout::ALL {
        for (max_bytes, place) in [(1, Place::memory()), (1 << 20, Place::folder())] {
            let session = Session::builder().threads(3).build();
            let array = empty(layout, &place, &session);
            let plane = Plane::random([301, COLUMNS], 5);
            let appender = Appender::new(&array, 0, max_bytes).unwrap();
            let (mut at, mut count) = (0, 1);
            while at < 301 {
                let rows = count.min(301 - at);
                let bytes = row(&plane, at, rows);
                appender.append(&InputView::new(&bytes, &[rows, COLUMNS], 2).unwrap()).unwrap();
                at += rows;
                count = count * 3 % 61;
                if at % 7 == 0 {
                    appender.flush().unwrap();
                    assert_eq!(array.shape(), [at, COLUMNS]);
                }
            }
            appender.close().unwrap();
            appender.close().unwrap();
            assert!(array.read_bytes(&plane.all()).unwrap() == plane.bytes(), "{layout:?}");
            let more = InputView::new(&[], &[0, COLUMNS], 2).unwrap();
            assert!(appender.append(&more).is_err(), "closed");
        }
    }
}

#[test]
fn rows_so_long_that_memory_is_prepared_for_them_come_in_order() {
    const LONG: u64 = 1 << 15;
    let place = Place::memory();
    let session = Session::builder().threads(2).build();
    let array = Layout::Plain.create(&session, place.store.clone(), "a", &[1, LONG], &[64, LONG]);
    let plane = Plane::random([200, LONG], 7);
    // Two rows of chunks, and three; each of 4 MiB.
    for max_bytes in [1, 12 << 20] {
        array.resize(&[0, LONG]).unwrap();
        let appender = Appender::new(&array, 0, max_bytes).unwrap();
        for at in 0..200 {
            let bytes = bytes_of(&plane.data[(at * LONG) as usize..((at + 1) * LONG) as usize]);
            appender.append(&InputView::new(&bytes, &[1, LONG], 2).unwrap()).unwrap();
        }
        appender.close().unwrap();
        assert!(array.read_bytes(&plane.all()).unwrap() == plane.bytes());
    }
    // One that is dropped while its memory is still being prepared.
    drop(Appender::new(&array, 0, 1 << 28).unwrap());
}

#[test]
fn a_failure_is_told_once_and_no_row_is_dropped_or_stored_twice() {
    let place = Place::memory();
    let session = Session::builder().threads(1).build();
    empty(Layout::Plain, &place, &session);
    let fault = Arc::new(FaultStore::new(place.store.clone()));
    let array = Array::open(&session, fault.clone(), "a").unwrap();
    let plane = Plane::random([400, COLUMNS], 6);
    let appender = Appender::new(&array, 0, 1 << 20).unwrap();
    let mut met = 0;
    for turn in 0..16 {
        let from = 25 * turn;
        let effect = if turn % 2 == 0 { Effect::LostResponse } else { Effect::fail() };
        fault.set(Some(Fault { when: When::Call(turn / 2), effect }));
        let bytes = row(&plane, from, 25);
        let taken = appender.append(&InputView::new(&bytes, &[25, COLUMNS], 2).unwrap());
        let stored = appender.flush();
        met += u64::from(fault.calls() > turn / 2);
        fault.set(None);
        taken.unwrap();
        if stored.is_err() {
            appender.flush().unwrap();
        }
        assert_eq!(array.shape(), [from + 25, COLUMNS], "turn {turn}");
    }
    assert!(met >= 4, "{met} faults were met");
    appender.close().unwrap();
    assert!(array.read_bytes(&plane.all()).unwrap() == plane.bytes());
}
