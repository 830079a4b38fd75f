//! The documents of a version, as they lie in the catalogue: many share their text, which is then the same `Arc`.

use super::content::{Content, Held};
use super::fetch::fetch_all;
use super::handle::PackVersion;
use crate::catalogue::{Group, Part};
use crate::error::Result;
use bytes::Bytes;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

/// A value of a version that lies in the catalogue itself: a metadata document, or another small one.
#[derive(Debug)]
pub struct Document {
    group: Arc<Group>,
    row: usize,
}

/// Numbers that stand for what a document is made of, among the documents of its piece: equal ones, equal texts.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    /// Of [`Document::template`].
    pub template: Option<u32>,
    /// Of [`Document::shape`].
    pub shape: Option<u32>,
    /// Of [`Document::attributes`].
    pub attributes: Option<u32>,
}

impl Document {
    /// Path of the node.
    pub fn node(&self) -> &str {
        std::str::from_utf8(self.node_bytes()).unwrap_or_default()
    }

    /// The same, not looked at.
    pub fn node_bytes(&self) -> &[u8] {
        self.group.key(self.row).0
    }

    /// The piece of the catalogue that it is in: a number that no other piece has for as long as the version is open.
    pub fn row_group(&self) -> usize {
        Arc::as_ptr(&self.group).addr()
    }

    /// Numbers for its parts, for who visits many.
    pub fn numbers(&self) -> Numbers {
        let [template, shape, attributes] = self.group.numbers(self.row);
        Numbers { template, shape, attributes }
    }

    /// The last part of its key: `zarr.json`, `.zarray`, ...
    pub fn name(&self) -> &str {
        std::str::from_utf8(self.group.key(self.row).1).unwrap_or_default()
    }

    /// What it shares with others: the document with marks in place of `shape` and `attributes`. `None` for a value that
    /// is no document.
    pub fn template(&self) -> Option<&Arc<str>> {
        self.group.template(self.row)
    }

    /// Its `shape`, as text.
    pub fn shape(&self) -> Option<&str> {
        self.group.shape(self.row)
    }

    /// Its `attributes`, as text.
    pub fn attributes(&self) -> Option<&str> {
        self.group.attributes(self.row)
    }

    /// Whether it lies in the catalogue.
    fn is_here(&self) -> Result<bool> {
        Ok(self.group.template(self.row).is_some() || self.group.value(self.row)?.is_some())
    }

    /// All of it.
    ///
    /// # Errors
    /// The row group is damaged.
    pub fn bytes(&self) -> Result<Bytes> {
        Ok(self.group.value(self.row)?.unwrap_or_default())
    }
}

impl PackVersion {
    /// The document of this name of a node; `None` where there is none, or it is too large for the catalogue.
    ///
    /// # Errors
    /// The catalogue is damaged, or its file is gone since the version was expired.
    pub fn document(&self, node: &str, name: &str) -> Result<Option<Document>> {
        let found = self.snapshot().value_row(node, name)?;
        let document = found.map(|found| Document { group: Arc::clone(found.group), row: found.row });
        Ok(match document {
            Some(document) if document.is_here()? => Some(document),
            _ => None,
        })
    }

    /// The bytes of any value of a node, wherever they are.
    ///
    /// # Errors
    /// The same; or the value's bytes are damaged.
    pub fn value(&self, node: &str, name: &str) -> Result<Option<Bytes>> {
        Ok(match self.snapshot().value(node, name)? {
            Some(Held::Here(bytes, _)) => Some(bytes),
            Some(Held::There(piece)) => {
                let check = super::fetch::Check::Value(crate::names::join(node, name));
                fetch_all(self.snapshot().base(), &[(piece, check)])?.pop()
            }
            None => None,
        })
    }

    /// The pieces that the catalogue is read in: they may be loaded side by side before they are walked over.
    ///
    /// # Errors
    /// A part of the catalogue is damaged or gone.
    pub fn row_groups(&self) -> Result<Vec<RowGroup>> {
        let parts = self.snapshot().parts()?;
        let of = |part: &Arc<Part>| {
            (0..part.groups()).map(|number| RowGroup { part: Arc::clone(part), number }).collect::<Vec<_>>()
        };
        Ok(parts.iter().flat_map(of).collect())
    }

    /// Visits the values of these names that lie in the catalogue, sorted by node and name as bytes. Costs the reading of
    /// the whole catalogue, and memory for it.
    ///
    /// # Errors
    /// The catalogue is damaged or gone; or that of `visit`.
    pub fn documents(&self, names: &[&str], visit: &mut dyn FnMut(&Document) -> Result<()>) -> Result<()> {
        let wanted = |name: &[u8]| names.iter().any(|wanted| wanted.as_bytes() == name);
        let parts = self.snapshot().parts()?;
        if let [part] = &parts[..] {
            return documents_of(part, &wanted, visit);
        }
        let mut heap = BinaryHeap::new();
        for (age, part) in parts.into_iter().enumerate() {
            heap.extend(Cursor::new(part, age)?);
        }
        let mut last: Option<(Vec<u8>, Vec<u8>)> = None;
        while let Some(mut next) = heap.peek_mut() {
            let (node, name, _) = next.document.group.key(next.document.row);
            let hidden = last.as_ref().is_some_and(|(seen, known)| (&seen[..], &known[..]) == (node, name));
            if !hidden {
                let (seen, known) = last.get_or_insert_default();
                seen.clear();
                seen.extend_from_slice(node);
                known.clear();
                known.extend_from_slice(name);
                if wanted(name) && !next.document.group.gone(next.document.row) {
                    visit(&next.document)?;
                }
            }
            if !next.advance()? {
                PeekMut::pop(next);
            }
        }
        Ok(())
    }
}

/// The values of a part that is alone: nothing in it hides another.
fn documents_of(
    part: &Part,
    wanted: &dyn Fn(&[u8]) -> bool,
    visit: &mut dyn FnMut(&Document) -> Result<()>,
) -> Result<()> {
    for number in 0..part.groups() {
        let group = part.group(number)?;
        let mut document = Document { group: Arc::clone(group), row: 0 };
        for row in group.named(wanted) {
            document.row = row;
            visit(&document)?;
        }
    }
    Ok(())
}

/// Some thousands of rows of the catalogue.
#[derive(Debug)]
pub struct RowGroup {
    part: Arc<Part>,
    number: usize,
}

impl RowGroup {
    /// Reads, checks and decodes it, where that was not done before.
    ///
    /// # Errors
    /// It is damaged, or gone.
    pub fn load(&self) -> Result<()> {
        self.part.group(self.number).map(|_| ())
    }
}

/// A place among the values of one part.
struct Cursor {
    part: Arc<Part>,
    /// 0 for the newest part.
    age: usize,
    number: usize,
    document: Document,
}

impl Cursor {
    /// At the first value; `None` where the part has none.
    fn new(part: Arc<Part>, age: usize) -> Result<Option<Self>> {
        if part.groups() == 0 {
            return Ok(None);
        }
        let document = Document { group: Arc::clone(part.group(0)?), row: 0 };
        let mut cursor = Self { part, age, number: 0, document };
        Ok(if cursor.settle()? { Some(cursor) } else { None })
    }

    fn advance(&mut self) -> Result<bool> {
        self.document.row += 1;
        self.settle()
    }

    /// Goes on to a row that is a value, if this is none; `false` at the end.
    fn settle(&mut self) -> Result<bool> {
        loop {
            let document = &self.document;
            if document.row < document.group.len() {
                if !document.group.key(document.row).1.is_empty() {
                    return Ok(true);
                }
                self.document.row += 1;
                continue;
            }
            self.number += 1;
            if self.number == self.part.groups() {
                return Ok(false);
            }
            self.document = Document { group: Arc::clone(self.part.group(self.number)?), row: 0 };
        }
    }

    fn key(&self) -> (&[u8], &[u8], usize) {
        let (node, name, _) = self.document.group.key(self.document.row);
        (node, name, self.age)
    }
}

impl Ord for Cursor {
    /// The heap gives the greatest first: that is the one whose value comes first, of equal ones that of the newest part.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cursor {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cursor {}
