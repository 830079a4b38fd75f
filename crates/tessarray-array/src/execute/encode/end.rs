//! What of an object must be kept: how far the writer knows the array's end, and what of the old value it needs.

use super::super::with_scratch;
use super::{ObjectEncoder, Place};
use crate::error::{ArrayError, Result};
use crate::plan::{Cell, Child};
use tessarray_codec::sharding::{ShardIndex, Sharding};
use tessarray_grid::Dims;

/// What a writer knows of the array's end, which decides what it may leave out of an object that reaches behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Nobody else moves it meanwhile, and it is where the metadata say: behind it is nothing to keep.
    Held,
    /// Others may have moved it: what is stored behind it may be theirs, and is kept.
    Open,
}

impl ObjectEncoder<'_> {
    /// Whether the write replaces everything in the object that must be kept: all of it, or where the end is held, all of
    /// it that lies inside the array.
    pub(crate) fn covers_object(&self, child: &Child) -> bool {
        let layout = self.target.layout;
        self.covers(&child.cell, &layout.first_leaf(&child.at), &layout.object_ratio())
    }

    pub(super) fn covers(&self, cell: &Cell, first: &[u64], ratio: &[u64]) -> bool {
        let end = (self.end == End::Held).then_some(&self.target.metadata.shape[..]);
        self.fields.is_none() && self.leaves.picks.covers(cell, first, ratio, self.target.layout, end)
    }

    /// Whether an object that cannot be read may be replaced; costs a look at the metadata document.
    pub(crate) fn replaces_object(&self, child: &Child) -> bool {
        let layout = self.target.layout;
        self.replaces(&child.cell, &layout.first_leaf(&child.at), &layout.object_ratio())
    }

    pub(super) fn replaces(&self, cell: &Cell, first: &[u64], ratio: &[u64]) -> bool {
        let end = Some(&self.target.metadata.shape[..]);
        self.fields.is_none()
            && self.leaves.picks.covers(cell, first, ratio, self.target.layout, end)
            && self.target.is_end_current().unwrap_or(false)
    }

    /// The index of the shard as it is stored, if it is.
    #[expect(clippy::cast_possible_truncation, reason = "places in a shard's bytes")]
    pub(super) fn old_index(
        &self,
        level: usize,
        sharding: &Sharding,
        place: &Place<'_>,
        key: &str,
    ) -> Result<Option<ShardIndex>> {
        let Some(current) = place.current else { return Ok(None) };
        let lying =
            |reason: String| ArrayError::ShardIndex { key: key.into(), shard: place.at.to_vec(), reason };
        let size = current.len() as u64;
        let found = match sharding.index_span(size) {
            Some((at, length)) => {
                let encoded = &current[at as usize..(at + length) as usize];
                let index = with_scratch(|scratch| sharding.parse_index(encoded, size, scratch));
                index.map_err(|error| (error.is_damage(), error.to_string()))
            }
            None => {
                let expected = sharding.index_bytes();
                Err((true, format!("truncated: expected at least {expected} bytes, found {size}")))
            }
        };
        let (layout, at) = (self.target.layout, place.at);
        let replaces = || match level.checked_sub(1) {
            None => self.replaces(place.cell, &layout.first_leaf(at), &layout.object_ratio()),
            Some(outer) => {
                let ratio = layout.child_ratio(outer);
                let first: Dims = at.iter().zip(&ratio).map(|(&at, &ratio)| at * ratio).collect();
                self.replaces(place.cell, &first, &ratio)
            }
        };
        match found {
            Ok(index) => Ok(Some(index)),
            Err((true, _)) if replaces() => Ok(None),
            Err((_, reason)) => Err(lying(reason)),
        }
    }
}
