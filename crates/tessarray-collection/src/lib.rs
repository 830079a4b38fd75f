//! Collections: thousands to millions of datasets in one pack, read across in one call.
//!
//! A *dataset* is a group at the top of a pack; a *variable* is an array below it, named by the path from there. So any
//! pack of groups is a collection, and any Zarr library reads one dataset of it.
//!
//! - [`Collection::index`] lists datasets and variables, from one walk over the catalogue;
//! - [`Collection::find`] gives the arrays of one variable, to be read side by side;
//! - [`add`] writes a dataset into a transaction, with [`Statistics`] of its values.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod add;
mod collection;
mod error;
mod find;
mod index;
mod kinds;
mod letters;
mod plan;
mod statistics;

pub use add::{NewVariable, add, describe};
pub use collection::Collection;
pub use error::{CollectionError, Result};
pub use find::{Found, Member, ReadPart};
pub use index::{Index, Variable};
pub use kinds::Kind;
pub use plan::{ReadPlan, Selected};
pub use statistics::{Number, Statistics};
