//! Where the settings of v2's numcodecs and of v3's codecs differ.

use crate::dtype::{V2DataType, parse_data_type, parse_v2_data_type};
use crate::endian::Endian;
use crate::error::Result;
use crate::path::Path;
use serde_json::{Map, Value};
use tessarray_buffer::DataType;
use tessarray_codec::NamedConfig;

/// Filters that turn arrays into arrays, and so come before the serializer in a v3 chain.
pub(crate) const ARRAY_FILTERS: [&str; 6] =
    ["delta", "fixedscaleoffset", "bitround", "quantize", "astype", "packbits"];

/// Blosc's shuffles in the order of numcodecs' numbers.
const SHUFFLES: [&str; 3] = ["noshuffle", "shuffle", "bitshuffle"];

/// A numcodecs configuration of a bytes codec as v3's, for elements of `size` bytes.
pub(crate) fn bytes_codec_to_v3(id: &str, mut settings: Map<String, Value>, size: usize) -> NamedConfig {
    let size = if (1..=255).contains(&size) { size } else { 1 };
    match id {
        "blosc" => {
            let number = settings.get("shuffle").map_or(Some(1), Value::as_i64);
            let auto = if size == 1 { "bitshuffle" } else { "shuffle" };
            let named = match number {
                Some(-1) => Some(auto),
                Some(n) => usize::try_from(n).ok().and_then(|n| SHUFFLES.get(n).copied()),
                None => None,
            };
            // A number that is no shuffle stays as it is, for the codec to refuse.
            if let Some(named) = named {
                settings.insert("shuffle".into(), named.into());
            }
            for (key, default) in
                [("cname", Value::from("lz4")), ("clevel", 5.into()), ("blocksize", 0.into())]
            {
                settings.entry(key).or_insert(default);
            }
            settings.insert("typesize".into(), size.into());
        }
        "zstd" => {
            settings.entry("level").or_insert(0.into());
            settings.entry("checksum").or_insert(false.into());
        }
        _ => {}
    }
    // numcodecs encodes and decodes in the machine's byte order, and zarr-python then takes the bytes for the array's
    // own: the swap of big-endian arrays stays in front of it.
    let name = if id == "pcodec" { "pcodec_bytes" } else { id };
    NamedConfig { configuration: settings, ..NamedConfig::new(name) }
}

/// The numcodecs configuration of a v3 codec: without what older releases of numcodecs refuse as unknown, where it says
/// what is so anyway.
pub(crate) fn codec_to_v2(codec: &NamedConfig) -> Map<String, Value> {
    let plain = crate::names::plain(&codec.name);
    let id = if plain == "pcodec_bytes" { "pcodec" } else { plain };
    let mut out = Map::new();
    out.insert("id".into(), id.into());
    out.extend(codec.configuration.iter().map(|(key, value)| (key.clone(), value.clone())));
    match id {
        "blosc" => {
            out.shift_remove("typesize");
            let number = out.get("shuffle").and_then(Value::as_str);
            if let Some(number) = number.and_then(|name| SHUFFLES.iter().position(|known| *known == name)) {
                out.insert("shuffle".into(), number.into());
            }
        }
        "zstd" if out.get("checksum") == Some(&Value::Bool(false)) => {
            out.shift_remove("checksum");
        }
        "crc32" | "adler32" if out.get("location").is_some_and(|place| place == "start") => {
            out.shift_remove("location");
        }
        "crc32c" if out.get("location").is_some_and(|place| place == "end") => {
            out.shift_remove("location");
        }
        _ => {}
    }
    out
}

/// The settings of an array filter that name types: of what it takes, and of what it gives.
pub(crate) fn type_settings(id: &str) -> Option<(&'static str, &'static str)> {
    match id {
        "astype" => Some(("decode_dtype", "encode_dtype")),
        "delta" | "fixedscaleoffset" | "quantize" => Some(("dtype", "astype")),
        _ => None,
    }
}

/// What an array filter gives for elements of the type `takes`.
pub(crate) fn filter_output(
    id: &str,
    settings: &Map<String, Value>,
    takes: &V2DataType,
    path: &Path<'_>,
) -> Result<V2DataType> {
    if id == "packbits" {
        return Ok(V2DataType { data_type: DataType::UInt8, endian: None });
    }
    let Some((input, output)) = type_settings(id) else { return Ok(takes.clone()) };
    match filter_type(settings, output, path)? {
        Some(gives) => Ok(gives),
        // What numcodecs does where `astype` is absent or null.
        None if id != "astype" => Ok(filter_type(settings, input, path)?.unwrap_or_else(|| takes.clone())),
        None => Ok(takes.clone()),
    }
}

/// The type that a filter's setting names: `<f4` or, in the machine's byte order, `f4` and `float32`.
pub(crate) fn filter_type(
    settings: &Map<String, Value>,
    key: &str,
    path: &Path<'_>,
) -> Result<Option<V2DataType>> {
    let Some(text) = settings.get(key).and_then(Value::as_str) else { return Ok(None) };
    let path = path.key(key);
    let parsed = if text.starts_with(['<', '>', '|', '=']) || text == "bfloat16" {
        parse_v2_data_type(&text.into(), None, &path)
    } else {
        let long = parse_data_type(&text.into(), &path).ok().filter(|long| !long.is_variable());
        let native = |data_type: DataType| V2DataType {
            endian: (data_type.swap_size() != Some(1)).then_some(Endian::NATIVE),
            data_type,
        };
        long.map(native).map_or_else(|| parse_v2_data_type(&format!("={text}").into(), None, &path), Ok)
    };
    parsed.map(Some)
}
