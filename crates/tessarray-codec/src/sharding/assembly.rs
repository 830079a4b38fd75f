//! Putting a shard together: inner chunks one after the other, and the index before or after them.

use super::{Entry, IndexLocation, ShardIndex, Sharding};
use crate::{Result, Scratch};

/// A shard that is put together. It holds where the inner chunks go, not their bytes.
#[derive(Debug)]
pub struct ShardAssembly<'a> {
    sharding: &'a Sharding,
    index: ShardIndex,
    end: u64,
}

impl<'a> ShardAssembly<'a> {
    /// A shard without inner chunks.
    ///
    /// # Errors
    /// [`CodecError::Memory`](crate::CodecError) if there is no memory for the index.
    pub fn new(sharding: &'a Sharding) -> Result<Self> {
        let index = ShardIndex::missing(sharding.entries())?;
        let end = if sharding.location() == IndexLocation::Start { sharding.index_bytes() as u64 } else { 0 };
        Ok(Self { sharding, index, end })
    }

    /// Notes that inner chunk `number`, of so many bytes, comes next; gives the offset where it begins in the shard.
    pub fn push(&mut self, number: u64, length: u64) -> u64 {
        let offset = self.end;
        self.index.set(number, Some(Entry { offset, length }));
        self.end += length;
        offset
    }

    /// Where the next inner chunk begins, or the last ended.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Appends the encoded index to `out`, and gives the offset where it begins in the shard.
    ///
    /// # Errors
    /// Those of [`Sharding::encode_index`].
    pub fn finish(self, scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<u64> {
        self.sharding.encode_index(&self.index, scratch, out)?;
        Ok(if self.sharding.location() == IndexLocation::Start { 0 } else { self.end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::spec;
    use crate::sharding::ShardingConfig;
    use crate::{NamedConfig, Registry};
    use tessarray_buffer::DataType;

    #[test]
    fn an_assembled_shard_reads_back_chunk_for_chunk_with_its_index_at_either_end() {
        for location in [IndexLocation::Start, IndexLocation::End] {
            let config = ShardingConfig {
                index_location: location,
                ..ShardingConfig::new(&[2], vec![NamedConfig::new("bytes")])
            };
            let sharding =
                Sharding::build(&Registry::new(), config, &spec(DataType::UInt8, &[8]), 1).unwrap();
            let mut assembly = ShardAssembly::new(&sharding).unwrap();
            let chunks = [(3, &b"cd"[..]), (0, b"ab")];
            let mut body = Vec::new();
            let offsets: Vec<u64> = chunks
                .iter()
                .map(|(number, bytes)| {
                    body.extend_from_slice(bytes);
                    assembly.push(*number, bytes.len() as u64)
                })
                .collect();
            let (mut index, end) = (Vec::new(), assembly.end());
            let at = assembly.finish(&mut Scratch::new(), &mut index).unwrap();
            let shard = if at == 0 { [index, body].concat() } else { [body, index].concat() };
            assert_eq!(at == 0, location == IndexLocation::Start);
            assert_eq!(end, if at == 0 { shard.len() as u64 } else { at });
            let (begin, length) = sharding.index_span(shard.len() as u64).unwrap();
            assert_eq!(begin, at);
            let encoded = &shard[begin as usize..(begin + length) as usize];
            let read = sharding.parse_index(encoded, shard.len() as u64, &mut Scratch::new()).unwrap();
            for ((number, bytes), offset) in chunks.iter().zip(offsets) {
                let entry = read.get(*number).unwrap();
                assert_eq!(entry, Entry { offset, length: 2 });
                assert_eq!(&shard[offset as usize..offset as usize + 2], *bytes);
            }
            assert_eq!((read.get(1), read.get(2)), (None, None));
        }
    }
}
