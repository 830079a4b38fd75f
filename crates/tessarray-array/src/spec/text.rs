//! Codecs in a word: `blosc:lz4:5:shuffle`, `zstd:3`, `gzip`, joined by `+`.

use crate::error::{ArrayError, Result};
use tessarray_codec::NamedConfig;

/// Reads a short codec text, as the command line and Python take it.
///
/// | text | codec |
/// |---|---|
/// | `blosc[:cname[:level[:shuffle]]]` | blosc; defaults `lz4`, 5, `shuffle` |
/// | `zstd[:level]`, `gzip[:level]`, `zlib[:level]`, `bz2[:level]`, `lzma[:preset]` | defaults 3, 6, 6, 9, 6 |
/// | `lz4[:acceleration]` | acceleration defaults to 1 |
/// | `snappy`, `crc32c`, `adler32`, `fletcher32` | no settings |
/// | `none` | nothing |
///
/// `+` joins several, the first applied first: `blosc:zstd:9+crc32c`.
///
/// # Errors
/// Names the part that is not understood, and what is.
pub fn codec_from_text(text: &str) -> Result<Vec<NamedConfig>> {
    let mut codecs = Vec::new();
    for part in text.split('+') {
        codecs.extend(one(part.trim())?);
    }
    Ok(codecs)
}

fn one(text: &str) -> Result<Option<NamedConfig>> {
    let mut words = text.split(':');
    let name = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let at_most = |n: usize| if words.len() > n { Err(wrong(text)) } else { Ok(()) };
    let number = |i: usize, default: i64| -> Result<i64> {
        words.get(i).map_or(Ok(default), |word| word.parse().map_err(|_| wrong(text)))
    };
    let level = |name: &str, setting: &str, default: i64| -> Result<Option<NamedConfig>> {
        at_most(1)?;
        Ok(Some(NamedConfig::new(name).with(setting, number(0, default)?)))
    };
    match name {
        "none" => at_most(0).map(|()| None),
        "blosc" => {
            at_most(3)?;
            let config = NamedConfig::new("blosc")
                .with("cname", words.first().copied().unwrap_or("lz4"))
                .with("clevel", number(1, 5)?)
                .with("shuffle", words.get(2).copied().unwrap_or("shuffle"))
                .with("blocksize", 0);
            Ok(Some(config))
        }
        "zstd" => Ok(level("zstd", "level", 3)?.map(|config| config.with("checksum", false))),
        "gzip" => level("gzip", "level", 6),
        "zlib" => level("numcodecs.zlib", "level", 6),
        "bz2" => level("numcodecs.bz2", "level", 9),
        "lzma" => level("numcodecs.lzma", "preset", 6),
        "lz4" => level("numcodecs.lz4", "acceleration", 1),
        "crc32c" => at_most(0).map(|()| Some(NamedConfig::new("crc32c"))),
        "snappy" | "adler32" | "fletcher32" => {
            at_most(0).map(|()| Some(NamedConfig::new(format!("numcodecs.{name}"))))
        }
        _ => Err(wrong(text)),
    }
}

fn wrong(text: &str) -> ArrayError {
    ArrayError::Argument {
        what: "codec".into(),
        expected:
            "a text such as blosc:lz4:5:shuffle, zstd:3, gzip:6, zlib, lz4, bz2, lzma, snappy, crc32c or none"
                .into(),
        found: format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_name_codecs_and_nonsense_is_refused() {
        let codecs = codec_from_text("blosc:zstd:9:bitshuffle+crc32c").unwrap();
        assert_eq!(codecs[0].configuration["clevel"], 9);
        assert_eq!(codecs[1].name, "crc32c");
        assert!(codec_from_text("none").unwrap().is_empty());
        for bad in ["", "zstd:x", "blosc:lz4:5:shuffle:9", "pickle", "crc32c:1", "zstd++"] {
            assert!(codec_from_text(bad).is_err(), "{bad}");
        }
    }
}
