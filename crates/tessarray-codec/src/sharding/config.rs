//! The settings of `sharding_indexed` as metadata holds them.

use super::bad;
use crate::{NamedConfig, Result};
use serde_json::Value;

/// Where the index stands in the shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexLocation {
    /// Before the inner chunks.
    Start,
    /// After them, as is usual.
    End,
}

/// The settings of `sharding_indexed`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardingConfig {
    /// Elements of an inner chunk along each axis.
    pub chunk_shape: Vec<u64>,
    /// The codecs of the inner chunks.
    pub codecs: Vec<NamedConfig>,
    /// The codecs of the index.
    pub index_codecs: Vec<NamedConfig>,
    /// Where the index stands in the shard.
    pub index_location: IndexLocation,
}

impl ShardingConfig {
    /// Inner chunks of this shape with these codecs; the index little-endian with crc32c, at the end.
    pub fn new(chunk_shape: &[u64], codecs: Vec<NamedConfig>) -> Self {
        let bytes = NamedConfig::new("bytes").with("endian", "little");
        Self {
            chunk_shape: chunk_shape.to_vec(),
            codecs,
            index_codecs: vec![bytes, NamedConfig::new("crc32c")],
            index_location: IndexLocation::End,
        }
    }

    /// Reads the settings from metadata.
    ///
    /// # Errors
    /// Names the setting that is missing or wrong.
    pub fn from_config(config: &NamedConfig) -> Result<Self> {
        let settings = &config.configuration;
        if let Some(key) = settings
            .keys()
            .find(|key| !matches!(key.as_str(), "chunk_shape" | "codecs" | "index_codecs" | "index_location"))
        {
            return Err(bad(format!("unknown setting {key:?}")));
        }
        let chunk_shape = match settings.get("chunk_shape") {
            Some(Value::Array(list)) => list
                .iter()
                .map(|n| n.as_u64().filter(|&n| n > 0))
                .collect::<Option<Vec<u64>>>()
                .ok_or_else(|| bad("chunk_shape: expected positive integers".into()))?,
            _ => return Err(bad("chunk_shape: expected a list of positive integers".into())),
        };
        let index_location = match settings.get("index_location") {
            None => IndexLocation::End,
            Some(Value::String(text)) if text == "end" => IndexLocation::End,
            Some(Value::String(text)) if text == "start" => IndexLocation::Start,
            Some(other) => {
                return Err(bad(format!("index_location: expected \"start\" or \"end\", found {other}")));
            }
        };
        Ok(Self {
            chunk_shape,
            codecs: codecs(settings.get("codecs"), "codecs")?,
            index_codecs: codecs(settings.get("index_codecs"), "index_codecs")?,
            index_location,
        })
    }

    /// The settings as metadata.
    pub fn to_config(&self) -> NamedConfig {
        let list = |codecs: &[NamedConfig]| Value::Array(codecs.iter().map(NamedConfig::to_json).collect());
        let location = if self.index_location == IndexLocation::Start { "start" } else { "end" };
        NamedConfig::new("sharding_indexed")
            .with("chunk_shape", self.chunk_shape.clone())
            .with("codecs", list(&self.codecs))
            .with("index_codecs", list(&self.index_codecs))
            .with("index_location", location)
    }
}

fn codecs(value: Option<&Value>, setting: &str) -> Result<Vec<NamedConfig>> {
    let Some(Value::Array(list)) = value else {
        return Err(bad(format!("{setting}: expected a list of codecs")));
    };
    let read = |(i, value)| {
        NamedConfig::from_json(value).map_err(|(path, expected)| {
            bad(format!("{setting}[{i}]{path}: expected {expected}, found {value}"))
        })
    };
    list.iter().enumerate().map(read).collect()
}
