//! Typed memory: the data types of array elements, windows on the caller's memory, strided copies between them, and arenas for
//! elements of variable length.
//!
//! This crate knows nothing about files, chunks or codecs. Together with the kernels of `tessarray-codec` it is the only place
//! of the engine that holds `unsafe` code, so that the crates above forbid it. What it offers them is safe to call in any way:
//! views that cannot be aliased ([`OutputView`]), an output that threads fill together ([`Tiles`]), memory that the system makes
//! ready meanwhile ([`Pages`]), borrowed work for the threads of a pool ([`lend`]), and values that survive a fork
//! ([`PerProcess`]). Every unsafe block states why it is sound.
#![deny(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod arena;
mod block;
mod boxes;
mod copy;
mod dtype;
mod fill;
mod flat;
mod loan;
mod pages;
mod per_process;
mod reach;
mod small;
mod tiles;
mod view;

pub use arena::{Arena, VarItem};
pub use block::Block;
pub use boxes::{Along, AlongAxes, Lie, StridedBox, boxes, copy_between};
pub use dtype::{DataType, DataTypeError, Field, TimeUnit};
pub use fill::{fill_with, is_filled_with, zeroed};
pub use flat::{FlatInput, FlatTile};
pub use loan::{Borrowed, Loan, Work, lend};
pub use pages::{Backing, Pages};
pub use per_process::PerProcess;
pub use reach::is_distinct;
pub use small::SmallType;
pub use tiles::{Parts, Tile, Tiles, TilesError};
pub use view::{Dims, InputView, OutputView, Strides, ViewError, c_strides, is_contiguous};
