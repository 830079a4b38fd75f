//! Reading: every touched innermost chunk is fetched and decoded once, in parallel, into its place in the output.
//!
//! 1. The selection is cut into objects, shards and leaves (pure; see [`crate::plan`]).
//! 2. The indexes of touched shards are read, or taken from the cache.
//! 3. Stored leaves become byte ranges; neighbours are merged; leaves that are not stored are filled.
//! 4. Ranges are read expecting the version the index belonged to. A shard that was replaced in between is noticed,
//!    and its batch starts again at step 2, without the cache.
//! 5. Each leaf is decoded as its bytes arrive.
//!
//! On local stores every thread does steps 2 to 5 for one object at a time, reading for itself; where there are few
//! objects, one does steps 2 and 3 for all of them, and the rest is shared range by range. Elsewhere one thread sends
//! large batches and the store's own threads decode.

use super::decode::LeafDecoder;
use super::indexes::{ObjectLeaves, resolve};
use super::part::Part;
use super::slabs::read_known;
use super::with_scratch;
use crate::error::{ArrayError, Result};
use crate::plan::{Cell, Child, Leaf, Picks, Span, merge};
use crate::target::Target;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use tessarray_buffer::{Arena, OutputView};
use tessarray_codec::CodecError;
use tessarray_grid::Selection;
use tessarray_store::{Blob, ByteRange, Key, ReadRequest, StoreError};

/// Work below this many decoded bytes stays on the caller's thread: to wake another costs more than it saves.
pub(super) const SMALL: u64 = 96 << 10;
/// Objects whose requests go to a remote store together.
const REMOTE_BATCH: u64 = 256;
/// How often a batch is tried again when its objects keep changing.
const ATTEMPTS: usize = 16;

/// Reads a checked selection into `out`, which has the selection's shape.
pub(crate) fn read(
    target: &Target<'_>,
    selection: &Selection,
    out: &OutputView<'_>,
    arena: &Arena,
) -> Result<()> {
    if out.shape().contains(&0) {
        return Ok(());
    }
    let picks = Picks::new(selection, target.layout);
    let objects = picks.objects(target.layout);
    let decoder = LeafDecoder::new(target.layout, &picks, out, arena);
    let reader = Reader { target, picks: &picks, decoder: &decoder };
    let leaves = picks.leaf_count();
    let threads = target.session.threads();
    let bytes = leaves.saturating_mul(target.layout.leaf_bytes() as u64);
    if !target.store.is_local() {
        for begin in (0..objects.len()).step_by(REMOTE_BATCH as usize) {
            let batch: Vec<Child> =
                (begin..objects.len().min(begin + REMOTE_BATCH)).map(|i| objects.get(i)).collect();
            reader.batch(&batch, false)?;
        }
        return Ok(());
    }
    // Parts of a few large chunks; many are shared one by one.
    let few = target.layout.levels.is_empty() && target.layout.is_regular() && leaves < 4 * threads as u64;
    if few && threads > 1 && bytes > SMALL && read_known(&reader, selection, out, arena)? {
        return Ok(());
    }
    if leaves == 1 || bytes <= SMALL || threads == 1 {
        let mut result = Ok(());
        objects.for_each(|child| {
            if result.is_ok() {
                result = reader.batch(std::slice::from_ref(&child), false);
            }
        });
        return result;
    }
    if target.layout.levels.is_empty() || objects.len() >= 8 * threads as u64 {
        return target.session.share(objects.len(), |i| reader.batch(&[objects.get(i)], false));
    }
    let few: Vec<Child> = (0..objects.len()).map(|i| objects.get(i)).collect();
    reader.batch(&few, true)
}

pub(super) struct Reader<'a> {
    pub target: &'a Target<'a>,
    pub picks: &'a Picks,
    pub decoder: &'a LeafDecoder<'a>,
}

/// One byte range to read, and the leaves it serves.
struct Unit<'a> {
    object: usize,
    span: Span,
    leaves: &'a [Leaf],
}

impl Reader<'_> {
    fn batch(&self, objects: &[Child], parallel: bool) -> Result<()> {
        if self.target.layout.levels.is_empty() {
            return self.plain(objects);
        }
        for attempt in 0..ATTEMPTS {
            let cached = attempt == 0 && !self.target.session.options().always_verify;
            match self.sharded(objects, parallel, cached) {
                Err(ArrayError::Store(StoreError::Changed { .. })) => {}
                done => return done,
            }
        }
        let key = objects.first().map(|child| self.target.chunk_key(&child.at)).transpose()?;
        Err(ArrayError::Unstable { key: key.map_or_else(String::new, |key| key.to_string()) })
    }

    fn plain(&self, objects: &[Child]) -> Result<()> {
        let mut requests = Vec::with_capacity(objects.len());
        let mut cells = Vec::with_capacity(objects.len());
        for child in objects {
            let request = self.request(child)?;
            if !self.part(&child.cell, &request.key)? {
                requests.push(request);
                cells.push(&child.cell);
            }
        }
        let failure = Failure::default();
        self.target.read_many(&requests, &|i, answer| {
            failure.note(self.take(cells[i], &requests[i].key, answer));
        });
        failure.into_result()
    }

    /// Asks for a chunk that is an object.
    pub(super) fn request(&self, child: &Child) -> Result<ReadRequest> {
        Ok(ReadRequest { key: self.target.chunk_key(&child.at)?, range: ByteRange::All, expect: None })
    }

    /// The same for one object, whose chunks are of its own shape.
    pub(super) fn of_object<R>(&self, cell: &Cell, job: impl FnOnce(&Reader<'_>) -> Result<R>) -> Result<R> {
        if self.target.layout.is_regular() || !self.target.layout.levels.is_empty() {
            return job(self);
        }
        let layout = self.target.layout.of(&self.picks.leaf_chunk(cell))?;
        let target = Target { layout: &layout, ..*self.target };
        let decoder = self.decoder.with(&layout);
        job(&Reader { target: &target, picks: self.picks, decoder: &decoder })
    }

    /// Puts the answer to that into the output.
    pub(super) fn take(
        &self,
        cell: &Cell,
        key: &Key,
        answer: tessarray_store::Result<Option<Blob<'_>>>,
    ) -> Result<()> {
        self.of_object(cell, |reader| reader.take_own(cell, key, answer))
    }

    fn take_own(
        &self,
        cell: &Cell,
        key: &Key,
        answer: tessarray_store::Result<Option<Blob<'_>>>,
    ) -> Result<()> {
        match answer? {
            None => {
                self.target.missing(key, &self.picks.leaf_chunk(cell))?;
                self.decoder.missing(cell);
                Ok(())
            }
            Some(blob) => {
                self.decode(cell, key.as_str(), &blob.bytes)?;
                self.remember(key, &blob);
                Ok(())
            }
        }
    }

    fn sharded(&self, objects: &[Child], parallel: bool, cached: bool) -> Result<()> {
        let mut resolved =
            resolve(self.target, self.picks, objects, cached, |cell| self.decoder.missing(cell))?;
        let parts = self.known_parts(&mut resolved);
        let (hole, limit) =
            if self.target.store.is_local() { (4 << 10, 256 << 10) } else { (256 << 10, 8 << 20) };
        let merged: Vec<Vec<(Span, Range<usize>)>> =
            resolved.iter_mut().map(|object| merge(&mut object.leaves, hole, limit)).collect();
        let units: Vec<Unit<'_>> = merged
            .iter()
            .enumerate()
            .flat_map(|(object, spans)| {
                let leaves = &resolved[object].leaves;
                spans.iter().map(move |(span, range)| Unit {
                    object,
                    span: *span,
                    leaves: &leaves[range.clone()],
                })
            })
            .collect();
        let parts: Vec<(&Cell, &Part)> = parts.iter().map(|(cell, part)| (cell, part)).collect();
        let bytes = parts.iter().map(|(_, part)| part.bytes()).sum::<usize>()
            + units.iter().map(|unit| unit.leaves.len() * self.target.layout.leaf_bytes()).sum::<usize>();
        if !parallel || units.len() + parts.len() < 2 || bytes as u64 <= SMALL {
            return self.read_parts(&parts).and_then(|()| self.units(&resolved, &units));
        }
        let session = self.target.session;
        let units: Vec<&[Unit<'_>]> = units.chunks(session.job_of(units.len())).collect();
        let parts: Vec<&[(&Cell, &Part)]> = parts.chunks(session.job_of(parts.len())).collect();
        session.share((units.len() + parts.len()) as u64, |i| match parts.get(i as usize) {
            Some(parts) => self.read_parts(parts),
            None => self.units(&resolved, units[i as usize - parts.len()]),
        })
    }

    /// What is needed of inner chunks that were verified before, taken out of the leaves that are to be read whole.
    fn known_parts(&self, objects: &mut [ObjectLeaves]) -> Vec<(Cell, Part)> {
        if !self.target.store.is_local() {
            return Vec::new();
        }
        let mut parts = Vec::new();
        for object in objects {
            if let Some(version) = &object.version {
                parts.append(&mut self.plan_inner(&object.key, version, &mut object.leaves));
            }
        }
        parts
    }

    fn units(&self, objects: &[ObjectLeaves], units: &[Unit<'_>]) -> Result<()> {
        let requests: Vec<ReadRequest> = units
            .iter()
            .map(|unit| ReadRequest {
                key: objects[unit.object].key.clone(),
                range: ByteRange::Span { offset: unit.span.offset, length: unit.span.length },
                expect: objects[unit.object].version.clone(),
            })
            .collect();
        let failure = Failure::default();
        self.target.read_many(&requests, &|i, answer| {
            let key = &requests[i].key;
            failure.note(match answer {
                Ok(Some(blob)) => self.unit(&units[i], key.as_str(), &blob),
                Ok(None) => Err(StoreError::Changed { key: key.to_string() }.into()),
                Err(error) => Err(error.into()),
            });
        });
        failure.into_result()
    }

    fn unit(&self, unit: &Unit<'_>, key: &str, blob: &Blob<'_>) -> Result<()> {
        let mut decoded = Vec::with_capacity(unit.leaves.len());
        for leaf in unit.leaves {
            let begin = (leaf.span.offset - unit.span.offset) as usize;
            let encoded = blob.bytes.get(begin..begin + leaf.span.length as usize).unwrap_or_default();
            self.decode(&leaf.cell, key, encoded)?;
            decoded.push((leaf.span.offset, encoded));
        }
        self.remember_inner(key, &blob.meta.version, &decoded);
        Ok(())
    }

    fn decode(&self, cell: &Cell, key: &str, encoded: &[u8]) -> Result<()> {
        with_scratch(|scratch| self.decoder.decode(cell, encoded, scratch))
            .map_err(|source| self.failed(cell, key, source))
    }

    /// Says which chunk an error of a codec is about.
    pub(super) fn failed(&self, cell: &Cell, key: &str, source: CodecError) -> ArrayError {
        ArrayError::Chunk { key: key.into(), chunk: self.picks.leaf_chunk(cell).to_vec(), source }
    }
}

/// The first failure among many answers.
#[derive(Default)]
pub(super) struct Failure(Mutex<Option<ArrayError>>);

impl Failure {
    pub(super) fn note(&self, result: Result<()>) {
        if let Err(error) = result {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    pub(super) fn into_result(self) -> Result<()> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
