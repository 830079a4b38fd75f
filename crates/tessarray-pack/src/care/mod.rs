//! What a pack needs over the years: names for versions, ways back, room, and a look for damage.

mod check;
mod compact;
mod diff;
mod expire;
mod history;
mod leftovers;
mod rollback;
mod tags;

pub use check::{Damage, Repaired};
pub use compact::Compacted;
pub use diff::{Change, Difference};
pub use expire::{Expired, Keep};
pub use leftovers::Leftovers;
