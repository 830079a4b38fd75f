//! A sequence has each element of its box once, in its order, whatever the strides.

use super::*;
use crate::tiles::{Parts, Tiles};
use crate::view::OutputView;
use proptest::prelude::*;

/// Coordinates of a box in C order.
fn coordinates(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![vec![]], |found, &n| {
        found.iter().flat_map(|at| (0..n).map(move |i| [&at[..], &[i]].concat())).collect()
    })
}

proptest! {
    #[test]
    fn the_boxes_of_a_range_have_its_elements_in_order(
        axes in prop::collection::vec((1u64..6, 0isize..3), 0..4),
        item in prop::sample::select(vec![1usize, 2, 8]),
        cut in (0.0f64..=1.0, 0.0f64..=1.0),
    ) {
        // Gaps between the steps of some axes; without them, axes follow on one another.
        let mut stride = item as isize;
        let mut strides: Vec<isize> = axes.iter().rev().map(|&(n, gap)| {
            let own = stride + gap * item as isize;
            stride = own * n as isize;
            own
        }).collect();
        strides.reverse();
        let shape: Vec<u64> = axes.iter().map(|&(n, _)| n).collect();
        let total = shape.iter().product::<u64>();
        let ends = [cut.0, cut.1].map(|part| (part * total as f64) as u64);
        let (begin, end) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let places: Vec<isize> = coordinates(&shape).iter().map(|at| offset(at, &strides)).collect();
        let expected = &places[begin as usize..end as usize];
        let sequence = Sequence::new(0, &shape, &strides, None, item).unwrap();
        prop_assert_eq!(sequence.len, total as usize * item);
        let range = begin as usize * item..end as usize * item;
        let mut found = Vec::new();
        sequence.each(&range, |start, at, shape, strides, together| {
            assert_eq!(at, found.len() * item);
            assert_eq!(together, &c_strides(shape, item)[..]);
            found.extend(coordinates(shape).iter().map(|at| start + offset(at, strides)));
        });
        prop_assert_eq!(&found[..], expected);
        if let Some(start) = sequence.run(&range) {
            prop_assert!(expected.iter().enumerate().all(|(i, &at)| at == start + (i * item) as isize));
        }
    }

    #[test]
    fn a_box_is_taken_and_put_back_range_by_range_in_any_order_of_its_axes(
        extents in (1u64..5, 1u64..5, 1u64..6), turn in 0usize..6, step in 1usize..20, item in prop::sample::select(vec![1usize, 4]),
    ) {
        let order = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][turn];
        let shape = [extents.0, extents.1, extents.2];
        let whole = [shape[0] + 2, shape[1] + 1, shape[2]];
        let bytes: Vec<u8> = (0..whole.iter().product::<u64>() as usize * item).map(|i| (i * 7 % 251) as u8).collect();
        let input = InputView::new(&bytes, &whole, item).unwrap();
        let flat = input.flat(&[1, 1, 0], &shape, Some(&order)).unwrap();
        let mut taken = Vec::new();
        let ranges: Vec<_> =
            (0..flat.len()).step_by(step * item).map(|at| at..flat.len().min(at + step * item)).collect();
        for range in &ranges {
            let before = taken.len();
            flat.append(range.clone(), &mut taken);
            prop_assert!(flat.run(range.clone()).is_none_or(|run| run == &taken[before..]));
        }
        // The plain way: element by element in the order of the turned axes.
        let turned = order.map(|axis| shape[axis]);
        let strides = c_strides(&whole, item);
        let plain: Vec<u8> = coordinates(&turned).iter().flat_map(|at| {
            let mut place = [1u64, 1, 0];
            order.iter().zip(at).for_each(|(&axis, &i)| place[axis] += i);
            let from = offset(&place, &strides) as usize;
            bytes[from..from + item].to_vec()
        }).collect();
        prop_assert!(taken == plain);

        let mut out = vec![0xEE; bytes.len()];
        let parts = |begin: u64, length: u64| Parts::Begins(vec![0, begin, begin + length]);
        let axes = [(1, shape[0]), (1, shape[1]), (0, shape[2])].map(|(begin, length)| parts(begin, length));
        let tiles = Tiles::new(OutputView::new(&mut out, &whole, item).unwrap(), axes, false).unwrap();
        let mut tile = tiles.take(&[1, 1, 1]);
        let mut flat = tile.flat(Some(&order)).unwrap();
        ranges.iter().for_each(|range| flat.put(range.start, &taken[range.clone()]));
        drop(tile);
        drop(tiles);
        for at in coordinates(&whole) {
            let from = offset(&at, &strides) as usize;
            let inside = (1..=shape[0]).contains(&at[0]) && (1..=shape[1]).contains(&at[1]);
            let same = out[from..from + item] == bytes[from..from + item];
            let untouched = out[from..from + item].iter().all(|&byte| byte == 0xEE);
            let right = if inside { same } else { untouched };
            prop_assert!(right);
        }
    }
}

#[test]
fn what_is_no_box_or_no_order_of_axes_is_refused() {
    let bytes = [0; 24];
    let input = InputView::new(&bytes, &[4, 3], 2).unwrap();
    assert!(input.flat(&[0, 0], &[4, 3], Some(&[1, 0])).is_some());
    for (at, shape, order) in [
        ([1, 0], [4, 3], [0, 1]),
        ([0, 0], [4, 4], [0, 1]),
        ([u64::MAX, 0], [2, 3], [0, 1]),
        ([0, 0], [4, 3], [0, 0]),
        ([0, 0], [4, 3], [0, 2]),
        ([0, 0], [0, 3], [0, 1]),
    ] {
        assert!(input.flat(&at, &shape, Some(&order)).is_none(), "{at:?} {shape:?} {order:?}");
    }
    assert!(input.flat(&[0], &[4], None).is_none());
    assert!(input.flat(&[0, 0], &[4, 3], Some(&[0])).is_none());
}

#[test]
#[should_panic(expected = "is no range of elements")]
fn a_range_beyond_the_end_is_refused() {
    let bytes = [0; 24];
    let flat = InputView::new(&bytes, &[4, 3], 2).unwrap().flat(&[0, 0], &[4, 3], None).unwrap();
    flat.append(0..26, &mut Vec::new());
}

#[test]
#[should_panic(expected = "is no range of elements")]
fn half_an_element_is_refused() {
    let bytes = [0; 24];
    let flat = InputView::new(&bytes, &[4, 3], 2).unwrap().flat(&[0, 0], &[4, 3], None).unwrap();
    flat.run(1..3);
}
