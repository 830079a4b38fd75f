//! Counting through the coordinates of a box in C order.

use crate::dims::Dims;

/// Walks every coordinate of a box of this shape, last axis fastest.
#[derive(Debug, Clone)]
pub struct Odometer {
    shape: Dims,
    at: Dims,
    done: bool,
}

impl Odometer {
    /// Starts at the origin; a shape with a zero has no coordinates, and rank 0 has exactly one.
    pub fn new(shape: &[u64]) -> Self {
        Self { shape: Dims::from_slice(shape), at: Dims::from_elem(0, shape.len()), done: shape.contains(&0) }
    }

    /// The current coordinate, or `None` at the end. Lends rather than allocates.
    pub fn current(&self) -> Option<&[u64]> {
        (!self.done).then_some(&self.at)
    }

    /// Moves to the next coordinate.
    pub fn advance(&mut self) {
        for (at, &n) in self.at.iter_mut().zip(&self.shape).rev() {
            *at += 1;
            if *at < n {
                return;
            }
            *at = 0;
        }
        self.done = true;
    }
}

/// The coordinate of number `index` of a box, counted in C order.
pub fn unravel(mut index: u64, shape: &[u64], out: &mut Dims) {
    out.clear();
    out.resize(shape.len(), 0);
    for (at, &n) in out.iter_mut().zip(shape).rev() {
        let n = n.max(1);
        *at = index % n;
        index /= n;
    }
}

/// The number of a coordinate of a box, counted in C order; the inverse of [`unravel`].
pub fn ravel(at: &[u64], shape: &[u64]) -> u64 {
    at.iter().zip(shape).fold(0, |sum: u64, (&i, &n)| sum.wrapping_mul(n).wrapping_add(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_and_unravelling_agree() {
        for shape in [&[2, 3, 4][..], &[1], &[], &[5, 1], &[0, 3]] {
            let mut odometer = Odometer::new(shape);
            let mut count = 0;
            let mut at = Dims::new();
            while let Some(current) = odometer.current() {
                unravel(count, shape, &mut at);
                assert_eq!(current, &at[..]);
                assert_eq!(ravel(current, shape), count);
                odometer.advance();
                count += 1;
            }
            assert_eq!(count, shape.iter().product::<u64>());
        }
    }
}
