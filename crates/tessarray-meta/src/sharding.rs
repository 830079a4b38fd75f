//! The sizes that a codec chain's shardings declare, checked before anything is built from them (Zarr v3,
//! `sharding_indexed`).
//!
//! The codecs' own settings are the codec registry's to check; here are only those that decide how much memory a
//! chunk, an inner chunk or a shard's index takes.

use crate::error::{MetaError, Result};
use crate::fields;
use crate::limits::Limits;
use crate::names::plain;
use crate::path::Path;
use serde_json::Value;
use tessarray_codec::NamedConfig;

/// Codecs whose output has no fixed size, so that an index behind them could not be found in its shard.
const VARIABLE_SIZE: [&str; 18] = [
    "sharding_indexed",
    "blosc",
    "zstd",
    "gzip",
    "zlib",
    "deflate",
    "lz4",
    "lz4hc",
    "bz2",
    "lzma",
    "snappy",
    "brotli",
    "pcodec",
    "pcodec_bytes",
    "zfp",
    "zfpy",
    "vlen-utf8",
    "vlen-bytes",
];

/// Codecs that hold Python objects.
const OBJECT_CODECS: [&str; 4] = ["pickle", "json2", "msgpack2", "categorize"];

/// Refuses codecs that hold objects, by name.
pub(crate) fn check_forbidden(name: &str, path: &Path<'_>) -> Result<()> {
    if OBJECT_CODECS.contains(&plain(name)) {
        return Err(MetaError::Forbidden { path: path.to_string(), name: name.into() });
    }
    Ok(())
}

/// Walks a chain that encodes chunks of `shape`, elements of `size` bytes, and the chains of inner chunks in it.
/// `chunks` is where the shape stands in the document.
pub(crate) fn check(
    codecs: &[NamedConfig],
    shape: &[u64],
    size: u64,
    limits: &Limits,
    path: &Path<'_>,
    chunks: &Path<'_>,
) -> Result<()> {
    check_chain(codecs, shape, size, limits, path, chunks, 0)
}

fn check_chain(
    codecs: &[NamedConfig],
    shape: &[u64],
    size: u64,
    limits: &Limits,
    path: &Path<'_>,
    chunks: &Path<'_>,
    depth: usize,
) -> Result<()> {
    if codecs.is_empty() {
        return Err(MetaError::value(path, "at least one codec", &Value::Array(Vec::new())));
    }
    if codecs.len() > limits.max_codecs {
        return Err(MetaError::too_large(path, "codecs", codecs.len(), wide(limits.max_codecs)));
    }
    let mut shape = shape.to_vec();
    let mut sharded = false;
    for (i, codec) in codecs.iter().enumerate() {
        let item = path.index(i);
        check_forbidden(&codec.name, &item)?;
        let at = item.key("configuration");
        match plain(&codec.name) {
            "transpose" if !sharded => transpose(codec, &mut shape, &at)?,
            "sharding_indexed" if sharded => {
                return Err(MetaError::unsupported(&item, "two shardings in one chain"));
            }
            "sharding_indexed" => {
                sharded = true;
                check_bytes(&shape, size, limits.max_shard_bytes, "bytes of a shard", chunks)?;
                check_sharding(codec, &shape, size, limits, &at, depth + 1)?;
            }
            _ => {}
        }
    }
    if sharded {
        Ok(())
    } else {
        check_bytes(&shape, size, limits.max_chunk_bytes, "bytes of a chunk", chunks)
    }
}

fn check_sharding(
    codec: &NamedConfig,
    outer: &[u64],
    size: u64,
    limits: &Limits,
    path: &Path<'_>,
    depth: usize,
) -> Result<()> {
    if depth > limits.max_shardings {
        return Err(MetaError::too_large(path, "nested shardings", depth, wide(limits.max_shardings)));
    }
    let member = |key: &str| match codec.configuration.get(key) {
        Some(value) => Ok(value.clone()),
        None => Err(MetaError::Missing { path: path.key(key).to_string() }),
    };
    let shape_at = path.key("chunk_shape");
    let inner = fields::lengths(member("chunk_shape")?, 1, limits, &shape_at)?;
    if inner.len() != outer.len() {
        let expected = format!("{} lengths, one a dimension", outer.len());
        return Err(MetaError::value(&shape_at, expected, &inner.into()));
    }
    let mut chunks = 1u64;
    for (i, (&inner, &outer)) in inner.iter().zip(outer).enumerate() {
        if !outer.is_multiple_of(inner) {
            let expected = format!("a divisor of the shard's {outer}");
            return Err(MetaError::value(&shape_at.index(i), expected, &inner.into()));
        }
        chunks = chunks.saturating_mul(outer / inner);
    }
    if chunks > limits.max_inner_chunks_per_shard {
        let limit = limits.max_inner_chunks_per_shard;
        return Err(MetaError::too_large(&shape_at, "inner chunks of a shard", chunks, limit));
    }
    if let Some(location) = codec.configuration.get("index_location")
        && !matches!(location.as_str(), Some("start" | "end"))
    {
        return Err(MetaError::value(&path.key("index_location"), "\"start\" or \"end\"", location));
    }
    let codecs_at = path.key("codecs");
    let codecs = fields::named_list(member("codecs")?, limits, &codecs_at)?;
    check_chain(&codecs, &inner, size, limits, &codecs_at, &shape_at, depth)?;
    let index_at = path.key("index_codecs");
    let index = fields::named_list(member("index_codecs")?, limits, &index_at)?;
    check_index(&index, &index_at)
}

fn check_index(codecs: &[NamedConfig], path: &Path<'_>) -> Result<()> {
    if codecs.is_empty() {
        return Err(MetaError::value(path, "at least one codec", &Value::Array(Vec::new())));
    }
    for (i, codec) in codecs.iter().enumerate() {
        let at = path.index(i);
        check_forbidden(&codec.name, &at)?;
        if VARIABLE_SIZE.contains(&plain(&codec.name)) {
            return Err(MetaError::value(&at, "a codec of fixed output size", &codec.name.as_str().into()));
        }
    }
    Ok(())
}

/// Reorders the shape as the codec does. `"C"` and `"F"` were part of drafts of v3, and stand in data from their time.
fn transpose(codec: &NamedConfig, shape: &mut Vec<u64>, path: &Path<'_>) -> Result<()> {
    let at = path.key("order");
    let Some(order) = codec.configuration.get("order") else {
        return Err(MetaError::Missing { path: at.to_string() });
    };
    let axes = |value: &Value| -> Option<Vec<u64>> {
        match value.as_str() {
            Some("C") => return Some(shape.clone()),
            Some("F") => return Some(shape.iter().rev().copied().collect()),
            _ => {}
        }
        let axes = value.as_array()?.iter().map(|axis| usize::try_from(axis.as_u64()?).ok());
        let axes = axes.collect::<Option<Vec<usize>>>()?;
        let mut seen = vec![false; shape.len()];
        for &axis in &axes {
            if std::mem::replace(seen.get_mut(axis)?, true) {
                return None;
            }
        }
        (axes.len() == shape.len())
            .then(|| axes.iter().filter_map(|&axis| shape.get(axis).copied()).collect())
    };
    match axes(order) {
        Some(reordered) => {
            *shape = reordered;
            Ok(())
        }
        None => Err(MetaError::value(&at, format!("a permutation of {} axes", shape.len()), order)),
    }
}

/// The lengths of which the shards' must be multiples, along each axis of the array: those of the inner chunks, or 1 where
/// there are none. The chain was checked.
pub(crate) fn units(codecs: &[NamedConfig], rank: usize) -> Vec<u64> {
    let mut units = vec![1; rank];
    // Which axis of the array each axis is, behind the transposes.
    let mut axes: Vec<u64> = (0..wide(rank)).collect();
    for codec in codecs {
        match plain(&codec.name) {
            "transpose" if transpose(codec, &mut axes, &Path::root("codecs")).is_err() => return units,
            "sharding_indexed" => {
                let inner = codec.configuration.get("chunk_shape").and_then(Value::as_array);
                for (&axis, length) in axes.iter().zip(inner.into_iter().flatten()) {
                    let unit = usize::try_from(axis).ok().and_then(|axis| units.get_mut(axis));
                    if let (Some(unit), Some(length @ 1..)) = (unit, length.as_u64()) {
                        *unit = length;
                    }
                }
                return units;
            }
            _ => {}
        }
    }
    units
}

fn check_bytes(shape: &[u64], size: u64, limit: u64, what: &'static str, path: &Path<'_>) -> Result<()> {
    let bytes = shape.iter().try_fold(size, |product, &n| product.checked_mul(n));
    match bytes {
        Some(bytes) if bytes <= limit => Ok(()),
        Some(bytes) => Err(MetaError::too_large(path, what, bytes, limit)),
        None => Err(MetaError::too_large(path, what, "2^64 or more", limit)),
    }
}

fn wide(n: usize) -> u64 {
    n.try_into().unwrap_or(u64::MAX)
}
