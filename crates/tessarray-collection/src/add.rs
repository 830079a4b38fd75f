//! Writing a dataset.

use crate::error::{CollectionError, Result};
use crate::kinds::{V2_ARRAY, V2_GROUP, V3};
use crate::statistics::Statistics;
use serde_json::{Map, Value};
use std::sync::Arc;
use tessarray_array::{Array, Session};
use tessarray_buffer::{Arena, InputView};
use tessarray_grid::Selection;
use tessarray_meta::{Format, GroupMetadata};
use tessarray_pack::STATISTICS;
use tessarray_store::{Prefix, PutMode, Store};

/// A variable of a new dataset.
pub struct NewVariable<'a> {
    /// Its path in the dataset.
    pub name: String,
    /// What it is like.
    pub kind: &'a Array,
    /// Length of each dimension.
    pub shape: Vec<u64>,
    /// Its attributes.
    pub attributes: Map<String, Value>,
    /// Its values.
    pub values: InputView<'a>,
    /// The same, where they lie in C order one after the other.
    pub bytes: Option<&'a [u8]>,
    /// Elements that stand for no value, one after the other.
    pub missing: Option<Vec<u8>>,
    /// Of texts: the distinct ones, if they are to be remembered.
    pub texts: Option<Vec<String>>,
    /// Elements of variable length.
    pub arena: &'a Arena,
}

/// Puts a dataset, its variables on all threads of the session, into the store of a transaction. Groups that variables
/// lie in are made, too.
///
/// # Errors
/// There is a dataset of this name; the name is none.
pub fn add(
    session: &Session,
    store: &Arc<dyn Store>,
    name: &str,
    attributes: Map<String, Value>,
    groups: &[(String, Map<String, Value>)],
    variables: &[NewVariable<'_>],
) -> Result<()> {
    if name.is_empty() || name.contains('/') || name.starts_with("__") || name == "." || name == ".." {
        return Err(CollectionError::Name { name: name.into() });
    }
    let prefix = Prefix::from_path(name)?;
    for document in [V3, V2_GROUP, V2_ARRAY] {
        if store.head(&prefix.key(document)?)?.is_some() {
            return Err(CollectionError::Exists { name: name.into() });
        }
    }
    let put_group = |path: &str, attributes: Map<String, Value>| -> Result<()> {
        let group = GroupMetadata::new(Format::V3, attributes);
        store.put(&Prefix::from_path(path)?.key(V3)?, &[&group.to_v3()], PutMode::Overwrite)?;
        Ok(())
    };
    put_group(name, attributes)?;
    for (path, attributes) in groups {
        put_group(&format!("{name}/{path}"), attributes.clone())?;
    }
    session.share(variables.len() as u64, |number| {
        let variable = &variables[number as usize];
        let path = format!("{name}/{}", variable.name);
        let array =
            variable.kind.like(Arc::clone(store), &path, &variable.shape, variable.attributes.clone())?;
        array.put_metadata()?;
        let whole = Selection::all(&variable.shape);
        array.write_alone(&whole, &variable.values, variable.arena)?;
        let known = match &variable.texts {
            Some(texts) => Some(Statistics::of_texts(variable.shape.iter().product(), texts.clone())),
            None => variable
                .bytes
                .and_then(|bytes| Statistics::of(&array.data_type(), bytes, variable.missing.as_deref())),
        };
        put_statistics(store, &path, known)
    })?;
    Ok(())
}

fn put_statistics(
    store: &Arc<dyn Store>,
    path: &str,
    known: Option<Statistics>,
) -> tessarray_array::Result<()> {
    if let Some(known) = known {
        let key = Prefix::from_path(path)?.key(STATISTICS)?;
        store.put(&key, &[&known.to_json()], PutMode::Overwrite)?;
    }
    Ok(())
}

/// Reads an array of a transaction, and stores what its values are; `false` for types without an order. Costs the reading
/// of it, and memory for all of it.
///
/// # Errors
/// There is no array at the path, it cannot be read, or the statistics cannot be stored.
pub fn describe(
    session: &Session,
    store: &Arc<dyn Store>,
    path: &str,
    missing: Option<&[u8]>,
    texts: Option<Vec<String>>,
) -> Result<bool> {
    let array = Array::open(session, Arc::clone(store), path)?;
    let known = match texts {
        Some(texts) => Some(Statistics::of_texts(array.shape().iter().product(), texts)),
        None if array.data_type().is_variable() => None,
        None => {
            let bytes = array.read_bytes(&Selection::all(&array.shape()))?;
            Statistics::of(&array.data_type(), &bytes, missing)
        }
    };
    let done = known.is_some();
    put_statistics(store, path, known)?;
    Ok(done)
}
