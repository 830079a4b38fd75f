//! Reading many small arrays of one store: the chunks of all of them are asked for together, so that a store that keeps
//! them in few files opens each once.

use super::decode::LeafDecoder;
use super::read::{Failure, Reader};
use crate::error::Result;
use crate::plan::{Cell, Child, Picks};
use crate::target::Target;
use tessarray_buffer::{Arena, OutputView};
use tessarray_grid::Selection;

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
    let readers: Vec<Reader<'_>> = parts
        .iter()
        .zip(&picks)
        .zip(&decoders)
        .map(|(((target, ..), picks), decoder)| Reader { target, picks, decoder })
        .collect();
    let mut requests = Vec::with_capacity(parts.len());
    let mut cells: Vec<(usize, Cell)> = Vec::with_capacity(parts.len());
    for (number, (target, _, out)) in parts.iter().enumerate() {
        if out.shape().contains(&0) {
            continue;
        }
        let mut objects: Vec<Child> = Vec::new();
        picks[number].objects(target.layout).for_each(|child| objects.push(child));
        for child in objects {
            requests.push(readers[number].request(&child)?);
            cells.push((number, child.cell));
        }
    }
    let failure = Failure::default();
    first.store.read_many(&requests, &|i, answer| {
        let (number, cell) = &cells[i];
        failure.note(readers[*number].take(cell, &requests[i].key, answer));
    });
    failure.into_result()
}
