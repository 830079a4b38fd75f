//! Where the settings of v2's numcodecs and of v3's codecs differ.

use serde_json::{Map, Value};
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
    let name = if id == "pcodec" { "pcodec_bytes" } else { id };
    NamedConfig { name: name.into(), configuration: settings, must_understand: true }
}

/// The numcodecs configuration of a v3 codec.
pub(crate) fn codec_to_v2(codec: &NamedConfig) -> Map<String, Value> {
    let plain = crate::sharding::plain(&codec.name);
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
        _ => {}
    }
    out
}

/// The type strings that an array filter names: of what it takes, and of what it gives.
pub(crate) fn filter_types<'c>(
    id: &str,
    settings: &'c Map<String, Value>,
) -> (Option<&'c str>, Option<&'c str>) {
    let text = |key: &str| settings.get(key).and_then(Value::as_str);
    match id {
        "astype" => (text("decode_dtype"), text("encode_dtype")),
        "delta" | "fixedscaleoffset" | "quantize" => (text("dtype"), text("astype").or(text("dtype"))),
        "packbits" => (None, Some("|u1")),
        _ => (None, None),
    }
}
