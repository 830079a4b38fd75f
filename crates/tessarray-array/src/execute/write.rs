//! Writing: every touched object is encoded once and put once, atomically.
//!
//! 1. The selection is cut into objects.
//! 2. An object whose every element is replaced is encoded from the input alone, and put.
//! 3. Any other is changed under the store's update of its key, which excludes other threads and processes: the
//!    current value is read, inner chunks that are not touched keep their encoded bytes, those touched in part are
//!    decoded and overlaid, the rest are encoded from the input.
//! 4. Chunks that hold nothing but the fill value are not stored; an object without any is deleted.
//!
//! Where an object reaches behind the end, what lies there counts as its own, too ([`End::Open`]): others may have
//! appended since this handle learnt the shape, or be about to, and what they stored there is kept by step 3. Only who
//! holds the lock of the metadata (appends and resizes), or is alone with the array, knows the end ([`End::Held`]), and
//! puts such objects by step 2. What cannot be decoded (a chunk, an index) would make step 3 fail for ever: it is made from
//! the input alone if that has all of it up to the end, and the metadata document says that the end is still the same.
//! An append that is under way cannot have put its rows into it, since it would have failed as we did.
//!
//! A thread that holds a key's lock never waits for a worker that has not begun, since all workers may be waiting for
//! that lock (see [`crate::crew`]).
//!
//! Each worker holds one encoded object and one decoded inner chunk, or a block of it where it is large. Where there are fewer objects than workers, the
//! workers share the inner chunks of one object instead.

use super::costs;
use super::encode::{Encoded, End, ObjectEncoder};
use crate::error::Result;
use crate::plan::{Child, Picks};
use crate::target::Target;
use std::borrow::Cow;
use std::ops::Range;
use tessarray_buffer::{Arena, InputView};
use tessarray_grid::Selection;
use tessarray_store::{Key, PutMode, StoreError, Update};

/// Writes a checked selection from `input`, which has the selection's shape.
pub(crate) fn write(
    target: &Target<'_>,
    selection: &Selection,
    input: &InputView<'_>,
    arena: &Arena,
    end: End,
) -> Result<()> {
    write_fields(target, selection, None, input, arena, end)
}

/// The same, of these bytes of every element where they are given: then every object is changed by step 3.
pub(crate) fn write_fields(
    target: &Target<'_>,
    selection: &Selection,
    fields: Option<&[Range<usize>]>,
    input: &InputView<'_>,
    arena: &Arena,
    end: End,
) -> Result<()> {
    if input.shape().contains(&0) {
        return Ok(());
    }
    let picks = Picks::new(selection, target.layout);
    let objects = picks.objects(target.layout);
    let encoder = ObjectEncoder::new(target, &picks, input, arena, end).of_fields(fields);
    let threads = target.session.threads() as u64;
    let bytes = picks.leaf_count().saturating_mul(target.layout.leaf_bytes() as u64);
    let n = objects.len();
    if threads == 1 || bytes <= costs::WRITE_ALONE {
        return (0..n).try_for_each(|i| object(target, &encoder, &objects.get(i), false));
    }
    let whole_rounds = n - n % threads;
    target.session.share(whole_rounds, |i| object(target, &encoder, &objects.get(i), false))?;
    (whole_rounds..n).try_for_each(|i| object(target, &encoder, &objects.get(i), true))
}

/// Writes one object, with an encoder of its own where objects have shapes of their own.
fn object(target: &Target<'_>, encoder: &ObjectEncoder<'_>, child: &Child, parallel: bool) -> Result<()> {
    if target.layout.is_regular() {
        return put(target, encoder, child, parallel);
    }
    let layout = target.layout.of(&child.at)?;
    let target = Target { layout: &layout, ..*target };
    put(&target, &encoder.with(&target), child, parallel)
}

fn put(target: &Target<'_>, encoder: &ObjectEncoder<'_>, child: &Child, parallel: bool) -> Result<()> {
    let key = target.chunk_key(&child.at)?;
    if encoder.covers_object(child) {
        let encoded = encoder.object(child, key.as_str(), None, parallel)?;
        match &encoded {
            Encoded::Empty => target.store.delete(&key).map(|_| ())?,
            Encoded::Parts(parts) => {
                let parts: Vec<&[u8]> = parts.iter().map(AsRef::as_ref).collect();
                target.store.put(&key, &parts, PutMode::Overwrite)?;
            }
        }
        encoder.recycle(encoded);
        return Ok(());
    }
    let updated = target.store.update(&key, true, &mut |current| {
        let absent = current.is_none();
        let bytes = current.as_ref().map(|blob| &blob.bytes[..]);
        match encoder.object(child, key.as_str(), bytes, parallel)? {
            Encoded::Empty if absent => Ok(Update::Keep),
            Encoded::Empty => Ok(Update::Delete),
            Encoded::Parts(parts) => Ok(Update::PutOwned(parts.into_iter().map(Cow::into_owned).collect())),
        }
    });
    match updated {
        Err(error @ StoreError::Corrupt { .. }) if encoder.replaces_object(child) => {
            replace(target, encoder, child, &key, parallel, error)
        }
        other => Ok(other?),
    }
}

/// Puts an object at the end whose stored value the store cannot give, as packs do not where their checksum is wrong. It
/// is put only over that very value: whoever changed it meanwhile may have put more there.
fn replace(
    target: &Target<'_>,
    encoder: &ObjectEncoder<'_>,
    child: &Child,
    key: &Key,
    parallel: bool,
    error: StoreError,
) -> Result<()> {
    let Some(damaged) = target.store.head(key)? else { return Err(error.into()) };
    if target.store.get(key).is_ok() {
        return Err(error.into());
    }
    let Encoded::Parts(parts) = encoder.object(child, key.as_str(), None, parallel)? else {
        return Err(error.into());
    };
    let parts: Vec<&[u8]> = parts.iter().map(AsRef::as_ref).collect();
    target.store.put(key, &parts, PutMode::IfMatch(damaged.version))?;
    Ok(())
}
