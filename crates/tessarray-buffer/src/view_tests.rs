//! Windows describe no more than they were given, and what they are split into shares nothing.

use super::*;

#[test]
fn parts_of_an_output_have_each_of_its_elements_once() {
    let mut bytes = [0u8; 24];
    let view = OutputView::new(&mut bytes, &[4, 3], 2).unwrap();
    let (low, high) = view.split_at(0, 1);
    let (left, right) = high.split_at(1, 2);
    assert_eq!((low.shape(), left.shape(), right.shape()), (&[1, 3][..], &[3, 2][..], &[3, 1][..]));
    assert_eq!(low.byte_len() + left.byte_len() + right.byte_len(), 24);
    std::thread::scope(|scope| {
        for (number, part) in [low, left, right].into_iter().enumerate() {
            scope.spawn(move || {
                let parts = part.shape().iter().map(|_| crate::Parts::Begins(vec![0])).collect::<Vec<_>>();
                let along: crate::AlongAxes<'_> = (part.shape().iter())
                    .map(|&len| crate::Along::Run { first: 0, step: 1, len, out: 0 })
                    .collect();
                let tiles = crate::Tiles::new(part, parts, false).unwrap();
                tiles.take(&[0, 0]).scatter(&along, &[number as u8 + 1; 2], &[0, 0]);
            });
        }
    });
    assert_eq!(bytes[..6], [1; 6]);
    assert!((0..3).all(|row| bytes[6 + row * 6..][..6] == [2, 2, 2, 2, 3, 3]));
}

#[test]
fn a_split_past_the_end_leaves_nothing_over() {
    let mut bytes = [0u8; 6];
    let mut view = OutputView::new(&mut bytes, &[3], 2).unwrap();
    for (axis, at, expected) in [(0, 9, (3, 0)), (0, u64::MAX, (3, 0)), (0, 0, (0, 3)), (5, 1, (3, 0))] {
        let (low, high) = view.reborrow().split_at(axis, at);
        assert_eq!((low.shape()[0], high.shape()[0]), expected);
    }
}

#[test]
fn another_arrangement_stays_inside_and_apart() {
    let arranged = |shape: &[u64], strides: &[isize]| {
        let mut bytes = [0u8; 12];
        OutputView::new(&mut bytes, &[6], 2).unwrap().rearranged(shape, strides).is_ok()
    };
    assert!(arranged(&[2, 3], &[6, 2]));
    assert!(arranged(&[3, 2], &[2, 6]));
    assert!(arranged(&[2], &[2]));
    assert!(arranged(&[0, 9], &[100, 100]));
    assert!(!arranged(&[7], &[2]));
    assert!(!arranged(&[2, 3], &[2, 2]));
    assert!(!arranged(&[3], &[-2]));
    assert!(!arranged(&[3], &[1]));
    assert!(!arranged(&[3], &[2, 2]));
    let mut bytes = [0u8; 12];
    let (_, right) = OutputView::new(&mut bytes, &[2, 3], 2).unwrap().split_at(1, 1);
    assert!(right.rearranged(&[4], &[2]).is_err(), "its elements do not lie together");
}

#[test]
fn what_has_no_elements_lies_together_whatever_its_strides_are() {
    assert!(is_contiguous(&[0, 3], &[0, 0], 4));
    assert!(!is_contiguous(&[2, 3], &[0, 0], 4));
    let view = OutputView::new(&mut [], &[0, 3], 4).unwrap().rearranged(&[0, 3], &[0, 0]).unwrap();
    assert_eq!(view.rearranged(&[3, 0], &[4, 4]).unwrap().shape(), [3, 0]);
}

#[test]
fn an_input_lends_what_lies_inside_and_nothing_else() {
    let bytes: Vec<u8> = (0..24).collect();
    let input = InputView::new(&bytes, &[4, 3], 2).unwrap();
    assert_eq!(input.run(&[1, 0], &[2, 3]), Some(&bytes[6..18]));
    assert_eq!(input.run(&[1, 1], &[1, 2]), Some(&bytes[8..12]));
    assert_eq!(input.run(&[1, 1], &[2, 2]), None);
    assert_eq!(input.run(&[3, 0], &[2, 3]), None);
    assert_eq!(input.run(&[u64::MAX, 0], &[2, 3]), None);
    assert_eq!(input.run(&[0], &[4]), None);
    assert_eq!(input.with_axis(1).shape(), &[4, 1, 3]);
    assert!(InputView::strided(&bytes, &[5, 2], &[4, 4], 4).is_ok());
    assert!(InputView::strided(&bytes, &[6, 2], &[4, 4], 4).is_err());
    assert!(InputView::strided(&bytes, &[2], &[-4], 4).is_err());
    assert!(matches!(InputView::new(&bytes, &[5], 4), Err(ViewError::Size { expected: 20, found: 24, .. })));
}

#[test]
#[should_panic(expected = "is not inside")]
fn a_copy_that_does_not_fit_is_refused() {
    let bytes = [0; 24];
    InputView::new(&bytes, &[4, 3], 2).unwrap().copy_box(&[0, 0], &[4, 3], &mut [0; 23], 0, &[6, 2]);
}

#[test]
#[should_panic(expected = "not inside the chunk")]
fn a_gather_beyond_the_chunk_is_refused() {
    let bytes = [0; 8];
    let along = [crate::Along::Run { first: 1, step: 1, len: 8, out: 0 }];
    InputView::new(&bytes, &[8], 1).unwrap().gather(&along, &mut [0; 8], &[1]);
}

#[test]
#[should_panic(expected = "is not inside an axis")]
fn a_gather_beyond_the_input_is_refused() {
    let bytes = [0; 8];
    InputView::new(&bytes, &[8], 1).unwrap().gather(&[crate::Along::Pairs(&[(0, 8)])], &mut [0; 8], &[1]);
}
