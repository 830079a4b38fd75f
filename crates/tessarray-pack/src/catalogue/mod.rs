//! The catalogue: what every key of a pack holds, as rows of Parquet files.
//!
//! A *part* is one file, its rows sorted by (node, name, first). A version's catalogue is a list of parts, newest
//! first: a row hides the rows of the same name in later parts. Two kinds of row:
//!
//! - a *value* (`name` is not empty): a document such as `zarr.json`, or any other key that is no chunk's. Its bytes
//!   are in the row, split so that equal ones share their text (`template`, `shape`, `attributes`), or in a segment;
//! - *chunks* (`name` is empty): up to 4,096 chunks of the array at `node`, by their number in the grid.
//!
//! `gone` in a value's row says that there is no such value; in the row of chunks whose `first` is 0, that no chunk of
//! the node in a later part counts (the array was made anew).

mod about;
mod group;
#[doc(hidden)]
pub mod hostile;
pub(crate) mod merge;
mod numbering;
#[cfg(test)]
mod oracle;
mod parquet;
mod part;
mod row;
mod rows;
mod schema;
mod template;
mod write;

pub(crate) use group::Group;
pub(crate) use numbering::Numbering;
pub(crate) use part::{Part, Parts};
pub(crate) use row::{Entry, GONE, Row, RowPlace, Value};
pub(crate) use rows::{SegmentTable, chunk_rows};
pub(crate) use template::{Text, join};
pub(crate) use write::{write, write_as};
