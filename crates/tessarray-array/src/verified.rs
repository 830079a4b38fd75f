//! Chunks whose checksums were verified, each with the version of the object they were read from.
//!
//! A partial read of a chunk that is known reads only the blocks it needs, *expecting* that version: an object that was
//! written since, by whomever, is read and verified whole again. What this cannot see is a bit that turns on the medium
//! with no write, after the chunk was verified through this array: that is seen by reads of the whole chunk, by checks,
//! and by the next one to open the array.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tessarray_codec::Known;
use tessarray_store::Version;

/// Which chunk: the array handle it was read through, and its key.
type Name = (u64, Box<str>);

type Verified = (Version, Arc<Known>);

/// Where blocks lie, up to a number of bytes in all; beyond it, everything is forgotten.
#[derive(Debug, Default)]
pub(crate) struct VerifiedChunks {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    chunks: HashMap<u64, HashMap<Box<str>, Verified>>,
    weight: usize,
}

/// Numbers kept, 8 bytes each: 16 MiB.
const MAX_WEIGHT: usize = 2 << 20;

impl VerifiedChunks {
    pub(crate) fn get(&self, array: u64, key: &str) -> Option<Verified> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).chunks.get(&array)?.get(key).cloned()
    }

    pub(crate) fn put(&self, (array, key): Name, version: Version, known: Known) {
        let weight = known.weight();
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.weight + weight > MAX_WEIGHT {
            *inner = Inner::default();
        }
        inner.weight += weight;
        let old = inner.chunks.entry(array).or_default().insert(key, (version, Arc::new(known)));
        inner.weight -= old.map_or(0, |(_, known)| known.weight());
    }
}
