//! Writing a part.

use super::about::About;
use super::row::{Row, Value};
use super::schema::{broken, column, properties, schema};
use crate::error::Result;
use crate::id::Id;
use crate::log::PartFile;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tessarray_codec::crc32c;

/// Rows of one row group at most: what a look-up decodes.
const GROUP_ROWS: usize = 4096;
/// Chunks of one row group at most.
const GROUP_CHUNKS: usize = 65_536;
/// Bytes of documents and values of one row group, about.
const GROUP_BYTES: usize = 8 << 20;
/// Chunks of one row at most.
pub(crate) const ROW_CHUNKS: usize = 4096;
/// Parts of fewer rows are not compressed.
const SMALL: usize = 32;

/// Where the metadata of the file says where its row groups are.
pub(crate) const GROUPS: &str = "tessarray.groups";
/// The ids of the segments that entries name by number.
pub(crate) const SEGMENTS: &str = "tessarray.segments";

/// One row group: where it lies, what it holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GroupInfo {
    pub offset: u64,
    pub length: u64,
    pub crc32c: u32,
    /// Node, name and first chunk of its first row.
    pub first: (String, String, u64),
}

type Written<T> = std::result::Result<T, ParquetError>;

/// The file of these rows, which are sorted, and its description. Long lists of chunks must be cut into rows before.
pub(crate) fn write(rows: &[Row], segments: &[Id], level: u8) -> Result<(Vec<u8>, PartFile)> {
    write_as(Id::random()?, rows, segments, level)
}

/// The same, under a name that is given.
pub(crate) fn write_as(id: Id, rows: &[Row], segments: &[Id], level: u8) -> Result<(Vec<u8>, PartFile)> {
    let failed = |error| broken(&id.to_string(), error);
    let properties = Arc::new(properties(rows.len() < SMALL)?);
    let schema = schema().map_err(failed)?;
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).map_err(failed)?;
    let mut groups = Vec::new();
    // The first row group counts from the start of the file, so that every byte is under a checksum.
    let mut begin = 0;
    let mut rest = rows;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(group_length(rest));
        rest = later;
        write_group(&mut writer, now).map_err(failed)?;
        writer.flush().map_err(|error| failed(error.into()))?;
        let bytes = &writer.inner()[begin..];
        let (node, name, first) = now
            .first()
            .map_or(("".into(), "".into(), 0), |row| (row.node.to_string(), row.name.to_string(), row.first));
        groups.push(GroupInfo {
            offset: begin as u64,
            length: bytes.len() as u64,
            crc32c: crc32c::crc32c(bytes),
            first: (node, name, first),
        });
        begin += bytes.len();
    }
    let json = |value: serde_json::Result<String>| {
        value.map_err(|error| failed(ParquetError::General(error.to_string())))
    };
    let groups = json(serde_json::to_string(&groups))?;
    writer.append_key_value_metadata(KeyValue::new(GROUPS.into(), groups));
    let segments = json(serde_json::to_string(segments))?;
    writer.append_key_value_metadata(KeyValue::new(SEGMENTS.into(), segments));
    let bytes = writer.into_inner().map_err(failed)?;
    let footer = &bytes[begin.min(bytes.len())..];
    let node = |row: Option<&Row>| row.map_or_else(String::new, |row| row.node.to_string());
    let file = PartFile {
        id,
        rows: rows.len() as u64,
        bytes: bytes.len() as u64,
        footer: u32::try_from(footer.len())
            .map_err(|error| failed(ParquetError::General(error.to_string())))?,
        crc32c: crc32c::crc32c(footer),
        level,
        first: node(rows.first()),
        last: node(rows.last()),
    };
    Ok((bytes, file))
}

/// How many of the rows make the next group.
fn group_length(rows: &[Row]) -> usize {
    let (mut chunks, mut bytes) = (0, 0);
    let fits = |row: &&Row| {
        chunks += row.entries.len();
        bytes += row.value.as_ref().map_or(0, Value::len);
        chunks <= GROUP_CHUNKS && bytes <= GROUP_BYTES
    };
    rows.iter().take(GROUP_ROWS).take_while(fits).count().max(1)
}

fn write_group(writer: &mut SerializedFileWriter<Vec<u8>>, rows: &[Row]) -> Written<()> {
    let mut group = writer.next_row_group()?;
    let said = About::of(rows);
    let mut number = 0;
    while let Some(mut column) = group.next_column()? {
        write_column(&mut column, number, rows, &said)?;
        column.close()?;
        number += 1;
    }
    group.close().map(|_| ())
}

fn write_column(
    to: &mut SerializedColumnWriter<'_>,
    number: usize,
    rows: &[Row],
    said: &[Option<Arc<About>>],
) -> Written<()> {
    let text = |part: fn(&Row) -> Option<&[u8]>| {
        rows.iter().map(move |row| part(row).map(|bytes| ByteArray::from(bytes.to_vec()))).collect::<Vec<_>>()
    };
    match number {
        column::NODE => required::<ByteArrayType>(to, &texts(rows, |row| &row.node)),
        column::NAME => required::<ByteArrayType>(to, &texts(rows, |row| &row.name)),
        column::FIRST => {
            required::<Int64Type>(to, &rows.iter().map(|row| row.first.cast_signed()).collect::<Vec<_>>())
        }
        column::GONE => required::<BoolType>(to, &rows.iter().map(|row| row.gone).collect::<Vec<_>>()),
        column::ID => {
            optional::<Int64Type>(to, rows.iter().map(|row| row.id.map(u64::cast_signed)).collect())
        }
        column::TEMPLATE => optional::<ByteArrayType>(
            to,
            text(|row| match &row.value {
                Some(Value::Text(text)) => Some(text.template.as_bytes()),
                _ => None,
            }),
        ),
        column::SHAPE => optional::<ByteArrayType>(
            to,
            text(|row| match &row.value {
                Some(Value::Text(text)) => text.shape.as_deref().map(str::as_bytes),
                _ => None,
            }),
        ),
        column::ATTRIBUTES => optional::<ByteArrayType>(
            to,
            text(|row| match &row.value {
                Some(Value::Text(text)) => text.attributes.as_deref().map(str::as_bytes),
                _ => None,
            }),
        ),
        column::VALUE => optional::<ByteArrayType>(
            to,
            text(|row| match &row.value {
                Some(Value::Bytes(bytes)) => Some(bytes),
                _ => None,
            }),
        ),
        column::GRID => optional::<ByteArrayType>(to, text(|row| row.grid.as_deref().map(str::as_bytes))),
        column::CHUNK => repeated::<Int64Type>(to, rows, |(number, _)| number.cast_signed()),
        column::SEGMENT => repeated::<Int32Type>(to, rows, |(_, entry)| entry.segment),
        column::OFFSET => repeated::<Int64Type>(to, rows, |(_, entry)| entry.offset.cast_signed()),
        column::LENGTH => repeated::<Int64Type>(to, rows, |(_, entry)| entry.length.cast_signed()),
        column::CRC => repeated::<Int32Type>(to, rows, |(_, entry)| entry.crc.cast_signed()),
        column::KIND => optional::<ByteArrayType>(to, about(said, |about| Some(&about.kind))),
        column::DTYPE => optional::<ByteArrayType>(to, about(said, |about| about.dtype.as_ref())),
        column::CODECS => optional::<ByteArrayType>(to, about(said, |about| about.codecs.as_ref())),
        _ => required::<Int64Type>(to, &rows.iter().map(|row| row.stamp.cast_signed()).collect::<Vec<_>>()),
    }
}

fn about(said: &[Option<Arc<About>>], part: fn(&About) -> Option<&String>) -> Vec<Option<ByteArray>> {
    let bytes = |about: &Option<Arc<About>>| {
        about.as_deref().and_then(part).map(|text| ByteArray::from(text.as_bytes().to_vec()))
    };
    said.iter().map(bytes).collect()
}

fn texts(rows: &[Row], part: fn(&Row) -> &Arc<str>) -> Vec<ByteArray> {
    rows.iter().map(|row| ByteArray::from(part(row).as_bytes().to_vec())).collect()
}

fn required<T: DataType>(to: &mut SerializedColumnWriter<'_>, values: &[T::T]) -> Written<()> {
    to.typed::<T>().write_batch(values, None, None).map(|_| ())
}

fn optional<T: DataType>(to: &mut SerializedColumnWriter<'_>, values: Vec<Option<T::T>>) -> Written<()> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    to.typed::<T>().write_batch(&values, Some(&levels), None).map(|_| ())
}

/// A list a row: an empty one is a level without a value.
fn repeated<T: DataType>(
    to: &mut SerializedColumnWriter<'_>,
    rows: &[Row],
    value: impl Fn(&(u64, super::Entry)) -> T::T,
) -> Written<()> {
    let (mut values, mut defined, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        if row.entries.is_empty() {
            defined.push(0);
            repeats.push(0);
        }
        for (i, entry) in row.entries.iter().enumerate() {
            values.push(value(entry));
            defined.push(1);
            repeats.push(i16::from(i > 0));
        }
    }
    to.typed::<T>().write_batch(&values, Some(&defined), Some(&repeats)).map(|_| ())
}
