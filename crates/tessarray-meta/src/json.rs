//! Strict JSON: bounded size and depth, no duplicate members, and numbers that JSON cannot hold in attributes only.

use crate::error::{MetaError, Result};
use crate::limits::Limits;
use crate::non_finite::{self, REASON, Token, Tokens};
use crate::path::Path;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::fmt;

/// Parses a document. `name` is what errors call it, and says where its attributes are: `zarr.json`, `.zattrs` and
/// `.zmetadata` have some.
///
/// Unlike `serde_json::from_slice`, refuses duplicate members, nesting deeper than `limits.max_depth` (before
/// recursing into it) and documents longer than `limits.max_document_bytes`. Bare `NaN`, `Infinity` and `-Infinity`
/// are read inside attributes, as [`non_finite`](crate::non_finite()) says; anywhere else they are errors.
///
/// # Errors
/// It is no JSON of that form, or over a limit.
pub fn parse_json(document: &[u8], limits: &Limits, name: &str) -> Result<Value> {
    if document.len() > limits.max_document_bytes {
        return Err(MetaError::TooLarge {
            path: name.into(),
            what: "document bytes",
            found: document.len().to_string(),
            limit: limits.max_document_bytes.try_into().unwrap_or(u64::MAX),
        });
    }
    let overlaid = non_finite::overlaid(document);
    let state = State {
        at: RefCell::new(Vec::new()),
        failure: RefCell::new(None),
        document,
        tokens: RefCell::new(overlaid.as_ref().map(|_| Tokens::new(document))),
        name,
        limit: limits.max_depth,
    };
    let mut json = serde_json::Deserializer::from_slice(overlaid.as_deref().unwrap_or(document));
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
    let mut out = String::new();
    non_finite::write(value, 0, &mut out);
    out.into_bytes()
}

/// serde_json's words, except for the literals that writers other than JSON's produce.
fn reason(document: &[u8], error: &serde_json::Error) -> String {
    let line = document.split(|&b| b == b'\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let start = error.column().saturating_sub(2).min(line.len());
    let found = &line[start..line.len().min(start + 10)];
    let has = |word: &[u8]| found.windows(word.len()).any(|part| part == word);
    if has(b"NaN") || has(b"Infinity") {
        return format!("{REASON} at line {} column {}", error.line(), error.column());
    }
    error.to_string()
}

enum Step {
    Key(String),
    Index(usize),
}

/// Where the parser is, and the first error that has a type of its own.
struct State<'a> {
    at: RefCell<Vec<Step>>,
    failure: RefCell<Option<MetaError>>,
    document: &'a [u8],
    /// The strings still to come, and the words that were made strings; `None` where there are no words.
    tokens: RefCell<Option<Tokens<'a>>>,
    name: &'a str,
    limit: usize,
}

impl State<'_> {
    fn path(&self) -> String {
        fn walk(parent: &Path<'_>, rest: &[Step]) -> String {
            match rest.split_first() {
                None => parent.to_string(),
                Some((Step::Key(key), rest)) => walk(&parent.key(key), rest),
                Some((Step::Index(index), rest)) => walk(&parent.index(*index), rest),
            }
        }
        walk(&Path::root(self.name), &self.at.borrow())
    }

    fn fail<E: serde::de::Error>(&self, error: MetaError) -> E {
        *self.failure.borrow_mut() = Some(error);
        E::custom("refused")
    }

    fn enter<E: serde::de::Error>(&self, segment: Step) -> std::result::Result<(), E> {
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

    /// What the next string of the document was: its reserved text and its place, where it was a word.
    fn next_word(&self) -> Option<(&'static str, usize)> {
        match self.tokens.borrow_mut().as_mut()?.next()? {
            Token::Word { reserved, place, .. } => Some((reserved, place)),
            Token::Text => None,
        }
    }

    fn word_error<E: serde::de::Error>(&self, place: usize) -> E {
        let before = self.document.get(..place).unwrap_or_default();
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        let reason = format!("{REASON} at line {line} column {column}");
        self.fail(MetaError::Json { path: self.path(), reason })
    }

    fn key<E: serde::de::Error>(&self) -> std::result::Result<(), E> {
        self.next_word().map_or(Ok(()), |(_, place)| Err(self.word_error(place)))
    }

    fn text<E: serde::de::Error>(&self, text: String) -> std::result::Result<Value, E> {
        match self.next_word() {
            Some((reserved, _)) if in_attributes(self.name, &self.at.borrow()) => Ok(reserved.into()),
            Some((_, place)) => Err(self.word_error(place)),
            None if non_finite::word(&text).is_some() => Err(self.fail(MetaError::Value {
                path: self.path(),
                expected: "text other than what stands for NaN and Infinity here".into(),
                found: format!("{text:?}"),
            })),
            None => Ok(text.into()),
        }
    }
}

/// Whether a place is inside the attributes of a node, of the document's own or of a consolidated one.
fn in_attributes(document: &str, place: &[Step]) -> bool {
    use Step::Key;
    match (document, place) {
        (".zattrs", [_, ..]) => true,
        (".zmetadata", [Key(metadata), Key(name), _, ..]) => {
            metadata == "metadata" && (name == ".zattrs" || name.ends_with("/.zattrs"))
        }
        ("zarr.json", [Key(attributes), _, ..]) if attributes == "attributes" => true,
        ("zarr.json", [Key(consolidated), Key(metadata), Key(_), node @ ..]) => {
            consolidated == "consolidated_metadata" && metadata == "metadata" && in_attributes(document, node)
        }
        _ => false,
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

    fn visit_str<E: serde::de::Error>(self, value: &str) -> std::result::Result<Value, E> {
        self.0.text(value.to_owned())
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> std::result::Result<Value, E> {
        self.0.text(value)
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value, A::Error> {
        let mut out = Vec::new();
        self.0.enter(Step::Index(0))?;
        while let Some(item) = items.next_element_seed(self)? {
            out.push(item);
            if let Some(Step::Index(index)) = self.0.at.borrow_mut().last_mut() {
                *index = out.len();
            }
        }
        self.0.leave();
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.0.key()?;
            self.0.enter(Step::Key(key.clone()))?;
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
