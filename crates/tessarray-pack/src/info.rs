//! What a pack must know of an array to cut its objects into chunks: enough to read keys, and shard indexes.

use crate::catalogue::{Text, join};
use crate::numbering::Numbering;
use crate::snapshot::Place;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use tessarray_buffer::Dims;
use tessarray_codec::sharding::{ShardAssembly, ShardIndex, Sharding};
use tessarray_codec::{Chain, ChunkSpec, Registry, Scratch};
use tessarray_meta::{ArrayMetadata, ChunkGrid, KeyEncoding, Limits};

/// Names of the documents that make a node.
pub(crate) const V3: &str = "zarr.json";
pub(crate) const V2_ARRAY: &str = ".zarray";
const DOCUMENTS: [&str; 5] = [V3, V2_ARRAY, ".zgroup", ".zattrs", ".zmetadata"];

/// Whether a key ends in the name of a metadata document.
pub(crate) fn is_document(name: &str) -> bool {
    DOCUMENTS.contains(&name)
}

/// What arrays have in common whose documents differ in shape and attributes only.
#[derive(Debug)]
struct Kind {
    rank: usize,
    encoding: KeyEncoding,
    sharding: Option<Arc<Sharding>>,
    /// How it is cut into objects.
    grid: ChunkGrid,
}

/// What arrays of one kind and one shape have in common.
#[derive(Debug)]
pub(crate) struct Layout {
    kind: Arc<Kind>,
    numbering: Numbering,
    text: Arc<str>,
    shape: Vec<u64>,
}

/// An array as the pack sees it.
#[derive(Debug)]
pub(crate) struct Info {
    /// The array's own number.
    pub id: u64,
    layout: Arc<Layout>,
    /// The row of its document, where it was found in one: the rows of its chunks are near.
    pub row: Option<Place>,
}

/// Whether a document is of Zarr v3, and its text without what is the array's own.
type Template = (bool, Arc<str>);

/// Kinds of arrays by the template of their documents: a fleet has few, and each is made out once.
#[derive(Debug)]
pub(crate) struct Layouts {
    registry: Arc<Registry>,
    known: RwLock<HashMap<Template, Arc<Kind>>>,
    /// Some of them, to be found by where their text lies: quicker than to hash it.
    recent: RwLock<Vec<Recent>>,
}

/// A kind, and shapes of it that were met.
#[derive(Debug)]
struct Recent {
    template: Template,
    kind: Arc<Kind>,
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
    pub(crate) fn parse(&self, name: &str, document: &[u8], id: u64) -> Option<Info> {
        let text = Text::split(document)?;
        self.info(name, &text.template, text.shape.as_deref(), id)
    }

    /// The same, from a document in its parts.
    pub(crate) fn info(&self, name: &str, template: &Arc<str>, shape: Option<&str>, id: u64) -> Option<Info> {
        if name != V3 && name != V2_ARRAY {
            return None;
        }
        let layout = match self.recent(name == V3, template, shape?) {
            Some(layout) => layout?,
            None => Arc::new(Layout::new(self.known(name, template, shape)?, shape?)?),
        };
        Some(Info { id, layout, row: None })
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

    fn known(&self, name: &str, template: &Arc<str>, shape: Option<&str>) -> Option<Arc<Kind>> {
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

    fn kind(&self, name: &str, template: &str, shape: Option<&str>) -> Option<Kind> {
        let limits = Limits::default();
        let document = join(template, shape, Some("{}"));
        let metadata = if name == V3 {
            ArrayMetadata::from_v3(&document, &limits).ok()?
        } else {
            ArrayMetadata::from_v2(&document, None, &limits).ok()?
        };
        Some(Kind {
            rank: metadata.shape.len(),
            encoding: metadata.key_encoding,
            sharding: sharding(&metadata, &self.registry),
            grid: metadata.chunk_grid,
        })
    }
}

impl Layout {
    fn new(kind: Arc<Kind>, shape: &str) -> Option<Self> {
        let shape: Vec<u64> = serde_json::from_str(shape).ok()?;
        if shape.len() != kind.rank {
            return None;
        }
        let grid = kind.grid.counts(&shape);
        let inner = kind.sharding.as_ref().map_or(1, |sharding| sharding.counts().iter().product());
        let numbering = Numbering::new(&grid, inner);
        Some(Self { text: numbering.to_string().into(), numbering, kind, shape })
    }
}

impl Info {
    /// The lengths of its axes.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// The coordinates in a key below the array's path.
    pub(crate) fn coordinates(&self, key: &str) -> Option<Vec<u64>> {
        self.layout.kind.encoding.decode(key, self.layout.kind.rank)
    }

    /// The key of an object, below the array's path.
    pub(crate) fn key(&self, at: &[u64]) -> String {
        self.layout.kind.encoding.encode(at)
    }

    /// How its chunks are numbered.
    pub(crate) fn numbering(&self) -> &Numbering {
        &self.layout.numbering
    }

    /// The same as text.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.layout.text
    }

    /// The sharding of its objects, where the inner chunks are what a pack stores.
    pub(crate) fn sharding(&self) -> Option<&Arc<Sharding>> {
        self.layout.kind.sharding.as_ref()
    }

    /// Where each inner chunk lies in a shard of `size` bytes, which `get` has; `None` where it is no shard of this
    /// array's.
    pub(crate) fn index<'a>(
        &self,
        size: u64,
        get: impl Fn(std::ops::Range<u64>) -> Option<&'a [u8]>,
    ) -> Option<ShardIndex> {
        let sharding = self.sharding()?;
        let (at, length) = sharding.index_span(size)?;
        sharding.parse_index(get(at..at + length)?, size, &mut Scratch::default()).ok()
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

/// A shard as it is put together from its inner chunks: one after the other in C order, and the index.
#[derive(Debug)]
pub(crate) struct ShardMap<P> {
    /// The inner chunks that are stored: number, and where the bytes are.
    pub pieces: Vec<(u64, P)>,
    /// Where each begins in the shard; one more for the end of the last.
    pub starts: Vec<u64>,
    /// The encoded index.
    pub index: Vec<u8>,
    /// Where that begins.
    pub index_at: u64,
}

impl<P> ShardMap<P> {
    /// Puts the pieces, with their lengths in bytes, one after the other.
    pub(crate) fn new(
        sharding: &Sharding,
        pieces: Vec<(u64, P)>,
        length: impl Fn(&P) -> u64,
    ) -> tessarray_codec::Result<Self> {
        let mut assembly = ShardAssembly::new(sharding)?;
        let mut starts = Vec::with_capacity(pieces.len() + 1);
        starts.extend(pieces.iter().map(|(number, piece)| assembly.push(*number, length(piece))));
        starts.push(assembly.end());
        let mut index = Vec::new();
        let index_at = assembly.finish(&mut Scratch::default(), &mut index)?;
        Ok(Self { pieces, starts, index, index_at })
    }

    /// Bytes of the whole shard.
    pub(crate) fn size(&self) -> u64 {
        let end = self.starts.last().copied().unwrap_or(0);
        end.max(self.index_at + self.index.len() as u64)
    }

    /// The pieces that lie in a range of the shard, by their places in the list.
    pub(crate) fn within(&self, begin: u64, end: u64) -> std::ops::Range<usize> {
        let pieces = self.pieces.len();
        let first = self.starts[1..].partition_point(|&stop| stop <= begin);
        let last = self.starts[..pieces].partition_point(|&start| start < end);
        first..last.max(first)
    }
}
