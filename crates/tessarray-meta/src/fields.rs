//! Members of JSON objects, taken one by one with errors that say where.

use crate::error::{MetaError, Result};
use crate::limits::Limits;
use crate::path::Path;
use crate::{json, non_finite};
use serde_json::{Map, Value};
use tessarray_codec::NamedConfig;

impl MetaError {
    /// A member whose value is not what it must be.
    pub(crate) fn value(path: &Path<'_>, expected: impl Into<String>, found: &Value) -> Self {
        Self::Value { path: path.to_string(), expected: expected.into(), found: shown(found) }
    }

    pub(crate) fn unknown(path: &Path<'_>, what: &'static str, name: &str) -> Self {
        Self::UnknownExtension { path: path.to_string(), what, name: short(name) }
    }

    pub(crate) fn unsupported(path: &Path<'_>, reason: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_string(), reason: reason.into() }
    }

    pub(crate) fn too_large(path: &Path<'_>, what: &'static str, found: impl ToString, limit: u64) -> Self {
        Self::TooLarge { path: path.to_string(), what, found: found.to_string(), limit }
    }
}

/// A value in an error text: short, whatever the document holds.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(members) => format!("an object of {} members", members.len()),
        Value::String(text) => match non_finite::word(text) {
            Some(word) => word.into(),
            None => format!("{:?}", short(text)),
        },
        scalar => scalar.to_string(),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.into(),
    }
}

/// An object whose members are taken out until none are left.
pub(crate) struct Object<'p> {
    members: Map<String, Value>,
    path: &'p Path<'p>,
}

impl<'p> Object<'p> {
    /// The members of the object at a path.
    pub fn new(members: Map<String, Value>, path: &'p Path<'p>) -> Self {
        Self { members, path }
    }

    /// Where it is.
    pub fn path(&self) -> &'p Path<'p> {
        self.path
    }

    /// Takes a member, if it is there.
    pub fn optional(&mut self, key: &str) -> Option<Value> {
        self.members.shift_remove(key)
    }

    /// The member, with its key for the caller's path.
    ///
    /// # Errors
    /// There is no such member.
    pub fn required(&mut self, key: &'static str) -> Result<(Value, &'static str)> {
        match self.optional(key) {
            Some(value) => Ok((value, key)),
            None => Err(MetaError::Missing { path: self.path.key(key).to_string() }),
        }
    }

    /// The `zarr_format` member must be `format`.
    ///
    /// # Errors
    /// It is missing, or another number.
    pub fn check_format(&mut self, format: u64) -> Result<()> {
        let (found, key) = self.required("zarr_format")?;
        match found.as_u64() {
            Some(found) if found == format => Ok(()),
            Some(found) if found > 3 => {
                Err(MetaError::Newer { path: self.path.key(key).to_string(), format: found, newest: 3 })
            }
            _ => Err(MetaError::value(&self.path.key(key), format.to_string(), &found)),
        }
    }

    /// The `node_type` member must be `kind`.
    ///
    /// # Errors
    /// It is missing, or another text.
    pub fn check_node_type(&mut self, kind: &str) -> Result<()> {
        let (found, key) = self.required("node_type")?;
        if found.as_str() == Some(kind) {
            return Ok(());
        }
        Err(MetaError::value(&self.path.key(key), format!("{kind:?}"), &found))
    }

    /// The `attributes`, none if there are none.
    ///
    /// # Errors
    /// They are no object.
    pub fn attributes(&mut self) -> Result<Map<String, Value>> {
        match self.optional("attributes") {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(value) => json::into_object(value, &self.path.key("attributes")),
        }
    }

    /// What is left, where all of it may be ignored; else an error that names the first member that may not (Zarr
    /// v3 core, "Extension points": `must_understand`).
    ///
    /// # Errors
    /// A member that must be understood and is not known.
    pub fn finish(self, what: &'static str) -> Result<Map<String, Value>> {
        let required = self.members.iter().find(|(_, value)| {
            !matches!(value, Value::Object(inner) if inner.get("must_understand") == Some(&Value::Bool(false)))
        });
        match required {
            None => Ok(self.members),
            Some((key, _)) => Err(MetaError::unknown(&self.path.key(key), what, key)),
        }
    }

    /// What is left, whatever it is.
    pub fn rest(self) -> Map<String, Value> {
        self.members
    }
}

pub(crate) fn list(value: Value, path: &Path<'_>) -> Result<Vec<Value>> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(MetaError::value(path, "an array", &other)),
    }
}

pub(crate) fn string<'v>(value: &'v Value, path: &Path<'_>) -> Result<&'v str> {
    value.as_str().ok_or_else(|| MetaError::value(path, "a string", value))
}

/// The largest length of a dimension, and of a chunk: what a signed 64-bit index can reach.
pub(crate) const MAX_LENGTH: u64 = i64::MAX as u64;

/// A list of lengths, each at least `least`, one a dimension.
pub(crate) fn lengths(value: Value, least: u64, limits: &Limits, path: &Path<'_>) -> Result<Vec<u64>> {
    let items = list(value, path)?;
    check_rank(items.len(), limits, path)?;
    let length = |(i, item): (usize, &Value)| match item.as_u64() {
        Some(length) if (least..=MAX_LENGTH).contains(&length) => Ok(length),
        _ => Err(MetaError::value(&path.index(i), length_text(least), item)),
    };
    items.iter().enumerate().map(length).collect()
}

pub(crate) fn length_text(least: u64) -> &'static str {
    if least == 0 { "an integer from 0 to 2^63 - 1" } else { "a positive integer below 2^63" }
}

pub(crate) fn check_rank(rank: usize, limits: &Limits, path: &Path<'_>) -> Result<()> {
    if rank <= limits.max_rank {
        return Ok(());
    }
    Err(MetaError::too_large(path, "dimensions", rank, limits.max_rank.try_into().unwrap_or(u64::MAX)))
}

/// An extension: `{"name": ..., "configuration": {...}, "must_understand": ...}`, or the bare name.
pub(crate) fn named(value: Value, path: &Path<'_>) -> Result<NamedConfig> {
    if let Value::String(name) = value {
        return Ok(NamedConfig::new(name));
    }
    let Value::Object(members) = value else {
        return Err(MetaError::value(path, "a name, or an object with a name", &value));
    };
    let mut object = Object::new(members, path);
    let (name, key) = object.required("name")?;
    let mut out = NamedConfig::new(string(&name, &path.key(key))?);
    if let Some(configuration) = object.optional("configuration") {
        out.configuration = json::into_object(configuration, &path.key("configuration"))?;
    }
    match object.optional("must_understand") {
        None => {}
        Some(Value::Bool(must)) => out.must_understand = must,
        Some(other) => return Err(MetaError::value(&path.key("must_understand"), "true or false", &other)),
    }
    object.finish("member")?;
    Ok(out)
}

/// A chain of extensions, at most `limits.max_codecs` of them.
pub(crate) fn named_list(value: Value, limits: &Limits, path: &Path<'_>) -> Result<Vec<NamedConfig>> {
    let items = list(value, path)?;
    if items.len() > limits.max_codecs {
        let limit = limits.max_codecs.try_into().unwrap_or(u64::MAX);
        return Err(MetaError::too_large(path, "codecs", items.len(), limit));
    }
    items.into_iter().enumerate().map(|(i, item)| named(item, &path.index(i))).collect()
}
