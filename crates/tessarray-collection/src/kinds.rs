//! Kinds of nodes: what documents say that differ in shape and attributes only. A fleet has few.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use tessarray_array::{Array, Session};
use tessarray_meta::{ArrayMetadata, Node};
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
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    by_text: HashMap<Arc<str>, u32>,
    all: Vec<Arc<Kind>>,
}

impl Kinds {
    pub(crate) fn new(session: &Session) -> Self {
        Self { session: session.clone(), nowhere: Arc::new(MemoryStore::new()), known: RwLock::default() }
    }

    /// Whether a document of this name makes a node.
    pub(crate) fn makes_node(name: &str) -> bool {
        [V3, V2_ARRAY, V2_GROUP].contains(&name)
    }

    /// The number of a document's kind.
    pub(crate) fn number(&self, document: &Document) -> u32 {
        let own;
        let text = match document.template() {
            Some(text) => text,
            None => {
                own = Arc::from(String::from_utf8_lossy(&document.bytes()).as_ref());
                &own
            }
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).by_text.get(text).copied();
        known.unwrap_or_else(|| {
            let kind = Arc::new(self.make(document));
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(&number) = known.by_text.get(text) {
                return number;
            }
            let number = known.all.len() as u32;
            known.all.push(kind);
            known.by_text.insert(Arc::clone(text), number);
            number
        })
    }

    /// The kind of this number.
    pub(crate) fn get(&self, number: u32) -> Arc<Kind> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner).all[number as usize])
    }

    fn make(&self, document: &Document) -> Kind {
        let (bytes, limits) = (document.bytes(), self.session.limits());
        let metadata = match document.name() {
            V3 => match Node::from_v3(&bytes, limits) {
                Ok(Node::Array(metadata)) => Ok(metadata),
                Ok(Node::Group(_)) => return Kind::Group,
                Err(error) => Err(error),
            },
            V2_GROUP => return Kind::Group,
            _ => ArrayMetadata::from_v2(&bytes, None, limits),
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
