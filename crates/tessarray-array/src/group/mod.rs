//! Groups: folders of arrays and of other groups.

mod consolidate;
mod members;

use consolidate::bare;
pub use consolidate::{check_store, repair_store};

use crate::array::Array;
use crate::documents::{self, clean, ensure_parents, kind, make_room};
use crate::error::{ArrayError, Result};
use crate::options::Options;
use crate::session::Session;
use crate::spec::ArraySpec;
use serde_json::{Map, Value};
use std::sync::{Arc, PoisonError, RwLock};
use tessarray_meta::{Format, GroupMetadata, Node};
use tessarray_store::{Prefix, Store};

/// A group on a store. Cheap to clone.
#[derive(Clone)]
pub struct Group {
    inner: Arc<Inner>,
}

struct Inner {
    session: Session,
    store: Arc<dyn Store>,
    path: String,
    prefix: Prefix,
    metadata: RwLock<Arc<GroupMetadata>>,
}

/// An array or a group.
#[derive(Debug, Clone)]
pub enum Member {
    Array(Array),
    Group(Group),
}

impl Group {
    /// Creates a group at `path` (empty for the root), and the groups above it.
    pub fn create(
        session: &Session,
        store: Arc<dyn Store>,
        path: &str,
        format: Format,
        attributes: Map<String, Value>,
        overwrite: bool,
    ) -> Result<Self> {
        let path = clean(path);
        make_room(&store, &path, overwrite, session.limits())?;
        ensure_parents(&store, &path, format, session.limits())?;
        let group = Self::from_metadata(session, store, &path, GroupMetadata::new(format, attributes))?;
        let documents = documents::of_group(&group.metadata(), &group.inner.prefix)?;
        if overwrite {
            documents::save_alone(&group.inner.store, &group.inner.prefix, &documents)?;
        } else {
            documents::save(&group.inner.store, &documents, false)?;
        }
        Ok(group)
    }

    /// Opens the group at `path`, Zarr v3 or v2.
    pub fn open(session: &Session, store: Arc<dyn Store>, path: &str) -> Result<Self> {
        match Self::open_member(session, store.clone(), path)? {
            Member::Group(group) => Ok(group),
            Member::Array(_) => {
                let (store, path) = (store.describe(), clean(path));
                Err(ArrayError::WrongNode { store, path, expected: "a group", found: "an array" })
            }
        }
    }

    /// Opens whatever is at `path`.
    pub fn open_member(session: &Session, store: Arc<dyn Store>, path: &str) -> Result<Member> {
        let path = clean(path);
        match documents::load_with_copy(&store, &Prefix::from_path(&path)?, session.limits())? {
            Some(node) => Self::member_of(session, store, &path, node),
            None => Err(ArrayError::NotFound { store: store.describe(), path }),
        }
    }

    fn member_of(session: &Session, store: Arc<dyn Store>, path: &str, node: Node) -> Result<Member> {
        match node {
            Node::Array(metadata) => Array::from_metadata(session, store, path, metadata).map(Member::Array),
            Node::Group(metadata) => Self::from_metadata(session, store, path, metadata).map(Member::Group),
        }
    }

    fn from_metadata(
        session: &Session,
        store: Arc<dyn Store>,
        path: &str,
        metadata: GroupMetadata,
    ) -> Result<Self> {
        let (session, prefix) = (session.clone(), Prefix::from_path(path)?);
        let metadata = RwLock::new(Arc::new(metadata));
        Ok(Self { inner: Arc::new(Inner { session, store, path: path.into(), prefix, metadata }) })
    }

    /// The session it was opened in.
    pub fn session(&self) -> &Session {
        &self.inner.session
    }

    /// The store it is in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Its path in the store; empty for the root.
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// What its metadata said when it was opened, refreshed or changed through this handle.
    pub fn metadata(&self) -> Arc<GroupMetadata> {
        self.inner.metadata.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another handle of the group, whose members' reads and writes follow these options. Touches no store.
    pub fn with_options(&self, options: Options) -> Self {
        let Inner { session, store, path, prefix, .. } = &*self.inner;
        let (session, metadata) = (session.with_options(options), RwLock::new(self.metadata()));
        let (store, path, prefix) = (store.clone(), path.clone(), prefix.clone());
        Self { inner: Arc::new(Inner { session, store, path, prefix, metadata }) }
    }

    /// The path of a member, from the store's root.
    fn join(&self, path: &str) -> String {
        let path = clean(path);
        if self.inner.path.is_empty() || path.is_empty() {
            format!("{}{path}", self.inner.path)
        } else {
            format!("{}/{path}", self.inner.path)
        }
    }

    /// Creates a group below this one, and the groups between.
    pub fn create_group(&self, path: &str, attributes: Map<String, Value>, overwrite: bool) -> Result<Self> {
        let (session, store) = (&self.inner.session, self.inner.store.clone());
        let group =
            Self::create(session, store, &self.join(path), self.metadata().format, attributes, overwrite)?;
        self.look_directly();
        Ok(group)
    }

    /// Creates an array below this group, and the groups between.
    pub fn create_array(&self, path: &str, spec: &ArraySpec, overwrite: bool) -> Result<Array> {
        let array =
            Array::create(&self.inner.session, self.inner.store.clone(), &self.join(path), spec, overwrite)?;
        self.look_directly();
        Ok(array)
    }

    /// Stops this handle from using consolidated metadata: a change has made them out of date, or the caller does not
    /// trust them. What is stored stays as it is; `refresh` uses them again. Costs no I/O.
    pub fn look_directly(&self) {
        let metadata = self.metadata();
        if metadata.consolidated.is_some() || !metadata.unread.is_empty() {
            let direct = bare(&metadata);
            *self.inner.metadata.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(direct);
        }
    }

    /// Removes a member with everything below it; `false` where there is none. Not atomic: its metadata goes first, so
    /// that appends and resizes of it end or are refused. A node that another writer makes at this path meanwhile may
    /// be removed with it.
    pub fn delete(&self, path: &str) -> Result<bool> {
        let full = self.join(path);
        if full == self.inner.path {
            return Err(ArrayError::Argument {
                what: "path".into(),
                expected: "a member of the group".into(),
                found: format!("{path:?}"),
            });
        }
        let prefix = Prefix::from_path(&full)?;
        if documents::load(&self.inner.store, &prefix, self.inner.session.limits())
            .is_ok_and(|node| node.is_none())
        {
            return Ok(false);
        }
        documents::forget(&self.inner.store, &prefix)?;
        self.inner.store.delete_prefix(&prefix)?;
        self.look_directly();
        Ok(true)
    }

    /// Replaces the user's attributes. Consolidated metadata stays as it was.
    pub fn set_attributes(&self, attributes: Map<String, Value>) -> Result<()> {
        self.refresh()?;
        let metadata = GroupMetadata { attributes, ..(*self.metadata()).clone() };
        self.replace(metadata)
    }

    /// Reads the metadata again.
    pub fn refresh(&self) -> Result<()> {
        let store = &self.inner.store;
        match documents::load_with_copy(store, &self.inner.prefix, self.inner.session.limits())? {
            Some(Node::Group(metadata)) => {
                *self.inner.metadata.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(metadata);
                Ok(())
            }
            Some(node) => Err(ArrayError::WrongNode {
                store: store.describe(),
                path: self.inner.path.clone(),
                expected: "a group",
                found: kind(&node),
            }),
            None => Err(ArrayError::NotFound { store: store.describe(), path: self.inner.path.clone() }),
        }
    }

    fn replace(&self, metadata: GroupMetadata) -> Result<()> {
        // Only what differs is put: in v2 a group is several documents, and fewer puts leave fewer states between.
        let old = documents::of_group(&self.metadata(), &self.inner.prefix)?;
        let mut new = documents::of_group(&metadata, &self.inner.prefix)?;
        new.retain(|document| !old.contains(document));
        documents::save(&self.inner.store, &new, true)?;
        *self.inner.metadata.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(metadata);
        Ok(())
    }
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group")
            .field("store", &self.inner.store.describe())
            .field("path", &self.inner.path)
            .finish_non_exhaustive()
    }
}
