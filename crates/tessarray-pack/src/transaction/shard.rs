//! A shard that is put: its index read, and its inner chunks found in what may come in several parts.

use crate::layout::PackedArray;
use tessarray_codec::sharding::Entry;

/// The inner chunks of a shard, by number and in that order.
pub(super) struct NewShard<'a> {
    pub chunks: Vec<(u64, &'a [u8])>,
}

impl<'a> NewShard<'a> {
    /// From its bytes. `None` if they are no shard of this array, or if its index or a chunk lies across two parts.
    pub(super) fn read(array: &PackedArray, parts: &[&'a [u8]]) -> Option<Self> {
        let bytes = Spans::new(parts);
        let index = array.index(bytes.size, |span| bytes.get(span))?;
        let chunk = |(number, entry): (u64, &Option<Entry>)| {
            let Entry { offset, length } = (*entry)?;
            Some(
                offset
                    .checked_add(length)
                    .and_then(|end| bytes.get(offset..end))
                    .map(|chunk| (number, chunk)),
            )
        };
        let chunks = (0u64..).zip(index.entries()).filter_map(chunk).collect::<Option<_>>()?;
        Some(Self { chunks })
    }

    /// Whether it has a chunk of this number.
    pub(super) fn has(&self, number: u64) -> bool {
        self.chunks.binary_search_by_key(&number, |(own, _)| *own).is_ok()
    }
}

/// A value in several parts, to take ranges from that lie within one.
struct Spans<'a> {
    parts: Vec<(u64, &'a [u8])>,
    size: u64,
}

impl<'a> Spans<'a> {
    fn new(parts: &[&'a [u8]]) -> Self {
        let mut size = 0;
        let mut begins = Vec::with_capacity(parts.len());
        for &part in parts {
            begins.push((size, part));
            size += part.len() as u64;
        }
        Self { parts: begins, size }
    }

    /// The bytes of a range; `None` if it lies across two parts, or behind the end.
    fn get(&self, span: std::ops::Range<u64>) -> Option<&'a [u8]> {
        let number = self.parts.partition_point(|(begin, _)| *begin <= span.start).checked_sub(1)?;
        let (begin, part) = self.parts[number];
        let at = usize::try_from(span.start - begin).ok()?;
        part.get(at..usize::try_from(span.end.checked_sub(begin)?).ok()?)
    }
}
