//! Versions, transactions, and the pack itself as stores, in which any Zarr hierarchy lives.

mod auto;
mod listing;
mod transaction;
mod turns;
#[cfg(test)]
mod turns_tests;
mod version;

/// What waiting is done with; tests put a scheduler's in its place.
mod sync {
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
}
