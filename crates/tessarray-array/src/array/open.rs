//! Creating, opening and rereading arrays.

use super::{Array, Inner, State};
use crate::documents::{self, clean, ensure_parents, kind, make_room};
use crate::error::{ArrayError, Result};
use crate::layout::Layout;
use crate::options::Options;
use crate::session::Session;
use crate::spec::ArraySpec;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, RwLock};
use tessarray_meta::{ArrayMetadata, Format, Node};
use tessarray_store::{Key, Prefix, Store, StoreError};

impl Array {
    /// Creates an array at `path` (empty for the store's root), and the groups above it. Stores metadata only: chunks
    /// appear when they are written.
    ///
    /// # Errors
    /// Something is there already and `overwrite` is not set; the choices of `spec` do not fit each other.
    pub fn create(
        session: &Session,
        store: Arc<dyn Store>,
        path: &str,
        spec: &ArraySpec,
        overwrite: bool,
    ) -> Result<Self> {
        Self::create_with(session, store, path, spec.metadata(session)?, overwrite)
    }

    /// Creates an array with exactly this metadata; see [`create`](Self::create).
    ///
    /// # Errors
    /// Those of [`create`](Self::create).
    pub fn create_with(
        session: &Session,
        store: Arc<dyn Store>,
        path: &str,
        metadata: ArrayMetadata,
        overwrite: bool,
    ) -> Result<Self> {
        let path = clean(path);
        let array = Self::from_metadata(session, store, &path, metadata)?;
        let (store, metadata) = (&array.inner.store, array.metadata());
        make_room(store, &path, overwrite, session.limits())?;
        ensure_parents(store, &path, metadata.format, session.limits())?;
        let documents = documents::of_array(&metadata, &array.inner.prefix)?;
        if overwrite {
            documents::save_alone(store, &array.inner.prefix, &documents)?;
            return Ok(array);
        }
        documents::save(store, &documents, false).map_err(|error| match error {
            ArrayError::Store(StoreError::Exists { .. }) => {
                ArrayError::Exists { store: store.describe(), path: path.clone(), found: "an array" }
            }
            other => other,
        })?;
        Ok(array)
    }

    /// Opens the array at `path`, Zarr v3 or v2. Reads its metadata and nothing else.
    ///
    /// # Errors
    /// [`ArrayError::NotFound`] and [`ArrayError::WrongNode`]; metadata that are damaged or need what is not supported; a store
    /// that fails.
    pub fn open(session: &Session, store: Arc<dyn Store>, path: &str) -> Result<Self> {
        let path = clean(path);
        match documents::load(&store, &Prefix::from_path(&path)?, session.limits())? {
            Some(Node::Array(metadata)) => Self::from_metadata(session, store, &path, metadata),
            Some(node) => {
                let store = store.describe();
                Err(ArrayError::WrongNode { store, path, expected: "an array", found: kind(&node) })
            }
            None => Err(ArrayError::NotFound { store: store.describe(), path }),
        }
    }

    /// A handle made from metadata that is known already; touches no store.
    ///
    /// # Errors
    /// Metadata whose codecs cannot be built; a path that no node can have.
    pub fn from_metadata(
        session: &Session,
        store: Arc<dyn Store>,
        path: &str,
        metadata: ArrayMetadata,
    ) -> Result<Self> {
        let path = clean(path);
        let prefix = Prefix::from_path(&path)?;
        let document = if metadata.format == Format::V2 { documents::V2_ARRAY } else { documents::V3 };
        let key = || format!("{prefix}{document}");
        metadata.validate(session.limits()).map_err(|source| ArrayError::Metadata { key: key(), source })?;
        let layout = Layout::new(&session.registry(), &metadata, &key())?;
        let state = RwLock::new(State { metadata: Arc::new(metadata), layout: Arc::new(layout) });
        let (session, id) = (session.clone(), session.next_id());
        let settled = Mutex::default();
        Ok(Self { inner: Arc::new(Inner { session, store, path, prefix, id, state, settled }) })
    }

    /// Another handle of the array, whose reads and writes follow these options. Touches no store.
    pub fn with_options(&self, options: Options) -> Self {
        let Inner { session, store, path, prefix, .. } = &*self.inner;
        let (session, id) = (session.with_options(options), session.next_id());
        let (store, path, prefix) = (store.clone(), path.clone(), prefix.clone());
        let (state, settled) = (RwLock::new(self.state()), Mutex::default());
        Self { inner: Arc::new(Inner { session, store, path, prefix, id, state, settled }) }
    }

    /// A handle for an array at another path of another store that is like this one in all but its shape and attributes.
    /// Touches no store, and takes over what was made out of the metadata.
    ///
    /// # Errors
    /// A shape or attributes that these metadata cannot have; a path that no node can have.
    pub fn like(
        &self,
        store: Arc<dyn Store>,
        path: &str,
        shape: &[u64],
        attributes: Map<String, Value>,
    ) -> Result<Self> {
        let state = self.state();
        let session = &self.inner.session;
        let path = clean(path);
        let prefix = Prefix::from_path(&path)?;
        let same = state.metadata.shape == shape && state.metadata.attributes == attributes;
        let metadata = if same {
            state.metadata
        } else {
            let new = ArrayMetadata { shape: shape.to_vec(), attributes, ..(*state.metadata).clone() };
            new.validate(session.limits())
                .map_err(|source| ArrayError::Metadata { key: path.clone(), source })?;
            Arc::new(new)
        };
        let state = RwLock::new(State { metadata, layout: state.layout });
        let (session, id) = (session.clone(), session.next_id());
        let settled = Mutex::default();
        Ok(Self { inner: Arc::new(Inner { session, store, path, prefix, id, state, settled }) })
    }

    /// Puts the metadata, whatever is there: for who knows that nothing is, and that the groups above are.
    ///
    /// # Errors
    /// A store that fails.
    pub fn put_metadata(&self) -> Result<()> {
        let documents = documents::of_array(&self.metadata(), &self.inner.prefix)?;
        documents::save(&self.inner.store, &documents, true)
    }

    /// Reads the metadata again, to see what other handles and processes changed.
    ///
    /// # Errors
    /// An array that is gone; metadata that cannot be read any more; a store that fails.
    pub fn refresh(&self) -> Result<()> {
        match documents::load(&self.inner.store, &self.inner.prefix, self.inner.session.limits())? {
            Some(Node::Array(metadata)) => self.adopt(metadata),
            Some(node) => Err(ArrayError::WrongNode {
                store: self.inner.store.describe(),
                path: self.inner.path.clone(),
                expected: "an array",
                found: kind(&node),
            }),
            None => Err(self.gone()),
        }
    }

    /// The key of the document that holds the shape.
    pub(super) fn metadata_key(&self) -> Result<Key> {
        let v2 = self.metadata().format == Format::V2;
        Ok(self.inner.prefix.key(if v2 { documents::V2_ARRAY } else { documents::V3 })?)
    }

    /// Parses the current metadata document. A v2 document does not hold the attributes, which are read for it.
    pub(super) fn parse(&self, document: Option<&[u8]>) -> Result<ArrayMetadata> {
        let Some(document) = document else { return Err(self.gone()) };
        let limits = self.inner.session.limits();
        let key = self.metadata_key()?;
        let parsed = if self.metadata().format == Format::V2 {
            let attributes = self.inner.store.get(&self.inner.prefix.key(documents::V2_ATTRIBUTES)?)?;
            ArrayMetadata::from_v2(document, attributes.as_ref().map(|(bytes, _)| &bytes[..]), limits)
        } else {
            ArrayMetadata::from_v3(document, limits)
        };
        parsed.map_err(documents::at(&key))
    }

    /// A state with this metadata; the codecs are built again only where they changed.
    pub(super) fn state_of(&self, metadata: ArrayMetadata) -> Result<State> {
        let old = self.state();
        let same = old.metadata.chunk_grid == metadata.chunk_grid
            && old.metadata.codecs == metadata.codecs
            && old.metadata.data_type == metadata.data_type
            && old.metadata.fill_value == metadata.fill_value;
        let layout = if same {
            old.layout
        } else {
            let registry = self.inner.session.registry();
            Arc::new(Layout::new(&registry, &metadata, self.metadata_key()?.as_ref())?)
        };
        Ok(State { metadata: Arc::new(metadata), layout })
    }

    pub(super) fn adopt(&self, metadata: ArrayMetadata) -> Result<()> {
        self.set_state(self.state_of(metadata)?);
        Ok(())
    }

    fn gone(&self) -> ArrayError {
        ArrayError::NotFound { store: self.inner.store.describe(), path: self.inner.path.clone() }
    }
}
