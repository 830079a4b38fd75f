//! Which datasets there are, and which variables each has: small numbers in columns, so that a million datasets fit.

use crate::error::Result;
use crate::kinds::{Kind, Kinds};
use std::collections::HashMap;
use std::sync::Arc;
use tessarray_pack::{Document, PackVersion};

/// The index of a version.
#[derive(Debug, Default)]
pub struct Index {
    names: Vec<Box<str>>,
    variables: Vec<Variable>,
    pub(crate) shapes: Texts,
    pub(crate) attributes: Texts,
}

/// A variable: in which datasets it is.
#[derive(Debug)]
pub struct Variable {
    /// Its path in a dataset.
    pub name: Box<str>,
    /// Where it is, sorted by dataset.
    pub(crate) entries: Vec<Entry>,
}

/// One array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub dataset: u32,
    pub kind: u32,
    pub shape: u32,
    pub attributes: u32,
}

/// What a walk has met.
struct Seen<'a> {
    kinds: &'a Kinds,
    /// Texts met last, with the number of their kind and whether that is a group: to compare pointers is quicker than to
    /// hash documents.
    recent: Vec<(Arc<str>, u32, bool)>,
    /// Places of variables by name.
    places: HashMap<Box<str>, usize>,
}

/// How many texts are compared before one is looked up.
const RECENT: usize = 16;

impl Seen<'_> {
    fn kind(&mut self, document: &Document) -> (u32, bool) {
        let text = document.template();
        if let Some(text) = text
            && let Some(known) = self.recent.iter().find(|known| Arc::ptr_eq(&known.0, text))
        {
            return (known.1, known.2);
        }
        let number = self.kinds.number(document);
        let is_group = matches!(*self.kinds.get(number), Kind::Group);
        if let Some(text) = text {
            if self.recent.len() == RECENT {
                self.recent.clear();
            }
            self.recent.push((Arc::clone(text), number, is_group));
        }
        (number, is_group)
    }
}

/// Texts, each kept once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    numbers: HashMap<Box<str>, u32>,
    all: Vec<Box<str>>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        &self.all[number as usize]
    }
}

impl Index {
    pub(crate) fn of(version: &PackVersion, kinds: &Kinds) -> Result<Self> {
        let mut index = Self::default();
        let mut seen = Seen { kinds, recent: Vec::new(), places: HashMap::new() };
        version.documents(&mut |document| {
            index.add(document, &mut seen);
            Ok(())
        })?;
        for variable in &mut index.variables {
            // Nodes are sorted as texts: `a-b/x` lies between `a` and `a/x`.
            variable.entries.sort_by_key(|entry| entry.dataset);
        }
        index.variables.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(index)
    }

    fn add(&mut self, document: &Document, seen: &mut Seen<'_>) {
        let node = document.node();
        if node.is_empty() || !Kinds::makes_node(document.name()) {
            return;
        }
        let (kind, is_group) = seen.kind(document);
        let Some((dataset, variable)) = node.split_once('/') else {
            if is_group {
                self.names.push(node.into());
            }
            return;
        };
        if is_group {
            return;
        }
        let last = self.names.len().wrapping_sub(1);
        let dataset = match self.names.get(last) {
            Some(name) if **name == *dataset => last,
            _ => match self.place(dataset) {
                Some(place) => place,
                None => return,
            },
        };
        let place = match seen.places.get(variable) {
            Some(&place) => place,
            None => {
                let place = self.variables.len();
                self.variables.push(Variable { name: variable.into(), entries: Vec::new() });
                seen.places.insert(variable.into(), place);
                place
            }
        };
        let shape = self.shapes.number(document.shape().unwrap_or_default());
        let attributes = self.attributes.number(document.attributes().unwrap_or_default());
        let entry = Entry { dataset: dataset as u32, kind, shape, attributes };
        self.variables[place].entries.push(entry);
    }

    /// The names of the datasets, sorted as bytes.
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }

    /// The place of a dataset among the names.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|probe| (**probe).cmp(name)).ok()
    }

    /// The variables, sorted by name.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        let place = self.variables.binary_search_by(|probe| (*probe.name).cmp(name)).ok()?;
        Some(&self.variables[place])
    }
}

impl Variable {
    /// How many datasets have it.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none has it; never so.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn in_dataset(&self, place: usize) -> Option<Entry> {
        let at = self.entries.binary_search_by_key(&(place as u32), |entry| entry.dataset).ok()?;
        Some(self.entries[at])
    }
}
