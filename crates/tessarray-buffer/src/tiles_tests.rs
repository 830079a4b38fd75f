//! Tiles share no element, every element is in one, and threads that fill them do not race (Miri looks).

#![allow(clippy::single_range_in_vec_init)] // a list of one range is meant

use super::*;
use crate::boxes::{Along, AlongAxes};
use proptest::prelude::*;
use std::sync::atomic::AtomicUsize;

const SMALL: u64 = if cfg!(miri) { 12 } else { 40 };

/// How an axis is cut, and for each part what a chunk of all of the axis gives to it.
#[derive(Debug, Clone)]
struct Axis {
    extent: u64,
    pairs: Vec<(u64, u64)>,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Even { size: u64, offset: u64, step: u64 },
    Begins(Vec<u64>),
    Pairs(Vec<Range<usize>>),
}

impl Axis {
    fn parts(&self) -> Parts<'_> {
        match &self.kind {
            &Kind::Even { size, offset, step } => Parts::Even { size, offset, step, count: self.count() },
            Kind::Begins(begins) => Parts::Begins(begins.clone()),
            Kind::Pairs(ranges) => Parts::Pairs { pairs: &self.pairs, ranges: ranges.clone() },
        }
    }

    fn count(&self) -> u64 {
        match &self.kind {
            // The last element lies in the last part.
            Kind::Even { size, offset, step } => (offset + (self.extent - 1) * step) / size + 1,
            Kind::Begins(begins) => begins.len() as u64,
            Kind::Pairs(ranges) => ranges.len() as u64,
        }
    }

    /// What part `i` takes of a chunk that has the whole axis.
    fn along(&self, i: usize) -> Along<'_> {
        let run = |range: Range<u64>| Along::Run {
            first: range.start,
            step: 1,
            len: range.end - range.start,
            out: range.start,
        };
        match &self.kind {
            Kind::Pairs(ranges) => Along::Pairs(&self.pairs[ranges[i].clone()]),
            Kind::Begins(begins) => run(begins[i]..begins.get(i + 1).copied().unwrap_or(self.extent)),
            // The plain way: the elements whose place lies between two multiples of the size.
            Kind::Even { size, offset, step } => {
                let inside = |k: &u64| (offset + k * step) / size == i as u64;
                let first = (0..self.extent).find(inside);
                let n = (0..self.extent).filter(inside).count() as u64;
                first.map_or(run(0..0), |first| run(first..first + n))
            }
        }
    }
}

fn axis() -> impl Strategy<Value = Axis> {
    let even = (1u64..9, 1u64..9, 0u64..8, 1u64..SMALL).prop_map(|(size, step, offset, extent)| {
        let (step, offset) = (step.min(size), offset % size);
        Axis { extent, pairs: vec![], kind: Kind::Even { size, offset, step } }
    });
    let begins = (1u64..SMALL, prop::collection::vec(1u64..9, 1..5)).prop_map(|(extent, lengths)| {
        let begins = lengths.iter().scan(0, |at, n| Some(std::mem::replace(at, *at + n)));
        let begins = begins.take_while(|&at| at < extent).collect();
        Axis { extent, pairs: vec![], kind: Kind::Begins(begins) }
    });
    let pairs = (1u64..SMALL, any::<u64>(), prop::collection::vec(0usize..9, 1..5)).prop_map(
        |(extent, seed, lengths)| {
            let mut pairs: Vec<(u64, u64)> = (0..extent).map(|i| (i, i)).collect();
            pairs.sort_by_key(|pair| (pair.0 + 1).wrapping_mul(seed | 1).rotate_left(17));
            let mut at = 0;
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for n in lengths {
                let end = pairs.len().min(at + n);
                ranges.push(at..end);
                at = end;
            }
            ranges.push(at..pairs.len());
            ranges.reverse();
            Axis { extent, pairs, kind: Kind::Pairs(ranges) }
        },
    );
    prop_oneof![3 => even, 1 => begins, 2 => pairs]
}

proptest! {
    #[test]
    fn threads_that_fill_tiles_put_each_element_once_in_its_place(
        axes in prop::collection::vec(axis(), 0..3), item in prop::sample::select(vec![1usize, 2, 3, 16]), streams: bool,
    ) {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.extent).collect();
        let bytes = shape.iter().product::<u64>() as usize * item;
        let chunk: Vec<u8> = (0..bytes).map(|i| (i * 7 % 255) as u8).collect();
        let strides = crate::c_strides(&shape, item);
        let mut out = vec![0xFF; bytes];
        let view = OutputView::new(&mut out, &shape, item).unwrap();
        let tiles = Tiles::new(view, axes.iter().map(Axis::parts), streams).unwrap();
        let counts: Vec<usize> = axes.iter().map(|axis| axis.count() as usize).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| loop {
                    let mut number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= counts.iter().product() {
                        return;
                    }
                    let mut at = vec![0; counts.len()];
                    for (i, &n) in at.iter_mut().zip(&counts).rev() {
                        (*i, number) = (number % n, number / n);
                    }
                    let along: AlongAxes<'_> = axes.iter().zip(&at).map(|(axis, &i)| axis.along(i)).collect();
                    tiles.take(&at).scatter(&along, &chunk, &strides);
                });
            }
        });
        drop(tiles);
        prop_assert!(out == chunk);
    }

    #[test]
    fn points_go_where_their_pairs_say(order in Just((0..SMALL).collect::<Vec<_>>()).prop_shuffle(), cut in 0usize..12) {
        let pairs: Vec<(u64, u64)> = order.iter().enumerate().map(|(i, &out)| (i as u64 / 2, out)).collect();
        let chunk: Vec<u8> = (0..SMALL as u8).flat_map(|i| [i, i + 100]).collect();
        let mut out = vec![0; 2 * pairs.len()];
        let ranges = vec![cut..pairs.len(), 0..cut];
        let view = OutputView::new(&mut out, &[pairs.len() as u64], 2).unwrap();
        let tiles = Tiles::new(view, [Parts::Pairs { pairs: &pairs, ranges }], false).unwrap();
        std::thread::scope(|scope| {
            for i in 0..2 {
                let (tiles, chunk) = (&tiles, &chunk);
                scope.spawn(move || tiles.take(&[i]).scatter_points(chunk, |inside| inside as isize * 2));
            }
        });
        drop(tiles);
        for &(inside, to) in &pairs {
            let (from, to) = (inside as usize * 2, to as usize * 2);
            prop_assert_eq!(&out[to..to + 2], &chunk[from..from + 2]);
        }
    }
}

#[test]
fn a_tile_is_one_threads_at_a_time() {
    let mut out = [0u8; 64];
    let view = OutputView::new(&mut out, &[64], 1).unwrap();
    let tiles = Tiles::new(view, [Parts::Begins(vec![0])], false).unwrap();
    let rounds = if cfg!(miri) { 20 } else { 2000 };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let mut tile = tiles.take(&[0]);
                    let run = tile.run().unwrap();
                    let next = u32::from_ne_bytes([run[0], run[1], run[2], run[3]]) + 1;
                    run[..4].copy_from_slice(&next.to_ne_bytes());
                }
            });
        }
    });
    drop(tiles);
    assert_eq!(u32::from_ne_bytes([out[0], out[1], out[2], out[3]]), 4 * rounds);
}

fn tiles<'a>(out: &'a mut [u8], axes: Vec<Parts<'a>>) -> Result<Tiles<'a>, TilesError> {
    let view = OutputView::new(out, &[8], 1).unwrap();
    Tiles::new(view, axes, false)
}

#[test]
fn cuts_that_share_an_index_or_leave_the_output_are_refused() {
    let out = &mut [0u8; 8];
    let pairs = [(0, 3), (1, 5), (2, 3)];
    let listed = |ranges: Vec<Range<usize>>| Parts::Pairs { pairs: &pairs, ranges };
    assert!(tiles(out, vec![listed(vec![0..2])]).is_ok());
    assert!(tiles(out, vec![listed(vec![0..1, 1..2])]).is_ok());
    for parts in [
        vec![],
        vec![Parts::Begins(vec![0]), Parts::Begins(vec![0])],
        vec![Parts::Begins(vec![0, 5, 4])],
        vec![listed(vec![0..3])],
        vec![listed(vec![0..2, 1..2])],
        vec![listed(vec![0..9])],
        vec![Parts::Pairs { pairs: &[(0, 8)], ranges: vec![0..1] }],
        vec![Parts::Pairs { pairs: &[(0, u64::MAX)], ranges: vec![0..1] }],
    ] {
        assert!(matches!(tiles(out, parts.clone()), Err(TilesError::Overlap { .. })), "{parts:?}");
    }
    let many = Parts::Even { size: 1, offset: 0, step: 1, count: u64::MAX };
    assert_eq!(tiles(out, vec![many]).unwrap_err(), TilesError::Memory { count: u64::MAX });
}

#[test]
fn absurd_even_parts_never_overlap() {
    for (size, offset, step) in
        [(0, 0, 0), (u64::MAX, 3, 1), (1, u64::MAX, 2), (3, 1, u64::MAX), (u64::MAX, u64::MAX, 7)]
    {
        let parts = Parts::Even { size, offset, step, count: 5 };
        let begins: Vec<u64> = (0..7).map(|i| parts.begin(i, 8)).collect();
        assert!(begins.is_sorted() && begins[0] == 0 && begins[6] == 8, "{begins:?}");
    }
}

/// What a tile refuses: another's part, another list, and a chunk that is too short.
#[test]
fn a_tile_takes_only_what_is_its_own() {
    let pairs: Vec<(u64, u64)> = (0..8).map(|i| (i, 7 - i)).collect();
    let same = pairs.clone();
    let scatter = |axis: Parts<'_>, along: Along<'_>, chunk: &[u8]| {
        let out = &mut [0u8; 8];
        let tiles = tiles(out, vec![axis]).unwrap();
        let job = || tiles.take(&[0]).scatter(&[along], chunk, &[1]);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_ok()
    };
    let even = Parts::Even { size: 4, offset: 0, step: 1, count: 2 };
    let listed = Parts::Pairs { pairs: &pairs, ranges: vec![0..4, 4..8] };
    let run = |len, out| Along::Run { first: 0, step: 1, len, out };
    assert!(scatter(even.clone(), run(4, 0), &[1; 4]));
    assert!(!scatter(even.clone(), run(4, 4), &[1; 4]));
    assert!(!scatter(even.clone(), run(5, 0), &[1; 8]));
    assert!(!scatter(even.clone(), run(4, 0), &[1; 3]));
    assert!(!scatter(even.clone(), Along::Run { first: 0, step: -1, len: 4, out: 0 }, &[1; 8]));
    assert!(!scatter(even, Along::Pairs(&pairs[..4]), &[1; 8]));
    assert!(scatter(listed.clone(), Along::Pairs(&pairs[..4]), &[1; 4]));
    assert!(!scatter(listed.clone(), Along::Pairs(&pairs[..4]), &[1; 3]));
    assert!(!scatter(listed.clone(), Along::Pairs(&pairs[..5]), &[1; 8]));
    assert!(!scatter(listed.clone(), Along::Pairs(&same[..4]), &[1; 8]));
    assert!(!scatter(listed, run(4, 0), &[1; 8]));
}
