//! Byte ranges: neighbours are merged, so that one request brings many inner chunks.

use super::Cell;

/// Where bytes lie in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub offset: u64,
    pub length: u64,
}

/// An innermost chunk to decode, and where its bytes lie in the object.
#[derive(Debug)]
pub(crate) struct StoredLeaf {
    pub cell: Cell,
    pub span: Span,
}

/// Merges leaves, sorted by offset here, into spans: neighbours up to `hole` bytes apart are fetched together, as long
/// as the whole stays within `limit` bytes. Gives each span with the range of leaves it serves.
pub(crate) fn merge(leaves: &mut [StoredLeaf], hole: u64, limit: u64) -> Vec<(Span, std::ops::Range<usize>)> {
    leaves.sort_unstable_by_key(|leaf| leaf.span.offset);
    let mut merged: Vec<(Span, std::ops::Range<usize>)> = Vec::new();
    for (i, leaf) in leaves.iter().enumerate() {
        let end = leaf.span.offset + leaf.span.length;
        if let Some((span, range)) = merged.last_mut() {
            let reach = span.offset + span.length;
            if leaf.span.offset <= reach.saturating_add(hole) && end - span.offset <= limit {
                span.length = reach.max(end) - span.offset;
                range.end = i + 1;
                continue;
            }
        }
        merged.push((leaf.span, i..i + 1));
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(offset: u64, length: u64) -> StoredLeaf {
        StoredLeaf { cell: Cell::Points(0..0), span: Span { offset, length } }
    }

    #[test]
    fn neighbours_merge_until_the_hole_or_the_limit_stops_them() {
        let mut leaves = vec![leaf(100, 10), leaf(0, 10), leaf(10, 5), leaf(20, 5), leaf(110, 200)];
        let merged = merge(&mut leaves, 5, 100);
        let spans: Vec<_> =
            merged.iter().map(|(span, range)| (span.offset, span.length, range.clone())).collect();
        assert_eq!(spans, vec![(0, 25, 0..3), (100, 10, 3..4), (110, 200, 4..5)]);
    }

    fn spans(leaves: &[(u64, u64)], hole: u64, limit: u64) -> Vec<(u64, u64)> {
        let mut leaves: Vec<StoredLeaf> =
            leaves.iter().map(|&(offset, length)| leaf(offset, length)).collect();
        merge(&mut leaves, hole, limit).iter().map(|(span, _)| (span.offset, span.length)).collect()
    }

    #[test]
    fn a_hole_of_one_byte_more_is_not_fetched_however_much_may_be_fetched_at_once() {
        assert_eq!(spans(&[(0, 10), (15, 5)], 5, 1000), [(0, 20)]);
        assert_eq!(spans(&[(0, 10), (16, 5)], 5, 1000), [(0, 10), (16, 5)]);
        assert_eq!(spans(&[(0, 10), (10, 5)], 0, 1000), [(0, 15)]);
        assert_eq!(spans(&[(0, 10), (11, 5)], 0, 1000), [(0, 10), (11, 5)]);
    }

    #[test]
    fn a_span_of_one_byte_more_than_the_limit_is_two_however_small_the_hole() {
        assert_eq!(spans(&[(0, 10), (12, 8)], 5, 20), [(0, 20)]);
        assert_eq!(spans(&[(0, 10), (12, 9)], 5, 20), [(0, 10), (12, 9)]);
    }

    #[test]
    fn leaves_that_lie_in_others_make_no_span_shorter() {
        assert_eq!(spans(&[(0, 100), (20, 10), (100, 10)], 0, 1000), [(0, 110)]);
    }
}
