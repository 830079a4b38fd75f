//! The arrays of one variable.

use crate::collection::Collection;
use crate::error::Result;
use crate::index::{Entry, Index};
use crate::kinds::{Kind, V2_ARRAY, V3};
use crate::statistics::Statistics;
use std::collections::HashMap;
use std::collections::hash_map::Entry::Vacant;
use std::sync::Arc;
use tessarray_array::{Array, ArrayError};
use tessarray_buffer::{Arena, OutputView};
use tessarray_grid::Selection;
use tessarray_pack::STATISTICS;

/// The arrays of one variable in some datasets.
#[derive(Debug)]
pub struct VariableArrays {
    /// The variable.
    pub variable: Box<str>,
    /// The arrays, in the order of the names asked for.
    pub members: Vec<Member>,
    /// Places of the names asked for that have no such array.
    pub missing: Vec<usize>,
    /// What the arrays are.
    pub kinds: Vec<Arc<Kind>>,
    /// Their shapes.
    pub shapes: Vec<Vec<u64>>,
    /// Their attributes, as JSON.
    pub attributes: Vec<Box<str>>,
}

/// One of them.
#[derive(Debug)]
pub struct Member {
    /// The dataset.
    pub dataset: Box<str>,
    /// Its place among the names asked for.
    pub place: usize,
    /// Place in [`VariableArrays::kinds`].
    pub kind: usize,
    /// Place in [`VariableArrays::shapes`].
    pub shape: usize,
    /// Place in [`VariableArrays::attributes`].
    pub attributes: usize,
}

/// What of these is in use, each once.
#[derive(Default)]
struct Used {
    kinds: HashMap<u32, usize>,
    shapes: HashMap<Box<str>, usize>,
    /// Of each kind: what a text says depends on the document around it.
    attributes: Vec<HashMap<Box<str>, usize>>,
}

impl VariableArrays {
    fn new(variable: &str) -> Self {
        Self {
            variable: variable.into(),
            members: Vec::new(),
            missing: Vec::new(),
            kinds: Vec::new(),
            shapes: Vec::new(),
            attributes: Vec::new(),
        }
    }

    /// Its path in the pack.
    pub fn path(&self, member: &Member) -> String {
        format!("{}/{}", member.dataset, self.variable)
    }
}

/// Up to so many names are looked up one by one where there is no index yet: to make it costs more.
const FEW: usize = 64;

impl Collection {
    /// The arrays of a variable in these datasets; in all that have it without names.
    ///
    /// # Errors
    /// The catalogue cannot be read, or an array's metadata cannot ([`CollectionError::Array`]). A dataset that lacks the
    /// variable is no error: see [`VariableArrays::missing`].
    pub fn find(&self, variable: &str, names: Option<&[String]>) -> Result<VariableArrays> {
        let mut found = VariableArrays::new(variable);
        let mut used = Used::default();
        let names = match names {
            Some(names) if self.known_index().is_none() && names.len() <= FEW => {
                for (place, name) in names.iter().enumerate() {
                    self.look_up(&mut found, &mut used, place, name)?;
                }
                return Ok(found);
            }
            names => names,
        };
        let index = self.index()?;
        let held = index.variable(variable);
        match names {
            None => {
                let entries = held.map_or(&[][..], |held| &held.entries);
                for (place, entry) in entries.iter().enumerate() {
                    self.take(&mut found, &mut used, index, place, *entry)?;
                }
            }
            Some(names) => {
                for (place, name) in names.iter().enumerate() {
                    let entry = index.place(name).and_then(|dataset| held?.in_dataset(dataset));
                    match entry {
                        Some(entry) => self.take(&mut found, &mut used, index, place, entry)?,
                        None => found.missing.push(place),
                    }
                }
            }
        }
        Ok(found)
    }

    fn take(
        &self,
        found: &mut VariableArrays,
        used: &mut Used,
        index: &Index,
        place: usize,
        entry: Entry,
    ) -> Result<()> {
        let dataset = &index.names()[entry.dataset as usize];
        let (shape, attributes) = (index.shapes.get(entry.shape), index.attributes.get(entry.attributes));
        self.add(found, used, place, dataset, (entry.kind, shape, attributes))
    }

    fn look_up(&self, found: &mut VariableArrays, used: &mut Used, place: usize, name: &str) -> Result<()> {
        let path = format!("{name}/{}", found.variable);
        for document in [V3, V2_ARRAY] {
            if name.contains('/') {
                break;
            }
            if let Some(document) = self.version.document(&path, document)? {
                let kind = self.kinds.number(&document)?;
                if self.kinds.is_group(kind) {
                    break;
                }
                let (shape, attributes) = (document.shape(), document.attributes());
                let known = (kind, shape.unwrap_or_default(), attributes.unwrap_or_default());
                return self.add(found, used, place, name, known);
            }
        }
        found.missing.push(place);
        Ok(())
    }

    fn add(
        &self,
        found: &mut VariableArrays,
        used: &mut Used,
        place: usize,
        dataset: &str,
        (kind, shape, attributes): (u32, &str, &str),
    ) -> Result<()> {
        let number = kind;
        let kind = *used.kinds.entry(kind).or_insert_with(|| {
            found.kinds.push(self.kinds.get(kind));
            used.attributes.push(HashMap::new());
            found.kinds.len() - 1
        });
        if let Kind::Unreadable(reason) = &*found.kinds[kind] {
            let path = format!("{dataset}/{}", found.variable);
            return Err(ArrayError::Argument {
                what: path,
                expected: "metadata that can be read".into(),
                found: reason.clone(),
            }
            .into());
        }
        let shape = match used.shapes.get(shape) {
            Some(&known) => known,
            None => {
                let lengths = serde_json::from_str(shape).map_err(|error| ArrayError::Argument {
                    what: format!("{dataset}/{}: shape", found.variable),
                    expected: "a list of lengths".into(),
                    found: format!("{shape:?}: {error}"),
                })?;
                found.shapes.push(lengths);
                used.shapes.insert(shape.into(), found.shapes.len() - 1);
                found.shapes.len() - 1
            }
        };
        let attributes = match used.attributes[kind].get(attributes) {
            Some(&known) => known,
            None => {
                let words = self.kinds.attributes(number, attributes);
                found.attributes.push(words.as_deref().unwrap_or(attributes).into());
                used.attributes[kind].insert(attributes.into(), found.attributes.len() - 1);
                found.attributes.len() - 1
            }
        };
        found.members.push(Member { dataset: dataset.into(), place, kind, shape, attributes });
        Ok(())
    }

    /// An array like a member, without attributes: those are in [`VariableArrays::attributes`].
    fn like(&self, found: &VariableArrays, member: &Member) -> tessarray_array::Result<Array> {
        let path = found.path(member);
        let Kind::Array(kind) = &*found.kinds[member.kind] else {
            return Err(ArrayError::NotFound { store: self.store.describe(), path });
        };
        kind.like(Arc::clone(&self.store), &path, &found.shapes[member.shape], serde_json::Map::new())
    }

    /// What is known of the values of these arrays; `None` where nothing is.
    ///
    /// # Errors
    /// The catalogue cannot be read. Statistics that are there and damaged count as none.
    pub fn statistics(&self, found: &VariableArrays) -> Result<Vec<Option<Statistics>>> {
        let known = found.members.iter().map(|member| {
            let value = self.version.value(&found.path(member), STATISTICS)?;
            Ok(value.and_then(|bytes| Statistics::from_json(&bytes)))
        });
        known.collect()
    }

    /// Reads `count` arrays on the session's threads: `part` says of each place which member, which selection of it, and
    /// where its elements go.
    ///
    /// # Errors
    /// A selection that its array does not have, or an array that cannot be read: that of the first place that failed.
    /// What the views hold is then undefined.
    pub fn read_each<'a>(
        &self,
        found: &VariableArrays,
        count: usize,
        part: &(dyn Fn(usize) -> (usize, &'a Selection, OutputView<'a>) + Sync),
        arena: &Arena,
    ) -> Result<()> {
        // A thread's share in several batches, so that all end at about one time.
        let batch = (count / (self.session.threads() * 4)).clamp(1, BATCH);
        Ok(self.session.share(count.div_ceil(batch) as u64, |number| {
            let begin = number as usize * batch;
            let (mut paths, mut wanted) = (Vec::with_capacity(batch), Vec::with_capacity(batch));
            let mut arrays = HashMap::new();
            for place in begin..(begin + batch).min(count) {
                let (member, selection, out) = part(place);
                let member = &found.members[member];
                let like = (member.kind, member.shape);
                if let Vacant(slot) = arrays.entry(like) {
                    slot.insert(self.like(found, member)?);
                }
                paths.push(found.path(member));
                wanted.push((like, selection, out));
            }
            let parts = wanted.into_iter().zip(&paths);
            let parts =
                parts.map(|((like, selection, out), path)| (&arrays[&like], path.as_str(), selection, out));
            Array::read_each(&self.store, &parts.collect::<Vec<_>>(), arena)
        })?)
    }
}

/// Arrays that are read together, at most.
const BATCH: usize = 64;
