//! Strict JSON: bounded size and depth, no duplicate members, no numbers that JSON cannot hold.

use crate::{Limits, MetaError, Path, Result};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::fmt;

/// Parses a document. `name` is what errors call it.
///
/// Unlike `serde_json::from_slice`, refuses duplicate members, nesting deeper than `limits.max_depth` (before
/// recursing into it) and documents longer than `limits.max_document_bytes`.
pub fn parse_json(document: &[u8], limits: &Limits, name: &str) -> Result<Value> {
    if document.len() > limits.max_document_bytes {
        return Err(MetaError::TooLarge {
            path: name.into(),
            what: "document bytes",
            found: document.len().to_string(),
            limit: limits.max_document_bytes.try_into().unwrap_or(u64::MAX),
        });
    }
    let state =
        State { at: RefCell::new(Vec::new()), failure: RefCell::new(None), name, limit: limits.max_depth };
    let mut json = serde_json::Deserializer::from_slice(document);
    let parsed = Seed(&state).deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    parsed.map_err(|error| {
        let failure = state.failure.borrow_mut().take();
        failure.unwrap_or_else(|| MetaError::Json { path: state.path(), reason: reason(document, &error) })
    })
}

/// Parses a document whose top must be an object.
pub(crate) fn parse_object(document: &[u8], limits: &Limits, name: &str) -> Result<Map<String, Value>> {
    into_object(parse_json(document, limits, name)?, &Path::root(name))
}

/// The members of an object.
pub(crate) fn into_object(value: Value, path: &Path<'_>) -> Result<Map<String, Value>> {
    match value {
        Value::Object(members) => Ok(members),
        other => Err(MetaError::value(path, "an object", &other)),
    }
}

/// Two-space indentation, as zarr-python writes.
pub(crate) fn to_pretty(value: &Value) -> Vec<u8> {
    // Only a failing writer or a map with keys that are no strings could fail; neither can be here.
    serde_json::to_vec_pretty(value).unwrap_or_default()
}

/// serde_json's words, except for the literals that writers other than JSON's produce.
fn reason(document: &[u8], error: &serde_json::Error) -> String {
    let line = document.split(|&b| b == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let start = error.column().saturating_sub(2).min(line.len());
    let found = &line[start..line.len().min(start + 10)];
    let has = |word: &[u8]| found.windows(word.len()).any(|part| part == word);
    if has(b"NaN") || has(b"Infinity") {
        let place = format!("line {} column {}", error.line(), error.column());
        return format!("NaN and Infinity are no JSON numbers (they are written as strings) at {place}");
    }
    error.to_string()
}

enum Segment {
    Key(String),
    Index(usize),
}

/// Where the parser is, and the first error that has a type of its own.
struct State<'a> {
    at: RefCell<Vec<Segment>>,
    failure: RefCell<Option<MetaError>>,
    name: &'a str,
    limit: usize,
}

impl State<'_> {
    fn path(&self) -> String {
        fn walk(parent: &Path<'_>, rest: &[Segment]) -> String {
            match rest.split_first() {
                None => parent.to_string(),
                Some((Segment::Key(key), rest)) => walk(&parent.key(key), rest),
                Some((Segment::Index(index), rest)) => walk(&parent.index(*index), rest),
            }
        }
        walk(&Path::root(self.name), &self.at.borrow())
    }

    fn fail<E: serde::de::Error>(&self, error: MetaError) -> E {
        *self.failure.borrow_mut() = Some(error);
        E::custom("refused")
    }

    fn enter<E: serde::de::Error>(&self, segment: Segment) -> std::result::Result<(), E> {
        let depth = {
            let mut at = self.at.borrow_mut();
            at.push(segment);
            at.len()
        };
        if depth > self.limit {
            return Err(self.fail(MetaError::Depth { path: self.path(), limit: self.limit }));
        }
        Ok(())
    }

    fn leave(&self) {
        self.at.borrow_mut().pop();
    }
}

#[derive(Clone, Copy)]
struct Seed<'s, 'n>(&'s State<'n>);

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value, A::Error> {
        let mut out = Vec::new();
        self.0.enter(Segment::Index(0))?;
        while let Some(item) = items.next_element_seed(self)? {
            out.push(item);
            if let Some(Segment::Index(index)) = self.0.at.borrow_mut().last_mut() {
                *index = out.len();
            }
        }
        self.0.leave();
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.0.enter(Segment::Key(key.clone()))?;
            if out.contains_key(&key) {
                return Err(self.0.fail(MetaError::Duplicate { path: self.0.path() }));
            }
            let value = members.next_value_seed(self)?;
            self.0.leave();
            out.insert(key, value);
        }
        Ok(Value::Object(out))
    }
}
