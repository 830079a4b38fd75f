//! Looking for damage.

use super::Array;
use super::resize::is_outside;
use crate::documents;
use crate::error::{ArrayError, Result};
use crate::execute::{child_at, with_scratch};
use crate::layout::Layout;
use tessarray_buffer::Arena;
use tessarray_codec::sharding::Sharding;
use tessarray_codec::{Chain, CodecError};
use tessarray_grid::Dims;
use tessarray_meta::{ArrayMetadata, Node};
use tessarray_store::{Key, StoreError};

/// How often an array is looked at again that others keep replacing.
const ATTEMPTS: usize = 16;

/// What kind of damage, or litter, was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// Bytes end too early.
    Truncated,
    /// A checksum does not fit.
    Checksum,
    /// Bytes that no codec wrote.
    Corrupt,
    /// A shard's index is torn or lies.
    ShardIndex,
    /// An object outside the array's grid, left by a crashed append or shrink; harmless, and cleared when needed.
    OutOfBounds,
    /// A temporary file of a writer that was killed; harmless, and used again or removed by the next writer.
    Leftover,
    /// A metadata document that is not acceptable.
    Metadata,
    /// The store could not read it.
    Unreadable,
}

impl FindingKind {
    /// The kind in one word, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Checksum => "checksum",
            Self::Corrupt => "corrupt",
            Self::ShardIndex => "shard-index",
            Self::OutOfBounds => "out-of-bounds",
            Self::Leftover => "leftover",
            Self::Metadata => "metadata",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether data are lost or cannot be read, as against litter.
    pub fn is_damage(self) -> bool {
        !matches!(self, Self::OutOfBounds | Self::Leftover)
    }
}

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The store key (or file) it is in.
    pub key: String,
    /// The innermost chunk, where it is in one.
    pub chunk: Option<Vec<u64>>,
    /// Where in the value, in bytes, as far as known.
    pub offset: Option<u64>,
    /// The same in words.
    pub message: String,
}

impl Array {
    /// Reads every stored object and reports what is wrong with it. Verifies shard indexes and checksums; with
    /// `deep`, decodes every chunk too. Memory: one object a worker.
    ///
    /// Writers may be at work: when something is found, the metadata are read again, and what has become part of the
    /// array meanwhile, or was only looked at as a part of the array that has been replaced, is no finding.
    ///
    /// # Errors
    /// A store that fails. What is wrong with the objects is in the findings.
    pub fn check(&self, deep: bool) -> Result<Vec<Finding>> {
        let mut looked = self.clone();
        for _ in 0..ATTEMPTS {
            let found = looked.check_once(deep)?;
            if found.is_empty() {
                return Ok(found);
            }
            let (store, prefix) = (&self.inner.store, &self.inner.prefix);
            let now = match documents::load(store, prefix, self.inner.session.limits())? {
                Some(Node::Array(now)) => now,
                // It was deleted, or replaced, and what was looked at is there no longer.
                _ => return Ok(Vec::new()),
            };
            let before = looked.metadata();
            let (shape, attributes) = (before.shape.clone(), before.attributes.clone());
            if (ArrayMetadata { shape, attributes, ..now.clone() }) == *before {
                return Ok(found.into_iter().filter(|finding| is_still(finding, &now)).collect());
            }
            looked = Self::from_metadata(&self.inner.session, store.clone(), &self.inner.path, now)?;
        }
        Err(ArrayError::Unstable { key: self.metadata_key()?.to_string() })
    }

    fn check_once(&self, deep: bool) -> Result<Vec<Finding>> {
        let grid = self.metadata().grid_shape();
        let stored = self.stored()?;
        let state = self.state();
        let findings = self.inner.session.collect(stored.len(), |number| {
            let (key, at, _) = &stored[number];
            self.check_object(&state.layout, &grid, key, at, deep)
        })?;
        Ok(findings.into_iter().flatten().collect())
    }

    fn check_object(
        &self,
        layout: &Layout,
        grid: &[u64],
        key: &Key,
        at: &[u64],
        deep: bool,
    ) -> Result<Vec<Finding>> {
        if is_outside(at, grid) {
            let message = format!("chunk {at:?} is outside the grid {grid:?}");
            return Ok(vec![finding(
                FindingKind::OutOfBounds,
                key.as_str(),
                Some(at.to_vec()),
                None,
                message,
            )]);
        }
        let mut found = Vec::new();
        match self.inner.store.get(key) {
            Ok(Some((bytes, _))) => {
                let layout = match layout.of(at) {
                    Ok(layout) => layout,
                    Err(error) => {
                        let (kind, message) = (classify(&error), error.to_string());
                        return Ok(vec![finding(kind, key.as_str(), Some(at.to_vec()), None, message)]);
                    }
                };
                let mut checker = Checker { key: key.as_str(), deep, found: &mut found, memory: None };
                match layout.levels.first() {
                    None => checker.chunk(layout.leaf(), &bytes, at, 0),
                    Some(sharding) => checker.shard(sharding, &bytes, (at, &layout.first_child(0, at)), 0),
                }
                if let Some(bytes) = checker.memory {
                    return Err(ArrayError::Memory { what: "check", bytes });
                }
            }
            Ok(None) => {}
            // Want of memory says nothing of what is stored.
            Err(error) if error.is_out_of_memory() => return Err(error.into()),
            Err(error) => found.push(unreadable(key.as_str(), at, &error)),
        }
        Ok(found)
    }
}

/// Whether an object that lay outside the grid lies outside that of these metadata, too.
fn is_still(finding: &Finding, now: &ArrayMetadata) -> bool {
    let outside = |at: &Vec<u64>| is_outside(at, &now.grid_shape());
    finding.kind != FindingKind::OutOfBounds || finding.chunk.as_ref().is_none_or(outside)
}

fn unreadable(key: &str, at: &[u64], error: &StoreError) -> Finding {
    finding(FindingKind::Unreadable, key, Some(at.to_vec()), None, error.to_string())
}

pub(crate) fn finding(
    kind: FindingKind,
    key: &str,
    chunk: Option<Vec<u64>>,
    offset: Option<u64>,
    message: String,
) -> Finding {
    Finding { kind, key: key.into(), chunk, offset, message }
}

/// The kind of finding that an error is.
pub(crate) fn classify(error: &ArrayError) -> FindingKind {
    match error {
        ArrayError::Metadata { .. } | ArrayError::Codec { .. } => FindingKind::Metadata,
        ArrayError::Chunk { source, .. } => kind_of(source),
        ArrayError::ShardIndex { .. } => FindingKind::ShardIndex,
        _ => FindingKind::Unreadable,
    }
}

fn kind_of(error: &CodecError) -> FindingKind {
    match error {
        CodecError::Checksum { .. } => FindingKind::Checksum,
        CodecError::Truncated { .. } => FindingKind::Truncated,
        _ => FindingKind::Corrupt,
    }
}

struct Checker<'a> {
    key: &'a str,
    deep: bool,
    found: &'a mut Vec<Finding>,
    /// Bytes for which there was no memory, so that nothing is known of what needed them.
    memory: Option<u64>,
}

impl Checker<'_> {
    /// A shard by its coordinates, and those of its first child.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "places in a shard's bytes, inside which its index was checked to lie"
    )]
    fn shard(&mut self, sharding: &Sharding, bytes: &[u8], (at, first): (&[u64], &[u64]), base: u64) {
        let size = bytes.len() as u64;
        let index = match sharding.index_span(size) {
            None => Err(CodecError::Truncated {
                codec: "sharding_indexed".into(),
                expected: sharding.index_bytes() as u64,
                found: size,
            }),
            Some((offset, length)) => {
                let encoded = &bytes[offset as usize..(offset + length) as usize];
                with_scratch(|scratch| sharding.parse_index(encoded, size, scratch))
            }
        };
        let index = match index {
            Ok(index) => index,
            Err(CodecError::Memory { bytes }) => {
                self.memory = Some(bytes);
                return;
            }
            Err(error) => return self.note(FindingKind::ShardIndex, at, base, error.to_string()),
        };
        for (number, entry) in index.entries().iter().enumerate() {
            let Some(entry) = entry else { continue };
            let child = child_at(number as u64, first, sharding.counts());
            let inside = &bytes[entry.offset as usize..(entry.offset + entry.length) as usize];
            let base = base + entry.offset;
            match sharding.inner().addressable_sharding() {
                Some(inner) => {
                    let first: Dims = child.iter().zip(inner.counts()).map(|(&at, &n)| at * n).collect();
                    self.shard(inner, inside, (&child, &first), base);
                }
                None => self.chunk(sharding.inner(), inside, &child, base),
            }
        }
    }

    fn chunk(&mut self, chain: &Chain, bytes: &[u8], at: &[u64], base: u64) {
        let result = with_scratch(|scratch| {
            if !self.deep {
                return chain.verify(bytes);
            }
            let mut chunk = scratch.sized(chain.stored_spec().byte_len())?;
            let result = chain.decode(bytes, &mut chunk, &Arena::new(), scratch);
            scratch.give(chunk);
            result
        });
        match result {
            Ok(()) => {}
            Err(CodecError::Memory { bytes }) => self.memory = Some(bytes),
            Err(error) => self.note(kind_of(&error), at, base, error.to_string()),
        }
    }

    fn note(&mut self, kind: FindingKind, at: &[u64], offset: u64, message: String) {
        self.found.push(finding(kind, self.key, Some(at.to_vec()), Some(offset), message));
    }
}
