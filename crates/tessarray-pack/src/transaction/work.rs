//! Changes on top of a version, kept apart until they are committed.

use super::overlay::{NewValue, Overlay, Stored};
use super::segments::Segments;
use crate::clock::Clock;
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::layout::{PackedArray, ShardMap};
use crate::version::{Content, Held, Listing, Piece, Snapshot, stamp_of};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tessarray_store::Store;

const OPEN: u8 = 0;

/// The state of a transaction.
#[derive(Debug)]
pub(crate) struct Work {
    base: Arc<Snapshot>,
    pub(crate) id: Id,
    segments: Segments,
    overlay: RwLock<Overlay>,
    /// Numbers of new nodes.
    next: AtomicU64,
    ended: AtomicU8,
}

impl Work {
    /// Begins on top of a version. Segments go to `store`.
    pub(crate) fn begin(base: Arc<Snapshot>, store: Arc<dyn Store>, clock: Clock) -> Result<Self> {
        let id = clock.id()?;
        Ok(Self {
            base,
            id,
            segments: Segments::new(store, clock),
            overlay: RwLock::default(),
            next: AtomicU64::new(id.number()),
            ended: AtomicU8::new(OPEN),
        })
    }

    /// The version it is on top of.
    pub(crate) fn base_version(&self) -> &Arc<Snapshot> {
        &self.base
    }

    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// A number that nothing else has.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn changes(&self) -> RwLockReadGuard<'_, Overlay> {
        self.overlay.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn edit(&self) -> Result<RwLockWriteGuard<'_, Overlay>> {
        self.open()?;
        Ok(self.overlay.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fails once the transaction has ended.
    pub(crate) fn open(&self) -> Result<()> {
        match self.ended.load(Ordering::Acquire) {
            OPEN => Ok(()),
            1 => Err(PackError::Ended { how: "committed" }),
            _ => Err(PackError::Ended { how: "given up" }),
        }
    }

    /// Ends it, once.
    pub(crate) fn end(&self, committed: bool) -> Result<()> {
        let how = if committed { 1 } else { 2 };
        let was = self.ended.compare_exchange(OPEN, how, Ordering::AcqRel, Ordering::Acquire);
        was.map(|_| ()).or_else(|_| self.open())
    }

    /// Everything under a path.
    pub(crate) fn listing(&self, path: &str) -> Result<Listing> {
        let mut listing = Listing::default();
        self.changes().list(path, &mut listing);
        self.base.list(path, &mut listing)?;
        Ok(listing)
    }

    fn piece(&self, stored: &Stored) -> Result<Piece> {
        Ok(Piece {
            place: self.segments.spot(stored.at, stored.length)?,
            length: stored.length,
            crc: stored.crc,
            stamp: stamp_of(&stored.at),
        })
    }
}

impl Content for Work {
    fn describe(&self) -> String {
        format!("{} with a transaction", self.base.describe())
    }

    fn base(&self) -> &Arc<dyn Store> {
        Content::base(&*self.base)
    }

    fn array(&self, node: &str) -> Result<Option<Arc<PackedArray>>> {
        if let Some(array) = self.changes().arrays.get(node) {
            return Ok(array.clone());
        }
        self.base.array(node)
    }

    fn value(&self, node: &str, name: &str) -> Result<Option<Held>> {
        let own = {
            let overlay = self.changes();
            let own = overlay.values.get(&(Arc::from(node), Arc::from(name)));
            own.map(|change| (change.value.clone(), change.stamp))
        };
        match own {
            Some((NewValue::Here(value), stamp)) => Ok(Some(Held::Here(value.bytes(), stamp))),
            Some((NewValue::There(stored), _)) => Ok(Some(Held::There(self.piece(&stored)?))),
            Some((NewValue::Gone, _)) => Ok(None),
            None => self.base.value(node, name),
        }
    }

    fn chunk(&self, node: &str, array: &PackedArray, at: &[u64]) -> Result<Option<Piece>> {
        let own = {
            let overlay = self.changes();
            match overlay.chunks.get(node) {
                Some(changes) => match changes.numbering.object(at).and_then(|n| changes.entries.get(&n)) {
                    Some(stored) => Some(*stored),
                    None if changes.reset => return Ok(None),
                    None => None,
                },
                None => None,
            }
        };
        match own {
            Some(stored) => stored.map(|stored| self.piece(&stored)).transpose(),
            None => self.base.chunk(node, array, at),
        }
    }

    fn shard(&self, node: &str, array: &PackedArray, at: &[u64]) -> Result<Option<Arc<ShardMap<Piece>>>> {
        let Some(sharding) = array.sharding() else { return Ok(None) };
        let inner = array.numbering().inner();
        let (own, reset) = {
            let overlay = self.changes();
            match overlay.chunks.get(node) {
                Some(changes) => {
                    let own: Vec<(u64, Option<Stored>)> = match changes.numbering.object(at) {
                        Some(begin) => {
                            let own = changes.entries.range(begin..begin + inner);
                            own.map(|(number, stored)| (*number - begin, *stored)).collect()
                        }
                        None => Vec::new(),
                    };
                    (own, changes.reset)
                }
                None => (Vec::new(), false),
            }
        };
        let whole = own.len() as u64 == inner;
        let before = if reset || whole { None } else { self.base.shard(node, array, at)? };
        if own.is_empty() {
            return Ok(before);
        }
        let mut pieces: std::collections::BTreeMap<u64, Piece> = std::collections::BTreeMap::new();
        if let Some(before) = before {
            pieces.extend(before.pieces.iter().cloned());
        }
        for (number, stored) in own {
            match stored {
                Some(stored) => pieces.insert(number, self.piece(&stored)?),
                None => pieces.remove(&number),
            };
        }
        if pieces.is_empty() {
            return Ok(None);
        }
        let map = ShardMap::new(sharding, pieces.into_iter().collect(), |piece: &Piece| piece.length);
        let map = map.map_err(|error| PackError::Corrupt {
            store: self.describe(),
            file: node.into(),
            reason: error.to_string(),
        })?;
        Ok(Some(Arc::new(map)))
    }
}
