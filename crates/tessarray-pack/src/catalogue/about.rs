//! What documents say, as columns for those who query the catalogue.

use super::row::{Row, Value};
use crate::names::{V2_ARRAY, V2_GROUP, V3, is_document};
use std::collections::HashMap;
use std::sync::Arc;

/// What a document says, for those who query the catalogue.
pub(super) struct About {
    pub kind: String,
    pub dtype: Option<String>,
    pub codecs: Option<String>,
}

impl About {
    /// For each row; a template is looked at once.
    pub(super) fn of(rows: &[Row]) -> Vec<Option<Arc<Self>>> {
        let mut known: HashMap<(&str, &str), Option<Arc<Self>>> = HashMap::new();
        let say = |row: &'_ Row| match &row.value {
            Some(Value::Text(text)) if is_document(&row.name) => {
                Self::say(&row.name, &text.join()).map(Arc::new)
            }
            _ => None,
        };
        let mut said = Vec::with_capacity(rows.len());
        for row in rows {
            let template = match &row.value {
                Some(Value::Text(text)) => &*text.template,
                _ => "",
            };
            said.push(known.entry((&row.name, template)).or_insert_with(|| say(row)).clone());
        }
        said
    }

    fn say(name: &str, document: &[u8]) -> Option<Self> {
        let json: serde_json::Value = serde_json::from_slice(document).ok()?;
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let member = |name: &str| json.get(name).map(text);
        match name {
            V3 => Some(Self {
                kind: member("node_type")?,
                dtype: member("data_type"),
                codecs: member("codecs"),
            }),
            V2_ARRAY => {
                Some(Self { kind: "array".into(), dtype: member("dtype"), codecs: member("compressor") })
            }
            V2_GROUP => Some(Self { kind: "group".into(), dtype: None, codecs: None }),
            _ => None,
        }
    }
}
