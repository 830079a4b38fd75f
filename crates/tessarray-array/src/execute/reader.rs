//! What all routes of a read have in common: which array, which part of it, and how a leaf gets into the output.

use super::costs;
use super::decode::LeafDecoder;
use super::with_scratch;
use crate::error::{ArrayError, Result};
use crate::plan::{Cell, Picks};
use crate::target::Target;
use std::sync::{Mutex, PoisonError};
use tessarray_buffer::{Arena, OutputView, Tiles};
use tessarray_codec::CodecError;

/// One read of one array, whose leaves are decoded into one output.
pub(super) struct Reader<'a> {
    pub target: &'a Target<'a>,
    pub decoder: &'a LeafDecoder<'a>,
}

/// Cuts an output into a tile per leaf.
pub(super) fn cut<'a>(picks: &'a Picks, out: OutputView<'a>) -> Result<Tiles<'a>> {
    let streams = out.byte_len() >= costs::LARGE_OUTPUT;
    picks.tiles(out, streams)
}

/// Runs a job with a reader into an output of the shape of these picks.
pub(super) fn with_reader<R>(
    target: &Target<'_>,
    picks: &Picks,
    out: OutputView<'_>,
    arena: &Arena,
    job: impl FnOnce(&Reader<'_>) -> Result<R>,
) -> Result<R> {
    let tiles = cut(picks, out)?;
    let decoder = LeafDecoder::new(target.layout, picks, &tiles, arena);
    job(&Reader { target, decoder: &decoder })
}

impl Reader<'_> {
    pub(super) fn picks(&self) -> &Picks {
        self.decoder.leaves().picks
    }

    /// The same for one object, whose chunks are of its own shape.
    pub(super) fn of_object<R>(&self, cell: &Cell, job: impl FnOnce(&Reader<'_>) -> Result<R>) -> Result<R> {
        if self.target.layout.is_regular() || !self.target.layout.levels.is_empty() {
            return job(self);
        }
        let layout = self.target.layout.of(&self.picks().leaf_chunk(cell))?;
        let target = Target { layout: &layout, ..*self.target };
        let decoder = self.decoder.with(&layout);
        job(&Reader { target: &target, decoder: &decoder })
    }

    /// Decodes the bytes of a leaf into the output.
    pub(super) fn decode(&self, cell: &Cell, key: &str, encoded: &[u8]) -> Result<()> {
        with_scratch(|scratch| self.decoder.decode(cell, encoded, scratch))
            .map_err(|source| self.failed(cell, key, source))
    }

    /// Says which chunk an error of a codec is about.
    pub(super) fn failed(&self, cell: &Cell, key: &str, source: CodecError) -> ArrayError {
        ArrayError::Chunk { key: key.into(), chunk: self.picks().leaf_chunk(cell).to_vec(), source }
    }
}

/// The first failure among many answers.
#[derive(Default)]
pub(super) struct Failure(Mutex<Option<ArrayError>>);

impl Failure {
    pub(super) fn note(&self, result: Result<()>) {
        if let Err(error) = result {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    pub(super) fn into_result(self) -> Result<()> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
