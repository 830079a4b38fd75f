//! Typed memory: the data types of array elements, raw windows on the caller's memory, strided copies between
//! them, and arenas for elements of variable length.
//!
//! This crate knows nothing about files, chunks or codecs. Together with the SIMD kernels of `tessarray-codec` it
//! is the only place that holds `unsafe` code; every unsafe block states why it is sound.

mod arena;
mod copy;
mod dtype;
mod fill;
mod pages;
mod small;
mod view;

pub use arena::{Arena, VarItem};
pub use copy::{copy_strided, stream_strided};
pub use dtype::{DataType, DataTypeError, Field, TimeUnit};
pub use fill::{fill_with, is_filled_with, zeroed};
pub use pages::Pages;
pub use small::SmallType;
pub use view::{Dims, InputView, OutputView, Strides, ViewError, c_strides, is_contiguous};
