//! Reading: every touched innermost chunk is fetched and decoded once, into its place in the output. Here only the route is
//! chosen.
//!
//! 1. The selection is cut into objects, shards and leaves (pure; see [`crate::plan`]).
//! 2. From a store that is far away, one thread asks for large batches, and the store's own threads decode.
//! 3. A read of parts of a few large chunks that are known is cut into slabs, over all threads ([`super::slabs`]).
//! 4. A small read stays on the caller's thread, object by object.
//! 5. Else the objects are shared between threads, each of which fetches for itself; of a few shards, their inner chunks are.
//!
//! Chunks that are objects are read by [`super::plain`], inner chunks by [`super::shards`].

use super::costs;
use super::plain::read_plain;
use super::reader::{Reader, with_reader};
use super::slabs::read_known;
use crate::error::Result;
use crate::plan::{Child, Children, Picks};
use crate::target::Target;
use tessarray_buffer::{Arena, OutputView};
use tessarray_grid::Selection;

/// Reads a checked selection into `out`, which has the selection's shape.
pub(crate) fn read(
    target: &Target<'_>,
    selection: &Selection,
    out: &mut OutputView<'_>,
    arena: &Arena,
) -> Result<()> {
    if out.shape().contains(&0) {
        return Ok(());
    }
    let picks = Picks::new(selection, target.layout);
    let (leaves, threads) = (picks.leaf_count(), target.session.threads() as u64);
    let bytes = leaves.saturating_mul(target.layout.leaf_bytes() as u64);
    let alone = leaves == 1 || bytes <= costs::READ_ALONE || threads == 1;
    let chunks = target.layout.levels.is_empty();
    let parts_of_few = chunks
        && target.layout.is_regular()
        && leaves < costs::FEW_CHUNKS * threads
        && bytes > costs::READ_ALONE
        && threads > 1;
    if target.store.is_local() && parts_of_few && read_known(target, &picks, selection, out, arena)? {
        return Ok(());
    }
    let objects = picks.objects(target.layout);
    with_reader(target, &picks, out.reborrow(), arena, |reader| {
        if !target.store.is_local() {
            return in_batches(reader, &objects);
        }
        if alone {
            return one_by_one(reader, &objects);
        }
        if chunks || objects.len() >= costs::MANY_OBJECTS * threads {
            return target.session.share(objects.len(), |i| batch(reader, &[objects.get(i)], false));
        }
        let few: Vec<Child> = (0..objects.len()).map(|i| objects.get(i)).collect();
        batch(reader, &few, true)
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
fn in_batches(reader: &Reader<'_>, objects: &Children) -> Result<()> {
    for begin in (0..objects.len()).step_by(costs::REMOTE_BATCH as usize) {
        let end = objects.len().min(begin + costs::REMOTE_BATCH);
        let together: Vec<Child> = (begin..end).map(|i| objects.get(i)).collect();
        batch(reader, &together, false)?;
    }
    Ok(())
}

fn one_by_one(reader: &Reader<'_>, objects: &Children) -> Result<()> {
    let mut result = Ok(());
    objects.for_each(|child| {
        if result.is_ok() {
            result = batch(reader, std::slice::from_ref(&child), false);
        }
    });
    result
}

/// Reads some objects; with `parallel`, the inner chunks of shards on all threads.
fn batch(reader: &Reader<'_>, objects: &[Child], parallel: bool) -> Result<()> {
    if reader.target.layout.levels.is_empty() {
        let objects = objects.iter().map(|child| (0, child.clone()));
        return read_plain(reader.target.store, std::slice::from_ref(reader), objects);
    }
    reader.read_shards(objects, parallel)
}
