//! The metadata of one array, and its v3 document.

mod metadata;
mod read_v3;
mod v2_extra;
mod validate;
mod write_v3;

pub use metadata::{ArrayMetadata, Format};
pub(crate) use read_v3::{array_from_v3, separator};
pub use v2_extra::{Order, V2Extra};
pub(crate) use validate::{CHUNKS_V2, validate};
