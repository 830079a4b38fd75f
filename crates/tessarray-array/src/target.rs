//! What a plan is run against: one array's metadata and layout, and the store it is in.

use crate::error::{ArrayError, Result};
use crate::layout::Layout;
use crate::session::Session;
use std::sync::Arc;
use tessarray_meta::{ArrayMetadata, Node};
use tessarray_store::{Key, Prefix, ReadRequest, ReadSink, Store};

/// One state of one array.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub session: &'a Session,
    pub store: &'a Arc<dyn Store>,
    /// Tells this array's cached indexes from those of other stores with equal keys.
    pub id: u64,
    pub prefix: &'a Prefix,
    pub metadata: &'a ArrayMetadata,
    pub layout: &'a Layout,
}

impl Target<'_> {
    /// The store key of the object at these coordinates.
    pub(crate) fn chunk_key(&self, at: &[u64]) -> Result<Key> {
        Ok(self.prefix.key(&self.metadata.chunk_key(at))?)
    }

    /// What it means that an object is not stored.
    pub(crate) fn missing(&self, key: &Key, at: &[u64]) -> Result<()> {
        if self.session.options().read_missing_chunks {
            return Ok(());
        }
        let store = self.store.describe();
        Err(ArrayError::MissingChunk { store, key: key.to_string(), chunk: at.to_vec() })
    }

    /// Whether the metadata document says that the array ends where these metadata do.
    pub(crate) fn is_end_current(&self) -> Result<bool> {
        let node = crate::documents::load(self.store, self.prefix, self.session.limits())?;
        Ok(matches!(node, Some(Node::Array(found)) if found.shape == self.metadata.shape))
    }

    /// Reads a batch of requests. One without any is not sent: to a store that is far away it would cost a way there and
    /// back.
    pub(crate) fn read_many(&self, requests: &[ReadRequest], sink: &ReadSink<'_>) {
        if !requests.is_empty() {
            self.store.read_many(requests, sink);
        }
    }
}
