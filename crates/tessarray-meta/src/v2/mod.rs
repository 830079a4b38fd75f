//! Zarr v2 documents, as v3 metadata and back.

mod codec_names;
mod consolidated;
mod from_codecs;
mod read;
mod to_codecs;
mod write;

pub use from_codecs::v2_from_codecs;
