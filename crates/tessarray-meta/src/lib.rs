//! Zarr v3 and v2 metadata documents: parse, validate, write.
//!
//! Pure functions from bytes to types and back; no I/O. A document is hostile until proven otherwise: its size, depth
//! and every product of its numbers are checked against [`Limits`] before anything is allocated for them, duplicate
//! members and numbers that JSON cannot hold are refused, and every error names the place in the document, what was
//! expected there and what was found.
//!
//! Attributes may hold NaN and the infinities: [`non_finite`] tells them from strings. They are written as texts with a list
//! of their places, so that every document is JSON; bare `NaN`, as Python's `json` writes it, is read.
//!
//! Version 2 documents are translated into the equivalent version 3 codec chain, so that the layers above know one
//! kind of array; what only version 2 can say is kept in [`V2Extra`] and written back unchanged.
//!
//! ```
//! use tessarray_meta::{ArrayMetadata, Limits};
//!
//! let zarray = br#"{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "<f4", "fill_value": "NaN",
//!                   "order": "F", "filters": null, "compressor": {"id": "zlib", "level": 1}}"#;
//! let array = ArrayMetadata::from_v2(zarray, None, &Limits::default())?;
//! let codecs: Vec<&str> = array.codecs.iter().map(|codec| codec.name.as_str()).collect();
//! assert_eq!(codecs, ["transpose", "bytes", "zlib"]);
//! assert_eq!(array.chunk_key(&[1, 0]), "1.0");
//!
//! let error = ArrayMetadata::from_v3(br#"{"zarr_format": 3, "node_type": "array", "shape": [-1]}"#, &Limits::default());
//! assert_eq!(
//!     error.unwrap_err().to_string(),
//!     "zarr.json: shape[0]: expected an integer from 0 to 2^63 - 1, found -1"
//! );
//! # Ok::<(), tessarray_meta::MetaError>(())
//! ```
#![deny(missing_docs)]
#![warn(clippy::missing_errors_doc)]

mod array;
mod base64;
mod chunk_grid;
mod dtype;
mod endian;
mod error;
mod fields;
mod fill;
mod json;
mod key_encoding;
mod limits;
mod names;
mod node;
mod non_finite;
mod path;
mod sharding;
mod v2;

pub use array::{ArrayMetadata, Format, Order, V2Extra};
pub use chunk_grid::ChunkGrid;
pub use dtype::{V2DataType, data_type_to_json, data_type_to_v2, parse_data_type, parse_v2_data_type};
pub use endian::Endian;
pub use error::{MetaError, Result};
pub use fill::{fill_value_from_json, fill_value_from_json_v2, fill_value_to_json, fill_value_to_json_v2};
pub use json::parse_json;
pub use key_encoding::KeyEncoding;
pub use limits::Limits;
pub use node::{GroupMetadata, Node};
pub use non_finite::{attributes_with_words, non_finite, non_finite_value};
pub use path::Path;
pub use v2::v2_from_codecs;
