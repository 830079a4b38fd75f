//! NaN and the infinities in attributes, which JSON does not have.
//!
//! A [`Value`] cannot hold them, so one of three reserved texts stands for them in memory. A document whose own strings
//! are such a text is refused.
//!
//! *Written* are texts that every reader accepts (`"missing_value": "NaN"`), and a list of the places where a text
//! stands for a number, as JSON pointers into the attributes (RFC 6901). Version 3 has the list in a member that readers
//! may ignore, `"tessarray": {"must_understand": false, "non_finite": ["/missing_value"]}`; version 2 has it among the
//! attributes, as [`MARK_V2`]. A place that holds any other value by now (somebody changed it) counts for nothing.
//!
//! *Read* are such documents, and those with bare words (`"missing_value": NaN`), which Python's `json` writes:
//!
//! 1. Before a document is parsed, each bare word in it is overlaid by `""` and spaces, so that places stay the same.
//! 2. The parser walks the original's strings and words along with its own, and so knows which strings were words:
//!    inside attributes they become one of the reserved texts, anywhere else they are an error.

use crate::error::{MetaError, Result};
use crate::path::Path;
use serde_json::{Map, Number, Value, json};
use std::fmt::Write;

/// The member of a version 3 document that readers may ignore.
pub(crate) const MARK_V3: &str = "tessarray";
/// Its member with the list of places.
const PLACES: &str = "non_finite";
/// The attribute of a version 2 document; xarray hides every attribute that begins with `_nc`.
pub(crate) const MARK_V2: &str = "_nc_tessarray_non_finite";

/// The words, and the texts that stand for them in a [`Value`]: the first character is one for private use.
const WORDS: [(&str, &str); 3] = [
    ("NaN", "\u{f8ff}tessarray:NaN"),
    ("Infinity", "\u{f8ff}tessarray:Infinity"),
    ("-Infinity", "\u{f8ff}tessarray:-Infinity"),
];

/// What errors say of a word where JSON must be strict.
pub(crate) const REASON: &str = "NaN and Infinity are no JSON numbers (they are written as strings)";

/// The number that this attribute value stands for, where it is NaN or an infinity; `None` for every other value.
///
/// A [`Value`] cannot hold these numbers, so in attributes that were read a reserved string stands for them. Use this
/// before showing a string from attributes to the user, and to refuse the user's own strings that it takes for
/// numbers.
///
/// ```
/// use tessarray_meta::{GroupMetadata, Limits, non_finite, non_finite_value};
///
/// let zattrs = br#"{"missing_value": NaN, "valid_max": Infinity, "title": "NaN"}"#;
/// let mut group = GroupMetadata::from_v2(br#"{"zarr_format": 2}"#, Some(zattrs), &Limits::default())?;
/// assert!(non_finite(&group.attributes["missing_value"]).is_some_and(f64::is_nan));
/// assert_eq!(non_finite(&group.attributes["valid_max"]), Some(f64::INFINITY));
/// assert_eq!(non_finite(&group.attributes["title"]), None);
///
/// group.attributes.insert("valid_min".into(), non_finite_value(f64::NEG_INFINITY));
/// let (_, zattrs) = group.to_v2();
/// assert!(String::from_utf8_lossy(&zattrs).contains(r#""valid_min": "-Infinity""#));
/// # Ok::<(), tessarray_meta::MetaError>(())
/// ```
pub fn non_finite(value: &Value) -> Option<f64> {
    match word(value.as_str()?)? {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        _ => Some(f64::NEG_INFINITY),
    }
}

/// This number as an attribute value: NaN and the infinities by what [`non_finite`] reads; every other as a JSON
/// number. All NaN are one. Documents have the texts `"NaN"`, `"Infinity"` and `"-Infinity"`, and a list of their places.
pub fn non_finite_value(number: f64) -> Value {
    let index = match Number::from_f64(number) {
        Some(number) => return Value::Number(number),
        None if number.is_nan() => 0,
        None if number > 0.0 => 1,
        None => 2,
    };
    WORDS[index].1.into()
}

/// The word that a reserved text stands for.
pub(crate) fn word(text: &str) -> Option<&'static str> {
    WORDS.iter().find(|(_, reserved)| *reserved == text).map(|(word, _)| *word)
}

/// The places of numbers that JSON lacks, as JSON pointers; none where there are none.
fn places(attributes: &Map<String, Value>) -> Vec<Value> {
    fn members(members: &Map<String, Value>, place: &mut String, found: &mut Vec<Value>) {
        let length = place.len();
        for (key, value) in members {
            place.push('/');
            place.push_str(&key.replace('~', "~0").replace('/', "~1"));
            walk(value, place, found);
            place.truncate(length);
        }
    }
    fn walk(value: &Value, place: &mut String, found: &mut Vec<Value>) {
        let length = place.len();
        match value {
            Value::Object(inner) => members(inner, place, found),
            Value::Array(items) => items.iter().enumerate().for_each(|(i, value)| {
                // Writing to a string cannot fail.
                let _ = write!(place, "/{i}");
                walk(value, place, found);
                place.truncate(length);
            }),
            scalar if non_finite(scalar).is_some() => found.push(place.as_str().into()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    members(attributes, &mut String::new(), &mut found);
    found
}

/// Notes the places in a version 3 document that is about to be written.
pub(crate) fn mark_v3(attributes: &Map<String, Value>, document: &mut Map<String, Value>) {
    let places = places(attributes);
    if places.is_empty() {
        return;
    }
    let mark = document.entry(MARK_V3).or_insert_with(|| json!({"must_understand": false}));
    if let Value::Object(mark) = mark {
        mark.insert(PLACES.into(), places.into());
    }
}

/// Takes the note out of the members of a version 3 document that were not used, and applies it.
pub(crate) fn unmark_v3(attributes: &mut Map<String, Value>, extra: &mut Map<String, Value>) {
    let Some(Value::Object(mark)) = extra.get_mut(MARK_V3) else { return };
    let places = mark.shift_remove(PLACES);
    if mark.keys().all(|key| key == "must_understand") {
        extra.shift_remove(MARK_V3);
    }
    places.iter().for_each(|places| apply(attributes, places));
}

/// Attributes as text, with bare words where a list of places says that a text stands for a number; `None` where nothing
/// changes. The list is in the attributes themselves (version 2), or in `document` (version 3), which may be that of
/// another node, if both differ in shape and attributes only. For those who have a document in parts, and a reader of
/// JSON that knows bare words.
pub fn attributes_with_words(attributes: &str, document: &[u8]) -> Option<String> {
    let marked = |text: &[u8]| text.windows(PLACES.len()).any(|window| window == PLACES.as_bytes());
    if !marked(document) && !marked(attributes.as_bytes()) {
        return None;
    }
    let mut found = unmark_v2(serde_json::from_str(attributes).ok()?);
    if let Ok(mut members) = serde_json::from_slice(document) {
        unmark_v3(&mut found, &mut members);
    }
    let mut out = String::new();
    write_as(&Value::Object(found), 0, &mut out, false);
    Some(out)
}

/// Attributes as a version 2 document has them.
pub(crate) fn mark_v2(mut attributes: Map<String, Value>) -> Map<String, Value> {
    let places = places(&attributes);
    if !places.is_empty() {
        attributes.insert(MARK_V2.into(), places.into());
    }
    attributes
}

/// The reverse.
pub(crate) fn unmark_v2(mut attributes: Map<String, Value>) -> Map<String, Value> {
    if let Some(places) = attributes.shift_remove(MARK_V2) {
        apply(&mut attributes, &places);
    }
    attributes
}

/// Makes numbers of the words at these places.
fn apply(attributes: &mut Map<String, Value>, places: &Value) {
    let mut whole = Value::Object(std::mem::take(attributes));
    for place in places.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let Some(value) = whole.pointer_mut(place) else { continue };
        if let Some((_, reserved)) = WORDS.iter().find(|(word, _)| value.as_str() == Some(word)) {
            *value = (*reserved).into();
        }
    }
    if let Value::Object(members) = whole {
        *attributes = members;
    }
}

/// A string of the document, or a bare word.
pub(crate) enum Token {
    Text,
    /// With its reserved text, and where it is in the document's bytes.
    Word {
        reserved: &'static str,
        place: usize,
        length: usize,
    },
}

/// The strings and bare words of a document, in order. In text that is no JSON, up to the place where that shows.
pub(crate) struct Tokens<'d> {
    document: &'d [u8],
    at: usize,
}

impl<'d> Tokens<'d> {
    /// Those of a document.
    pub fn new(document: &'d [u8]) -> Self {
        Self { document, at: 0 }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = self.document.get(self.at..)?;
            match rest.first()? {
                b'"' => {
                    self.at += string_length(rest);
                    return Some(Token::Text);
                }
                b'N' | b'I' | b'-' => {
                    let found = WORDS.iter().find(|(word, _)| rest.starts_with(word.as_bytes()));
                    if let Some((word, reserved)) = found {
                        let (place, length) = (self.at, word.len());
                        self.at += length;
                        return Some(Token::Word { reserved, place, length });
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// Bytes of the string that starts here, quotes included.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The document with `""` in place of each bare word; `None` where there is none.
pub(crate) fn overlaid(document: &[u8]) -> Option<Vec<u8>> {
    let mut out: Option<Vec<u8>> = None;
    for token in Tokens::new(document) {
        if let Token::Word { place, length, .. } = token {
            let out = out.get_or_insert_with(|| document.to_vec());
            if let Some(word) = out.get_mut(place..place + length) {
                word.fill(b' ');
                word.iter_mut().take(2).for_each(|byte| *byte = b'"');
            }
        }
    }
    out
}

/// Refuses the reserved texts in metadata that was built in code, where it has no attributes.
pub(crate) fn refuse_in(members: &Map<String, Value>, path: &Path<'_>) -> Result<()> {
    members.iter().try_for_each(|(key, value)| refuse(value, &path.key(key)))
}

pub(crate) fn refuse(value: &Value, path: &Path<'_>) -> Result<()> {
    match value {
        Value::Object(members) => refuse_in(members, path),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(i, item)| refuse(item, &path.index(i)))
        }
        scalar if non_finite(scalar).is_some() => {
            Err(MetaError::Json { path: path.to_string(), reason: REASON.into() })
        }
        _ => Ok(()),
    }
}

/// Writes JSON with two-space indentation, and the reserved texts as the words they stand for, in quotes.
pub(crate) fn write(value: &Value, indent: usize, out: &mut String) {
    write_as(value, indent, out, true);
}

fn write_as(value: &Value, indent: usize, out: &mut String, quoted: bool) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                new_line(i > 0, indent + 1, out);
                write_as(item, indent + 1, out, quoted);
            }
            new_line(false, indent, out);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                new_line(i > 0, indent + 1, out);
                // Writing to a string cannot fail; and a key is never a number.
                let _ = write!(out, "{}: ", Value::from(key.as_str()));
                write_as(value, indent + 1, out, quoted);
            }
            new_line(false, indent, out);
            out.push('}');
        }
        scalar => match scalar.as_str().and_then(word) {
            Some(word) if quoted => drop(write!(out, "\"{word}\"")),
            Some(word) => out.push_str(word),
            None => drop(write!(out, "{scalar}")),
        },
    }
}

fn new_line(comma: bool, indent: usize, out: &mut String) {
    out.push_str(if comma { ",\n" } else { "\n" });
    (0..indent).for_each(|_| out.push_str("  "));
}
