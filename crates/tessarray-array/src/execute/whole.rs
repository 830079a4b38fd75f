//! A whole, large chunk that lies scattered in the caller's input, taken from there a block at a time: what is moved stays in the
//! processor's cache between the caller's memory and the codec, and no worker holds a gathered chunk.

use super::leaf::Leaf;
use std::ops::Range;
use tessarray_buffer::{FlatInput, InputView};
use tessarray_codec::Pieces;

/// A whole chunk in the caller's input.
pub(super) struct InputPieces<'a>(FlatInput<'a>);

impl<'a> InputPieces<'a> {
    /// `None` if a leaf is not a whole, large chunk, or one whose axes lie in another order in the input.
    pub(super) fn new(leaf: &Leaf<'_>, input: &InputView<'a>) -> Option<Self> {
        leaf.sequence_of(input).map(Self)
    }

    /// The chunk's bytes as they lie in the input; `None` if they lie in runs of fewer than `least`.
    pub(super) fn runs(&self, least: usize) -> Option<Vec<&'a [u8]>> {
        let run = self.0.row_bytes().filter(|&run| run >= least)?;
        (0..self.0.len() / run).map(|i| self.0.run(i * run..(i + 1) * run)).collect()
    }
}

impl Pieces for InputPieces<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn unit(&self) -> usize {
        self.0.item()
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        self.0.append(range, out);
    }

    fn whole(&self, range: Range<usize>) -> Option<&[u8]> {
        self.0.run(range)
    }
}
