use super::*;
use proptest::prelude::*;

/// Where the elements of a box lie: any order of axes, any direction, gaps between neighbours.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) start: usize,
    pub(super) strides: Vec<isize>,
    pub(super) bytes: usize,
}

/// One axis of a side: its turn, counted from the outermost; whether it runs backwards; and how many times the
/// extent of the axes inside its stride is. A `gap` of 0 repeats one element, as fill does.
pub(super) type Way = (u32, bool, usize);

pub(super) fn side(shape: &[u64], ways: &[Way], item: usize) -> Side {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(ways[axis].0));
    let (mut start, mut strides, mut extent) = (0, vec![0; shape.len()], item);
    for axis in order {
        let (_, backwards, gap) = ways[axis];
        let (n, stride) = (shape[axis] as usize, extent * gap);
        strides[axis] = if backwards { -(stride as isize) } else { stride as isize };
        start += if backwards { stride * n.saturating_sub(1) } else { 0 };
        extent += stride * n.saturating_sub(1);
    }
    Side { start, strides, bytes: extent }
}

/// The plainest copy: one element after another, each at the offset that its coordinates say.
pub(super) fn plain(shape: &[u64], item: usize, src: &[u8], from: &Side, dst: &mut [u8], to: &Side) {
    let mut at = vec![0u64; shape.len()];
    for _ in 0..shape.iter().product() {
        let offset = |side: &Side| {
            let steps = at.iter().zip(&side.strides).map(|(&i, &stride)| i as isize * stride);
            (side.start as isize + steps.sum::<isize>()) as usize
        };
        let (source, target) = (offset(from), offset(to));
        dst[target..target + item].copy_from_slice(&src[source..source + item]);
        for axis in (0..shape.len()).rev() {
            at[axis] = (at[axis] + 1) % shape[axis];
            if at[axis] != 0 {
                break;
            }
        }
    }
}

/// Elements of a box; Miri is slow.
const MOST: u64 = if cfg!(miri) { 3000 } else { 20_000 };

/// Short axes, and such as need more than one tile of a transpose or more than one piece of a row.
fn length() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..6, 2 => 30u64..35, 1 => 64u64..67]
}

fn ways(gaps: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Way>> {
    let gap = prop_oneof![3 => Just(1), 1 => gaps];
    prop::collection::vec((any::<u32>(), any::<bool>(), gap), 4)
}

proptest! {
    #[test]
    fn any_box_is_copied_as_if_one_by_one_and_nothing_between_its_elements_is_touched(
        shape in prop::collection::vec(length(), 0..5)
            .prop_filter("small", |shape| shape.iter().product::<u64>() <= MOST),
        item in prop::sample::select(vec![1usize, 2, 3, 4, 8, 12, 16, 100]),
        from in ways(0..4),
        to in ways(1..4),
    ) {
        let (from, to) = (side(&shape, &from, item), side(&shape, &to, item));
        let src: Vec<u8> = (0..from.bytes).map(|i| (i * 31 % 251) as u8).collect();
        let mut expected = vec![0xEE; to.bytes];
        let mut dst = expected.clone();
        plain(&shape, item, &src, &from, &mut expected, &to);
        // SAFETY: each side's memory ends with the last element that its strides reach.
        unsafe {
            let (source, target) = (src.as_ptr().add(from.start), dst.as_mut_ptr().add(to.start));
            copy_strided(source, &from.strides, target, &to.strides, &shape, item);
        }
        prop_assert!(dst == expected, "{:?}", (from, to));
    }
}

#[test]
fn lines_that_are_written_past_the_cache_are_those_that_are_due() {
    for (shape, item, gap, start) in [
        ([5u64, 6, 32], 2usize, 1, 0),
        ([5, 6, 32], 2, 2, 0),
        ([3, 4, 64], 4, 2, 64),
        ([3, 4, 64], 4, 2, 16),
        ([3, 4, 24], 8, 2, 0),
        ([3, 4, 20], 8, 2, 0),
        ([2, 3, 64], 1, 3, 128),
    ] {
        // Rows with room between them, backwards along the first axis.
        let ways = [(2, true, gap), (1, false, gap), (0, false, 1)];
        let (from, to) =
            (side(&shape, &[(2, false, 1), (1, false, 1), (0, false, 1)], item), side(&shape, &ways, item));
        let src: Vec<u8> = (0..from.bytes).map(|i| (i * 31 % 251) as u8).collect();
        let mut room = vec![0xEE; to.bytes + 256];
        let line = room.as_ptr().align_offset(64) + start;
        let mut expected = vec![0xEE; to.bytes];
        plain(&shape, item, &src, &from, &mut expected, &to);
        // SAFETY: there are 256 bytes more than the strides reach.
        unsafe {
            let target = room.as_mut_ptr().add(line + to.start);
            stream_strided(src.as_ptr(), &from.strides, target, &to.strides, &shape, item);
        }
        assert!(room[line..line + to.bytes] == expected, "{shape:?} {item} {gap} {start}");
        let beside = room[..line].iter().chain(&room[line + to.bytes..]);
        assert!(beside.copied().all(|byte| byte == 0xEE), "{shape:?} {item} {gap} {start}");
    }
}
