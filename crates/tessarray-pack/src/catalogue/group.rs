//! The rows of one row group, decoded: columns side by side, with nothing kept twice.

use super::columns::{
    Shared, Sparse, Texts, Window, byte_array, general, list_i32, list_i64, plain, sparse, wrong,
};
use super::deltas::Checked;
use super::pages;
use super::part::calmly;
use super::row::{Entry, Row, Value};
use super::schema::column;
use super::template::{self, Text};
use bytes::Bytes;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedRowGroupReader;
use std::sync::Arc;

/// Rows of a group that are accepted: far more than a writer puts there.
const ROWS: usize = 1 << 20;

/// What rows are sorted by.
pub(crate) type Place<'a> = (&'a [u8], &'a [u8], u64);

/// Decoded rows.
#[derive(Debug)]
pub(crate) struct Group {
    nodes: Texts,
    names: Texts,
    first: Vec<i64>,
    gone: Vec<bool>,
    id: Vec<Option<i64>>,
    stamp: Vec<i64>,
    template: Shared,
    shape: Sparse,
    attributes: Sparse,
    value: Sparse,
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
    pub(crate) fn decode(bytes: Bytes, offset: u64, file: &ParquetMetaData, number: usize) -> Result<Self> {
        calmly(|| Self::read(bytes, offset, file, number))
    }

    fn read(bytes: Bytes, offset: u64, file: &ParquetMetaData, number: usize) -> Result<Self> {
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
        for column in metadata.columns() {
            // Asked for as one range, negative numbers would be a panic.
            let begin = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let begin = u64::try_from(begin).ok().and_then(|begin| begin.checked_sub(offset));
            let begin = begin.and_then(|begin| usize::try_from(begin).ok());
            let length = usize::try_from(column.compressed_size()).ok();
            let span = begin.zip(length).and_then(|(at, length)| bytes.get(at..at.checked_add(length)?));
            pages::check(span.ok_or_else(|| general("a column lies outside its row group".into()))?)?;
        }
        let window = Arc::new(Window { bytes, offset });
        let properties = Arc::new(ReaderProperties::builder().build());
        let pages = file.page_index_for_row_group(number);
        let reader = SerializedRowGroupReader::new(window, metadata, pages, properties)?;
        let open = |number| -> Result<ColumnReader> {
            let pages =
                Checked { pages: reader.get_column_page_reader(number)?, texts: number == column::NODE };
            Ok(get_column_reader(metadata.column(number).column_descr_ptr(), Box::new(pages)))
        };
        let (starts, chunk) = list_i64(open(column::CHUNK)?, rows)?;
        let same = |found: &[u32]| {
            let same = found == starts;
            same.then_some(()).ok_or_else(|| general("the columns of chunks differ in length".into()))
        };
        let (s, segment) = list_i32(open(column::SEGMENT)?, rows)?;
        same(&s)?;
        let (s, offset) = list_i64(open(column::OFFSET)?, rows)?;
        same(&s)?;
        let (s, length) = list_i64(open(column::LENGTH)?, rows)?;
        same(&s)?;
        let (s, crc) = list_i32(open(column::CRC)?, rows)?;
        same(&s)?;
        let first = match open(column::FIRST)? {
            ColumnReader::Int64ColumnReader(reader) => plain(reader, rows)?,
            _ => return Err(wrong("first")),
        };
        if [&first, &chunk, &offset, &length].iter().any(|numbers| numbers.iter().any(|&n| n < 0)) {
            return Err(general("a number is negative".into()));
        }
        let gone = match open(column::GONE)? {
            ColumnReader::BoolColumnReader(reader) => plain(reader, rows)?,
            _ => return Err(wrong("gone")),
        };
        let id = match open(column::ID)? {
            ColumnReader::Int64ColumnReader(reader) => {
                let (at, values) = sparse(reader, rows)?;
                at.iter().map(|&at| values.get(at as usize).copied()).collect()
            }
            _ => return Err(wrong("id")),
        };
        let stamp = match open(column::STAMP)? {
            ColumnReader::Int64ColumnReader(reader) => plain(reader, rows)?,
            _ => return Err(wrong("stamp")),
        };
        Ok(Self {
            nodes: Texts::of(&plain(byte_array(open(column::NODE)?)?, rows)?)?,
            names: Texts::of(&plain(byte_array(open(column::NAME)?)?, rows)?)?,
            first,
            gone,
            id,
            stamp,
            template: Shared::of(open(column::TEMPLATE)?, rows)?,
            shape: Sparse::of(open(column::SHAPE)?, rows)?,
            attributes: Sparse::of(open(column::ATTRIBUTES)?, rows)?,
            value: Sparse::of(open(column::VALUE)?, rows)?,
            grid: Shared::of(open(column::GRID)?, rows)?,
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
    pub(crate) fn place(&self, row: usize) -> Place<'_> {
        (self.nodes.get(row), self.names.get(row), self.first[row].cast_unsigned())
    }

    /// How many rows are at or before `place`.
    pub(crate) fn upper(&self, place: Place<'_>) -> usize {
        self.partition(|row| row <= place)
    }

    /// How many rows are before `place`.
    pub(crate) fn lower(&self, place: Place<'_>) -> usize {
        self.partition(|row| row < place)
    }

    fn partition(&self, before: impl Fn(Place<'_>) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if before(self.place(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
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
    pub(crate) fn stamp(&self, row: usize) -> u64 {
        self.stamp[row].cast_unsigned()
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

    /// How the row's chunks are numbered.
    pub(crate) fn grid(&self, row: usize) -> Option<&Arc<str>> {
        self.grid.get(row)
    }

    /// The bytes of the row's value, where they are in the row.
    pub(crate) fn value(&self, row: usize) -> Option<Bytes> {
        if let Some(template) = self.template.get(row) {
            let part =
                |part: &Sparse| part.get(row).map(String::from_utf8_lossy).map(|text| text.into_owned());
            let (shape, attributes) = (part(&self.shape), part(&self.attributes));
            return Some(template::join(template, shape.as_deref(), attributes.as_deref()).into());
        }
        self.value.get(row).map(Bytes::copy_from_slice)
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
    pub(crate) fn row(&self, row: usize) -> Row {
        let text = |bytes: &[u8]| Arc::from(String::from_utf8_lossy(bytes).as_ref());
        let own = |part: &Sparse| part.get(row).map(|bytes| String::from_utf8_lossy(bytes).as_ref().into());
        let value = match self.template.get(row) {
            Some(template) => Some(Value::Text(Text {
                template: Arc::clone(template),
                shape: own(&self.shape),
                attributes: own(&self.attributes),
            })),
            None => self.value.get(row).map(|bytes| Value::Bytes(Bytes::copy_from_slice(bytes))),
        };
        Row {
            node: text(self.nodes.get(row)),
            name: text(self.names.get(row)),
            first: self.first[row].cast_unsigned(),
            gone: self.gone[row],
            id: self.id(row),
            stamp: self.stamp(row),
            value,
            grid: self.grid.get(row).cloned(),
            entries: self.entries(row).collect(),
        }
    }
}
