//! Every decoder: exactly the declared bytes or an error, and nothing beyond a limit.

use crate::{Outcome, Target};
use serde_json::{Value, json};
use tessarray_buffer::{Arena, DataType, Dims, SmallType};
use tessarray_codec::{AnyCodec, ChunkSpec, NamedConfig, Registry, Window};

/// Elements of a chunk.
const ELEMENTS: u64 = 256;

/// A codec, its settings, and the type of the chunks it sees.
fn list() -> Vec<(&'static str, Value, DataType)> {
    let blosc = |cname: &str, shuffle: &str| json!({"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0});
    vec![
        ("blosc", blosc("blosclz", "shuffle"), DataType::UInt32),
        ("blosc", blosc("lz4", "bitshuffle"), DataType::UInt32),
        ("blosc", blosc("zlib", "noshuffle"), DataType::UInt32),
        ("blosc", blosc("zstd", "shuffle"), DataType::UInt32),
        ("zstd", json!({"level": 3, "checksum": false}), DataType::UInt32),
        ("gzip", json!({"level": 5}), DataType::UInt32),
        ("zlib", json!({"level": 5}), DataType::UInt32),
        ("lz4", json!({}), DataType::UInt32),
        ("bz2", json!({}), DataType::UInt32),
        ("scale_offset", json!({"offset": 0, "scale": 2}), DataType::UInt32),
        ("cast_value", json!({"data_type": "int16", "out_of_range": "clamp"}), DataType::Float32),
        ("lzma", json!({"preset": 0}), DataType::UInt32),
        ("lzma", json!({"format": 3, "filters": [{"id": 33, "preset": 0}]}), DataType::UInt32),
        ("snappy", json!({}), DataType::UInt32),
        ("shuffle", json!({"elementsize": 4}), DataType::UInt32),
        ("crc32c", json!({}), DataType::UInt32),
        ("adler32", json!({}), DataType::UInt32),
        ("fletcher32", json!({}), DataType::UInt32),
        ("jenkins_lookup3", json!({}), DataType::UInt32),
        ("pcodec", json!({}), DataType::Float64),
        ("pcodec", json!({}), DataType::UInt32),
        ("vlen-utf8", json!({}), DataType::String),
        ("vlen-bytes", json!({}), DataType::Bytes),
        ("bytes", json!({"endian": "big"}), DataType::UInt32),
        ("delta", json!({"dtype": "<u4"}), DataType::UInt32),
        ("numcodecs.packbits", json!({}), DataType::Bool),
        ("packbits", json!({"padding_encoding": "first_byte"}), DataType::Bool),
        ("packbits", json!({"first_bit": 2, "last_bit": 12}), DataType::Int16),
        ("packbits", json!({}), DataType::Small(SmallType::Float6E2M3Fn)),
        (
            "fixedscaleoffset",
            json!({"dtype": "<f8", "astype": "<i2", "scale": 10, "offset": 1}),
            DataType::Float64,
        ),
        ("quantize", json!({"digits": 3, "dtype": "<f8"}), DataType::Float64),
        ("bitround", json!({"keepbits": 5}), DataType::Float64),
        ("astype", json!({"encode_dtype": "<f4", "decode_dtype": "<f8"}), DataType::Float64),
    ]
}

fn values(kind: usize, size: usize) -> Vec<u8> {
    (0..size as u64)
        .map(|i| match kind {
            0 => 0,
            1 => (i / 4) as u8,
            _ => (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8,
        })
        .collect()
}

/// Bytes to bytes. What is decoded within the limit is the same whether or not the size is known.
fn bytes_target(name: String, codec: std::sync::Arc<dyn tessarray_codec::BytesCodec>, size: usize) -> Target {
    let seeds = (0..3)
        .map(|kind| {
            let mut out = Vec::new();
            codec.encode(&values(kind, size), &mut out).unwrap();
            out
        })
        .collect();
    Target::new(name, seeds, move |input| {
        let mut out = vec![0xA5; size];
        let exact = codec.decode(input, &mut out);
        let mut grown = Vec::new();
        let bounded = codec.decode_bounded(input, size, &mut grown);
        assert!(
            grown.len() <= size && grown.capacity() <= (4 * size).max(1 << 17),
            "more than the limit was taken"
        );
        if exact.is_ok() && bounded.is_ok() && grown.len() == size {
            assert_eq!(out, grown, "two ways to decode differ");
        }
        if let Some(codec) = codec.blocks()
            && let Ok(block) = codec.block_len(input, size)
        {
            assert!(block > 0, "an empty block");
            for number in 0..size.div_ceil(block) {
                let length = block.min(size - number * block);
                let mut part = vec![0; length];
                let whole = codec.decode_block(Window::whole(input), size, number, &mut part);
                if exact.is_ok() && whole.is_ok() {
                    assert_eq!(part, out[number * block..number * block + length], "a block differs");
                }
            }
        }
        exact.map_err(|error| error.to_string())
    })
}

fn serializer_target(
    name: String,
    codec: std::sync::Arc<dyn tessarray_codec::Serializer>,
    spec: ChunkSpec,
) -> Target {
    let size = spec.byte_len();
    let seeds = (0..3)
        .map(|kind| {
            let arena = Arena::new();
            let mut input = values(kind, size);
            if matches!(spec.data_type, DataType::String | DataType::Bytes) {
                input = (0..spec.elements())
                    .flat_map(|i| arena.push_item(&b"abcdefgh"[..(i * kind) % 9]).to_bytes())
                    .collect();
            }
            let mut out = Vec::new();
            codec.encode(&spec, &input, &arena, &mut out).unwrap();
            out
        })
        .collect();
    Target::new(name, seeds, move |input| decode_serialized(codec.as_ref(), &spec, input))
}

fn decode_serialized(codec: &dyn tessarray_codec::Serializer, spec: &ChunkSpec, input: &[u8]) -> Outcome {
    let arena = Arena::new();
    let mut out = vec![0; spec.byte_len()];
    codec.decode(spec, input, &mut out, &arena).map_err(|error| error.to_string())?;
    let held: usize = arena.buffers().iter().map(|buffer| buffer.len()).sum();
    assert!(held <= input.len() + 64, "{held} bytes from {}", input.len());
    Ok(())
}

fn array_target(
    name: String,
    codec: std::sync::Arc<dyn tessarray_codec::ArrayCodec>,
    spec: ChunkSpec,
) -> Target {
    let encoded = codec.encoded_spec(&spec).unwrap().byte_len();
    let seeds = (0..3)
        .map(|kind| {
            // Booleans are 0 or 1.
            let input = values(kind, spec.byte_len()).iter().map(|b| b & 1).collect::<Vec<_>>();
            let mut out = vec![0; encoded];
            codec.encode(&spec, &input, &mut out).unwrap();
            out
        })
        .collect();
    Target::new(name, seeds, move |input| {
        // The chain sees to it that the size is right: what is fuzzed are the values.
        let mut input = input.to_vec();
        input.resize(encoded, 0);
        let mut out = vec![0; spec.byte_len()];
        codec.decode(&spec, &input, &mut out).map_err(|error| error.to_string())
    })
}

pub fn targets() -> Vec<Target> {
    let registry = Registry::new();
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    list()
        .into_iter()
        .map(|(name, settings, data_type)| {
            let count = seen.entry(name).or_default();
            *count += 1;
            let suffix = if *count > 1 { format!("_{count}") } else { String::new() };
            let label = format!("codec_{}{suffix}", name.replace(['-', '.'], "_"));
            let fill = vec![0; data_type.size()].into_boxed_slice();
            let fill =
                if matches!(data_type, DataType::String | DataType::Bytes) { Box::default() } else { fill };
            let spec = ChunkSpec { shape: Dims::from_slice(&[ELEMENTS]), data_type, fill };
            let mut config = NamedConfig::new(name);
            config.configuration = settings.as_object().cloned().unwrap_or_default();
            match registry.build(&config, &spec).unwrap_or_else(|error| panic!("{name}: {error}")) {
                AnyCodec::Bytes(codec) => bytes_target(label, codec, spec.byte_len()),
                AnyCodec::Serializer(codec) => serializer_target(label, codec, spec),
                AnyCodec::Array(codec) => array_target(label, codec, spec),
            }
        })
        .collect()
}
