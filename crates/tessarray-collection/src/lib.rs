//! Collections: thousands to millions of datasets in one pack, read across in one call.
//!
//! A *dataset* is a group at the top of a pack; a *variable* is an array below it, named by the path from there. So any
//! pack of groups is a collection, and any Zarr library reads one dataset of it.
//!
//! - [`Collection::index`] lists datasets and variables, from one walk over the catalogue;
//! - [`Collection::find`] gives the arrays of one variable, to be read side by side;
//! - [`add`] writes a dataset into a transaction, with [`Statistics`] of its values.
//!
//! ```
//! use std::sync::Arc;
//! use tessarray_array::{Array, ArraySpec, Session};
//! use tessarray_buffer::{Arena, DataType, InputView};
//! use tessarray_collection::{Collection, NewVariable, add};
//! use tessarray_pack::{Pack, PackOptions};
//! use tessarray_store::MemoryStore;
//!
//! let session = Session::new();
//! let pack = Pack::create(Arc::new(MemoryStore::new()), PackOptions::default())?;
//! // What the variable is like in every dataset; each has a shape of its own.
//! let metadata = ArraySpec::new(&[4], DataType::Float32).metadata(&session)?;
//! let kind = Array::from_metadata(&session, Arc::new(MemoryStore::new()), "", metadata)?;
//!
//! let (transaction, arena) = (pack.begin()?, Arena::new());
//! for (name, values) in [("warm", vec![20f32, 25.0]), ("cold", vec![-5f32])] {
//!     let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
//!     let shape = vec![values.len() as u64];
//!     let temperature = NewVariable {
//!         name: "temperature".into(),
//!         kind: &kind,
//!         values: InputView::new(&bytes, &shape, 4)?,
//!         shape,
//!         attributes: Default::default(),
//!         bytes: Some(&bytes),
//!         missing: None,
//!         texts: None,
//!         arena: &arena,
//!     };
//!     add(&session, &transaction.store(), name, Default::default(), &[], &[temperature])?;
//! }
//! transaction.commit("two stations")?;
//!
//! let collection = Collection::new(&session, pack.latest()?);
//! let found = collection.find("temperature", None)?;
//! assert_eq!(found.members.iter().map(|member| &*member.dataset).collect::<Vec<_>>(), ["cold", "warm"]);
//! let known = collection.statistics(&found)?;
//! assert_eq!(known[1].as_ref().unwrap().count, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]
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
pub use find::{Member, ReadPart, VariableArrays};
pub use index::{Index, Variable};
pub use kinds::Kind;
pub use plan::{ReadPlan, Selected};
pub use statistics::{Number, Statistics};
