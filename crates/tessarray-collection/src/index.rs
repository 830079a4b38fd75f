//! Which datasets there are, and which variables each has: small numbers in columns, so that a million datasets fit.

use crate::error::Result;
use crate::kinds::{Kinds, V2_ARRAY, V2_GROUP, V3};
use foldhash::fast::RandomState;
use std::collections::HashMap;
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

/// Names of the documents that make a node.
const NODES: [&str; 3] = [V2_ARRAY, V2_GROUP, V3];

/// What a walk has met.
struct Seen<'a> {
    kinds: &'a Kinds,
    /// Of the pieces of the catalogue that the walk is in; the one that it met last is the last.
    pieces: Vec<Piece>,
    /// Places of variables by name.
    places: HashMap<Box<str>, usize>,
    /// The variable of the last array, and for each the one that came after it: mostly it does again.
    last: usize,
    after: Vec<usize>,
}

/// What the numbers of a piece stand for: to look at texts once a piece is quicker than once an array.
#[derive(Default)]
struct Piece {
    id: usize,
    kinds: Known<(u32, bool)>,
    shapes: Known<u32>,
    attributes: Known<u32>,
}

/// Pieces that are kept in mind; a catalogue of many parts is walked in as many.
const PIECES: usize = 64;

/// Values by small numbers.
struct Known<T>(Vec<Option<T>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Known<T> {
    /// The value of this number; without a number, it is made each time.
    fn get(
        &mut self,
        number: Option<u32>,
        make: impl FnOnce() -> tessarray_pack::Result<T>,
    ) -> tessarray_pack::Result<T> {
        let Some(number) = number.map(|number| number as usize) else { return make() };
        if self.0.len() <= number {
            self.0.resize(number + 1, None);
        }
        if let Some(known) = self.0[number] {
            return Ok(known);
        }
        let value = make()?;
        self.0[number] = Some(value);
        Ok(value)
    }
}

impl Seen<'_> {
    /// The piece of this id, which is made the last.
    fn piece(&mut self, id: usize) -> &mut Piece {
        let count = self.pieces.len();
        let at = self.pieces.iter().rposition(|piece| piece.id == id).unwrap_or_else(|| {
            let piece = Piece { id, ..Piece::default() };
            if count == PIECES {
                self.pieces[0] = piece;
                return 0;
            }
            self.pieces.push(piece);
            count
        });
        let last = self.pieces.len() - 1;
        self.pieces.swap(at, last);
        &mut self.pieces[last]
    }
}

/// Texts, each kept once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    numbers: HashMap<Box<str>, u32, RandomState>,
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
        let mut seen = Seen { kinds, pieces: Vec::new(), places: HashMap::new(), last: 0, after: Vec::new() };
        version.documents(&NODES, &mut |document| index.add(document, &mut seen))?;
        for variable in &mut index.variables {
            // Nodes are sorted as texts: `a-b/x` lies between `a` and `a/x`.
            variable.entries.sort_by_key(|entry| entry.dataset);
        }
        index.variables.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(index)
    }

    fn add(&mut self, document: &Document, seen: &mut Seen<'_>) -> tessarray_pack::Result<()> {
        let (node, numbers, kinds) = (document.node_bytes(), document.numbers(), seen.kinds);
        let piece = seen.piece(document.row_group());
        if node.is_empty() {
            return Ok(());
        }
        let (kind, is_group) = piece.kinds.get(numbers.template, || {
            let number = kinds.number(document)?;
            Ok((number, kinds.is_group(number)))
        })?;
        let known = self
            .names
            .last()
            .filter(|name| node.get(name.len()) == Some(&b'/') && node.starts_with(name.as_bytes()));
        let slash = known.map_or_else(|| node.iter().position(|&byte| byte == b'/'), |name| Some(name.len()));
        let Some(slash) = slash else {
            if is_group {
                self.names.push(document.node().into());
            }
            return Ok(());
        };
        if is_group {
            return Ok(());
        }
        let (dataset, variable) = (&node[..slash], &node[slash + 1..]);
        let dataset = match known {
            Some(_) => self.names.len() - 1,
            None => match self.names.binary_search_by(|name| name.as_bytes().cmp(dataset)) {
                Ok(place) => place,
                Err(_) => return Ok(()),
            },
        };
        let shapes = &mut self.shapes;
        let shape =
            piece.shapes.get(numbers.shape, || Ok(shapes.number(document.shape().unwrap_or_default())))?;
        let texts = &mut self.attributes;
        let attributes = piece
            .attributes
            .get(numbers.attributes, || Ok(texts.number(document.attributes().unwrap_or_default())))?;
        let place = self.variable_place(variable, seen);
        let entry = Entry { dataset: dataset as u32, kind, shape, attributes };
        self.variables[place].entries.push(entry);
        Ok(())
    }

    /// The place of the variable of this name, which is made if need be.
    fn variable_place(&mut self, name: &[u8], seen: &mut Seen<'_>) -> usize {
        let next = seen.after.get(seen.last).copied().unwrap_or(0);
        let place = match self.variables.get(next) {
            Some(variable) if variable.name.as_bytes() == name => next,
            _ => {
                let name = String::from_utf8_lossy(name);
                let count = self.variables.len();
                let place = *seen.places.entry(name.as_ref().into()).or_insert(count);
                if place == count {
                    self.variables.push(Variable { name: name.as_ref().into(), entries: Vec::new() });
                    seen.after.push(0);
                }
                seen.after[seen.last] = place;
                place
            }
        };
        seen.last = place;
        place
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
