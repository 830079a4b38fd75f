//! Reading a part of a large chunk that was verified before: the blocks that are needed, and no more.
//!
//! 1. A chunk that was read whole, and whose checksums held, is remembered with the version of its object.
//! 2. Where a later read needs less than half of it, the spans of the blocks that it needs are read, expecting that
//!    version. Where the object changed, the chunk is read whole, as if it had never been seen.
//! 3. Each block is decoded from its bytes, at their own place in a payload that is empty otherwise.

use super::read::{Failure, Reader};
use super::with_scratch;
use crate::error::{ArrayError, Result};
use crate::plan::Cell;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use tessarray_codec::Known;
use tessarray_store::{Blob, ByteRange, Key, ReadRequest, StoreError, Version};

/// Encoded chunks of fewer bytes are read whole: that costs little more than to ask for a part.
const LARGE: usize = 32 << 10;
/// Spans that are so near each other are read together.
const HOLE: usize = 4 << 10;

impl Reader<'_> {
    /// Remembers a chunk that was read whole, and decoded.
    pub(super) fn remember(&self, key: &Key, blob: &Blob<'_>) {
        if blob.bytes.len() < LARGE || !self.target.store.is_local() {
            return;
        }
        let verified = &self.target.session.process().verified;
        let seen = verified.get(self.target.id, key.as_str());
        if seen.is_some_and(|(version, _)| version == blob.meta.version) {
            return;
        }
        if let Some(known) = self.target.layout.leaf().known(&blob.bytes) {
            verified.put((self.target.id, key.as_str().into()), blob.meta.version.clone(), known);
        }
    }

    /// Reads what a leaf needs of a chunk that is known; `false` where it has to be read whole.
    pub(super) fn part(&self, cell: &Cell, key: &Key) -> Result<bool> {
        let Some((version, known)) = self.target.session.process().verified.get(self.target.id, key.as_str())
        else {
            return Ok(false);
        };
        let Some(needed) = self.decoder.needed(cell, known.block_bytes()) else { return Ok(false) };
        let spans = merged(&known, &needed);
        if spans.iter().map(|span| span.len()).sum::<usize>() * 2 > known.payload_bytes() {
            return Ok(false);
        }
        with_scratch(|scratch| {
            let failed = |source| ArrayError::Chunk {
                key: key.to_string(),
                chunk: self.picks.leaf_chunk(cell).to_vec(),
                source,
            };
            let chain = self.target.layout.leaf();
            let mut payload = scratch.sized(known.payload_bytes()).map_err(failed)?;
            let result = match self.fetch(&known, &version, key, &spans, &mut payload) {
                Err(ArrayError::Store(StoreError::Changed { .. } | StoreError::OutOfRange { .. })) => {
                    Ok(false)
                }
                Err(error) => Err(error),
                Ok(()) if known.is_raw() => {
                    self.decoder.place(cell, &payload);
                    Ok(true)
                }
                Ok(()) => (|| {
                    let mut chunk = scratch.sized(chain.stored_spec().byte_len())?;
                    let decoded = needed.iter().try_for_each(|(block, part)| {
                        chain.decode_known(&known, *block, part.clone(), &mut payload, &mut chunk)
                    });
                    if decoded.is_ok() {
                        self.decoder.place(cell, &chunk);
                    }
                    scratch.give(chunk);
                    decoded.map(|()| true)
                })()
                .map_err(failed),
            };
            scratch.give(payload);
            result
        })
    }

    /// Reads spans of the payload to their places in it.
    fn fetch(
        &self,
        known: &Known,
        version: &Version,
        key: &Key,
        spans: &[Range<usize>],
        payload: &mut [u8],
    ) -> Result<()> {
        let request = |span: &Range<usize>| ReadRequest {
            key: key.clone(),
            range: ByteRange::Span {
                offset: (known.payload_start() + span.start) as u64,
                length: span.len() as u64,
            },
            expect: Some(version.clone()),
        };
        let requests: Vec<ReadRequest> = spans.iter().map(request).collect();
        let (failure, payload) = (Failure::default(), Mutex::new(payload));
        self.target.store.read_many(&requests, &|i, answer| {
            failure.note(match answer {
                Ok(Some(blob)) => {
                    let mut payload = payload.lock().unwrap_or_else(PoisonError::into_inner);
                    payload[spans[i].clone()].copy_from_slice(&blob.bytes);
                    Ok(())
                }
                Ok(None) => Err(StoreError::Changed { key: key.to_string() }.into()),
                Err(error) => Err(error.into()),
            });
        });
        failure.into_result()
    }
}

/// The spans of the payload that the needed blocks take, neighbours together.
fn merged(known: &Known, needed: &[(usize, Range<usize>)]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = needed.iter().map(|(block, part)| known.span(*block, part)).collect();
    spans.sort_unstable_by_key(|span| span.start);
    let mut found: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match found.last_mut() {
            Some(last) if span.start <= last.end.saturating_add(HOLE) => last.end = last.end.max(span.end),
            _ => found.push(span),
        }
    }
    found
}
