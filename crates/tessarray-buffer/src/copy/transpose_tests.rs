//! The transpose and its kernels against the plainest loops.

use super::LINE;
use super::copy_strided;
use super::tests::{Way, plain, side};
use super::transpose::{Kernel, VECTOR, WIDE, portable};
use proptest::prelude::*;

/// Every kernel that this machine has.
fn kernels<const N: usize>() -> Vec<(&'static str, Kernel)> {
    #[allow(unused_mut)]
    let mut found: Vec<(&'static str, Kernel)> = vec![("portable", portable::<N>)];
    #[cfg(target_arch = "x86_64")]
    {
        found.push(("sse2", super::transpose_x86::sse2::<N>));
        if std::arch::is_x86_feature_detected!("avx2") {
            found.push(("avx2", super::transpose_x86::avx2::<N>));
        }
    }
    found
}

/// Bytes of which no two within reach of a kernel are alike by rule.
fn noise(len: usize, seed: u32) -> Vec<u8> {
    let mut state = seed | 1;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(next).collect()
}

fn check_kernels<const N: usize>() {
    let item = VECTOR / N;
    let most = if cfg!(miri) { 1 } else { 4 }; // Miri is slow.
    let buffer = noise(most * LINE / item * WIDE, 1);
    for (name, kernel) in kernels::<N>() {
        // Steps forwards and backwards, aligned and not, and a strip anywhere in the buffer.
        for (lines, step, at) in
            [(0, 64isize, 0), (1, 64, 240), (1, -71, 3), (2, 256, 16), (4, 259, 32), (4, -512, 0)]
        {
            if lines > most {
                continue;
            }
            let rows = lines * LINE / item;
            let reach = (N - 1) * step.unsigned_abs();
            let start = if step < 0 { reach } else { 0 };
            let mut expected = vec![0xEE; reach + lines * LINE + 1];
            let mut found = expected.clone();
            for c in 0..N {
                for r in 0..rows {
                    let (from, to) =
                        (at + r * WIDE + c * item, (start as isize + c as isize * step) as usize + r * item);
                    expected[to..to + item].copy_from_slice(&buffer[from..from + item]);
                }
            }
            // SAFETY: the strip ends inside the buffer's rows, and the lines inside `found`.
            unsafe { kernel(buffer.as_ptr().add(at), found.as_mut_ptr().add(start), step, lines) };
            assert!(found == expected, "{name}: {N} elements, {lines} lines, step {step}");
        }
    }
}

#[test]
fn every_kernel_turns_strips_and_touches_nothing_else() {
    check_kernels::<2>();
    check_kernels::<4>();
    check_kernels::<8>();
    check_kernels::<16>();
}

/// Copies a box whose sides begin so many bytes into their memory, and compares every byte with what the plain loop makes.
fn check(shape: &[u64], item: usize, ways: [&[Way]; 2], begin: [usize; 2]) -> Result<(), String> {
    let (from, to) = (side(shape, ways[0], item), side(shape, ways[1], item));
    let src = noise(begin[0] + from.bytes, 1);
    let mut expected = vec![0xEE; begin[1] + to.bytes];
    let mut found = expected.clone();
    plain(shape, item, &src[begin[0]..], &from, &mut expected[begin[1]..], &to);
    // SAFETY: each side's memory ends with the last element that its strides reach.
    unsafe {
        let source = src.as_ptr().add(begin[0] + from.start);
        let target = found.as_mut_ptr().add(begin[1] + to.start);
        copy_strided(source, &from.strides, target, &to.strides, shape, item);
    }
    if found == expected { Ok(()) } else { Err(format!("{shape:?} of {item}: {from:?} to {to:?}")) }
}

#[test]
fn matrices_of_all_extents_are_transposed() {
    let extents: &[u64] = if cfg!(miri) {
        &[7, 18, 33]
    } else {
        &[1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 69, 127, 130, 257]
    };
    let (fortran, c) = ([(0, false, 1), (1, false, 1)], [(1, false, 1), (0, false, 1)]);
    for &rows in extents {
        for &columns in extents {
            for item in [1, 2, 4, 8, 16] {
                check(&[rows, columns], item, [&fortran, &c], [3, 5]).unwrap();
                check(&[rows, columns], item, [&c, &fortran], [0, 0]).unwrap();
            }
        }
    }
}

/// Two axes that may need several tiles, and others that are short.
fn shape() -> impl Strategy<Value = Vec<u64>> {
    let long = || prop_oneof![6 => 1u64..70, 1 => 120u64..140, 1 => 250u64..270];
    let most = if cfg!(miri) { 2000 } else { 60_000 };
    (long(), long(), prop::collection::vec(1u64..5, 0..3))
        .prop_map(|(first, last, between)| [vec![first], between, vec![last]].concat())
        .prop_filter("small", move |shape| shape.iter().product::<u64>() <= most)
}

/// The axes' turns; seldom backwards, seldom with gaps.
fn ways() -> impl Strategy<Value = Vec<Way>> {
    let way = (any::<u32>(), prop::bool::weighted(0.1), prop_oneof![6 => Just(1usize), 1 => 2usize..4]);
    prop::collection::vec(way, 4)
}

proptest! {
    #[test]
    fn boxes_in_another_order_of_axes_are_copied_as_if_one_by_one(
        shape in shape(),
        item in prop::sample::select(vec![1usize, 2, 4, 8, 16]),
        (mut from, mut to) in (ways(), ways()),
        begin in (0usize..65, 0usize..65),
        swapped: bool,
    ) {
        // The first axis is innermost on one side, the last on the other.
        let last = shape.len() - 1;
        (from[0].0, to[last].0) = (0, 0);
        let ways = if swapped { [&to[..], &from[..]] } else { [&from[..], &to[..]] };
        let checked = check(&shape, item, ways, [begin.0, begin.1]);
        prop_assert!(checked.is_ok(), "{:?}", checked);
    }
}
