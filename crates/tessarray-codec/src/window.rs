//! A look at an encoded chunk of which only some bytes are at hand.

use std::ops::Range;

/// Of an encoded chunk: its first bytes, and a run of the others. All of it, where nothing is missing.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    head: &'a [u8],
    start: usize,
    run: &'a [u8],
    len: usize,
}

impl<'a> Window<'a> {
    /// All of an encoded chunk.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { head: bytes, start: 0, run: bytes, len: bytes.len() }
    }

    /// The first bytes of an encoded chunk of `len`, and those from `start` on that are in `run`.
    pub fn new(head: &'a [u8], start: usize, run: &'a [u8], len: usize) -> Self {
        Self { head, start, run, len }
    }

    /// Bytes of the encoded chunk.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The encoded chunk, where all of it is at hand.
    pub fn all(&self) -> Option<&'a [u8]> {
        (self.head.len() == self.len).then_some(self.head)
    }

    /// The first bytes.
    pub fn head(&self) -> &'a [u8] {
        self.head
    }

    /// These bytes, if they are at hand.
    pub fn get(&self, range: Range<usize>) -> Option<&'a [u8]> {
        if range.end <= self.head.len() {
            return self.head.get(range);
        }
        self.run.get(range.start.checked_sub(self.start)?..range.end - self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_at_hand_are_found_and_others_are_not() {
        let bytes: Vec<u8> = (0..100).collect();
        let window = Window::new(&bytes[..10], 40, &bytes[40..60], 100);
        assert_eq!(window.get(2..10), Some(&bytes[2..10]));
        assert_eq!(window.get(40..60), Some(&bytes[40..60]));
        for missing in [8..12, 10..11, 39..41, 59..61, 90..100, 100..101] {
            assert_eq!(window.get(missing.clone()), None, "{missing:?}");
        }
        assert_eq!((window.all(), window.len(), window.is_empty()), (None, 100, false));
        let whole = Window::whole(&bytes);
        assert_eq!((whole.all(), whole.get(0..100)), (Some(&bytes[..]), Some(&bytes[..])));
        assert_eq!((whole.get(50..101), Window::whole(&[]).is_empty()), (None, true));
    }
}
