//! Columns of a row group as vectors.

use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::collections::HashMap;
use std::sync::Arc;

/// Texts one after the other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Texts {
    pub(super) fn of(values: &[ByteArray]) -> Result<Self> {
        let mut texts = Self::default();
        for value in values {
            texts.bytes.extend_from_slice(value.data());
            texts.ends.push(u32::try_from(texts.bytes.len())?);
        }
        Ok(texts)
    }

    pub(super) fn get(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[at] as usize]
    }
}

const NONE: u32 = u32::MAX;

/// Texts that some rows have.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    at: Vec<u32>,
    texts: Texts,
}

impl Sparse {
    pub(super) fn of(reader: ColumnReader, rows: usize) -> Result<Self> {
        let (at, values) = sparse(byte_array(reader)?, rows)?;
        Ok(if values.is_empty() { Self::default() } else { Self { at, texts: Texts::of(&values)? } })
    }

    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        let at = *self.at.get(row)?;
        (at != NONE).then(|| self.texts.get(at as usize))
    }
}

/// Texts that many rows share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    at: Vec<u32>,
    texts: Vec<Arc<str>>,
}

impl Shared {
    pub(super) fn of(reader: ColumnReader, rows: usize) -> Result<Self> {
        let (mut at, values) = sparse(byte_array(reader)?, rows)?;
        let mut texts: Vec<Arc<str>> = Vec::new();
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        // Values of a dictionary lie at one place: to look for that is quicker than to hash whole documents.
        let mut places: HashMap<(*const u8, usize), u32> = HashMap::new();
        for slot in at.iter_mut().filter(|slot| **slot != NONE) {
            let bytes = values[*slot as usize].data();
            let place = (bytes.as_ptr(), bytes.len());
            if let Some(&number) = places.get(&place) {
                *slot = number;
                continue;
            }
            let number = match known.get(bytes) {
                Some(&number) => number,
                None => {
                    let number = u32::try_from(texts.len())?;
                    texts.push(Arc::from(std::str::from_utf8(bytes).map_err(|e| general(e.to_string()))?));
                    known.insert(bytes, number);
                    number
                }
            };
            places.insert(place, number);
            *slot = number;
        }
        Ok(Self { at, texts })
    }

    pub(super) fn get(&self, row: usize) -> Option<&Arc<str>> {
        self.texts.get(*self.at.get(row)? as usize)
    }
}

pub(super) fn general(reason: String) -> ParquetError {
    ParquetError::General(reason)
}

pub(super) fn wrong(name: &str) -> ParquetError {
    general(format!("column {name} is of another type"))
}

pub(super) fn byte_array(reader: ColumnReader) -> Result<ColumnReaderImpl<ByteArrayType>> {
    match reader {
        ColumnReader::ByteArrayColumnReader(reader) => Ok(reader),
        _ => Err(wrong("of text")),
    }
}

/// All values of a column that has one a row.
pub(super) fn plain<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Result<Vec<T::T>> {
    let mut values = Vec::new();
    let (records, ..) = reader.read_records(rows, None, None, &mut values)?;
    if records != rows || values.len() != rows {
        return Err(general(format!("expected {rows} rows, found {records}")));
    }
    Ok(values)
}

/// The values of a column that has at most one a row, and for each row where its value is.
pub(super) fn sparse<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<(Vec<u32>, Vec<T::T>)> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (records, ..) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    if records != rows || levels.len() != rows {
        return Err(general(format!("expected {rows} rows, found {records}")));
    }
    let mut next = 0;
    let mut at = Vec::with_capacity(rows);
    for level in levels {
        at.push(if level > 0 { next } else { NONE });
        next += u32::from(level > 0);
    }
    if next as usize != values.len() {
        return Err(general("a column's levels and values differ".into()));
    }
    Ok((at, values))
}

pub(super) fn list_i64(reader: ColumnReader, rows: usize) -> Result<(Vec<u32>, Vec<i64>)> {
    match reader {
        ColumnReader::Int64ColumnReader(reader) => list(reader, rows),
        _ => Err(wrong("of chunks")),
    }
}

pub(super) fn list_i32(reader: ColumnReader, rows: usize) -> Result<(Vec<u32>, Vec<i32>)> {
    match reader {
        ColumnReader::Int32ColumnReader(reader) => list(reader, rows),
        _ => Err(wrong("of chunks")),
    }
}

/// The values of a column of lists, and where each row's begin.
fn list<T: DataType>(mut reader: ColumnReaderImpl<T>, rows: usize) -> Result<(Vec<u32>, Vec<T::T>)> {
    let (mut values, mut defined, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
    let (records, ..) = reader.read_records(rows, Some(&mut defined), Some(&mut repeats), &mut values)?;
    let mut starts = Vec::with_capacity(defined.len() + 1);
    let mut count = 0u32;
    for (defined, repeat) in defined.iter().zip(&repeats) {
        if *repeat == 0 {
            starts.push(count);
        }
        count += u32::from(*defined > 0);
    }
    starts.push(count);
    if records != rows || starts.len() != rows + 1 || count as usize != values.len() {
        return Err(general(format!("expected {rows} lists, found {records}")));
    }
    Ok((starts, values))
}

/// A part of a file that stands for the whole.
pub(super) struct Window {
    /// The bytes that are there.
    pub bytes: Bytes,
    /// Where they lie in the file.
    pub offset: u64,
}

impl Window {
    fn from(&self, start: u64) -> Result<Bytes> {
        let at = start.checked_sub(self.offset).and_then(|at| usize::try_from(at).ok());
        at.filter(|&at| at <= self.bytes.len())
            .map(|at| self.bytes.slice(at..))
            .ok_or_else(|| general(format!("a column lies outside its row group: at {start}")))
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

impl ChunkReader for Window {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(bytes::Buf::reader(self.from(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let rest = self.from(start)?;
        if length > rest.len() {
            return Err(general(format!("{length} bytes wanted at {start}, but the row group ends before")));
        }
        Ok(rest.slice(..length))
    }
}
