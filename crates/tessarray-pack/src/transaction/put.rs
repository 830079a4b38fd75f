//! The changes of a transaction: values and objects that are put and removed.

use super::object::{Object, Old, together};
use super::overlay::{NewValue, Stored, ValueChange};
use super::work::Work;
use crate::catalogue::Value;
use crate::chunk_checksum;
use crate::error::Result;
use crate::layout::PackedArray;
use crate::names::{V2_ARRAY, V3, is_document};
use crate::version::lookup::{Named, head, key_of, named};
use crate::version::{Content, stamp_of};
use std::sync::Arc;
use tessarray_store::{Key, Prefix};

/// Values up to this size are kept in the catalogue.
const INLINE: usize = 16 << 10;

/// What a document makes of a node.
struct NewArray {
    /// The node's own number.
    id: u64,
    /// `None` if it is no array that this release can read.
    array: Option<Arc<PackedArray>>,
    /// What lies about from an array that was there before is not this one's.
    anew: bool,
}

impl Work {
    /// Puts the value of a key. Of a shard whose `old` value is known, only inner chunks that differ are changed. Gives the
    /// stamp of what was put, where it is known without a look.
    pub(crate) fn put(&self, key: &Key, parts: &[&[u8]], old: Old<'_>) -> Result<Option<u64>> {
        self.open()?;
        match named(self, key)? {
            Named::Value { node, name } => self.put_value(key, node, name, parts).map(Some),
            Named::Object { node, array, at } => {
                self.put_object(&Object { key, node, array, at }, parts, old)
            }
        }
    }

    pub(super) fn put_value(&self, key: &Key, node: &str, name: &str, parts: &[&[u8]]) -> Result<u64> {
        let value = self.new_value(key, name, parts)?;
        let array = match name {
            V3 | V2_ARRAY => Some(self.new_array(node, name, &value)?),
            _ => None,
        };
        let number = self.number();
        let stamp = match &value {
            NewValue::There(stored) => stamp_of(&stored.at),
            _ => number,
        };
        let id = array.as_ref().map(|array| array.id);
        let mut overlay = self.edit()?;
        overlay.values.insert((node.into(), name.into()), ValueChange { value, id, stamp: number });
        if is_document(name) {
            overlay.forget_statistics(node);
        }
        if let Some(NewArray { array, anew, .. }) = array {
            if let (true, Some(array)) = (anew, &array) {
                overlay.forget_chunks(node, array);
            }
            overlay.arrays.insert(node.into(), array);
        }
        Ok(stamp)
    }

    /// The value of a key, in the catalogue if it is small or a document, else stored.
    fn new_value(&self, key: &Key, name: &str, parts: &[&[u8]]) -> Result<NewValue> {
        let joined;
        let bytes: &[u8] = match parts {
            [one] => one,
            _ => {
                joined = together(name, parts)?;
                &joined
            }
        };
        if bytes.len() <= INLINE || is_document(name) {
            return Ok(NewValue::Here(Value::of(name, bytes)));
        }
        let (segment, at) = self.segments().put(name, &[bytes])?;
        let crc = chunk_checksum::of_value(bytes, key.as_str(), segment);
        Ok(NewValue::There(Stored { at, segment, length: bytes.len() as u64, crc }))
    }

    /// The array that a document makes of a node, which keeps the number that it has.
    fn new_array(&self, node: &str, name: &str, document: &NewValue) -> Result<NewArray> {
        let known = self.node_id(node, name)?;
        let id = known.unwrap_or_else(|| self.number());
        let array = match document {
            NewValue::Here(Value::Text(text)) => {
                let layouts = self.base_version().layouts();
                layouts.array(name, &text.template, text.shape.as_deref(), id).map(Arc::new)
            }
            _ => None,
        };
        let before = if known.is_some() { self.array(node)? } else { None };
        let other = |array: &Arc<PackedArray>| {
            before.as_ref().is_some_and(|before| !before.numbering().is_like(array.numbering()))
        };
        let anew = known.is_none() || array.as_ref().is_some_and(other);
        Ok(NewArray { id, array, anew })
    }

    /// The number that a node has.
    fn node_id(&self, node: &str, name: &str) -> Result<Option<u64>> {
        let known = {
            let overlay = self.changes();
            overlay.values.get(&(Arc::from(node), Arc::from(name))).map(|change| match change.value {
                NewValue::Gone => None,
                _ => change.id,
            })
        };
        let known = match known {
            Some(known) => known,
            None => self.base_version().value_row(node, name)?.and_then(|found| found.group.id(found.row)),
        };
        Ok(known)
    }

    /// Removes the value of a key; `false` where there was none.
    pub(crate) fn delete(&self, key: &Key) -> Result<bool> {
        self.open()?;
        if head(self, key)?.is_none() {
            return Ok(false);
        }
        if let Named::Object { node, array, at } = named(self, key)? {
            self.remove_object(&Object { key, node, array, at })?;
        }
        let (node, name) = key.split();
        if is_document(name) || Content::value(self, node, name)?.is_some() {
            self.remove_value(node, name)?;
        }
        Ok(true)
    }

    fn remove_value(&self, node: &str, name: &str) -> Result<()> {
        let document = name == V3 || name == V2_ARRAY;
        let before = if document { self.array(node)? } else { None };
        let mut overlay = self.edit()?;
        // Chunks without an array could be read by nobody, and checked against nothing.
        if let Some(array) = before {
            overlay.forget_chunks(node, &array);
        }
        overlay.values.insert(
            (node.into(), name.into()),
            ValueChange { value: NewValue::Gone, id: None, stamp: self.number() },
        );
        if document {
            overlay.arrays.insert(node.into(), None);
        }
        Ok(())
    }

    /// Removes everything under a prefix.
    pub(crate) fn delete_prefix(&self, prefix: &Prefix) -> Result<()> {
        self.open()?;
        let listing = self.listing(prefix.path())?;
        for ((node, name), size) in &listing.values {
            // The prefix `a/` holds `a/x`, and not the key `a`.
            if size.is_some() && prefix.contains(&key_of(node, name)?) {
                self.remove_value(node, name)?;
            }
        }
        let mut overlay = self.edit()?;
        for node in listing.chunks.keys() {
            if !overlay.chunks.contains_key(&**node) {
                let Some(array) = self.base_version().array(node)? else { continue };
                overlay.forget_chunks(node, &array);
            } else if let Some(changes) = overlay.chunks.get_mut(&**node) {
                changes.reset = true;
                changes.entries.clear();
            }
        }
        Ok(())
    }
}
