//! Evenly spaced indices, cut at multiples of a size, by arithmetic.

/// `len` indices from `start`, `step` apart; all of them are checked to be in range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strided {
    pub start: u64,
    pub step: i64,
    pub len: u64,
}

/// The indices between two multiples of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Which multiple: they lie in `index * size..(index + 1) * size`.
    pub index: u64,
    /// The number of the first of them, and how many they are.
    pub first: u64,
    pub len: u64,
}

impl Strided {
    fn stride(&self) -> u64 {
        self.step.unsigned_abs().max(1)
    }

    /// Index number `k`.
    pub fn at(&self, k: u64) -> u64 {
        let moved = k.saturating_mul(self.stride());
        if self.step < 0 { self.start.saturating_sub(moved) } else { self.start.saturating_add(moved) }
    }

    /// How many multiples of `size` hold any of them.
    pub fn pieces(&self, size: u64) -> u64 {
        if self.len == 0 { 0 } else { self.piece_of(self.len - 1, size) + 1 }
    }

    /// The number of the piece that holds index number `k`. A stride of up to `size` skips no multiple; a longer one
    /// puts every index in a piece of its own.
    pub fn piece_of(&self, k: u64, size: u64) -> u64 {
        if self.stride() > size { k } else { (self.at(k) / size).abs_diff(self.start / size) }
    }

    /// Piece number `i`.
    pub fn piece(&self, i: u64, size: u64) -> Piece {
        if self.stride() > size {
            return Piece { index: self.at(i) / size, first: i, len: 1 };
        }
        let begin = self.start / size;
        let index = if self.step < 0 { begin.saturating_sub(i) } else { begin.saturating_add(i) };
        let (first, last) = self.within(index, size);
        Piece { index, first, len: (last + 1).saturating_sub(first) }
    }

    /// The piece of a multiple, where it has one.
    pub fn find(&self, index: u64, size: u64) -> Option<u64> {
        let low = index.checked_mul(size)?;
        let ahead =
            if self.step < 0 { low <= self.start } else { low.saturating_add(size - 1) >= self.start };
        if !ahead || self.len == 0 {
            return None;
        }
        let (first, _) = self.within(index, size);
        (first < self.len && self.at(first) / size == index).then(|| self.piece_of(first, size))
    }

    /// Numbers of the first and last index that lie in a multiple, which reaches to or past the start.
    fn within(&self, index: u64, size: u64) -> (u64, u64) {
        let low = index.saturating_mul(size);
        let high = low.saturating_add(size - 1);
        let (to_first, to_last) = if self.step < 0 {
            (self.start.saturating_sub(high), self.start.saturating_sub(low))
        } else {
            (low.saturating_sub(self.start), high.saturating_sub(self.start))
        };
        (to_first.div_ceil(self.stride()), (to_last / self.stride()).min(self.len.saturating_sub(1)))
    }
}
