//! Changes on top of a version, kept apart until they are committed.
//!
//! `put.rs` takes values and `object.rs` the objects of arrays, which it takes apart into chunks; `segments.rs` gathers
//! their bytes, `overlay.rs` holds what has changed, and `work.rs` reads through it to the version below.

mod object;
mod overlay;
mod put;
mod segments;
mod shard;
pub(crate) mod statistics;
mod work;

pub(crate) use object::Old;
pub(crate) use overlay::NewValue;
pub(crate) use segments::{Location, Segments};
pub(crate) use work::Work;
