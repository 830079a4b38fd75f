//! Names of codecs.

/// The name of a codec, without the prefix that zarr-python gives those of numcodecs.
pub(crate) fn plain(name: &str) -> &str {
    name.strip_prefix("numcodecs.").unwrap_or(name)
}
