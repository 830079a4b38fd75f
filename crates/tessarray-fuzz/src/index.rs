//! Shard indexes: the entries that are accepted lie inside the shard, outside the index, and apart.

use crate::Target;
use serde_json::json;
use tessarray_buffer::{DataType, Dims};
use tessarray_codec::sharding::{Entry, IndexLocation, ShardIndex};
use tessarray_codec::{Chain, ChunkSpec, NamedConfig, Registry, Scratch};

const SHARD_BYTES: u64 = 1000;

/// A chain of one sharding codec: 4 inner chunks. Without a checksum the mutator reaches the entries themselves.
fn chain(location: &str) -> Chain {
    let config = NamedConfig::new("sharding_indexed")
        .with("chunk_shape", json!([8, 8]))
        .with("codecs", json!([{"name": "bytes"}]))
        .with("index_codecs", json!([{"name": "bytes", "configuration": {"endian": "little"}}]))
        .with("index_location", location);
    let spec =
        ChunkSpec { shape: Dims::from_slice(&[16, 16]), data_type: DataType::UInt8, fill: Box::new([0]) };
    Chain::build(&Registry::new(), &[config], spec).unwrap()
}

fn seeds(chain: &Chain) -> Vec<Vec<u8>> {
    let sharding = chain.addressable_sharding().unwrap();
    let start = if sharding.location() == IndexLocation::Start { sharding.index_bytes() as u64 } else { 0 };
    let mut whole = ShardIndex::missing(4).unwrap();
    let mut half = ShardIndex::missing(4).unwrap();
    for chunk in 0..4 {
        whole.set(chunk, Some(Entry { offset: start + chunk * 64, length: 64 }));
        if chunk % 2 == 0 {
            half.set(chunk, Some(Entry { offset: start + (3 - chunk) * 70, length: 64 }));
        }
    }
    [whole, half, ShardIndex::missing(4).unwrap()]
        .iter()
        .map(|index| {
            let mut out = Vec::new();
            sharding.encode_index(index, &mut Scratch::new(), &mut out).unwrap();
            out
        })
        .collect()
}

fn check(chain: &Chain, input: &[u8]) -> crate::Outcome {
    let sharding = chain.addressable_sharding().unwrap();
    let index =
        sharding.parse_index(input, SHARD_BYTES, &mut Scratch::new()).map_err(|error| error.to_string())?;
    let (start, length) = sharding.index_span(SHARD_BYTES).unwrap();
    let mut taken = vec![(start, start + length)];
    for entry in index.entries().iter().flatten().filter(|entry| entry.length > 0) {
        let end = entry.offset.checked_add(entry.length).unwrap();
        assert!(end <= SHARD_BYTES, "{entry:?} reaches past the end");
        taken.push((entry.offset, end));
    }
    taken.sort_unstable();
    assert!(taken.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{taken:?} overlap");
    Ok(())
}

pub fn targets() -> Vec<Target> {
    ["start", "end"]
        .map(|location| {
            let chain = chain(location);
            Target::new(format!("shard_index_at_{location}"), seeds(&chain), move |input| {
                check(&chain, input)
            })
        })
        .into()
}
