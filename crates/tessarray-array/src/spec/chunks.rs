//! Chunk and shard shapes where the user leaves them to us.
//!
//! The rule is simple on purpose; the tuner is the place for more. Without shards a chunk holds up to [`CHUNK`]
//! bytes: the longest axis is halved until it fits. With shards an inner chunk holds up to [`INNER`] bytes by the same
//! rule, and the shard is the inner chunk doubled along the axis of fewest inner chunks until [`SHARD`] bytes or the
//! whole array is reached.

use super::{ChunkChoice, ShardChoice};
use crate::error::{ArrayError, Result};
use tessarray_grid::Edges;
use tessarray_meta::ChunkGrid;

/// Decoded bytes of an automatic chunk.
pub const CHUNK: u64 = 4 << 20;
/// Decoded bytes of an automatic inner chunk.
pub const INNER: u64 = 256 << 10;
/// Decoded bytes of an automatic shard.
pub const SHARD: u64 = 64 << 20;

/// The shape of the chunks that are read on their own, the largest where they differ, and the grid of what is stored.
pub(super) fn resolve(
    shape: &[u64],
    item: u64,
    chunks: &ChunkChoice,
    shards: &ShardChoice,
) -> Result<(Vec<u64>, Option<ChunkGrid>)> {
    match (chunks, shards) {
        (ChunkChoice::Edges(edges), ShardChoice::None) => {
            let grid = listed("chunks", edges, shape)?;
            Ok((grid.largest().to_vec(), Some(grid)))
        }
        (ChunkChoice::Edges(_), _) => Err(ArrayError::Argument {
            what: "chunks".into(),
            expected: "one shape beside shards: the inner chunks of a shard are all alike".into(),
            found: "lists of lengths".into(),
        }),
        (chunks, ShardChoice::Edges(edges)) => {
            let grid = listed("shards", edges, shape)?;
            let chunk = match chunks {
                ChunkChoice::Shape(chunk) => given("chunks", chunk, shape)?,
                _ => common(&grid, item),
            };
            Ok((chunk, Some(grid)))
        }
        _ => {
            let (chunk, shard) = regular(shape, item, chunks, shards)?;
            Ok((chunk, shard.map(ChunkGrid::Regular)))
        }
    }
}

/// A grid of listed lengths, which must sum to the array's; those of an axis without elements are how it will grow.
fn listed(what: &str, edges: &[Edges], shape: &[u64]) -> Result<ChunkGrid> {
    let wrong =
        |what: String, expected: String, found: String| Err(ArrayError::Argument { what, expected, found });
    if edges.len() != shape.len() {
        let expected = format!("{} lists of lengths, one an axis", shape.len());
        return wrong(what.into(), expected, edges.len().to_string());
    }
    for (axis, (edges, &n)) in edges.iter().zip(shape).enumerate() {
        match edges {
            Edges::Each(0) => return wrong(format!("{what}[{axis}]"), "at least 1".into(), "0".into()),
            Edges::Runs(runs) if n > 0 && runs.sum() != n => {
                let expected = format!("lengths that sum to {n}, the axis' length");
                return wrong(format!("{what}[{axis}]"), expected, runs.sum().to_string());
            }
            _ => {}
        }
    }
    Ok(ChunkGrid::Rectilinear(edges.to_vec()))
}

/// An inner chunk that divides every shard of a grid: along each axis the greatest common divisor of the lengths, cut
/// further until it fits.
fn common(grid: &ChunkGrid, item: u64) -> Vec<u64> {
    let divisor = |edges: &Edges| match edges {
        Edges::Each(length) => *length,
        Edges::Runs(runs) => runs.runs().iter().fold(0, |found, run| gcd(run.length, found)),
    };
    divide(&grid.edges().iter().map(divisor).collect::<Vec<u64>>(), item)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The inner chunk and, where there are shards, the shard.
fn regular(
    shape: &[u64],
    item: u64,
    chunks: &ChunkChoice,
    shards: &ShardChoice,
) -> Result<(Vec<u64>, Option<Vec<u64>>)> {
    let chunk = match chunks {
        ChunkChoice::Shape(chunk) => Some(given("chunks", chunk, shape)?),
        ChunkChoice::Auto | ChunkChoice::Edges(_) => None,
    };
    match (chunk, shards) {
        (chunk, ShardChoice::None | ShardChoice::Edges(_)) => {
            Ok((chunk.unwrap_or_else(|| halve(shape, item, CHUNK)), None))
        }
        (chunk, ShardChoice::Auto) => {
            let chunk = chunk.unwrap_or_else(|| halve(shape, item, INNER));
            let shard = double(shape, &chunk, item);
            Ok((chunk, Some(shard)))
        }
        (Some(chunk), ShardChoice::Shape(shard)) => {
            let shard = given("shards", shard, shape)?;
            for (axis, (&c, &s)) in chunk.iter().zip(&shard).enumerate() {
                if s % c != 0 {
                    return Err(ArrayError::Argument {
                        what: format!("shards[{axis}]"),
                        expected: format!("a multiple of the chunk's {c}"),
                        found: s.to_string(),
                    });
                }
            }
            Ok((chunk, Some(shard)))
        }
        (None, ShardChoice::Shape(shard)) => {
            let shard = given("shards", shard, shape)?;
            Ok((divide(&shard, item), Some(shard)))
        }
    }
}

fn given(what: &str, choice: &[u64], shape: &[u64]) -> Result<Vec<u64>> {
    let wrong = |expected: String, found: String| ArrayError::Argument { what: what.into(), expected, found };
    if choice.len() != shape.len() {
        return Err(wrong(format!("{} lengths, one an axis", shape.len()), format!("{choice:?}")));
    }
    if choice.contains(&0) {
        return Err(wrong("lengths of at least 1".into(), format!("{choice:?}")));
    }
    Ok(choice.to_vec())
}

fn bytes(shape: &[u64], item: u64) -> u64 {
    shape.iter().fold(item.max(1), |product, &n| product.saturating_mul(n))
}

/// The array's shape, its longest axis halved until the product fits.
fn halve(shape: &[u64], item: u64, target: u64) -> Vec<u64> {
    let mut pieces = vec![1u64; shape.len()];
    let chunk = |pieces: &[u64]| -> Vec<u64> {
        shape.iter().zip(pieces).map(|(&n, &p)| n.div_ceil(p).max(1)).collect()
    };
    loop {
        let current = chunk(&pieces);
        let longest = (0..current.len()).max_by_key(|&axis| current[axis]);
        match longest {
            Some(axis) if bytes(&current, item) > target && current[axis] > 1 => pieces[axis] *= 2,
            _ => return current,
        }
    }
}

/// The inner chunk, doubled along the axis of fewest inner chunks while the shard fits and the array goes on.
fn double(shape: &[u64], chunk: &[u64], item: u64) -> Vec<u64> {
    let mut shard = chunk.to_vec();
    loop {
        let fits = |axis: usize| shard[axis] < shape[axis] && bytes(&shard, item).saturating_mul(2) <= SHARD;
        let next = (0..shard.len()).filter(|&axis| fits(axis)).min_by_key(|&axis| shard[axis] / chunk[axis]);
        match next {
            Some(axis) => shard[axis] = shard[axis].saturating_mul(2),
            None => return shard,
        }
    }
}

/// The largest axis of a shard, divided by its smallest prime factor until the product fits.
fn divide(shard: &[u64], item: u64) -> Vec<u64> {
    let mut chunk = shard.to_vec();
    while bytes(&chunk, item) > INNER {
        let Some(longest) = (0..chunk.len()).filter(|&a| chunk[a] > 1).max_by_key(|&a| chunk[a]) else {
            break;
        };
        let n = chunk[longest];
        let factor = (2..=n.isqrt()).find(|&factor| n.is_multiple_of(factor)).unwrap_or(n);
        chunk[longest] /= factor;
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_shapes_fit_their_targets_and_divide_their_shards() {
        for (shape, item) in
            [(vec![1000u64, 721, 1440], 4u64), (vec![0], 8), (vec![7], 1), (vec![1 << 40, 3], 8)]
        {
            let (chunk, _) = regular(&shape, item, &ChunkChoice::Auto, &ShardChoice::None).unwrap();
            assert!(bytes(&chunk, item) <= CHUNK && !chunk.contains(&0));
            let (inner, shard) = regular(&shape, item, &ChunkChoice::Auto, &ShardChoice::Auto).unwrap();
            let shard = shard.unwrap();
            assert!(bytes(&inner, item) <= INNER && bytes(&shard, item) <= SHARD);
            assert!(inner.iter().zip(&shard).all(|(&i, &s)| s % i == 0));
        }
        let shard = ShardChoice::Shape(vec![60, 90, 1009]);
        let (inner, _) = regular(&[600, 900, 1009], 4, &ChunkChoice::Auto, &shard).unwrap();
        assert!(
            bytes(&inner, 4) <= INNER && 60 % inner[0] == 0 && 90 % inner[1] == 0 && 1009 % inner[2] == 0
        );
        assert!(resolve(&[4], 4, &ChunkChoice::Shape(vec![3]), &ShardChoice::Shape(vec![4])).is_err());
    }
}
