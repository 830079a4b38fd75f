//! Whole shards in memory: for shards that other codecs stand around, and so cannot be read in part.

use super::{Entry, IndexLocation, ShardAssembly, Sharding};
use crate::{CodecError, Result, Scratch, room};
use tessarray_buffer::{Arena, Lie, VarItem, c_strides, copy_between, fill_with, is_filled_with};
use tessarray_grid::Odometer;

impl Sharding {
    /// Where the index lies in a shard of `shard_bytes`, as (offset, length); `None` where the shard is too short.
    pub fn index_span(&self, shard_bytes: u64) -> Option<(u64, u64)> {
        let length = self.index_bytes as u64;
        let free = shard_bytes.checked_sub(length)?;
        Some((if self.location() == IndexLocation::Start { 0 } else { free }, length))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "offsets that were checked against the shard's bytes in memory"
    )]
    pub(crate) fn decode_all(
        &self,
        input: &[u8],
        out: &mut [u8],
        arena: &Arena,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Some((at, length)) = self.index_span(input.len() as u64) else {
            let (expected, found) = (self.index_bytes as u64, input.len() as u64);
            return Err(CodecError::Truncated { codec: "sharding_indexed".into(), expected, found });
        };
        let encoded = &input[at as usize..(at + length) as usize];
        let index = self.parse_index(encoded, input.len() as u64, scratch)?;
        let fill = self.fill_item(arena);
        let mut chunk = scratch.sized(self.inner.stored_spec().byte_len())?;
        let mut at = Odometer::new(&self.counts);
        let mut result = Ok(());
        for entry in index.entries() {
            let Some(coordinates) = at.current() else { break };
            match entry {
                None => fill_with(&mut chunk, &fill),
                Some(Entry { offset, length }) => {
                    let bytes = &input[*offset as usize..(offset + length) as usize];
                    result = self.inner.decode(bytes, &mut chunk, arena, scratch);
                }
            }
            if result.is_err() {
                break;
            }
            self.copy(coordinates, &mut chunk, out, Direction::ToShard);
            at.advance();
        }
        scratch.give(chunk);
        result
    }

    pub(crate) fn encode_all(
        &self,
        input: &[u8],
        arena: &Arena,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let fill = self.fill_item(arena);
        let variable = self.shard.data_type.is_variable();
        let start = out.len();
        if self.location() == IndexLocation::Start {
            room::grow(out, self.index_bytes)?;
        }
        let mut assembly = ShardAssembly::new(self)?;
        let mut chunk = scratch.sized(self.inner.stored_spec().byte_len())?;
        let mut shard = room::copy(input)?;
        let mut at = Odometer::new(&self.counts);
        let mut number = 0;
        while let Some(coordinates) = at.current() {
            self.copy(coordinates, &mut chunk, &mut shard, Direction::FromShard);
            if variable || !is_filled_with(&chunk, &fill) {
                let begin = out.len();
                self.inner.encode(&chunk, arena, scratch, out)?;
                assembly.push(number, (out.len() - begin) as u64);
            }
            at.advance();
            number += 1;
        }
        scratch.give(chunk);
        let mut encoded = scratch.empty();
        assembly.finish(scratch, &mut encoded)?;
        match self.location() {
            IndexLocation::Start => out[start..start + encoded.len()].copy_from_slice(&encoded),
            IndexLocation::End => room::append(out, &encoded)?,
        }
        scratch.give(encoded);
        Ok(())
    }

    /// One element of fill as it lies in memory.
    fn fill_item(&self, arena: &Arena) -> Vec<u8> {
        if self.shard.data_type.is_variable() {
            let item: VarItem = arena.push_item(&self.shard.fill);
            item.to_bytes().to_vec()
        } else {
            self.shard.fill.to_vec()
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "places of an inner chunk in a shard that is in memory"
    )]
    fn copy(&self, coordinates: &[u64], chunk: &mut [u8], shard: &mut [u8], direction: Direction) {
        let item = self.shard.data_type.size();
        let shard_strides = c_strides(&self.shard.shape, item);
        let mut chunk_strides = c_strides(&self.inner.stored_spec().shape, item);
        if let Some(order) = self.inner.permutation() {
            let stored = chunk_strides.clone();
            for (i, &axis) in order.iter().enumerate() {
                chunk_strides[axis] = stored[i];
            }
        }
        let inner = self.inner_shape();
        let start = coordinates
            .iter()
            .zip(inner)
            .zip(&shard_strides)
            .map(|((&c, &n), &s)| (c * n) as usize * s.unsigned_abs())
            .sum();
        let here = Lie { start: 0, strides: &chunk_strides };
        let there = Lie { start, strides: &shard_strides };
        match direction {
            Direction::ToShard => copy_between(chunk, here, shard, there, inner, item),
            Direction::FromShard => copy_between(shard, there, chunk, here, inner, item),
        }
    }
}

#[derive(Clone, Copy)]
enum Direction {
    ToShard,
    FromShard,
}
