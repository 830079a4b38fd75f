//! Plans: which innermost chunks a selection touches, as a tree of objects, shards and chunks. Pure: no I/O here.
//!
//! A [`Picks`] holds a selection cut at innermost-chunk boundaries. A [`Cell`] is the part of it that lies in one
//! object, shard or chunk; [`Picks::objects`] and [`Picks::children`] split cells, and a cell of a single innermost
//! chunk is a leaf, which is decoded once.

mod coverage;
mod output;
mod picks;
mod ranges;

pub(crate) use coverage::is_inside;
pub(crate) use picks::{Cell, Child, Children, Picks};
pub(crate) use ranges::{Span, StoredLeaf, merge};
