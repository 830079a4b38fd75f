//! How far strided boxes reach in memory: what every safe copy checks first.

use smallvec::SmallVec;

/// Whether every element of a box, whose first begins at the byte `start`, lies in a buffer of so many bytes. A box without
/// elements lies anywhere. Strides are in bytes, one per dimension of the shape.
pub(crate) fn fits_in(bytes: u64, start: i128, shape: &[u64], strides: &[isize], item: usize) -> bool {
    if shape.len() != strides.len() {
        return false;
    }
    let (mut low, mut high) = (start, start.saturating_add(item as i128));
    for (&n, &stride) in shape.iter().zip(strides) {
        let Some(steps) = n.checked_sub(1) else { return true };
        let reach = i128::from(steps) * stride as i128;
        if reach < 0 {
            low = low.saturating_add(reach);
        } else {
            high = high.saturating_add(reach);
        }
    }
    low >= 0 && high <= i128::from(bytes)
}

/// Whether no two elements of a box overlap: each axis, from the smallest step to the largest, steps over all that the ones
/// before it reach. (Interleaved axes, which overlap nowhere either, are refused.)
pub fn is_distinct(shape: &[u64], strides: &[isize], item: usize) -> bool {
    if shape.contains(&0) || item == 0 {
        return true;
    }
    let mut axes: SmallVec<[(usize, u64); 4]> =
        strides.iter().map(|stride| stride.unsigned_abs()).zip(shape.iter().copied()).collect();
    axes.retain(|&mut (_, n)| n > 1);
    axes.sort_unstable();
    let mut reach = item as u128;
    for (stride, n) in axes {
        if (stride as u128) < reach {
            return false;
        }
        reach = (stride as u128).saturating_mul(u128::from(n) - 1).saturating_add(reach);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// First byte of each element, the plain way.
    fn places(start: i128, shape: &[u64], strides: &[isize]) -> Vec<i128> {
        let mut found = vec![start];
        for (&n, &stride) in shape.iter().zip(strides) {
            found =
                (0..n as i128).flat_map(|i| found.iter().map(move |at| at + i * stride as i128)).collect();
        }
        found
    }

    proptest! {
        #[test]
        fn a_box_fits_if_each_of_its_elements_does_and_is_distinct_only_if_none_overlap(
            axes in prop::collection::vec((0u64..4, -9isize..10), 0..4), start in -4i128..20, item in 1usize..4, bytes in 0u64..60,
        ) {
            let (shape, strides): (Vec<u64>, Vec<isize>) = axes.into_iter().unzip();
            let places = places(start, &shape, &strides);
            let each = places.iter().all(|&at| at >= 0 && at + item as i128 <= i128::from(bytes));
            prop_assert_eq!(fits_in(bytes, start, &shape, &strides, item), each);
            if is_distinct(&shape, &strides, item) {
                let mut sorted = places;
                sorted.sort_unstable();
                prop_assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= item as i128));
            }
        }
    }

    #[test]
    fn absurd_boxes_fit_nowhere() {
        assert!(!fits_in(u64::MAX, 0, &[u64::MAX, u64::MAX], &[isize::MAX, isize::MAX], 8));
        assert!(!fits_in(u64::MAX, 0, &[u64::MAX; 3], &[isize::MIN; 3], 8));
        assert!(!fits_in(8, 0, &[2], &[], 1));
        assert!(!is_distinct(&[u64::MAX, u64::MAX], &[1, isize::MAX], 1));
        assert!(is_distinct(&[2, 3], &[-3, 1], 1));
    }
}
