//! Fuzz targets: everything that reads bytes made by somebody else, one function each.
//!
//! A target takes any bytes and gives an [`Outcome`]; it panics where a promise is broken. Two drivers run it:
//! cargo-fuzz (the folder `fuzz/`, guided by coverage, as long as one likes) and `tests/replay.rs` (stable Rust, a
//! seeded [`Mutator`], some seconds for each target on every change). docs/fuzzing.md lists what must hold.
#![forbid(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]
#![allow(clippy::panic, clippy::unwrap_used)] // a fuzz target says so by panicking

mod arrays;
mod codecs;
mod documents;
mod index;
mod mutate;
mod names;
mod packs;

pub use mutate::{Mutator, Random};

/// What became of an input: accepted, or refused with this message.
pub type Outcome = Result<(), String>;

/// What runs one input.
pub type Run = Box<dyn Fn(&[u8]) -> Outcome>;

/// A named decoder and good inputs for it to start from.
pub struct Target {
    pub name: String,
    pub run: Run,
    pub seeds: Vec<Vec<u8>>,
}

impl Target {
    fn new(name: impl Into<String>, seeds: Vec<Vec<u8>>, run: impl Fn(&[u8]) -> Outcome + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run), seeds }
    }
}

/// Every target.
pub fn targets() -> Vec<Target> {
    let mut all = documents::targets();
    all.extend(index::targets());
    all.extend(names::targets());
    all.extend(codecs::targets());
    all.extend(arrays::targets());
    all.extend(packs::targets());
    all
}

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}
