//! Kinds of arrays: what is made out of a metadata document once, however many arrays have one like it.

use super::array::{ArrayKind, Layout, PackedArray};
use crate::catalogue::{Text, join};
use crate::names::{V2_ARRAY, V3};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use tessarray_buffer::Dims;
use tessarray_codec::sharding::Sharding;
use tessarray_codec::{Chain, ChunkSpec, Registry};
use tessarray_meta::{ArrayMetadata, Limits};

/// Whether a document is of Zarr v3, and its text without what is the array's own.
type Template = (bool, Arc<str>);

/// Kinds of arrays by the template of their documents: a fleet has few, and each is made out once.
#[derive(Debug)]
pub(crate) struct Layouts {
    registry: Arc<Registry>,
    known: RwLock<HashMap<Template, Arc<ArrayKind>>>,
    /// Some of them, to be found by where their text lies: quicker than to hash it.
    recent: RwLock<Vec<Recent>>,
}

/// A kind, and shapes of it that were met.
#[derive(Debug)]
struct Recent {
    template: Template,
    kind: Arc<ArrayKind>,
    shapes: RwLock<HashMap<Box<str>, Arc<Layout>, RandomState>>,
}

/// Shapes of a kind that are remembered.
const SHAPES: usize = 1024;

/// Templates that are remembered.
const TEMPLATES: usize = 4096;
/// Templates that are compared before one is looked up.
const RECENT: usize = 16;

impl Layouts {
    pub(crate) fn new(registry: Arc<Registry>) -> Self {
        Self { registry, known: RwLock::default(), recent: RwLock::default() }
    }

    /// From a metadata document; `None` where it is no array's that this release can read.
    pub(crate) fn parse(&self, name: &str, document: &[u8], id: u64) -> Option<PackedArray> {
        let text = Text::split(document)?;
        self.array(name, &text.template, text.shape.as_deref(), id)
    }

    /// The same, from a document in its parts.
    pub(crate) fn array(
        &self,
        name: &str,
        template: &Arc<str>,
        shape: Option<&str>,
        id: u64,
    ) -> Option<PackedArray> {
        if name != V3 && name != V2_ARRAY {
            return None;
        }
        let layout = match self.recent(name == V3, template, shape?) {
            Some(layout) => layout?,
            None => Arc::new(Layout::new(self.known(name, template, shape)?, shape?)?),
        };
        Some(PackedArray { id, layout, row: None })
    }

    /// The layout, if the kind is one of the recent; which may have no such shape.
    #[allow(clippy::option_option, reason = "the outer one is whether the kind is known")]
    fn recent(&self, v3: bool, template: &Arc<str>, shape: &str) -> Option<Option<Arc<Layout>>> {
        let all = self.recent.read().unwrap_or_else(PoisonError::into_inner);
        let same = |recent: &&Recent| recent.template.0 == v3 && Arc::ptr_eq(&recent.template.1, template);
        let recent = all.iter().find(same)?;
        let known = recent.shapes.read().unwrap_or_else(PoisonError::into_inner).get(shape).cloned();
        if known.is_some() {
            return Some(known);
        }
        let layout = Layout::new(Arc::clone(&recent.kind), shape).map(Arc::new);
        if let Some(layout) = &layout {
            let mut shapes = recent.shapes.write().unwrap_or_else(PoisonError::into_inner);
            if shapes.len() >= SHAPES {
                shapes.clear();
            }
            shapes.insert(shape.into(), Arc::clone(layout));
        }
        Some(layout)
    }

    fn known(&self, name: &str, template: &Arc<str>, shape: Option<&str>) -> Option<Arc<ArrayKind>> {
        let key = (name == V3, Arc::clone(template));
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let kind = match known {
            Some(kind) => kind,
            None => {
                let kind = Arc::new(self.kind(name, template, shape)?);
                let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                if known.len() >= TEMPLATES {
                    known.clear();
                }
                known.insert(key.clone(), Arc::clone(&kind));
                kind
            }
        };
        let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
        if recent.len() >= RECENT {
            recent.clear();
        }
        recent.push(Recent { template: key, kind: Arc::clone(&kind), shapes: RwLock::default() });
        Some(kind)
    }

    fn kind(&self, name: &str, template: &str, shape: Option<&str>) -> Option<ArrayKind> {
        let limits = Limits::default();
        let document = join(template, shape, Some("{}"));
        let metadata = if name == V3 {
            ArrayMetadata::from_v3(&document, &limits).ok()?
        } else {
            ArrayMetadata::from_v2(&document, None, &limits).ok()?
        };
        Some(ArrayKind {
            rank: metadata.shape.len(),
            encoding: metadata.key_encoding,
            sharding: sharding(&metadata, &self.registry),
            grid: metadata.chunk_grid,
        })
    }
}

fn sharding(metadata: &ArrayMetadata, registry: &Registry) -> Option<Arc<Sharding>> {
    if metadata.codecs.first()?.name != "sharding_indexed" {
        return None;
    }
    // Shards of unequal lengths hold unequal numbers of inner chunks: they are kept whole, as chunks are.
    let spec = ChunkSpec {
        shape: Dims::from_slice(metadata.chunk_grid.regular()?),
        data_type: metadata.data_type.clone(),
        fill: metadata.fill_value.clone(),
    };
    Chain::build(registry, &metadata.codecs, spec).ok()?.addressable_sharding().cloned()
}
