//! One version of a collection.

use crate::error::Result;
use crate::index::Index;
use crate::kinds::{Kinds, V2_ATTRIBUTES, V2_GROUP, V3};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use tessarray_array::Session;
use tessarray_meta::attributes_with_words;
use tessarray_pack::PackVersion;
use tessarray_store::{Store, StoreError};

/// A version of a pack as a collection. What it finds out it keeps; safe to use from many threads.
pub struct Collection {
    pub(crate) session: Session,
    pub(crate) version: PackVersion,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) kinds: Kinds,
    index: OnceLock<Index>,
    pub(crate) letters: OnceLock<BTreeSet<String>>,
}

impl Collection {
    /// The collection in a version. Reads nothing.
    pub fn new(session: &Session, version: PackVersion) -> Self {
        let store = version.store();
        Self {
            session: session.clone(),
            store,
            kinds: Kinds::new(session),
            index: OnceLock::new(),
            letters: OnceLock::new(),
            version,
        }
    }

    /// The version.
    pub fn version(&self) -> &PackVersion {
        &self.version
    }

    /// The session whose threads read.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What is in it: made by the first call, which reads the whole catalogue.
    ///
    /// # Errors
    /// The catalogue cannot be read.
    pub fn index(&self) -> Result<&Index> {
        match self.index.get() {
            Some(index) => Ok(index),
            None => {
                // To decode the catalogue is most of the work, and shared.
                let pieces = self.version.row_groups()?;
                self.session.share(pieces.len() as u64, |number| {
                    pieces[number as usize].load().map_err(StoreError::from)?;
                    Ok(())
                })?;
                let index = Index::of(&self.version, &self.kinds)?;
                Ok(self.index.get_or_init(|| index))
            }
        }
    }

    /// The same, if it is there.
    pub(crate) fn known_index(&self) -> Option<&Index> {
        self.index.get()
    }

    /// Whether there is a dataset of this name. Costs one lookup.
    ///
    /// # Errors
    /// The catalogue cannot be read.
    pub fn contains(&self, name: &str) -> Result<bool> {
        if let Some(index) = self.known_index() {
            return Ok(index.place(name).is_some());
        }
        if name.is_empty() || name.contains('/') {
            return Ok(false);
        }
        for document in [V3, V2_GROUP] {
            if let Some(document) = self.version.document(name, document)? {
                return Ok(self.kinds.is_group(self.kinds.number(&document)?));
            }
        }
        Ok(false)
    }

    /// The attributes of every dataset, as JSON, in the order of the names.
    ///
    /// # Errors
    /// The catalogue cannot be read, or a dataset's attributes are damaged.
    pub fn dataset_attributes(&self) -> Result<Vec<String>> {
        let index = self.index()?;
        let mut found = vec![String::from("{}"); index.names().len()];
        self.version.documents(&[V3, V2_ATTRIBUTES], &mut |document| {
            let text = match document.name() {
                V3 => match document.attributes() {
                    Some(text) => {
                        let words = self.kinds.attributes(self.kinds.number(document)?, text);
                        Some(words.unwrap_or_else(|| text.to_owned()))
                    }
                    None => None,
                },
                V2_ATTRIBUTES => {
                    let text = String::from_utf8_lossy(&document.bytes()?).into_owned();
                    Some(attributes_with_words(&text, b"").unwrap_or(text))
                }
                _ => None,
            };
            if let (Some(text), Some(place)) = (text, index.place(document.node())) {
                found[place] = text;
            }
            Ok(())
        })?;
        Ok(found)
    }
}
