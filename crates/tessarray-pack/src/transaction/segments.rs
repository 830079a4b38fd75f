//! The segments of a transaction: what is put is gathered, variable by variable, and stored when there is enough.
//!
//! A *batch* becomes one segment. In it lie the chunks of each variable (the last part of an array's path) one after
//! the other, so that what is read across datasets is read in one go. Large objects become segments of their own,
//! without a copy.

use crate::clock::Clock;
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::SegmentFile;
use crate::names::segment_key;
use crate::version::Spot;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tessarray_store::{PutMode, Store, StoreError, owned};

/// Bytes in memory at which a batch is stored.
const BATCH: usize = 16 << 20;
/// Objects of so many bytes are stored on their own.
const LARGE: usize = 4 << 20;

/// Where a transaction's bytes are: final, or in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Location {
    /// In a stored segment.
    #[allow(missing_docs)]
    Stored { id: Id, offset: u64 },
    /// In a batch: from this offset in the bytes of a variable.
    #[allow(missing_docs)]
    Batch { batch: u32, variable: u32, offset: u64 },
}

impl Location {
    /// So many bytes further on.
    pub(super) fn after(self, bytes: u64) -> Self {
        match self {
            Self::Stored { id, offset } => Self::Stored { id, offset: offset + bytes },
            Self::Batch { batch, variable, offset } => {
                Self::Batch { batch, variable, offset: offset + bytes }
            }
        }
    }
}

/// Gathers and stores.
#[derive(Debug)]
pub(crate) struct Segments {
    store: Arc<dyn Store>,
    clock: Clock,
    batches: RwLock<Vec<Arc<OpenSegment>>>,
    stored: Mutex<Vec<SegmentFile>>,
    /// Memory of batches that are stored, for the next ones: to touch fresh memory costs as much as to copy into it.
    spare: Mutex<Vec<Vec<u8>>>,
}

#[derive(Debug)]
struct OpenSegment {
    id: Id,
    state: RwLock<SegmentState>,
}

#[derive(Debug)]
enum SegmentState {
    Filling {
        variables: Vec<Vec<u8>>,
        names: HashMap<Box<str>, u32>,
        bytes: usize,
    },
    /// In the store; where each variable begins.
    Stored(Vec<u64>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There is no memory for bytes of a segment.
fn memory(id: Id, error: std::io::Error) -> PackError {
    StoreError::io(format_args!("segments/{id}.seg"), "allocate", error).into()
}

impl OpenSegment {
    fn new(clock: Clock) -> Result<Arc<Self>> {
        let state = SegmentState::Filling { variables: Vec::new(), names: HashMap::new(), bytes: 0 };
        Ok(Arc::new(Self { id: clock.id()?, state: RwLock::new(state) }))
    }

    /// Takes bytes of a variable, as the batch of this number; `None` where it has enough, or is stored by now.
    fn append(
        &self,
        number: usize,
        variable: &str,
        parts: &[&[u8]],
        length: usize,
        spare: &Mutex<Vec<Vec<u8>>>,
    ) -> Result<Option<Location>> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let SegmentState::Filling { variables, names, bytes } = &mut *state else { return Ok(None) };
        if *bytes + length > BATCH {
            return Ok(None);
        }
        let variable = match names.get(variable) {
            Some(&known) => known,
            None => {
                let next = variables.len() as u32;
                names.insert(variable.into(), next);
                variables.push(lock(spare).pop().unwrap_or_default());
                next
            }
        };
        let to = &mut variables[variable as usize];
        let offset = to.len() as u64;
        to.try_reserve(length).map_err(|error| memory(self.id, error.into()))?;
        parts.iter().for_each(|part| to.extend_from_slice(part));
        *bytes += length;
        Ok(Some(Location::Batch { batch: number as u32, variable, offset }))
    }
}

impl Segments {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { store, clock, batches: RwLock::default(), stored: Mutex::default(), spare: Mutex::default() }
    }

    /// Takes an object of `variable`: the segment it is part of, and where it begins.
    pub(crate) fn put(&self, variable: &str, parts: &[&[u8]]) -> Result<(Id, Location)> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length >= LARGE {
            let id = self.clock.id()?;
            self.store(id, parts)?;
            return Ok((id, Location::Stored { id, offset: 0 }));
        }
        let mut batches = self.batches.write().unwrap_or_else(PoisonError::into_inner);
        let mut full = None;
        let taken = loop {
            let last = batches.len().wrapping_sub(1);
            if let Some(batch) = batches.get(last) {
                if let Some(location) = batch.append(last, variable, parts, length, &self.spare)? {
                    break (batch.id, location);
                }
                full = Some(Arc::clone(batch));
            }
            // A new one takes whatever is not large.
            batches.push(OpenSegment::new(self.clock)?);
        };
        drop(batches);
        if let Some(full) = full {
            self.flush(&full)?;
        }
        Ok(taken)
    }

    /// Stores what is gathered.
    pub(crate) fn finish(&self) -> Result<()> {
        let batches = self.batches.read().unwrap_or_else(PoisonError::into_inner).clone();
        batches.iter().try_for_each(|batch| self.flush(batch))
    }

    /// The segments that were stored.
    pub(crate) fn stored(&self) -> Vec<SegmentFile> {
        lock(&self.stored).clone()
    }

    fn store(&self, id: Id, parts: &[&[u8]]) -> Result<()> {
        self.store.put(&segment_key(id)?, parts, PutMode::Create)?;
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        lock(&self.stored).push(SegmentFile { id, bytes });
        Ok(())
    }

    fn flush(&self, batch: &OpenSegment) -> Result<()> {
        let mut state = batch.state.write().unwrap_or_else(PoisonError::into_inner);
        let SegmentState::Filling { variables, .. } = &mut *state else { return Ok(()) };
        let parts: Vec<&[u8]> = variables.iter().map(Vec::as_slice).collect();
        self.store(batch.id, &parts)?;
        let mut offset = 0;
        let begin = |part: &&[u8]| {
            let begin = offset;
            offset += part.len() as u64;
            begin
        };
        let begins = parts.iter().map(begin).collect();
        let mut free = std::mem::take(variables);
        free.iter_mut().for_each(Vec::clear);
        lock(&self.spare).append(&mut free);
        *state = SegmentState::Stored(begins);
        Ok(())
    }

    /// Where bytes are, once all is stored.
    pub(crate) fn stored_at(&self, location: Location) -> (Id, u64) {
        match location {
            Location::Stored { id, offset } => (id, offset),
            Location::Batch { batch, variable, offset } => {
                let batch = self.batch(batch);
                let state = batch.state.read().unwrap_or_else(PoisonError::into_inner);
                match &*state {
                    SegmentState::Stored(begins) => (batch.id, begins[variable as usize] + offset),
                    // Nothing is in memory by then.
                    SegmentState::Filling { .. } => (batch.id, 0),
                }
            }
        }
    }

    /// Where bytes are now: those that are in memory are copied.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub(crate) fn spot(&self, location: Location, length: u64) -> Result<Spot> {
        if let Location::Batch { batch, variable, offset } = location {
            let batch = self.batch(batch);
            let state = batch.state.read().unwrap_or_else(PoisonError::into_inner);
            if let SegmentState::Filling { variables, .. } = &*state {
                let begin = offset as usize;
                let bytes = &variables[variable as usize][begin..begin + length as usize];
                let bytes = owned::copy(bytes).map_err(|error| memory(batch.id, error))?;
                return Ok(Spot::Memory { id: batch.id, bytes });
            }
        }
        let (id, offset) = self.stored_at(location);
        Ok(Spot::Segment { id, offset })
    }

    fn batch(&self, number: u32) -> Arc<OpenSegment> {
        Arc::clone(&self.batches.read().unwrap_or_else(PoisonError::into_inner)[number as usize])
    }
}
