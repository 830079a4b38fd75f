//! From names in metadata to the code behind them.

use crate::{ArrayCodec, BytesCodec, ChunkSpec, CodecError, NamedConfig, Result, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A built codec of any kind.
#[derive(Debug, Clone)]
pub enum AnyCodec {
    /// Array to array.
    Array(Arc<dyn ArrayCodec>),
    /// Array to bytes.
    Serializer(Arc<dyn Serializer>),
    /// Bytes to bytes.
    Bytes(Arc<dyn BytesCodec>),
}

/// Builds a codec from its settings, for chunks of this spec (as they are at that stage of the chain).
pub type BuildFn = dyn Fn(&NamedConfig, &ChunkSpec) -> Result<AnyCodec> + Send + Sync;

/// Names of codecs, and how to build them. Metadata can only name what is registered here.
#[derive(Clone)]
pub struct Registry {
    builders: BTreeMap<String, Arc<BuildFn>>,
}

/// Names that decode by running code found in the data.
const FORBIDDEN: [&str; 1] = ["pickle"];

impl Registry {
    /// No codecs at all.
    pub fn empty() -> Self {
        Self { builders: BTreeMap::new() }
    }

    /// Adds a codec under a name; an existing one of that name is replaced, in this registry only.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        build: impl Fn(&NamedConfig, &ChunkSpec) -> Result<AnyCodec> + Send + Sync + 'static,
    ) {
        self.builders.insert(name.into(), Arc::new(build));
    }

    /// Builds the codec that `config` names, for chunks of `spec`.
    ///
    /// # Errors
    /// [`CodecError::Unknown`] with the nearest names, [`CodecError::Forbidden`] for codecs that run code of the data, and
    /// the codec's own refusal of its settings or of the data type.
    ///
    /// # Examples
    /// ```
    /// use tessarray_codec::{AnyCodec, ChunkSpec, NamedConfig, Registry};
    ///
    /// let zstd = NamedConfig::new("zstd").with("level", 3);
    /// let codec = Registry::new().build(&zstd, &ChunkSpec::default())?;
    /// assert!(matches!(codec, AnyCodec::Bytes(_)));
    /// # Ok::<(), tessarray_codec::CodecError>(())
    /// ```
    pub fn build(&self, config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
        let plain = config.name.strip_prefix("numcodecs.").unwrap_or(&config.name);
        if FORBIDDEN.contains(&plain) {
            return Err(CodecError::Forbidden { name: config.name.clone() });
        }
        match self.builders.get(&config.name) {
            Some(build) => build(config, spec),
            None => Err(CodecError::Unknown { name: config.name.clone(), known: self.nearest(&config.name) }),
        }
    }

    /// Up to three names that are spelt alike, in words; those of numcodecs count without their prefix.
    fn nearest(&self, name: &str) -> String {
        let plain = |name: &str| name.trim_start_matches("numcodecs.").to_ascii_lowercase();
        let wanted = plain(name);
        let mut near: Vec<(f64, &str)> = self
            .names()
            .map(|known| (strsim::jaro_winkler(&wanted, &plain(known)), known))
            .filter(|(likeness, known)| *likeness > 0.8 && !known.starts_with("numcodecs."))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        match near.iter().take(3).map(|(_, known)| format!("{known:?}")).collect::<Vec<_>>() {
            near if near.is_empty() => {
                format!("none of the {} that are registered is like it", self.builders.len())
            }
            near => format!("nearest are {}", near.join(", ")),
        }
    }

    /// The registered names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.builders.keys().map(String::as_str)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Adds one codec under all of its names.
pub(crate) fn register_all(
    registry: &mut Registry,
    names: &[&str],
    build: fn(&NamedConfig, &ChunkSpec) -> Result<AnyCodec>,
) {
    for &name in names {
        registry.register(name, build);
    }
}
