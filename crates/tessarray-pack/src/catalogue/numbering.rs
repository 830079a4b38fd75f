//! Chunks by number.
//!
//! The number of a chunk is its place in the array's grid of chunks (or shards), counted in C order, times the inner
//! chunks of a shard, plus its place in its shard. The length of the first axis does not matter, so numbers stay what
//! they are when an array grows along it. Rows keep the lengths of the others as text (`3:20,4;64`: rank 3, a grid of
//! ? x 20 x 4 shards with 64 inner chunks each), since a resize along another axis changes the numbers.

use crate::error::{PackError, Result};
use std::fmt;

/// How the chunks of one array are numbered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbering {
    rank: usize,
    /// Lengths of the grid's axes but the first.
    trailing: Vec<u64>,
    inner: u64,
}

impl Numbering {
    /// For a grid of this shape, of objects that hold `inner` chunks each.
    pub(crate) fn new(grid: &[u64], inner: u64) -> Self {
        let trailing = grid.iter().skip(1).map(|&length| length.max(1)).collect();
        Self { rank: grid.len(), trailing, inner: inner.max(1) }
    }

    /// Chunks in one object.
    pub(crate) fn inner(&self) -> u64 {
        self.inner
    }

    /// The number of the first chunk of an object; `None` where the numbering does not reach it.
    pub(crate) fn object(&self, at: &[u64]) -> Option<u64> {
        if at.len() != self.rank {
            return None;
        }
        let mut number = at.first().copied().unwrap_or(0);
        for (&coordinate, &length) in at.iter().skip(1).zip(&self.trailing) {
            if coordinate >= length {
                return None;
            }
            number = number.checked_mul(length)?.checked_add(coordinate)?;
        }
        // Numbers are stored as signed ones.
        number.checked_mul(self.inner).filter(|&number| number <= i64::MAX as u64 - self.inner)
    }

    /// The same for a grid that reaches this object.
    pub(crate) fn grown(&self, at: &[u64]) -> Self {
        let longer = |(&length, &coordinate): (&u64, &u64)| length.max(coordinate.saturating_add(1));
        let trailing = self.trailing.iter().zip(at.iter().skip(1)).map(longer).collect();
        Self { trailing, ..self.clone() }
    }

    /// Whether both number arrays of the same rank, with as many chunks an object.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.rank, self.inner) == (other.rank, other.inner)
    }

    /// The object of a chunk, and the chunk's number in it.
    pub(crate) fn coordinates(&self, number: u64) -> (Vec<u64>, u64) {
        let (mut object, inner) = (number / self.inner, number % self.inner);
        let mut at = vec![0; self.rank];
        for (axis, &length) in self.trailing.iter().enumerate().rev() {
            at[axis + 1] = object % length;
            object /= length;
        }
        if let Some(first) = at.first_mut() {
            *first = object;
        }
        (at, inner)
    }

    /// That of a row of a node's chunks.
    ///
    /// # Errors
    /// The row does not say how its chunks are numbered.
    pub(crate) fn of_row(node: &str, text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| PackError::Corrupt {
            store: "the catalogue".into(),
            file: format!("chunks of {node:?}"),
            reason: format!("grid: expected <rank>:<lengths>;<chunks of an object>, found {text:?}"),
        })
    }

    /// From its text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (rank, rest) = text.split_once(':')?;
        let (lengths, inner) = rest.split_once(';')?;
        let lengths = lengths.split(',').filter(|length| !length.is_empty());
        let trailing = lengths.map(|length| length.parse().ok()).collect::<Option<Vec<u64>>>()?;
        let found = Self { rank: rank.parse().ok()?, trailing, inner: inner.parse().ok()? };
        let fits = found.trailing.len() == found.rank.saturating_sub(1)
            && found.inner > 0
            && found.trailing.iter().all(|&length| length > 0);
        fits.then_some(found)
    }
}

impl fmt::Display for Numbering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.rank)?;
        for (axis, length) in self.trailing.iter().enumerate() {
            write!(f, "{}{length}", if axis > 0 { "," } else { "" })?;
        }
        write!(f, ";{}", self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places_are_inverse() {
        for grid in [vec![], vec![5], vec![3, 4], vec![2, 3, 5]] {
            for inner in [1, 6] {
                let numbering = Numbering::new(&grid, inner);
                assert_eq!(Numbering::parse(&numbering.to_string()), Some(numbering.clone()));
                for number in 0..grid.iter().product::<u64>().max(1) * inner {
                    let (at, place) = numbering.coordinates(number);
                    assert_eq!(numbering.object(&at).unwrap() + place, number, "{numbering}");
                }
            }
        }
    }

    #[test]
    fn growing_along_the_first_axis_changes_no_number() {
        let (before, after) = (Numbering::new(&[3, 4], 8), Numbering::new(&[300, 4], 8));
        assert_eq!(before, after);
        assert_eq!(before.object(&[200, 3]), Some((200 * 4 + 3) * 8));
        assert_eq!(before.object(&[0, 4]), None);
        assert_eq!(before.object(&[u64::MAX, 0]), None);
    }

    #[test]
    fn a_grown_numbering_reaches_further() {
        let small = Numbering::new(&[3, 1, 2], 4);
        let large = small.grown(&[9, 5, 0]);
        assert_eq!(large, Numbering::new(&[0, 6, 2], 4));
        assert!(small.object(&[9, 5, 0]).is_none() && large.object(&[9, 5, 0]).is_some());
    }

    #[test]
    fn other_texts_are_none() {
        for text in ["", "1", "1:;", "2:;1", "1:3;1", "2:0;1", "1:;0", "x:;1", "2:-1;1"] {
            assert_eq!(Numbering::parse(text), None, "{text}");
        }
    }
}
