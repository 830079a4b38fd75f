//! Chunks and inner chunks whose checksums were verified, with the version of the object they were read from.
//!
//! A partial read of one that is known reads only the blocks it needs, *expecting* that version: an object that was
//! written since, by whomever, is read and verified whole again. What this cannot see is a bit that turns on the medium
//! with no write, after the chunk was verified through this array: that is seen by reads of the whole chunk, by checks,
//! and by the next one to open the array.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tessarray_codec::BlockTable;
use tessarray_store::Version;

/// Where blocks lie, up to a number of bytes in all; beyond it, everything is forgotten.
#[derive(Debug, Default)]
pub(crate) struct VerifiedChunks {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By the array handle they were read through.
    arrays: HashMap<u64, HashMap<Box<str>, Object>>,
    weight: usize,
}

/// One state of an object.
#[derive(Debug)]
struct Object {
    version: Version,
    /// By the offset in the object.
    chunks: HashMap<u64, Arc<BlockTable>>,
    weight: usize,
}

/// Numbers kept, 8 bytes each: 16 MiB.
const MAX_WEIGHT: usize = 2 << 20;

impl VerifiedChunks {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chunk that is an object.
    pub(crate) fn get(&self, array: u64, key: &str) -> Option<(Version, Arc<BlockTable>)> {
        let inner = self.inner();
        let object = inner.arrays.get(&array)?.get(key)?;
        Some((object.version.clone(), object.chunks.get(&0)?.clone()))
    }

    /// Those of an object that are known at this version, one for each offset; empty where none is.
    pub(crate) fn at(
        &self,
        (array, key): (u64, &str),
        version: &Version,
        offsets: impl Iterator<Item = u64>,
    ) -> Vec<Option<Arc<BlockTable>>> {
        let inner = self.inner();
        let object = inner.arrays.get(&array).and_then(|objects| objects.get(key));
        match object.filter(|object| object.version == *version) {
            Some(object) => offsets.map(|offset| object.chunks.get(&offset).cloned()).collect(),
            None => Vec::new(),
        }
    }

    /// Adds chunks of an object, which lie at these offsets.
    pub(crate) fn put(&self, (array, key): (u64, &str), version: &Version, found: Vec<(u64, BlockTable)>) {
        if found.is_empty() {
            return;
        }
        let added: usize = found.iter().map(|(_, known)| known.weight()).sum();
        let mut inner = self.inner();
        if inner.weight + added > MAX_WEIGHT {
            *inner = Inner::default();
        }
        let Inner { arrays, weight } = &mut *inner;
        let objects = arrays.entry(array).or_default();
        if objects.get(key).is_none_or(|object| object.version != *version) {
            let fresh = Object { version: version.clone(), chunks: HashMap::new(), weight: 0 };
            *weight -= objects.insert(key.into(), fresh).map_or(0, |old| old.weight);
        }
        let Some(object) = objects.get_mut(key) else { return };
        for (offset, known) in found {
            let more = known.weight();
            let less = object.chunks.insert(offset, Arc::new(known)).map_or(0, |old| old.weight());
            object.weight = object.weight + more - less;
            *weight = *weight + more - less;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessarray_codec::{Chain, ChunkSpec, NamedConfig, Registry};
    use tessarray_grid::Dims;

    fn known() -> BlockTable {
        let spec = ChunkSpec { shape: Dims::from_slice(&[8]), ..ChunkSpec::default() };
        let bytes = [NamedConfig::new("bytes")];
        Chain::build(&Registry::default(), &bytes, spec).unwrap().block_table(&[7; 8]).unwrap()
    }

    #[test]
    fn another_state_of_an_object_forgets_what_was_known_of_it() {
        let chunks = VerifiedChunks::default();
        let (old, new) = (Version("1".into()), Version("2".into()));
        chunks.put((1, "a"), &old, vec![(0, known()), (100, known())]);
        chunks.put((1, "b"), &old, vec![(0, known())]);
        let found = |key: &str, version: &Version| -> Vec<bool> {
            let found = chunks.at((1, key), version, [0, 50, 100].into_iter());
            found.iter().map(Option::is_some).collect()
        };
        assert_eq!(found("a", &old), [true, false, true]);
        assert_eq!((found("a", &new), found("c", &old)), (vec![], vec![]));
        chunks.put((1, "a"), &new, vec![(50, known())]);
        assert_eq!((found("a", &old), found("a", &new)), (vec![], vec![false, true, false]));
        assert_eq!((chunks.get(1, "b").unwrap().0, chunks.get(1, "a").is_none()), (old.clone(), true));
        assert!(chunks.get(2, "b").is_none());
        assert_eq!(chunks.inner().weight, 2 * known().weight());
        chunks.put((1, "a"), &new, vec![(50, known())]);
        assert_eq!(chunks.inner().weight, 2 * known().weight());
    }

    #[test]
    fn no_more_is_kept_than_a_number_of_bytes() {
        let chunks = VerifiedChunks::default();
        let version = Version("1".into());
        let most = MAX_WEIGHT / known().weight();
        for offset in 0..most as u64 + 10 {
            chunks.put((1, "a"), &version, vec![(offset, known())]);
            assert!(chunks.inner().weight <= MAX_WEIGHT);
        }
        assert!(chunks.at((1, "a"), &version, std::iter::once(most as u64 + 5))[0].is_some());
    }
}
