//! What a pack needs over the years: names for versions, ways back, room, and a look for damage.

mod check;
mod chunks;
mod compact;
mod damage;
mod diff;
mod expire;
mod history;
mod leftovers;
mod repair;
mod rollback;
mod tags;

pub use compact::Compacted;
pub use damage::Damage;
pub use diff::{Change, Difference};
pub use expire::{Expired, Keep};
pub use leftovers::Leftovers;
pub use repair::Repaired;
