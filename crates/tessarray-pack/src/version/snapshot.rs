//! One version of a pack, to read.

use super::content::{Content, Held, Listing, Piece};
use crate::catalogue::{Entry, GONE, Group, Numbering, Part, Parts, RowPlace};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::layout::{Layouts, PackedArray, ShardMap};
use crate::log::Commit;
use crate::names::{V2_ARRAY, V3};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use tessarray_store::Store;

/// Arrays whose layouts are remembered.
const ARRAYS: usize = 1 << 16;

/// One version.
#[derive(Debug)]
pub(crate) struct Snapshot {
    store: Arc<dyn Store>,
    layouts: Arc<Layouts>,
    parts: Arc<Parts>,
    /// Those of the commit that are open, in its order.
    open: Vec<OnceLock<Arc<Part>>>,
    commit: Commit,
    crc: u32,
    arrays: RwLock<HashMap<Box<str>, Option<Arc<PackedArray>>, RandomState>>,
}

/// A row that was found.
#[derive(Debug)]
pub(crate) struct FoundRow<'a> {
    pub part: &'a Arc<Part>,
    pub group: &'a Arc<Group>,
    pub row: usize,
    pub place: RowPlace,
}

impl Snapshot {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        layouts: Arc<Layouts>,
        parts: Arc<Parts>,
        commit: Commit,
        crc: u32,
    ) -> Self {
        let open = commit.parts.iter().map(|_| OnceLock::new()).collect();
        Self { store, layouts, parts, open, commit, crc, arrays: RwLock::default() }
    }

    /// Takes over the parts that another version has open.
    pub(crate) fn adopt(&self, other: &Self) {
        for (file, open) in self.commit.parts.iter().zip(&self.open) {
            let place = other.commit.parts.iter().position(|theirs| theirs.id == file.id);
            if let Some(part) = place.and_then(|place| other.open[place].get()) {
                open.get_or_init(|| Arc::clone(part));
            }
        }
    }

    /// The commit that made it.
    pub(crate) fn commit(&self) -> &Commit {
        &self.commit
    }

    /// The checksum of its file.
    pub(crate) fn crc(&self) -> u32 {
        self.crc
    }

    /// What is known of arrays.
    pub(crate) fn layouts(&self) -> &Arc<Layouts> {
        &self.layouts
    }

    /// All its parts, newest first.
    pub(crate) fn parts(&self) -> Result<Vec<Arc<Part>>> {
        (0..self.open.len()).map(|number| self.part(number).cloned()).collect()
    }

    /// A part by its place in the list.
    fn part(&self, number: usize) -> Result<&Arc<Part>> {
        match self.open[number].get() {
            Some(part) => Ok(part),
            None => {
                let part = self.parts.get(&self.commit.parts[number])?;
                Ok(self.open[number].get_or_init(|| part))
            }
        }
    }

    /// The parts that may have rows of a node, newest first.
    fn parts_of<'a>(&'a self, node: &'a str) -> impl Iterator<Item = Result<(usize, &'a Arc<Part>)>> + 'a {
        let may = move |number: &usize| {
            let file = &self.commit.parts[*number];
            *file.first <= *node && *node <= *file.last
        };
        (0..self.open.len()).filter(may).map(|number| Ok((number, self.part(number)?)))
    }

    /// The newest row of a value; `None` where it is gone, or was never there.
    pub(crate) fn value_row(&self, node: &str, name: &str) -> Result<Option<FoundRow<'_>>> {
        for number in 0..self.open.len() {
            let file = &self.commit.parts[number];
            if *file.first > *node || *node > *file.last {
                continue;
            }
            let part = self.part(number)?;
            if let Some((group, row)) = part.value(node, name)? {
                let place = RowPlace { part: number, group, row };
                let group = part.group(group)?;
                return Ok((!group.gone(row)).then_some(FoundRow { part, group, row, place }));
            }
        }
        Ok(None)
    }

    /// The newest entry of a chunk.
    pub(crate) fn entry(
        &self,
        node: &str,
        array: &PackedArray,
        at: &[u64],
        inner: u64,
    ) -> Result<Option<(Id, Entry)>> {
        for part in self.parts_of(node) {
            let (number, part) = part?;
            let Some(rows) = ChunkRows::of(number, part, node, array)? else { continue };
            if let Some(number) = rows.object(array, at) {
                let row = match rows.only {
                    Some(only) => Some(only),
                    None => part.row(node, "", number + inner)?,
                };
                if let Some((group, row)) = row
                    && let Some(entry) = group.find(row, number + inner)
                {
                    return located(part, entry);
                }
            }
            if rows.reset {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The newest entries of all inner chunks of a shard, in order.
    fn entries(&self, node: &str, array: &PackedArray, at: &[u64]) -> Result<Vec<(u64, Id, Entry)>> {
        let inner = array.numbering().inner();
        let mut found: Vec<Option<Option<(Id, Entry)>>> = vec![None; usize::try_from(inner).unwrap_or(0)];
        for part in self.parts_of(node) {
            let (number, part) = part?;
            let Some(rows) = ChunkRows::of(number, part, node, array)? else { continue };
            if let Some(begin) = rows.object(array, at) {
                let from = part.row(node, "", begin)?.map_or(begin, |(group, row)| group.key(row).2);
                part.walk((node.as_bytes(), b"", from), &mut |group, row| {
                    let (path, name, first) = group.key(row);
                    if path != node.as_bytes() || !name.is_empty() || first >= begin + inner {
                        return Ok(false);
                    }
                    for (number, entry) in group.entries(row) {
                        let place = number.checked_sub(begin).and_then(|place| usize::try_from(place).ok());
                        if let Some(slot) = place.and_then(|place| found.get_mut(place))
                            && slot.is_none()
                        {
                            *slot = Some(located(part, entry)?);
                        }
                    }
                    Ok(true)
                })?;
            }
            if rows.reset {
                break;
            }
        }
        let numbered = (0u64..).zip(found);
        Ok(numbered.filter_map(|(n, slot)| slot.flatten().map(|(id, entry)| (n, id, entry))).collect())
    }

    /// Adds what lies under a prefix to a listing in which newer changes are already.
    pub(crate) fn list(&self, path: &str, into: &mut Listing) -> Result<()> {
        for part in self.parts()? {
            into.add_part(&part, path)?;
        }
        Ok(())
    }

    fn corrupt(&self, node: &str, reason: String) -> PackError {
        PackError::Corrupt { store: self.store.describe(), file: format!("catalogue: {node:?}"), reason }
    }
}

fn located(part: &Part, entry: Entry) -> Result<Option<(Id, Entry)>> {
    if entry.segment == GONE {
        return Ok(None);
    }
    Ok(Some((part.segment(entry.segment)?, entry)))
}

/// What all rows of chunks of one node in one part have in common.
struct ChunkRows<'a> {
    own: Option<Numbering>,
    reset: bool,
    /// The one row, where there is no other: small arrays have one.
    only: Option<(&'a Arc<Group>, usize)>,
}

impl<'a> ChunkRows<'a> {
    fn of(number: usize, part: &'a Part, node: &str, array: &PackedArray) -> Result<Option<Self>> {
        let near = match array.row.filter(|place| place.part == number && place.group < part.groups()) {
            Some(place) => {
                let group = part.group(place.group)?;
                group.chunks_before(node.as_bytes(), place.row).map(|row| (group, row))
            }
            None => None,
        };
        let found = match near {
            Some((group, row)) => row.map(|row| (group, row)),
            None => part.row(node, "", u64::MAX)?,
        };
        let Some((group, row)) = found else { return Ok(None) };
        let own = match group.grid(row) {
            Some(text) if **text != **array.text() => Some(Numbering::of_row(node, text)?),
            _ => None,
        };
        // Chunks of an array that was there before, like those in all older parts.
        if own.as_ref().is_some_and(|own| !own.is_like(array.numbering())) {
            return Ok(Some(Self { own, reset: true, only: None }));
        }
        let only = (group.key(row).2 == 0).then_some((group, row));
        let reset = match only {
            Some((group, row)) => group.gone(row),
            None => part.row(node, "", 0)?.is_some_and(|(group, row)| group.gone(row)),
        };
        Ok(Some(Self { own, reset, only }))
    }

    /// The number of an object's first chunk in these rows; `None` where they cannot have it.
    fn object(&self, array: &PackedArray, at: &[u64]) -> Option<u64> {
        match &self.own {
            None => array.numbering().object(at),
            Some(own) if own.is_like(array.numbering()) => own.object(at),
            Some(_) => None,
        }
    }
}

impl Content for Snapshot {
    fn describe(&self) -> String {
        format!("{} (version {})", self.store.describe(), self.commit.number)
    }

    fn base(&self) -> &Arc<dyn Store> {
        &self.store
    }

    fn array(&self, node: &str) -> Result<Option<Arc<PackedArray>>> {
        let known = |node| self.arrays.read().unwrap_or_else(PoisonError::into_inner).get(node).cloned();
        if let Some(array) = known(node) {
            return Ok(array);
        }
        let mut array: Option<PackedArray> = None;
        for name in [V3, V2_ARRAY] {
            if let Some(found) = self.value_row(node, name)? {
                let id = found.group.id(found.row).unwrap_or(0);
                let FoundRow { group, row, place, .. } = found;
                array =
                    group.template(row).and_then(|text| self.layouts.array(name, text, group.shape(row), id));
                if let Some(array) = &mut array {
                    array.row = Some(place);
                }
                break;
            }
        }
        let array = array.map(Arc::new);
        let mut arrays = self.arrays.write().unwrap_or_else(PoisonError::into_inner);
        if arrays.len() >= ARRAYS {
            arrays.clear();
        }
        arrays.insert(node.into(), array.clone());
        Ok(array)
    }

    fn value(&self, node: &str, name: &str) -> Result<Option<Held>> {
        let Some(found) = self.value_row(node, name)? else { return Ok(None) };
        if let Some(bytes) = found.group.value(found.row)? {
            return Ok(Some(Held::Here(bytes, found.group.stamp(found.row)?)));
        }
        let Some((_, entry)) = found.group.entries(found.row).next() else {
            return Err(self.corrupt(node, format!("{name:?} has neither a value nor a place")));
        };
        Ok(located(found.part, entry)?.map(|(id, entry)| Held::There(Piece::stored(id, entry))))
    }

    fn chunk(&self, node: &str, array: &PackedArray, at: &[u64]) -> Result<Option<Piece>> {
        Ok(self.entry(node, array, at, 0)?.map(|(id, entry)| Piece::stored(id, entry)))
    }

    fn shard(&self, node: &str, array: &PackedArray, at: &[u64]) -> Result<Option<Arc<ShardMap<Piece>>>> {
        let Some(sharding) = array.sharding() else { return Ok(None) };
        let entries = self.entries(node, array, at)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let pieces = entries.into_iter().map(|(n, id, entry)| (n, Piece::stored(id, entry))).collect();
        let map = ShardMap::new(sharding, pieces, |piece: &Piece| piece.length);
        Ok(Some(Arc::new(map.map_err(|error| self.corrupt(node, error.to_string()))?)))
    }
}
