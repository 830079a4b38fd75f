//! Reading many small arrays of one store: the chunks of all of them are asked for together, so that a store that keeps
//! them in few files opens each once.

use super::decode::LeafDecoder;
use super::read::Failure;
use super::with_scratch;
use crate::error::{ArrayError, Result};
use crate::plan::{Cell, Picks};
use crate::target::Target;
use tessarray_buffer::{Arena, OutputView};
use tessarray_grid::Selection;
use tessarray_store::{ByteRange, ReadRequest};

/// Reads checked selections of arrays without shards, all in one store, each into its own output; on the caller's thread.
pub(crate) fn read_many(parts: &[(Target<'_>, &Selection, &OutputView<'_>)], arena: &Arena) -> Result<()> {
    let Some((first, ..)) = parts.first() else { return Ok(()) };
    let picks: Vec<Picks> =
        parts.iter().map(|(target, selection, _)| Picks::new(selection, target.layout)).collect();
    let decoders: Vec<LeafDecoder<'_>> = parts
        .iter()
        .zip(&picks)
        .map(|((target, _, out), picks)| LeafDecoder::new(target.layout, picks, out, arena))
        .collect();
    let mut requests = Vec::with_capacity(parts.len());
    let mut cells: Vec<(usize, Cell)> = Vec::with_capacity(parts.len());
    for (number, (target, _, out)) in parts.iter().enumerate() {
        if out.shape().contains(&0) {
            continue;
        }
        let mut failed = None;
        picks[number].objects(target.layout).for_each(|child| match target.chunk_key(&child.at) {
            Ok(key) => {
                requests.push(ReadRequest { key, range: ByteRange::All, expect: None });
                cells.push((number, child.cell));
            }
            Err(error) => failed = Some(error),
        });
        if let Some(error) = failed {
            return Err(error);
        }
    }
    let failure = Failure::default();
    first.store.read_many(&requests, &|i, answer| {
        let (number, cell) = &cells[i];
        let decoder = &decoders[*number];
        failure.note(match answer {
            Ok(None) => {
                decoder.missing(cell);
                Ok(())
            }
            Ok(Some(blob)) => {
                with_scratch(|scratch| decoder.decode(cell, &blob.bytes, scratch)).map_err(|source| {
                    let chunk = picks[*number].leaf_chunk(cell).to_vec();
                    ArrayError::Chunk { key: requests[i].key.to_string(), chunk, source }
                })
            }
            Err(error) => Err(error.into()),
        });
    });
    failure.into_result()
}
