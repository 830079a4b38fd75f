//! The executor: runs plans against a store and the codecs, on the session's workers.

mod costs;
mod decode;
mod encode;
mod fill;
mod indexes;
mod leaf;
mod many;
mod marks;
mod part;
mod plain;
mod read;
mod reader;
mod shards;
mod slabs;
mod whole;
mod write;

pub(crate) use encode::End;
pub(crate) use indexes::child_at;
pub(crate) use many::read_many;
pub(crate) use read::read;
pub(crate) use write::{write, write_fields};

use std::cell::RefCell;
use tessarray_codec::Scratch;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

/// Lends this thread's spare buffers. Nested calls get a fresh set.
pub(crate) fn with_scratch<R>(job: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SCRATCH.with(RefCell::take);
    let result = job(&mut scratch);
    SCRATCH.with(|slot| slot.replace(scratch));
    result
}
