//! Changing an array's shape.
//!
//! Elements that a resize brings into view read as the fill value, always. So before an axis grows, what may lie
//! behind the old end (of a crashed append, or of a shrink) is cleared:
//!
//! 1. The metadata document's key is locked, and the document read.
//! 2. Growing: stored objects wholly behind the old end are deleted, and of those across it the part behind the end
//!    is filled. No reader looks there yet.
//! 3. The document with the new shape is put, and the key unlocked.
//! 4. Shrinking: stored objects wholly behind the new end are deleted, as in the next paragraph.
//!
//! Objects outside the grid (strays) are deleted under the lock of the metadata document alone, after a look at the
//! shape that it has there: an append puts its objects under that lock before it puts the shape, and one that came
//! between two steps of ours has made strays into data. On a store with transactions, what is done under the lock is one.

use super::{Array, Within};
use crate::documents;
use crate::error::{ArrayError, Result};
use crate::execute::{self, End};
use crate::target::Target;
use tessarray_buffer::{Arena, InputView, VarItem};
use tessarray_grid::{AxisSelection, Selection};
use tessarray_meta::ArrayMetadata;
use tessarray_store::{Key, Update};

impl Array {
    /// Changes the shape. Growing shows fill values; shrinking drops the elements that fall outside. Costs one
    /// listing of the array's objects.
    ///
    /// # Errors
    /// A shape of another rank; a store that fails; an array that keeps changing meanwhile.
    pub fn resize(&self, shape: &[u64]) -> Result<()> {
        self.settle()?;
        let mut done: Option<(ArrayMetadata, ArrayMetadata)> = None;
        self.inner.store.update_with(&self.metadata_key()?, &mut |within, current| {
            let old = self.parse(current.as_ref().map(|blob| &blob.bytes[..]))?;
            let new = resized(&old, shape)?;
            let failed = |source| ArrayError::Metadata { key: "resize".into(), source };
            new.validate(self.inner.session.limits()).map_err(failed)?;
            if new.shape.iter().zip(&old.shape).any(|(new, old)| new > old) {
                self.clear_behind(within, &old, &new)?;
            }
            let document = documents::of_array(&new, &self.inner.prefix)?.pop();
            done = Some((old, new));
            Ok(Update::PutOwned(vec![document.map(|(_, bytes)| bytes).unwrap_or_default()]))
        })?;
        let Some((old, new)) = done else { return Ok(()) };
        let shrinks = new.shape.iter().zip(&old.shape).any(|(new, old)| new < old);
        self.adopt(new)?;
        if shrinks { self.remove_strays().map(drop) } else { Ok(()) }
    }

    /// Deletes stored objects outside the array's grid, which crashed appends and shrinks leave, and returns their keys.
    /// Beside other writers it deletes nothing of theirs: it waits for an append or a resize that is under way, and
    /// asks for the shape again while it keeps them out. That needs a store whose updates lock, as those of
    /// local directories, packs and memory do. Costs one listing; `Ok` without keys where the array is gone.
    ///
    /// # Errors
    /// A store that cannot be listed or changed.
    pub fn remove_strays(&self) -> Result<Vec<Key>> {
        let mut removed = Vec::new();
        if self.inner.store.head(&self.metadata_key()?)?.is_none() {
            return Ok(removed);
        }
        self.inner.store.update_with(&self.metadata_key()?, &mut |within, current| {
            removed.clear();
            if let Some(blob) = current {
                let metadata = self.parse(Some(&blob.bytes[..]))?;
                removed = self.delete_outside(within, &metadata)?;
            }
            Ok(Update::Keep)
        })?;
        Ok(removed)
    }

    /// Deletes stored objects outside the grid of the metadata that were read under the lock of their document.
    fn delete_outside(&self, within: Within<'_>, metadata: &ArrayMetadata) -> Result<Vec<Key>> {
        let mut removed = Vec::new();
        for (key, at, _) in self.stored_in(within, metadata)? {
            if is_outside(&at, &metadata.grid_shape()) {
                within.unwrap_or(&self.inner.store).delete(&key)?;
                removed.push(key);
            }
        }
        Ok(removed)
    }

    /// Makes everything behind the end of `old` that `new` shows read as fill.
    fn clear_behind(&self, within: Within<'_>, old: &ArrayMetadata, new: &ArrayMetadata) -> Result<()> {
        self.delete_outside(within, old)?;
        let state = self.state_of(new.clone())?;
        let target = self.target_in(within, &state);
        for (_, at, _) in self.stored_in(within, old)? {
            for axis in 0..old.shape.len() {
                clear_edge(&target, old, &at, axis)?;
            }
        }
        Ok(())
    }
}

/// Fills the part of one object that lies behind the old end of one axis.
fn clear_edge(target: &Target<'_>, old: &ArrayMetadata, at: &[u64], axis: usize) -> Result<()> {
    let (shape, edges) = (&target.metadata.shape, target.layout.edges());
    let mut axes = Vec::with_capacity(shape.len());
    for (a, &at) in at.iter().enumerate() {
        let begin = edges[a].begin(at);
        let from = if a == axis { begin.max(old.shape[a]) } else { begin };
        let to = begin.saturating_add(edges[a].length(at)).min(shape[a]);
        if from >= to {
            return Ok(());
        }
        axes.push(AxisSelection::run(from, to - from));
    }
    let selection = Selection::Axes(axes);
    let arena = Arena::new();
    let fill: Vec<u8> = if old.data_type.is_variable() {
        let item: VarItem = arena.push_item(&old.fill_value);
        item.to_bytes().to_vec()
    } else {
        old.fill_value.to_vec()
    };
    let input = InputView::repeat(&fill, &selection.shape());
    execute::write(target, &selection, &input, &arena, End::Held)
}

/// Whether a chunk lies outside a grid of so many chunks along each axis.
pub(super) fn is_outside(at: &[u64], grid: &[u64]) -> bool {
    at.iter().zip(grid).any(|(at, count)| at >= count)
}

fn resized(old: &ArrayMetadata, shape: &[u64]) -> Result<ArrayMetadata> {
    if shape.len() != old.shape.len() {
        return Err(ArrayError::Argument {
            what: "shape".into(),
            expected: format!("{} lengths, one a dimension", old.shape.len()),
            found: format!("{shape:?}"),
        });
    }
    old.reshaped(shape).map_err(|source| ArrayError::Metadata { key: "resize".into(), source })
}
