//! What a codec is told about the chunks it will see, and how a codec is named in metadata.

use serde_json::{Map, Value};
use tessarray_buffer::{DataType, Dims};

/// The shape, type and fill value of the (decoded) chunks at one stage of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkSpec {
    /// Elements along each axis.
    pub shape: Dims,
    /// The type of an element.
    pub data_type: DataType,
    /// One element's bytes in memory order; for variable-length types the element's own bytes, of any length.
    pub fill: Box<[u8]>,
}

impl Default for ChunkSpec {
    /// A chunk of rank 0 holding one byte.
    fn default() -> Self {
        Self { shape: Dims::new(), data_type: DataType::UInt8, fill: Box::new([0]) }
    }
}

impl ChunkSpec {
    /// Elements of one chunk. The metadata layer has checked that this and [`byte_len`](Self::byte_len) fit.
    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1u64, |product, &n| product.saturating_mul(n)).try_into().unwrap_or(usize::MAX)
    }

    /// Bytes of one decoded chunk in memory (16 an element for variable-length types).
    pub fn byte_len(&self) -> usize {
        self.elements().saturating_mul(self.data_type.size())
    }
}

/// A codec as metadata names it: `{"name": ..., "configuration": {...}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedConfig {
    /// The name in the registry.
    pub name: String,
    /// The settings by their names.
    pub configuration: Map<String, Value>,
    /// `false` only if the metadata says so: the extension may then be ignored.
    pub must_understand: bool,
    /// Whether settings that only the encoder needs are refused where they are wrong, as for a new array. Data that are
    /// there are read with the nearest value that the codec has, as its library does.
    pub strict: bool,
}

impl NamedConfig {
    /// A configuration without settings.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), configuration: Map::new(), must_understand: true, strict: false }
    }

    /// The same configuration for an array that is to be made: see [`strict`](Self::strict).
    pub fn for_new(&self) -> Self {
        Self { strict: true, ..self.clone() }
    }

    /// Adds a setting.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.configuration.insert(key.into(), value.into());
        self
    }

    /// Reads the Zarr v3 JSON form: an object, or a bare name where there are no settings.
    ///
    /// # Errors
    /// `(path, expected)` of what is wrong, the path relative to `value`.
    pub fn from_json(value: &Value) -> Result<Self, (String, &'static str)> {
        if let Value::String(name) = value {
            return Ok(Self::new(name.clone()));
        }
        let Value::Object(members) = value else { return Err((String::new(), "an object or a name")) };
        let mut out = match members.get("name") {
            Some(Value::String(name)) if !name.is_empty() => Self::new(name.clone()),
            _ => return Err((".name".into(), "a string")),
        };
        for (key, member) in members {
            match (key.as_str(), member) {
                ("name", _) => {}
                ("configuration", Value::Object(settings)) => out.configuration = settings.clone(),
                ("configuration", _) => return Err((".configuration".into(), "an object")),
                ("must_understand", Value::Bool(flag)) => out.must_understand = *flag,
                ("must_understand", _) => return Err((".must_understand".into(), "true or false")),
                _ => return Err((format!(".{key}"), "no other member")),
            }
        }
        Ok(out)
    }

    /// The Zarr v3 JSON form.
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), self.name.clone().into());
        // zarr-python wants the member of numcodecs' codecs even where it is empty.
        if !self.configuration.is_empty() || self.name.starts_with("numcodecs.") {
            out.insert("configuration".into(), Value::Object(self.configuration.clone()));
        }
        if !self.must_understand {
            out.insert("must_understand".into(), false.into());
        }
        Value::Object(out)
    }
}
