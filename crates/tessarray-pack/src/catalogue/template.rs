//! A metadata document split into what many arrays share and what is each one's own.
//!
//! `{"zarr_format": 3, ..., "shape": [7], "attributes": {"id": 1}}` becomes a template, in which a control character
//! that JSON text cannot hold stands for the shape and another for the attributes, and the two texts. Putting them
//! back gives the same bytes. A fleet of arrays that differ in shape has one template.

use std::sync::Arc;

const SHAPE: char = '\u{1}';
const ATTRIBUTES: char = '\u{2}';

/// A document in its three parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// The document, with marks for the other two.
    pub template: Arc<str>,
    /// The value of the top-level `shape`, where it is an array.
    pub shape: Option<Box<str>>,
    /// The value of the top-level `attributes`, where it is an object.
    pub attributes: Option<Box<str>>,
}

impl Text {
    /// Splits a document; `None` for bytes that are not text, or that have the marks in them.
    pub(crate) fn split(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        if text.contains([SHAPE, ATTRIBUTES]) {
            return None;
        }
        let members = Members::of(text);
        let mut template = String::with_capacity(text.len());
        let mut at = 0;
        let mut holes = [(members.shape.clone(), SHAPE), (members.attributes.clone(), ATTRIBUTES)];
        holes.sort_by_key(|(span, _)| span.as_ref().map_or(usize::MAX, |span| span.start));
        for (span, mark) in holes {
            if let Some(span) = span {
                template.push_str(&text[at..span.start]);
                template.push(mark);
                at = span.end;
            }
        }
        template.push_str(&text[at..]);
        let part = |span: Option<std::ops::Range<usize>>| span.map(|span| Box::from(&text[span]));
        Some(Self {
            template: template.into(),
            shape: part(members.shape),
            attributes: part(members.attributes),
        })
    }

    /// The document.
    pub(crate) fn join(&self) -> Vec<u8> {
        join(&self.template, self.shape.as_deref(), self.attributes.as_deref())
    }
}

/// The document of the three parts.
pub(crate) fn join(template: &str, shape: Option<&str>, attributes: Option<&str>) -> Vec<u8> {
    let own = shape.map_or(0, str::len) + attributes.map_or(0, str::len);
    let mut out = Vec::with_capacity(template.len() + own);
    for piece in template.split_inclusive([SHAPE, ATTRIBUTES]) {
        let (text, part) = match piece.chars().next_back() {
            Some(SHAPE) => (&piece[..piece.len() - 1], shape),
            Some(ATTRIBUTES) => (&piece[..piece.len() - 1], attributes),
            _ => (piece, None),
        };
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(part.unwrap_or_default().as_bytes());
    }
    out
}

/// Where the two values lie in a document.
#[derive(Default)]
struct Members {
    shape: Option<std::ops::Range<usize>>,
    attributes: Option<std::ops::Range<usize>>,
}

impl Members {
    /// Walks the text once. What is no JSON gives spans that are none, or lie somewhere: joining undoes any of them.
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut found = Self::default();
        let mut depth = 0usize;
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    let end = string_end(bytes, at);
                    if depth == 1
                        && let Some(value) = value_after(bytes, end)
                    {
                        let name = &bytes[at + 1..end.saturating_sub(1).max(at + 1)];
                        let slot = match (name, bytes[value]) {
                            (b"shape", b'[') => Some(&mut found.shape),
                            (b"attributes", b'{') => Some(&mut found.attributes),
                            _ => None,
                        };
                        if let Some(slot) = slot
                            && slot.is_none()
                            && let Some(stop) = nested_end(bytes, value)
                        {
                            *slot = Some(value..stop);
                            at = stop;
                            continue;
                        }
                    }
                    at = end;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        found
    }
}

/// The end of the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            b'"' => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

/// Where the value begins, if `at` is behind a member's name.
fn value_after(bytes: &[u8], at: usize) -> Option<usize> {
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let colon = skip(at);
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let value = skip(colon + 1);
    (value < bytes.len()).then_some(value)
}

/// The end of the object or array that begins at `at`.
fn nested_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut end = at;
    while end < bytes.len() {
        match bytes[end] {
            b'"' => {
                end = string_end(bytes, end);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(end + 1);
                }
            }
            _ => {}
        }
        end += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_differ_in_shape_and_attributes_share_a_template() {
        let document = |shape: &str, attributes: &str| {
            format!(
                "{{\n  \"zarr_format\": 3,\n  \"shape\": {shape},\n  \"x\": {{\"shape\": [9]}},\n  \"attributes\": {attributes}\n}}"
            )
        };
        let one = Text::split(document("[1, 2]", "{}").as_bytes()).unwrap();
        let two = Text::split(document("[]", r#"{"a": "}\"]", "shape": [1]}"#).as_bytes()).unwrap();
        assert_eq!(one.template, two.template);
        assert_eq!((one.shape.as_deref(), one.attributes.as_deref()), (Some("[1, 2]"), Some("{}")));
        assert_eq!(two.join(), document("[]", r#"{"a": "}\"]", "shape": [1]}"#).as_bytes());
    }

    #[test]
    fn splitting_any_bytes_and_joining_gives_them_back() {
        let text = r#"(\{|\}|\[|\]|"shape"|"attributes"|:|,| |\\|"|[a-z0-9\u{1}\u{2}é]|\n){0,40}"#;
        proptest::proptest!(|(text in text)| {
            if let Some(split) = Text::split(text.as_bytes()) {
                assert_eq!(split.join(), text.as_bytes());
            }
        });
        assert_eq!(Text::split(b"\xff"), None);
    }
}
