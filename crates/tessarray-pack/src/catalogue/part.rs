//! Parts that are there: opened once, their row groups read and decoded when something in them is wanted.

use super::group::{Group, RowKey};
use super::parquet::calmly;
use super::row::Row;
use super::schema::broken;
use super::write::{GROUPS, GroupInfo, SEGMENTS};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::PartFile;
use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tessarray_codec::crc32c;
use tessarray_store::{ByteRange, Key, Store, StoreError};

/// Files up to this size are read whole.
const WHOLE: u64 = 1 << 18;
/// Names of closed parts are forgotten once there are so many.
const TABLE: usize = 1024;
/// The length of the metadata, and the four letters.
const TAIL: usize = 8;

/// A file of the catalogue.
pub(crate) struct Part {
    store: Arc<dyn Store>,
    key: Key,
    whole: Option<Bytes>,
    metadata: ParquetMetaData,
    infos: Vec<GroupInfo>,
    groups: Vec<OnceLock<Arc<Group>>>,
    segments: Vec<Id>,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Where a thread found a value last, and how many rows that was after the one before.
#[derive(Debug, Clone, Copy)]
struct Last {
    part: usize,
    group: usize,
    row: usize,
    step: usize,
}

thread_local! {
    static LAST: Cell<Option<Last>> = const { Cell::new(None) };
}

/// Row groups that a step reaches over at most.
const FAR: usize = 16;

impl Part {
    /// Reads and checks the footer.
    pub(crate) fn open(store: &Arc<dyn Store>, file: &PartFile) -> Result<Self> {
        let key = file.key()?;
        let corrupt = |reason: String| corrupt(store, &key, reason);
        let footer_bytes = u64::from(file.footer);
        let range = if file.bytes <= WHOLE {
            ByteRange::Span { offset: 0, length: file.bytes }
        } else {
            let offset = file.bytes.checked_sub(footer_bytes);
            let offset = offset.ok_or_else(|| corrupt("its footer is longer than the file".into()))?;
            ByteRange::Span { offset, length: footer_bytes }
        };
        let read = read(store, &key, range, file.bytes)?;
        let at = (read.len() as u64).checked_sub(footer_bytes).and_then(|at| usize::try_from(at).ok());
        let at = at.ok_or_else(|| corrupt("its footer is longer than the file".into()))?;
        let footer = &read[at..];
        let found = crc32c::crc32c(footer);
        if found != file.crc32c {
            return Err(corrupt(format!(
                "footer: checksum: expected {:08x}, found {found:08x}",
                file.crc32c
            )));
        }
        let (metadata, infos, segments) =
            parse(footer).map_err(|error| corrupt(format!("footer: {error}")))?;
        let groups = infos.iter().map(|_| OnceLock::new()).collect();
        let whole = (file.bytes <= WHOLE).then_some(read);
        Ok(Self { store: Arc::clone(store), key, whole, metadata, infos, groups, segments })
    }

    /// The segment of this number.
    pub(crate) fn segment(&self, number: i32) -> Result<Id> {
        let found = usize::try_from(number).ok().and_then(|number| self.segments.get(number));
        found.copied().ok_or_else(|| {
            let reason = format!("segment number {number}, but it names {}", self.segments.len());
            corrupt(&self.store, &self.key, reason)
        })
    }

    /// The segments its rows name.
    pub(crate) fn segments(&self) -> &[Id] {
        &self.segments
    }

    /// Where a row group begins in the file.
    pub(crate) fn offset(&self, number: usize) -> u64 {
        self.infos[number].offset
    }

    /// How many row groups.
    pub(crate) fn groups(&self) -> usize {
        self.infos.len()
    }

    /// The rows of a row group.
    pub(crate) fn group(&self, number: usize) -> Result<&Arc<Group>> {
        if let Some(group) = self.groups[number].get() {
            return Ok(group);
        }
        let info = &self.infos[number];
        let bytes = match &self.whole {
            Some(whole) => {
                let at = usize::try_from(info.offset).unwrap_or(usize::MAX);
                let end = at.saturating_add(usize::try_from(info.length).unwrap_or(usize::MAX));
                if end > whole.len() {
                    return Err(corrupt(&self.store, &self.key, "a row group lies behind the end".into()));
                }
                whole.slice(at..end)
            }
            None => {
                let range = ByteRange::Span { offset: info.offset, length: info.length };
                read(&self.store, &self.key, range, info.offset.saturating_add(info.length))?
            }
        };
        let found = crc32c::crc32c(&bytes);
        if found != info.crc32c {
            let reason =
                format!("row group {number}: checksum: expected {:08x}, found {found:08x}", info.crc32c);
            return Err(corrupt(&self.store, &self.key, reason));
        }
        let group = Group::decode(bytes, info.offset, &self.metadata, number)
            .map_err(|error| broken(self.key.as_str(), error))?;
        Ok(self.groups[number].get_or_init(|| Arc::new(group)))
    }

    /// How many row groups begin at or before `key`.
    fn groups_to(&self, key: RowKey<'_>) -> usize {
        self.infos
            .partition_point(|info| (info.first.0.as_bytes(), info.first.1.as_bytes(), info.first.2) <= key)
    }

    /// The last row of this node and name that begins with chunk `first` or before: its group and its number there.
    pub(crate) fn row(&self, node: &str, name: &str, first: u64) -> Result<Option<(&Arc<Group>, usize)>> {
        let place = (node.as_bytes(), name.as_bytes(), first);
        let Some(number) = self.groups_to(place).checked_sub(1) else { return Ok(None) };
        let group = self.group(number)?;
        let row = group.upper(place).checked_sub(1).map(|row| (group, row));
        Ok(row.filter(|(group, row)| {
            let found = group.key(*row);
            (found.0, found.1) == (place.0, place.1)
        }))
    }

    /// The row of a value of this node and name: the number of its group, and its number there. Who reads one variable of many datasets
    /// mostly finds the next as many rows on as the last.
    pub(crate) fn value(&self, node: &str, name: &str) -> Result<Option<(usize, usize)>> {
        let id = std::ptr::from_ref(self).addr();
        let last = LAST.get().filter(|last| last.part == id);
        let place = (node.as_bytes(), name.as_bytes(), 0);
        if let Some(last) = last
            && let Some((number, row)) = self.after(last)
            && let Some(group) = self.groups[number].get()
            && group.key(row) == place
        {
            LAST.set(Some(Last { group: number, row, ..last }));
            return Ok(Some((number, row)));
        }
        let Some(number) = self.groups_to(place).checked_sub(1) else { return Ok(None) };
        let group = self.group(number)?;
        let row = group.upper(place).checked_sub(1).filter(|&row| group.key(row) == place);
        if let Some(row) = row {
            let step = last.and_then(|last| self.steps(last, (number, row))).unwrap_or(0);
            LAST.set(Some(Last { part: id, group: number, row, step }));
        }
        Ok(row.map(|row| (number, row)))
    }

    /// The place as many rows on as the last time.
    fn after(&self, last: Last) -> Option<(usize, usize)> {
        let (mut number, mut row) = (last.group, last.row + last.step);
        loop {
            let group = self.groups.get(number)?.get()?;
            if row < group.len() {
                return Some((number, row));
            }
            row -= group.len();
            number += 1;
        }
    }

    /// How many rows a later place is on; `None` where it is none, or far.
    fn steps(&self, last: Last, (number, row): (usize, usize)) -> Option<usize> {
        if number < last.group || number > last.group + FAR {
            return None;
        }
        let lengths = self.groups[last.group..number].iter().map(|group| Some(group.get()?.len()));
        (lengths.sum::<Option<usize>>()? + row).checked_sub(last.row)
    }

    /// Visits the rows from `key` on, in order, for as long as `visit` says so.
    pub(crate) fn walk(
        &self,
        key: RowKey<'_>,
        visit: &mut dyn FnMut(&Arc<Group>, usize) -> Result<bool>,
    ) -> Result<()> {
        for number in self.groups_to(key).saturating_sub(1)..self.groups() {
            let group = self.group(number)?;
            for row in group.lower(key)..group.len() {
                if !visit(group, row)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// All rows.
    pub(crate) fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for number in 0..self.groups() {
            let group = self.group(number)?;
            for row in 0..group.len() {
                rows.push(group.row(row)?);
            }
        }
        Ok(rows)
    }
}

type Footer = (ParquetMetaData, Vec<GroupInfo>, Vec<Id>);

fn parse(footer: &[u8]) -> std::result::Result<Footer, ParquetError> {
    let general = |reason: &str| ParquetError::General(reason.into());
    let metadata = metadata_of(footer)?;
    let value = |key: &str| {
        let all = metadata.file_metadata().key_value_metadata();
        let found = all.and_then(|all| all.iter().find(|pair| pair.key == key));
        found.and_then(|pair| pair.value.as_deref()).ok_or_else(|| general(&format!("there is no {key}")))
    };
    let json = |error: serde_json::Error| ParquetError::General(error.to_string());
    let infos: Vec<GroupInfo> = serde_json::from_str(value(GROUPS)?).map_err(json)?;
    let segments = serde_json::from_str(value(SEGMENTS)?).map_err(json)?;
    if infos.len() != metadata.num_row_groups() {
        return Err(general("the row groups and their list differ"));
    }
    Ok((metadata, infos, segments))
}

/// The metadata at the end of a file, or of its footer.
pub(super) fn metadata_of(footer: &[u8]) -> std::result::Result<ParquetMetaData, ParquetError> {
    let general = |reason: &str| ParquetError::General(reason.into());
    let tail = footer.len().checked_sub(TAIL).ok_or_else(|| general("truncated"))?;
    let mut length = [0; 4];
    length.copy_from_slice(&footer[tail..tail + 4]);
    let begin = usize::try_from(u32::from_le_bytes(length)).ok().and_then(|length| tail.checked_sub(length));
    let begin = begin.ok_or_else(|| general("its metadata is longer than it"))?;
    calmly(|| ParquetMetaDataReader::decode_metadata(&footer[begin..tail]))
}

fn corrupt(store: &Arc<dyn Store>, key: &Key, reason: String) -> PackError {
    PackError::Corrupt { store: store.describe(), file: key.to_string(), reason }
}

/// One range of a file that must be there and must have `size` bytes at least.
fn read(store: &Arc<dyn Store>, key: &Key, range: ByteRange, size: u64) -> Result<Bytes> {
    match store.get_range(key, range) {
        Ok(Some((bytes, _))) => Ok(bytes),
        Ok(None) => Err(corrupt(store, key, "it is missing".into())),
        Err(StoreError::OutOfRange { size: found, .. }) => {
            Err(corrupt(store, key, format!("truncated: expected {size} bytes, found {found}")))
        }
        Err(error) => Err(error.into()),
    }
}

/// The parts of a pack that are open: shared by all versions, and closed with the last that needs them.
#[derive(Debug)]
pub(crate) struct Parts {
    store: Arc<dyn Store>,
    open: Mutex<HashMap<Id, Weak<Part>>>,
}

impl Parts {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, open: Mutex::default() }
    }

    /// The part of this file.
    pub(crate) fn get(&self, file: &PartFile) -> Result<Arc<Part>> {
        let table = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = table().get(&file.id).and_then(Weak::upgrade) {
            return Ok(part);
        }
        let part = Arc::new(Part::open(&self.store, file)?);
        let mut table = table();
        if table.len() >= TABLE {
            table.retain(|_, part| part.strong_count() > 0);
        }
        table.insert(file.id, Arc::downgrade(&part));
        Ok(part)
    }
}
