//! One version of a pack, to read.
//!
//! `content.rs` is what a version and a transaction on top of one have in common. `lookup.rs` turns a key into what must
//! be read, for which `snapshot.rs` asks the catalogue; `fetch.rs` reads it, and checks each chunk.

mod content;
mod documents;
pub(crate) mod fetch;
mod handle;
pub(crate) mod lookup;
mod snapshot;

pub(crate) use content::{Content, Held, ListedChunks, Listing, Piece, Spot, stamp_of};
pub use documents::{Document, Numbers, RowGroup};
pub use handle::PackVersion;
pub(crate) use snapshot::Snapshot;
