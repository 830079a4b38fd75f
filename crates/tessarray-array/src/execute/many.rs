//! Reading many small arrays of one store together.

use super::decode::LeafDecoder;
use super::plain::read_plain;
use super::reader::{Reader, cut};
use crate::error::Result;
use crate::plan::{Child, Picks};
use crate::target::Target;
use tessarray_buffer::{Arena, OutputView, Tiles};
use tessarray_grid::Selection;

/// Reads checked selections of arrays without shards, all in one store, each into its own output; on the caller's thread.
pub(crate) fn read_many(parts: Vec<(Target<'_>, &Selection, OutputView<'_>)>, arena: &Arena) -> Result<()> {
    let (mut targets, mut picks, mut outs) = (Vec::new(), Vec::new(), Vec::new());
    for (target, selection, out) in parts {
        if !out.shape().contains(&0) {
            picks.push(Picks::new(selection, target.layout));
            targets.push(target);
            outs.push(out);
        }
    }
    let Some(first) = targets.first() else { return Ok(()) };
    let tiles = outs.into_iter().zip(&picks).map(|(out, picks)| cut(picks, out));
    let tiles: Vec<Tiles<'_>> = tiles.collect::<Result<_>>()?;
    let decoders: Vec<LeafDecoder<'_>> = targets
        .iter()
        .zip(&picks)
        .zip(&tiles)
        .map(|((target, picks), tiles)| LeafDecoder::new(target.layout, picks, tiles, arena))
        .collect();
    let readers: Vec<Reader<'_>> =
        targets.iter().zip(&decoders).map(|(target, decoder)| Reader { target, decoder }).collect();
    let mut objects: Vec<(usize, Child)> = Vec::with_capacity(readers.len());
    for (number, reader) in readers.iter().enumerate() {
        reader.picks().objects(reader.target.layout).for_each(|child| objects.push((number, child)));
    }
    read_plain(first.store, &readers, objects.into_iter())
}
