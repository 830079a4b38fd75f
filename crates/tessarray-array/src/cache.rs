//! Shard indexes that were read before, each with the version of the shard it belongs to.
//!
//! A cached index is used with a read that *expects* that version, so a shard that another process replaced is
//! noticed and its index read again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tessarray_codec::sharding::ShardIndex;
use tessarray_store::Version;

/// Which shard: the array it is in, its key, how deep it is nested, and where in the value it starts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct IndexKey {
    pub store: u64,
    pub key: Arc<str>,
    pub level: usize,
    pub offset: u64,
}

type Cached = (Version, Arc<ShardIndex>);

/// Indexes up to a number of entries in all; beyond it, everything is forgotten (indexes are cheap to read again).
#[derive(Debug, Default)]
pub(crate) struct IndexCache {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    indexes: HashMap<IndexKey, Cached>,
    entries: usize,
}

/// Entries kept, 24 bytes each: 24 MiB.
const MAX_ENTRIES: usize = 1 << 20;

impl IndexCache {
    pub(crate) fn get(&self, key: &IndexKey) -> Option<Cached> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).indexes.get(key).cloned()
    }

    pub(crate) fn put(&self, key: IndexKey, version: Version, index: Arc<ShardIndex>) {
        let size = index.entries().len();
        if size > MAX_ENTRIES {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.entries + size > MAX_ENTRIES {
            *inner = Inner::default();
        }
        inner.entries += size;
        if let Some((_, old)) = inner.indexes.insert(key, (version, index)) {
            inner.entries -= old.entries().len();
        }
    }
}
