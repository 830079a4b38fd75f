//! A read of parts of a few large chunks that were verified before. A small one stays on the caller's thread. A larger one is
//! cut along the axis that varies slowest in the chunks, and each slab is a read of its own, of the blocks that it needs and
//! no others.
//!
//! All slabs expect the versions that were seen at the start. Where one finds another, the whole is read again, not cut:
//! what a read takes of one chunk is of one state of it.

use super::costs;
use super::leaf::Leaves;
use super::part::{Part, plan, plan_object, unless_changed};
use super::reader::with_reader;
use crate::error::Result;
use crate::plan::{Cell, Picks};
use crate::target::Target;
use std::sync::{Mutex, PoisonError};
use tessarray_buffer::{Arena, OutputView};
use tessarray_grid::{AxisSelection, Selection};
use tessarray_store::StoreError;

/// Reads parts of known chunks of an array without shards, in slabs if they are worth it; `false` if not all of the chunks are
/// known, or one has changed.
#[expect(clippy::cast_possible_truncation, reason = "places in lists, and bytes of a chunk in memory")]
pub(super) fn read_known(
    target: &Target<'_>,
    picks: &Picks,
    selection: &Selection,
    out: &mut OutputView<'_>,
    arena: &Arena,
) -> Result<bool> {
    let leaves = Leaves::new(picks, target.layout);
    let Some(parts) = plan_all(target, &leaves)? else { return Ok(false) };
    let parts: Vec<(&Cell, &Part)> = parts.iter().map(|(cell, part)| (cell, part)).collect();
    let bytes: usize = parts.iter().map(|(_, part)| part.bytes()).sum();
    let done = match slabs(target, selection, out, &parts, bytes) {
        Some(slabs) => {
            // Each is taken once, by who reads it.
            let slabs: Vec<_> = slabs.into_iter().map(|slab| Mutex::new(Some(slab))).collect();
            target.session.share(slabs.len() as u64, |number| {
                let slab = slabs[number as usize].lock().unwrap_or_else(PoisonError::into_inner).take();
                slab.map_or(Ok(()), |(selection, out)| read_slab(target, &selection, out, arena, &parts))
            })
        }
        None => with_reader(target, picks, out.reborrow(), arena, |reader| {
            if bytes as u64 <= costs::READ_ALONE {
                return reader.read_parts(&parts);
            }
            target.session.share(parts.len() as u64, |i| reader.read_parts(&parts[i as usize..][..1]))
        }),
    };
    unless_changed(done)
}

/// What is needed of each chunk; `None` if one is not known, or is needed whole.
fn plan_all(target: &Target<'_>, leaves: &Leaves<'_>) -> Result<Option<Vec<(Cell, Part)>>> {
    let mut parts = Ok(Some(Vec::new()));
    leaves.picks.objects(target.layout).for_each(|child| {
        let Ok(Some(found)) = &mut parts else { return };
        match target.chunk_key(&child.at) {
            Err(error) => parts = Err(error),
            Ok(key) => match plan_object(target, leaves, &child.cell, &key) {
                Some(part) => found.push((child.cell, part)),
                None => parts = Ok(None),
            },
        }
    });
    parts
}

/// The slabs of a selection; `None` where it is not worth it to cut.
fn slabs<'o>(
    target: &Target<'_>,
    selection: &Selection,
    out: &'o mut OutputView<'_>,
    parts: &[(&Cell, &Part)],
    bytes: usize,
) -> Option<Vec<(Selection, OutputView<'o>)>> {
    let most = (bytes / costs::SLAB).min(target.session.threads());
    let (Selection::Axes(axes), Some((_, first))) = (selection, parts.first()) else { return None };
    if most < 2 || bytes as u64 <= costs::READ_ALONE {
        return None;
    }
    let chain = target.layout.leaf();
    let axis = chain.permutation().and_then(|order| order.first().copied()).unwrap_or(0);
    // Steps of the axis in a block.
    let (n, len) = (chain.spec().shape.get(axis).copied().unwrap_or(1), chain.spec().byte_len());
    let rows = first.seen.known.block_bytes() as u64 * n / len.max(1) as u64;
    Some(cut(axes, out.reborrow(), axis, rows.max(1), most as u64)).filter(|slabs| slabs.len() > 1)
}

fn read_slab(
    target: &Target<'_>,
    selection: &Selection,
    out: OutputView<'_>,
    arena: &Arena,
    parts: &[(&Cell, &Part)],
) -> Result<()> {
    let picks = Picks::new(selection, target.layout);
    with_reader(target, &picks, out, arena, |reader| {
        let mut result = Ok(());
        picks.objects(target.layout).for_each(|child| {
            if result.is_ok() {
                result = target.chunk_key(&child.at).and_then(|key| {
                    let seen = parts.iter().map(|(_, part)| &part.seen).find(|seen| seen.key == key);
                    match seen.and_then(|seen| plan(reader.decoder.leaves(), &child.cell, seen.clone())) {
                        Some(part) => reader.read_parts(&[(&child.cell, &part)]),
                        None => Err(StoreError::Changed { key: key.to_string() }.into()),
                    }
                });
            }
        });
        result
    })
}

/// Cuts a selection along an axis into at most `most` slabs, before multiples of `rows` where it runs upwards.
fn cut<'a>(
    axes: &[AxisSelection],
    mut out: OutputView<'a>,
    axis: usize,
    rows: u64,
    most: u64,
) -> Vec<(Selection, OutputView<'a>)> {
    let Some(&AxisSelection::Range { start, step, len }) = axes.get(axis) else { return Vec::new() };
    let align = |i: u64| match u64::try_from(step) {
        Ok(step @ 1..) => ((start + i * step).next_multiple_of(rows) - start).div_ceil(step).min(len),
        _ => i,
    };
    let mut begin = 0;
    let mut slabs = Vec::new();
    for end in (1..=most).map(|slab| align(len * slab / most)) {
        if end <= begin {
            continue;
        }
        let mut axes = axes.to_vec();
        let first = start.wrapping_add_signed(step * begin as i64);
        axes[axis] = AxisSelection::Range { start: first, step, len: end - begin };
        let (part, rest) = out.split_at(axis, end - begin);
        slabs.push((Selection::Axes(axes), part));
        (begin, out) = (end, rest);
    }
    slabs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slabs_have_every_row_once_in_its_place(
            start in 0u64..300, step in prop_oneof![-3i64..0, 1i64..4], len in 1u64..100, rows in 1u64..9, most in 1u64..9,
        ) {
            let start = if step < 0 { start + 3 * len } else { start };
            let axes = [AxisSelection::List(vec![7, 7]), AxisSelection::Range { start, step, len }];
            let mut values = vec![0u8; 2 * len as usize];
            let mut out = OutputView::new(&mut values, &[2, len], 1).unwrap();
            prop_assert!(cut(&axes, out.reborrow(), 0, rows, most).is_empty());
            let slabs = cut(&axes, out, 1, rows, most);
            prop_assert!(!slabs.is_empty() && slabs.len() as u64 <= most);
            let mut found = Vec::new();
            for (selection, out) in &slabs {
                let Selection::Axes(cut) = selection else { panic!("{selection:?}") };
                let AxisSelection::Range { start: first, step: same, len: some } = cut[1] else { panic!("{cut:?}") };
                prop_assert_eq!((&cut[0], same, out.shape()), (&axes[0], step, &[2, some][..]));
                prop_assert!(found.is_empty() || step < 0 || (first - 1) / rows < first / rows || step > 1);
                found.extend((0..some as i64).map(|i| first as i64 + i * step));
            }
            prop_assert_eq!(found, (0..len as i64).map(|i| start as i64 + i * step).collect::<Vec<_>>());
        }
    }
}
