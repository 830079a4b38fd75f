//! The rows of one row group, decoded: columns side by side, with nothing kept twice.

use super::parquet::{Column, Numbered, Shared, Texts, calmly, general};
use super::row::{Entry, Row, Value};
use super::schema::{self, broken, column};
use super::template::{self, Text};
use crate::error::Result;
use bytes::Bytes;
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::ColumnDescriptor;
use std::sync::{Arc, OnceLock};

/// Rows of a group that are accepted: far more than a writer puts there.
const ROWS: usize = 1 << 20;

/// Values that an array has in the catalogue, mostly: its document, its statistics, its attributes.
const NEAR: usize = 4;

type Parsed<T> = parquet::errors::Result<T>;

/// What rows are sorted by.
pub(crate) type RowKey<'a> = (&'a [u8], &'a [u8], u64);

/// Decoded rows.
#[derive(Debug)]
pub(crate) struct Group {
    nodes: Texts,
    names: Numbered,
    first: Vec<i64>,
    gone: Vec<bool>,
    id: Vec<Option<i64>>,
    /// Decoded when they are first asked for: listings and reads of chunks do without.
    stamp: (Column, OnceLock<Vec<i64>>),
    value: (Column, OnceLock<Numbered>),
    template: Shared,
    shape: Numbered,
    attributes: Numbered,
    grid: Shared,
    /// Where each row's chunks begin; one more for the end.
    starts: Vec<u32>,
    chunk: Vec<i64>,
    segment: Vec<i32>,
    offset: Vec<i64>,
    length: Vec<i64>,
    crc: Vec<i32>,
}

impl Group {
    /// Decodes the bytes of row group `number`, which lie at `offset` in the file.
    pub(crate) fn decode(bytes: Bytes, offset: u64, file: &ParquetMetaData, number: usize) -> Parsed<Self> {
        calmly(|| Self::read(bytes, offset, file, number))
    }

    fn read(bytes: Bytes, offset: u64, file: &ParquetMetaData, number: usize) -> Parsed<Self> {
        let metadata = file.row_group(number);
        let rows = usize::try_from(metadata.num_rows())?;
        if rows > ROWS {
            return Err(general(format!("a row group of {rows} rows, over the limit of {ROWS}")));
        }
        if metadata.num_columns() != column::COUNT {
            return Err(general(format!(
                "expected {} columns, found {}",
                column::COUNT,
                metadata.num_columns()
            )));
        }
        let columns = columns(&bytes, offset, metadata, rows)?;
        let chunk = columns[column::CHUNK].lists(8)?;
        let list = |number: usize, width| columns[number].lists_like(width, &chunk);
        let halves = |values: Vec<i64>| values.into_iter().map(|value| value as i32).collect();
        let (segment, crc) = (halves(list(column::SEGMENT, 4)?), halves(list(column::CRC, 4)?));
        let (offset, length) = (list(column::OFFSET, 8)?, list(column::LENGTH, 8)?);
        let first = columns[column::FIRST].integers(8)?;
        let (starts, chunk) = (chunk.starts, chunk.numbers);
        if [&first, &chunk, &offset, &length].iter().any(|numbers| numbers.iter().any(|&n| n < 0)) {
            return Err(general("a number is negative".into()));
        }
        Ok(Self {
            nodes: columns[column::NODE].texts()?,
            names: columns[column::NAME].numbered()?,
            first,
            gone: columns[column::GONE].booleans()?,
            id: columns[column::ID].optional_integers(8)?,
            stamp: (columns[column::STAMP].clone(), OnceLock::new()),
            value: (columns[column::VALUE].clone(), OnceLock::new()),
            template: columns[column::TEMPLATE].shared()?,
            shape: columns[column::SHAPE].optional_texts()?,
            attributes: columns[column::ATTRIBUTES].optional_texts()?,
            grid: columns[column::GRID].shared()?,
            starts,
            chunk,
            segment,
            offset,
            length,
            crc,
        })
    }

    /// How many rows.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// What row number `row` is sorted by.
    pub(crate) fn key(&self, row: usize) -> RowKey<'_> {
        (self.nodes.get(row), self.name(row), self.first[row].cast_unsigned())
    }

    fn name(&self, row: usize) -> &[u8] {
        self.names.get(row).unwrap_or_default()
    }

    /// How many rows are at or before `key`.
    pub(crate) fn upper(&self, key: RowKey<'_>) -> usize {
        self.partition(|row| row <= key)
    }

    /// How many rows are before `key`.
    pub(crate) fn lower(&self, key: RowKey<'_>) -> usize {
        self.partition(|row| row < key)
    }

    fn partition(&self, before: impl Fn(RowKey<'_>) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if before(self.key(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The last row of chunks of this node, whose document is in row `row`: it is before the rows of the node's values.
    /// The outer `None` is: not among the few rows before, or this is no row of the node.
    #[allow(clippy::option_option, reason = "whether it is known, and whether there is one")]
    pub(crate) fn chunks_before(&self, node: &[u8], row: usize) -> Option<Option<usize>> {
        if row >= self.len() || self.nodes.get(row) != node {
            return None;
        }
        for before in (row.saturating_sub(NEAR)..row).rev() {
            if self.nodes.get(before) != node {
                return Some(None);
            }
            if self.name(before).is_empty() {
                return Some(Some(before));
            }
        }
        None
    }

    /// Whether the row hides earlier ones.
    pub(crate) fn gone(&self, row: usize) -> bool {
        self.gone[row]
    }

    /// The node's own number.
    pub(crate) fn id(&self, row: usize) -> Option<u64> {
        self.id[row].map(i64::cast_unsigned)
    }

    /// Tells the row's value from all others of its key.
    pub(crate) fn stamp(&self, row: usize) -> Result<u64> {
        Ok(later(&self.stamp, |column| column.integers(8))?[row].cast_unsigned())
    }

    /// The text that the row's document shares with others.
    pub(crate) fn template(&self, row: usize) -> Option<&Arc<str>> {
        self.template.get(row)
    }

    /// The shape in the row's document, as text.
    pub(crate) fn shape(&self, row: usize) -> Option<&str> {
        std::str::from_utf8(self.shape.get(row)?).ok()
    }

    /// The attributes in the row's document, as text.
    pub(crate) fn attributes(&self, row: usize) -> Option<&str> {
        std::str::from_utf8(self.attributes.get(row)?).ok()
    }

    /// The rows whose names are wanted, but for those that say that there is no such value.
    pub(crate) fn named(&self, wanted: &dyn Fn(&[u8]) -> bool) -> impl Iterator<Item = usize> + '_ {
        let wanted = self.names.which(wanted);
        (0..self.len()).filter(move |&row| {
            self.names.number(row).is_some_and(|number| wanted[number as usize]) && !self.gone[row]
        })
    }

    /// The numbers, in this group, of the row's template, shape and attributes.
    pub(crate) fn numbers(&self, row: usize) -> [Option<u32>; 3] {
        [self.template.number(row), self.shape.number(row), self.attributes.number(row)]
    }

    /// How the row's chunks are numbered.
    pub(crate) fn grid(&self, row: usize) -> Option<&Arc<str>> {
        self.grid.get(row)
    }

    /// The bytes of the row's value, where they are in the row.
    pub(crate) fn value(&self, row: usize) -> Result<Option<Bytes>> {
        if let Some(template) = self.template.get(row) {
            let part =
                |part: &Numbered| part.get(row).map(String::from_utf8_lossy).map(|text| text.into_owned());
            let (shape, attributes) = (part(&self.shape), part(&self.attributes));
            return Ok(Some(template::join(template, shape.as_deref(), attributes.as_deref()).into()));
        }
        Ok(later(&self.value, Column::optional_texts)?.get(row).map(Bytes::copy_from_slice))
    }

    /// The row's chunks.
    pub(crate) fn entries(&self, row: usize) -> impl ExactSizeIterator<Item = (u64, Entry)> + '_ {
        self.span(row).map(|at| (self.chunk[at].cast_unsigned(), self.entry(at)))
    }

    /// The entry of a chunk of the row.
    pub(crate) fn find(&self, row: usize, chunk: u64) -> Option<Entry> {
        let span = self.span(row);
        let wanted = i64::try_from(chunk).ok()?;
        let at = self.chunk[span.clone()].binary_search(&wanted).ok()?;
        Some(self.entry(span.start + at))
    }

    fn span(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    fn entry(&self, at: usize) -> Entry {
        Entry {
            segment: self.segment[at],
            offset: self.offset[at].cast_unsigned(),
            length: self.length[at].cast_unsigned(),
            crc: self.crc[at].cast_unsigned(),
        }
    }

    /// The row, to write it again.
    pub(crate) fn row(&self, row: usize) -> Result<Row> {
        let text = |bytes: &[u8]| Arc::from(String::from_utf8_lossy(bytes).as_ref());
        let own = |part: &Numbered| part.get(row).map(|bytes| String::from_utf8_lossy(bytes).as_ref().into());
        let value = match self.template.get(row) {
            Some(template) => Some(Value::Text(Text {
                template: Arc::clone(template),
                shape: own(&self.shape),
                attributes: own(&self.attributes),
            })),
            None => self.value(row)?.map(Value::Bytes),
        };
        Ok(Row {
            node: text(self.nodes.get(row)),
            name: text(self.name(row)),
            first: self.first[row].cast_unsigned(),
            gone: self.gone[row],
            id: self.id(row),
            stamp: self.stamp(row)?,
            value,
            grid: self.grid.get(row).cloned(),
            entries: self.entries(row).collect(),
        })
    }
}

/// A column that is decoded when it is first asked for. The bytes were checked before: what is wrong with them is
/// wrong since they were written.
fn later<T>((column, made): &(Column, OnceLock<T>), make: fn(&Column) -> Parsed<T>) -> Result<&T> {
    if let Some(made) = made.get() {
        return Ok(made);
    }
    let value = make(column).map_err(|error| broken("a part", error))?;
    Ok(made.get_or_init(|| value))
}

/// The columns of a row group, whose bytes lie at `offset` in the file.
fn columns(bytes: &Bytes, offset: u64, metadata: &RowGroupMetaData, rows: usize) -> Parsed<Vec<Column>> {
    let kind = |column: &ColumnDescriptor| -> (Type, i16, i16) {
        (column.physical_type(), column.max_def_level(), column.max_rep_level())
    };
    let mut columns = Vec::with_capacity(column::COUNT);
    for (found, ours) in metadata.columns().iter().zip(schema::columns()?.columns()) {
        if kind(found.column_descr()) != kind(ours) {
            return Err(general(format!("column {} is of another type", ours.name())));
        }
        let packed = match found.compression() {
            Compression::UNCOMPRESSED => false,
            Compression::ZSTD(_) => true,
            other => {
                return Err(general(format!(
                    "columns compressed as {other}, which no writer of packs makes"
                )));
            }
        };
        // Asked for as one range, negative numbers would be a panic.
        let begin = found.dictionary_page_offset().unwrap_or(found.data_page_offset());
        let begin = u64::try_from(begin).ok().and_then(|begin| begin.checked_sub(offset));
        let begin = begin.and_then(|begin| usize::try_from(begin).ok());
        let length = usize::try_from(found.compressed_size()).ok();
        let span = begin.zip(length).and_then(|(at, length)| Some(at..at.checked_add(length)?));
        let span = span.filter(|span| span.end <= bytes.len());
        let span = span.ok_or_else(|| general("a column lies outside its row group".into()))?;
        columns.push(Column { bytes: bytes.slice(span), packed, rows });
    }
    Ok(columns)
}
