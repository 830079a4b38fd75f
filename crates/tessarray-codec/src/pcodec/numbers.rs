//! pco on the bytes of a chunk, for each number type.

use super::{NAME, failed};
use crate::{Result, fail};
use bytemuck::Pod;
use half::f16;
use pco::data_types::Number;
use pco::standalone::{DecompressorItem, FileDecompressor, guarantee, simple_compress};
use pco::{ChunkConfig, PagingSpec};
use tessarray_buffer::DataType;

/// Numbers decoded at a time where the output's size is not known, or it is not aligned; pco wants multiples of 256.
const STEP: usize = 16 * 1024;

/// The number types of pco.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

/// Calls a generic function with the number type of a kind.
macro_rules! typed {
    ($kind:expr, $function:ident ( $($argument:expr),* )) => {
        match $kind {
            Kind::U8 => $function::<u8>($($argument),*),
            Kind::U16 => $function::<u16>($($argument),*),
            Kind::U32 => $function::<u32>($($argument),*),
            Kind::U64 => $function::<u64>($($argument),*),
            Kind::I8 => $function::<i8>($($argument),*),
            Kind::I16 => $function::<i16>($($argument),*),
            Kind::I32 => $function::<i32>($($argument),*),
            Kind::I64 => $function::<i64>($($argument),*),
            Kind::F16 => $function::<f16>($($argument),*),
            Kind::F32 => $function::<f32>($($argument),*),
            Kind::F64 => $function::<f64>($($argument),*),
        }
    };
}

impl Kind {
    pub fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::UInt8 => Self::U8,
            DataType::UInt16 => Self::U16,
            DataType::UInt32 => Self::U32,
            DataType::UInt64 => Self::U64,
            DataType::Int8 => Self::I8,
            DataType::Int16 => Self::I16,
            DataType::Int32 => Self::I32,
            DataType::Int64 | DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => Self::I64,
            DataType::Float16 => Self::F16,
            DataType::Float32 => Self::F32,
            DataType::Float64 => Self::F64,
            _ => return None,
        })
    }

    /// The largest encoding of this many bytes.
    pub fn bound(self, decoded: usize, paging: &PagingSpec) -> Option<usize> {
        typed!(self, bound(decoded, paging))
    }

    /// Appends the encoding of `input`.
    pub fn encode(self, input: &[u8], config: &ChunkConfig, out: &mut Vec<u8>) -> Result<()> {
        typed!(self, encode(input, config, out))
    }

    /// Decodes to exactly `out`.
    pub fn decode(self, input: &[u8], out: &mut [u8]) -> Result<()> {
        typed!(self, decode(input, out))
    }

    /// Appends what `input` decodes to.
    pub fn decode_bounded(self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let result = typed!(self, decode_bounded(input, limit, out));
        if result.is_err() {
            out.truncate(start);
        }
        result
    }
}

fn bound<T: Number>(decoded: usize, paging: &PagingSpec) -> Option<usize> {
    guarantee::file_size::<T::L>(decoded / size_of::<T>(), paging).ok()
}

fn encode<T: Number + Pod>(input: &[u8], config: &ChunkConfig, out: &mut Vec<u8>) -> Result<()> {
    if !input.len().is_multiple_of(size_of::<T>()) {
        return Err(fail::encode(NAME, format!("{} bytes are not whole numbers", input.len())));
    }
    // Without a declared uniform type, as numcodecs writes it, so that older readers read it too.
    let compressed = match bytemuck::try_cast_slice(input) {
        Ok(values) => simple_compress::<T>(values, config),
        Err(_) => {
            let mut aligned = Vec::new();
            crate::room::reserve(&mut aligned, input.len() / size_of::<T>())?;
            aligned.extend(input.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>));
            simple_compress(&aligned, config)
        }
    };
    crate::room::append(out, &compressed.map_err(|error| fail::encode(NAME, error.message))?)
}

/// Decodes straight into `out` where it is aligned.
fn decode<T: Number + Pod>(input: &[u8], out: &mut [u8]) -> Result<()> {
    let expected = out.len();
    let mut done = 0usize;
    let mut scratch = Vec::<T>::new();
    chunks::<T>(input, |n, read| {
        let end = n.saturating_mul(size_of::<T>()).saturating_add(done);
        let Some(room) = out.get_mut(done..end) else { return Err(fail::too_large(NAME, expected)) };
        done = end;
        if let Ok(room) = bytemuck::try_cast_slice_mut(room) {
            return read(room);
        }
        for room in room.chunks_mut(STEP * size_of::<T>()) {
            scratch.resize(room.len() / size_of::<T>(), T::zeroed());
            read(&mut scratch)?;
            room.copy_from_slice(bytemuck::cast_slice(&scratch));
        }
        Ok(())
    })?;
    fail::check_len(NAME, expected, done)
}

fn decode_bounded<T: Number + Pod>(input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut left = limit / size_of::<T>();
    let mut scratch = Vec::<T>::new();
    chunks::<T>(input, |n, read| {
        left = left.checked_sub(n).ok_or_else(|| fail::too_large(NAME, limit))?;
        for at in (0..n).step_by(STEP) {
            scratch.resize(STEP.min(n - at), T::zeroed());
            read(&mut scratch)?;
            crate::room::append(out, bytemuck::cast_slice(&scratch))?;
        }
        Ok(())
    })
}

/// Calls `each` for every pco chunk of a standalone file, with its count of numbers and a function that decodes the
/// next ones: as many as the slice has, which is a multiple of 256 or the rest of the chunk.
fn chunks<T: Number>(
    input: &[u8],
    mut each: impl FnMut(usize, &mut dyn FnMut(&mut [T]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let failed = |error| failed(error, input.len());
    let (file, mut rest) = FileDecompressor::new(input).map_err(failed)?;
    loop {
        match file.chunk_decompressor::<T, &[u8]>(rest).map_err(failed)? {
            DecompressorItem::EndOfData([]) => return Ok(()),
            DecompressorItem::EndOfData(extra) => {
                return Err(fail::corrupt(NAME, format!("{} bytes after the end", extra.len())));
            }
            DecompressorItem::Chunk(mut chunk) => {
                each(chunk.n(), &mut |numbers| {
                    let wanted = numbers.len();
                    let progress = chunk.read(numbers).map_err(failed)?;
                    fail::check_len(NAME, wanted, progress.n_processed)
                })?;
                rest = chunk.into_src();
            }
        }
    }
}
