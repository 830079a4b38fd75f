//! Kinds of nodes: what documents say that differ in shape and attributes only. A fleet has few.

use bytes::Bytes;
use foldhash::fast::RandomState;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use tessarray_array::{Array, Session};
use tessarray_meta::{ArrayMetadata, Node, attributes_with_words};
use tessarray_pack::Document;
use tessarray_store::{MemoryStore, Store};

/// What a document makes of its node.
#[derive(Debug, Clone)]
pub enum Kind {
    /// An array like this one, but for shape and attributes.
    Array(Box<Array>),
    /// A group.
    Group,
    /// Nothing that this release can read, and why.
    Unreadable(String),
}

pub(crate) const V3: &str = "zarr.json";
pub(crate) const V2_ARRAY: &str = ".zarray";
pub(crate) const V2_GROUP: &str = ".zgroup";
pub(crate) const V2_ATTRIBUTES: &str = ".zattrs";

/// Kinds by the text of their documents.
pub(crate) struct Kinds {
    session: Session,
    nowhere: Arc<dyn Store>,
    known: RwLock<KnownKinds>,
}

/// A kind, made when it is first asked for: an index needs to know only which are groups.
struct LazyKind {
    is_group: bool,
    name: Box<str>,
    bytes: Bytes,
    kind: OnceLock<Arc<Kind>>,
}

#[derive(Default)]
struct KnownKinds {
    by_text: HashMap<Arc<str>, u32, RandomState>,
    all: Vec<LazyKind>,
}

impl Kinds {
    pub(crate) fn new(session: &Session) -> Self {
        Self { session: session.clone(), nowhere: Arc::new(MemoryStore::new()), known: RwLock::default() }
    }

    /// The number of a document's kind.
    pub(crate) fn number(&self, document: &Document) -> tessarray_pack::Result<u32> {
        let own;
        let text = match document.template() {
            Some(text) => text,
            None => {
                own = Arc::from(String::from_utf8_lossy(&document.bytes()?).as_ref());
                &own
            }
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).by_text.get(text).copied();
        if let Some(number) = known {
            return Ok(number);
        }
        let bytes = document.bytes()?;
        let is_group = document.name() == V2_GROUP || (document.name() == V3 && says_group(&bytes));
        let place = LazyKind { is_group, name: document.name().into(), bytes, kind: OnceLock::new() };
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = known.by_text.get(text) {
            return Ok(number);
        }
        let number = known.all.len() as u32;
        known.all.push(place);
        known.by_text.insert(Arc::clone(text), number);
        Ok(number)
    }

    /// The kind of this number.
    pub(crate) fn get(&self, number: u32) -> Arc<Kind> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let place = &known.all[number as usize];
        Arc::clone(place.kind.get_or_init(|| Arc::new(self.make(&place.name, &place.bytes))))
    }

    /// Attributes of a node of this kind, as text that knows NaN and the infinities; `None` where it does as it is.
    pub(crate) fn attributes(&self, number: u32, text: &str) -> Option<String> {
        let bytes = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.all[number as usize].bytes.clone()
        };
        attributes_with_words(text, &bytes)
    }

    /// Whether it is one of a group.
    pub(crate) fn is_group(&self, number: u32) -> bool {
        self.known.read().unwrap_or_else(PoisonError::into_inner).all[number as usize].is_group
    }

    /// All that were met, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<Arc<Kind>> {
        let count = self.known.read().unwrap_or_else(PoisonError::into_inner).all.len();
        (0..count as u32).map(|number| self.get(number)).collect()
    }

    fn make(&self, name: &str, bytes: &[u8]) -> Kind {
        let limits = self.session.limits();
        let metadata = match name {
            V3 => match Node::from_v3(bytes, limits) {
                Ok(Node::Array(metadata)) => Ok(metadata),
                Ok(Node::Group(_)) => return Kind::Group,
                Err(error) => Err(error),
            },
            V2_GROUP => return Kind::Group,
            _ => ArrayMetadata::from_v2(bytes, None, limits),
        };
        let array = metadata.map_err(|error| error.to_string()).and_then(|metadata| {
            // Handles are made without attributes: each array has its own.
            let metadata = ArrayMetadata { attributes: serde_json::Map::new(), ..metadata };
            let made = Array::from_metadata(&self.session, Arc::clone(&self.nowhere), "", metadata);
            made.map_err(|error| error.to_string())
        });
        array.map_or_else(Kind::Unreadable, |array| Kind::Array(Box::new(array)))
    }
}

/// Whether a document says that it is a group's; the rest of it may be anything.
fn says_group(document: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Said<'a> {
        #[serde(borrow)]
        node_type: Cow<'a, str>,
    }
    serde_json::from_slice(document).is_ok_and(|said: Said<'_>| said.node_type == "group")
}
