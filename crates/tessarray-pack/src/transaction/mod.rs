//! Changes on top of a version, kept apart until they are committed.
//!
//! `put.rs` takes what is put apart into chunks, `segments.rs` gathers their bytes, `overlay.rs` holds what has changed,
//! and `work.rs` reads through it to the version below.

mod overlay;
mod put;
mod segments;
pub(crate) mod statistics;
mod work;

pub(crate) use overlay::NewValue;
pub(crate) use put::Old;
pub(crate) use segments::{Location, Segments};
pub(crate) use work::Work;
