//! Stores that wrap a store.

mod fault;
mod prefix;
mod read_only;
mod record;
#[cfg(test)]
mod tests;
mod throttle;

pub use fault::{Effect, Fault, FaultStore, When};
pub use prefix::PrefixStore;
pub use read_only::ReadOnlyStore;
pub use record::{Count, Kind, RecordStore, Recorded};
pub use throttle::{ThrottleStore, Throttling};
