//! One array on a store.

mod append;
mod check;
mod open;
mod resize;

pub(crate) use append::Part;
pub use check::{Finding, FindingKind};
pub(crate) use check::{classify, finding};

use crate::error::{ArrayError, Result};
use crate::execute::{self, End};
use crate::layout::Layout;
use crate::session::Session;
use crate::target::Target;
use resize::is_outside;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tessarray_buffer::{Arena, DataType, InputView, OutputView};
use tessarray_grid::{Edges, Selection};
use tessarray_meta::{ArrayMetadata, Format};
use tessarray_store::{Key, Prefix, Store, Update, Version};

/// An N-dimensional array on a store. Cheap to clone, and safe to use from many threads; clones see each other's
/// changes of shape and attributes, other handles and processes after [`refresh`](Self::refresh).
#[derive(Clone)]
pub struct Array {
    inner: Arc<Inner>,
}

/// What changes that go with one of the metadata are made in, where that is not the array's own store.
type Within<'a> = Option<&'a Arc<dyn Store>>;

/// Reads of at most so many bytes are made together with others.
const TOGETHER: u64 = 1 << 20;

struct Inner {
    session: Session,
    store: Arc<dyn Store>,
    path: String,
    prefix: Prefix,
    id: u64,
    state: RwLock<State>,
    /// Version of the metadata document that is known to be on the disk, for durable writes.
    settled: Mutex<Option<Version>>,
}

/// What the metadata document said last.
#[derive(Clone)]
struct State {
    metadata: Arc<ArrayMetadata>,
    layout: Arc<Layout>,
}

impl Array {
    /// The session it was opened in.
    pub fn session(&self) -> &Session {
        &self.inner.session
    }

    /// The store it is in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Its path in the store, without slashes at the ends; empty for an array at the root.
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// What its metadata document said when it was opened, refreshed or changed through this handle.
    pub fn metadata(&self) -> Arc<ArrayMetadata> {
        self.state().metadata
    }

    /// Length of each dimension.
    pub fn shape(&self) -> Vec<u64> {
        self.state().metadata.shape.clone()
    }

    /// Type of one element.
    pub fn data_type(&self) -> DataType {
        self.state().metadata.data_type.clone()
    }

    /// Shape of the chunks that are read on their own: the inner chunks, where there are shards. Of chunks of unequal
    /// lengths, that of the largest.
    pub fn chunk_shape(&self) -> Vec<u64> {
        self.state().layout.inner.to_vec()
    }

    /// Shape of the shards that are stored, where there are any. Of shards of unequal lengths, that of the largest.
    pub fn shard_shape(&self) -> Option<Vec<u64>> {
        let state = self.state();
        (!state.layout.levels.is_empty()).then(|| state.layout.object.to_vec())
    }

    /// Lengths of the chunks that are read on their own, along each axis.
    pub fn chunk_edges(&self) -> Vec<Edges> {
        self.state().layout.leaf_edges().to_vec()
    }

    /// Lengths of what is stored as one object, along each axis: of the shards, where there are any, else of the chunks.
    pub fn object_edges(&self) -> Vec<Edges> {
        self.state().layout.edges().to_vec()
    }

    /// Chunk objects (or shards) in the array's grid, stored or not.
    pub fn object_count(&self) -> u64 {
        self.state().metadata.grid_shape().iter().fold(1, |n, &count| n.saturating_mul(count))
    }

    /// Reads a selection into `out`, whose shape is [`Selection::shape`] and whose elements have the size of the
    /// array's, in the machine's byte order. Elements of variable length are put into `arena`.
    ///
    /// Every touched inner chunk is decoded once, in parallel, and only the codec blocks of it that are needed.
    /// Elements that were never written read as the fill value. Memory: one inner chunk a worker. A reader beside a
    /// writer sees each chunk whole, old or new.
    ///
    /// # Errors
    /// Selections and buffers that do not fit; stored bytes that are damaged (the contents of `out` are then
    /// unspecified); a store that fails. A chunk that cannot be read is never taken for a missing one.
    pub fn read_into(&self, selection: &Selection, out: &mut OutputView<'_>, arena: &Arena) -> Result<()> {
        let state = self.state();
        self.fits(&state, selection, out.shape(), out.item())?;
        execute::read(&self.target(&state), selection, out, arena)
    }

    /// Reads selections of many arrays of a store, each into an output of its own. An array is given by its path and by one
    /// that it is [`like`](Self::like), in shape, too. What is small is read on the caller's thread, the chunks of all
    /// together, so that it costs little more than their bytes; otherwise as [`read_into`](Self::read_into).
    pub fn read_each(
        store: &Arc<dyn Store>,
        parts: Vec<(&Self, &str, &Selection, OutputView<'_>)>,
        arena: &Arena,
    ) -> Result<()> {
        // To count one more user of a state, once an array, would be the dearest part of small reads by several threads.
        let mut known: Vec<(&Self, State)> = Vec::new();
        let mut numbers = Vec::with_capacity(parts.len());
        for (array, ..) in &parts {
            let same = known.iter().rposition(|(other, _)| Arc::ptr_eq(&other.inner, &array.inner));
            numbers.push(same.unwrap_or_else(|| {
                known.push((array, array.state()));
                known.len() - 1
            }));
        }
        let prefixes =
            parts.iter().map(|(_, path, ..)| Ok(Prefix::from_path(path)?)).collect::<Result<Vec<_>>>()?;
        let mut small = Vec::with_capacity(parts.len());
        for (i, (array, path, selection, mut out)) in parts.into_iter().enumerate() {
            let (_, state) = &known[numbers[i]];
            let elements = selection.shape().iter().product::<u64>();
            let decoded = (state.layout.leaf_bytes() as u64).max(elements.saturating_mul(out.item() as u64));
            if state.layout.levels.is_empty() && decoded <= TOGETHER {
                array.fits(state, selection, out.shape(), out.item())?;
                let target = Target { store, prefix: &prefixes[i], ..array.target(state) };
                small.push((target, selection, out));
            } else {
                let own = array.like(Arc::clone(store), path, &state.metadata.shape, Map::new())?;
                own.read_into(selection, &mut out, arena)?;
            }
        }
        execute::read_many(small, arena)
    }

    /// Writes a selection from `input`, whose shape is [`Selection::shape`]; strides may be zero to repeat elements.
    /// Where a point is selected twice, the later element stays.
    ///
    /// Each object (chunk or shard) changes atomically, and writers of any selections, in any threads and, on local
    /// stores, processes, leave the result of some serial order. A killed writer leaves each object old or new.
    /// What others appended since this handle learnt the shape stays, in the same chunks, too. An object that is written in
    /// part, or that reaches behind the array's end, costs a look at what is stored, and if it is, its decoding.
    /// Memory: one encoded object and one decoded inner chunk a worker.
    ///
    /// # Errors
    /// Selections and buffers that do not fit; values a codec cannot hold; damage in a chunk that is written in part;
    /// a store that fails. Objects that were written before the failure stay written.
    pub fn write_from(&self, selection: &Selection, input: &InputView<'_>, arena: &Arena) -> Result<()> {
        self.write_up_to(selection, input, arena, End::Open)
    }

    /// The same, for who made the array and knows that nobody else has it yet, as in a transaction: objects that reach
    /// behind the end are put without a look at what is stored.
    pub fn write_alone(&self, selection: &Selection, input: &InputView<'_>, arena: &Arena) -> Result<()> {
        self.write_up_to(selection, input, arena, End::Held)
    }

    /// As [`write_from`](Self::write_from), of some fields of a structured type: those of `input`, whose elements are the
    /// array's, are written, and the others stay as they are stored. Fields are named by their places in the type.
    ///
    /// Every object that is touched is read, changed and put under the lock of its key, also where all of its elements are
    /// written: so writers of other fields, in other threads and processes, lose nothing.
    ///
    /// # Errors
    /// Those of a write; a type without fields, a place that no field has; damage in any chunk that is touched.
    pub fn write_fields(
        &self,
        selection: &Selection,
        fields: &[usize],
        input: &InputView<'_>,
        arena: &Arena,
    ) -> Result<()> {
        let state = self.state();
        self.fits(&state, selection, input.shape(), input.item())?;
        let spans = fields.iter().map(|&field| {
            state.metadata.data_type.field_span(field).ok_or_else(|| ArrayError::Argument {
                what: "fields".into(),
                expected: "places of fields of a structured type".into(),
                found: format!("{field} of {}", state.metadata.data_type),
            })
        });
        let spans = spans.collect::<Result<Vec<_>>>()?;
        self.settle()?;
        execute::write_fields(&self.target(&state), selection, Some(&spans), input, arena, End::Open)
    }

    fn write_up_to(
        &self,
        selection: &Selection,
        input: &InputView<'_>,
        arena: &Arena,
        end: End,
    ) -> Result<()> {
        let state = self.state();
        self.fits(&state, selection, input.shape(), input.item())?;
        self.settle()?;
        execute::write(&self.target(&state), selection, input, arena, end)
    }

    /// Before a durable write: what it is read with is on the disk, too, whoever put it. Costs a look at the metadata
    /// document where a write is durable, and nothing where it is not.
    fn settle(&self) -> Result<()> {
        let store = &self.inner.store;
        if !store.is_durable() {
            return Ok(());
        }
        let found = store.head(&self.metadata_key()?)?.map(|meta| meta.version);
        let mut settled = self.inner.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_none() || *settled != found {
            crate::documents::make_durable(store, &self.inner.path)?;
            *settled = found;
        }
        Ok(())
    }

    /// Reads a selection as C-ordered bytes. For types of fixed size.
    pub fn read_bytes(&self, selection: &Selection) -> Result<Vec<u8>> {
        let state = self.state();
        let shape = selection.shape();
        self.fits(&state, selection, &shape, state.layout.item)?;
        let bytes = shape.iter().fold(state.layout.item as u64, |n, &axis| n.saturating_mul(axis));
        let too_large = || ArrayError::Argument {
            what: "selection".into(),
            expected: "a size that fits in memory".into(),
            found: format!("{bytes} bytes"),
        };
        let mut out = Vec::new();
        let len = usize::try_from(bytes).map_err(|_| too_large())?;
        out.try_reserve_exact(len).map_err(|_| too_large())?;
        out.resize(len, 0);
        let mut view = OutputView::new(&mut out, &shape, state.layout.item)?;
        execute::read(&self.target(&state), selection, &mut view, &Arena::new())?;
        Ok(out)
    }

    /// Writes a selection from C-ordered bytes. For types of fixed size.
    pub fn write_bytes(&self, selection: &Selection, data: &[u8]) -> Result<()> {
        let item = self.state().layout.item;
        let view = InputView::new(data, &selection.shape(), item)?;
        self.write_from(selection, &view, &Arena::new())
    }

    /// Replaces the user's attributes.
    pub fn set_attributes(&self, attributes: Map<String, Value>) -> Result<()> {
        self.change(|metadata| {
            metadata.attributes = attributes.clone();
            Ok(())
        })
    }

    /// Bytes of all stored chunk objects. Costs a listing.
    pub fn stored_bytes(&self) -> Result<u64> {
        Ok(self.stored()?.iter().map(|(_, _, size)| size).sum())
    }

    /// How many chunk objects are stored; what a crashed append left outside the grid is none. Costs a listing.
    pub fn stored_objects(&self) -> Result<u64> {
        let metadata = self.state().metadata;
        let (stored, grid) = (self.stored_of(&metadata)?, metadata.grid_shape());
        Ok(stored.iter().filter(|(_, at, _)| !is_outside(at, &grid)).count() as u64)
    }

    /// Every stored chunk object: key, coordinates, size.
    pub(crate) fn stored(&self) -> Result<Vec<(Key, Vec<u64>, u64)>> {
        self.stored_of(&self.state().metadata)
    }

    /// The same, of an array with these metadata.
    fn stored_of(&self, metadata: &ArrayMetadata) -> Result<Vec<(Key, Vec<u64>, u64)>> {
        self.stored_in(None, metadata)
    }

    fn stored_in(&self, within: Within<'_>, metadata: &ArrayMetadata) -> Result<Vec<(Key, Vec<u64>, u64)>> {
        let prefix = self.inner.prefix.as_str();
        let listed = within.unwrap_or(&self.inner.store).list(&self.inner.prefix)?;
        let chunk = |(key, size): (Key, u64)| {
            let coordinates = metadata.parse_chunk_key(key.as_str().strip_prefix(prefix)?)?;
            Some((key, coordinates, size))
        };
        Ok(listed.into_iter().filter_map(chunk).collect())
    }

    fn state(&self) -> State {
        self.inner.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_state(&self, state: State) {
        *self.inner.state.write().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn target<'a>(&'a self, state: &'a State) -> Target<'a> {
        self.target_in(None, state)
    }

    fn target_in<'a>(&'a self, within: Within<'a>, state: &'a State) -> Target<'a> {
        Target {
            session: &self.inner.session,
            store: within.unwrap_or(&self.inner.store),
            id: self.inner.id,
            prefix: &self.inner.prefix,
            metadata: &state.metadata,
            layout: &state.layout,
        }
    }

    fn fits(&self, state: &State, selection: &Selection, shape: &[u64], item: usize) -> Result<()> {
        selection.check(&state.metadata.shape)?;
        let expected = selection.shape();
        if shape != &expected[..] {
            return Err(ArrayError::BufferShape { expected: expected.to_vec(), found: shape.to_vec() });
        }
        if item != state.layout.item {
            return Err(ArrayError::ItemSize { expected: state.layout.item, found: item });
        }
        Ok(())
    }

    /// Changes the metadata document under its store lock, starting from what is stored now.
    fn change(&self, mut edit: impl FnMut(&mut ArrayMetadata) -> Result<()>) -> Result<()> {
        let mut changed = None;
        let format = self.metadata().format;
        let key = self.metadata_key()?;
        self.settle()?;
        let attributes_key = self.inner.prefix.key(crate::documents::V2_ATTRIBUTES)?;
        self.inner.store.update_with(&key, &mut |within, current| {
            let mut metadata = self.parse(current.as_ref().map(|blob| &blob.bytes[..]))?;
            edit(&mut metadata)?;
            let mut documents = crate::documents::of_array(&metadata, &self.inner.prefix)?;
            changed = Some(metadata);
            let document = documents.pop().map(|(_, bytes)| bytes).unwrap_or_default();
            if format == Format::V2 {
                for (_, bytes) in &documents {
                    let store = within.unwrap_or(&self.inner.store);
                    store.put(&attributes_key, &[bytes], tessarray_store::PutMode::Overwrite)?;
                }
            }
            Ok(Update::PutOwned(vec![document]))
        })?;
        match changed {
            Some(metadata) => self.adopt(metadata),
            None => Ok(()),
        }
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Array")
            .field("store", &self.inner.store.describe())
            .field("path", &self.inner.path)
            .field("shape", &state.metadata.shape)
            .field("data_type", &state.metadata.data_type)
            .field("chunks", &state.layout.inner)
            .finish_non_exhaustive()
    }
}
