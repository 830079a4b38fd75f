//! The central directory of a zip file (APPNOTE 6.3.10, sections 4.3.12 to 4.3.16), read as hostile input.

use crate::error::{Result, StoreError};
use crate::key::{Key, LOCK_SUFFIX};
use crate::request::{Meta, Version};
use crate::{positional, span};
use std::collections::BTreeMap;
use std::fs::File;

pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const CENTRAL: u32 = 0x0201_4b50;
pub(super) const END: u32 = 0x0605_4b50;
pub(super) const END64: u32 = 0x0606_4b50;
pub(super) const LOCATOR64: u32 = 0x0706_4b50;
pub(super) const LOCAL_SIZE: u64 = 30;
const CENTRAL_SIZE: usize = 46;
const END_SIZE: usize = 22;

/// Largest entry: 1 TiB.
const MAX_ENTRY: u64 = 1 << 40;
/// Most bytes that one compressed byte may become.
const MAX_RATIO: u64 = 1024;

/// How the bytes of an entry are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflated,
}

/// One value in a zip file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Where its local header begins.
    pub(super) header: u64,
    /// Where the next thing in the file begins: the entry ends before it.
    pub(super) limit: u64,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) crc: u32,
    pub(super) method: Method,
}

impl Entry {
    pub(super) fn version(&self) -> Version {
        Version(format!("{:x}-{:x}-{:08x}", self.header, self.size, self.crc).into())
    }

    pub(super) fn meta(&self) -> Meta {
        Meta { size: self.size, version: self.version() }
    }
}

/// What was found, and where the directory began.
pub(super) struct Directory {
    pub(super) entries: BTreeMap<Key, Entry>,
    pub(super) start: u64,
    /// Entries that are no values: of names that come again later, and those of directories and lock files.
    pub(super) hidden: Vec<(String, Entry)>,
    /// Whether the file has a checksum of its directory (see [`seal`]), and it is right.
    pub(super) sealed: bool,
}

/// The comment of a zip file with this directory: a checksum, which other programs pass over.
pub(super) fn seal(directory: &[u8]) -> String {
    let mut sum = flate2::Crc::new();
    sum.update(directory);
    format!("tessarray: directory crc-32 {:08x}", sum.sum())
}

/// Little-endian fields, one after the other; `None` past the end.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

pub(super) fn corrupt(store: &str, reason: impl Into<String>) -> StoreError {
    StoreError::Corrupt { store: store.into(), reason: reason.into() }
}

/// Where the directory lies and how many entries it has.
struct End {
    start: u64,
    length: u64,
    count: u64,
    comment: Vec<u8>,
}

pub(super) fn parse(file: &File, store: &str) -> Result<Directory> {
    let size = file.metadata().map_err(|error| StoreError::io(store, "stat", error))?.len();
    let end = find_end(file, store, size)?;
    // Allocated only after it is known to lie in the file.
    let length = usize::try_from(end.length).map_err(|_| corrupt(store, "the directory is too large"))?;
    let bytes = positional::read_vec_at(file, length, end.start)
        .map_err(|error| StoreError::io(store, "read directory", error))?;
    let mut fields = Fields(&bytes);
    let sealed = end.comment == seal(&bytes).as_bytes();
    let (mut entries, mut hidden) = (BTreeMap::new(), Vec::new());
    let mut spans = Vec::new();
    for number in 0..end.count {
        let (name, entry) = parse_entry(&mut fields, end.start)
            .map_err(|reason| corrupt(store, format!("entry {number}: {reason}")))?;
        let minimum = LOCAL_SIZE.saturating_add(span::as_u64(name.len())).saturating_add(entry.packed);
        spans.push((entry.header, entry.header.saturating_add(minimum)));
        // Directories and what killed writers left are no values; their names are held to the rules nonetheless.
        let (path, is_value) = match (name.strip_suffix('/'), name.strip_suffix(LOCK_SUFFIX)) {
            (Some(path), _) => (path, false),
            (None, Some(path)) => (path, false),
            (None, None) => (name.as_str(), true),
        };
        let key = Key::new(path).map_err(|error| corrupt(store, error.to_string()))?;
        // zarr-python appends a new entry of the same name for each overwrite: as in any zip, the last counts.
        let replaced = if is_value { entries.insert(key, entry) } else { Some(entry) };
        hidden.extend(replaced.map(|entry| (name, entry)));
    }
    spans.sort_unstable();
    for pair in spans.windows(2) {
        if let [(_, first_end), (second, _)] = pair
            && second < first_end
        {
            return Err(corrupt(store, format!("the entries that begin before and at {second} overlap")));
        }
    }
    if spans.last().is_some_and(|(_, last)| *last > end.start) {
        return Err(corrupt(store, "an entry reaches into the directory"));
    }
    for entry in entries.values_mut().chain(hidden.iter_mut().map(|(_, entry)| entry)) {
        let next = spans.partition_point(|(start, _)| *start <= entry.header);
        entry.limit = spans.get(next).map_or(end.start, |(start, _)| *start);
    }
    Ok(Directory { entries, start: end.start, hidden, sealed })
}

/// Finds the end record: the last thing in the file but for a comment.
fn find_end(file: &File, store: &str, size: u64) -> Result<End> {
    let tail_length = size.min(span::as_u64(END_SIZE + usize::from(u16::MAX)));
    let length = usize::try_from(tail_length).unwrap_or(0);
    let tail = positional::read_vec_at(file, length, size - tail_length)
        .map_err(|error| StoreError::io(store, "read end", error))?;
    let none = || corrupt(store, "no zip file: it has no end of central directory");
    let last = tail.len().checked_sub(END_SIZE).ok_or_else(none)?;
    for at in (0..=last).rev() {
        let rest = tail.get(at..).unwrap_or_default();
        let Some(end) = parse_end(rest) else { continue };
        let position = size - tail_length + span::as_u64(at);
        return resolve_end(file, store, position, end);
    }
    Err(none())
}

/// The fields of an end record whose comment reaches exactly to the end of the file.
fn parse_end(bytes: &[u8]) -> Option<End> {
    let mut fields = Fields(bytes);
    if fields.u32()? != END {
        return None;
    }
    let (disk, first_disk) = (fields.u16()?, fields.u16()?);
    let (count_here, count) = (fields.u16()?, fields.u16()?);
    let (length, start) = (fields.u32()?, fields.u32()?);
    let comment = fields.u16()?;
    let single = (disk == 0 || disk == u16::MAX) && (first_disk == 0 || first_disk == u16::MAX);
    (single && count_here == count && fields.0.len() == usize::from(comment)).then_some(End {
        start: start.into(),
        length: length.into(),
        count: count.into(),
        comment: fields.0.to_vec(),
    })
}

fn resolve_end(file: &File, store: &str, position: u64, end: End) -> Result<End> {
    let big = [(end.count, u64::from(u16::MAX)), (end.start, u32::MAX.into()), (end.length, u32::MAX.into())];
    let mut limit = position;
    let mut end = end;
    if big.iter().any(|(found, most)| found == most)
        && let Some((end64, at)) = find_end64(file, store, position)?
    {
        (end, limit) = (End { comment: end.comment, ..end64 }, at);
    }
    let fits = end.start.checked_add(end.length).is_some_and(|after| after <= limit);
    let smallest = end.count.checked_mul(span::as_u64(CENTRAL_SIZE));
    if !fits || smallest.is_none_or(|smallest| smallest > end.length) {
        let End { start, length, count, .. } = end;
        return Err(corrupt(
            store,
            format!("a directory of {count} entries in {length} bytes at {start} does not fit the file"),
        ));
    }
    Ok(end)
}

fn find_end64(file: &File, store: &str, position: u64) -> Result<Option<(End, u64)>> {
    let mut locator = [0; 20];
    let Some(at) = position.checked_sub(20) else { return Ok(None) };
    positional::read_exact_at(file, &mut locator, at)
        .map_err(|error| StoreError::io(store, "read end", error))?;
    let mut fields = Fields(&locator);
    if fields.u32() != Some(LOCATOR64) {
        return Ok(None);
    }
    let (_disk, record) = (fields.u32(), fields.u64().unwrap_or(u64::MAX));
    let bad = || corrupt(store, "the zip64 end of central directory is damaged");
    if record.checked_add(56).is_none_or(|after| after > at) {
        return Err(bad());
    }
    let mut bytes = [0; 56];
    positional::read_exact_at(file, &mut bytes, record)
        .map_err(|error| StoreError::io(store, "read end", error))?;
    let mut fields = Fields(&bytes);
    let mut parse = || {
        let magic = fields.u32()?;
        fields.take(12)?; // record size, versions
        let (disk, first_disk) = (fields.u32()?, fields.u32()?);
        let (count_here, count) = (fields.u64()?, fields.u64()?);
        let (length, start) = (fields.u64()?, fields.u64()?);
        (magic == END64 && disk == 0 && first_disk == 0 && count_here == count).then_some(End {
            start,
            length,
            count,
            comment: Vec::new(),
        })
    };
    Ok(Some((parse().ok_or_else(bad)?, record)))
}

fn parse_entry(fields: &mut Fields<'_>, directory: u64) -> std::result::Result<(String, Entry), String> {
    let (entry, flags, name, extra) = parse_central(fields).ok_or("its header is damaged")?;
    let name = std::str::from_utf8(name).map_err(|_| "its name is not UTF-8")?.to_owned();
    let (method, mut entry) = entry;
    // Bit 0: encrypted; 6: strongly; 13: the headers too.
    if flags & 0b10_0000_0100_0001 != 0 {
        return Err(format!("{name:?} is encrypted"));
    }
    fill_from_zip64(&mut entry, extra).ok_or_else(|| format!("{name:?} has a damaged zip64 field"))?;
    entry.method = match method {
        0 => Method::Stored,
        8 => Method::Deflated,
        other => {
            return Err(format!("{name:?} has compression method {other}; stored and deflate are read"));
        }
    };
    let Entry { size, packed, .. } = entry;
    if size > MAX_ENTRY || packed > MAX_ENTRY {
        return Err(format!("{name:?} has {size} bytes, over the limit of {MAX_ENTRY}"));
    }
    if entry.method == Method::Stored && size != packed {
        return Err(format!("{name:?} is stored, but has {size} bytes in {packed}"));
    }
    if size > packed.saturating_mul(MAX_RATIO) {
        return Err(format!("{name:?} inflates {packed} bytes to {size}, over {MAX_RATIO} times"));
    }
    if entry.header.checked_add(LOCAL_SIZE).is_none_or(|after| after > directory) {
        return Err(format!("{name:?} lies outside the file"));
    }
    Ok((name, entry))
}

type Central<'a> = ((u16, Entry), u16, &'a [u8], &'a [u8]);

fn parse_central<'a>(fields: &mut Fields<'a>) -> Option<Central<'a>> {
    if fields.u32()? != CENTRAL {
        return None;
    }
    fields.take(4)?; // versions
    let (flags, method) = (fields.u16()?, fields.u16()?);
    fields.take(4)?; // time, date
    let crc = fields.u32()?;
    let (packed, size) = (u64::from(fields.u32()?), u64::from(fields.u32()?));
    let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
    fields.take(8)?; // disk, attributes
    let header = u64::from(fields.u32()?);
    let (name, extra) = (fields.take(name.into())?, fields.take(extra.into())?);
    fields.take(comment.into())?;
    let entry = Entry { header, limit: 0, packed, size, crc, method: Method::Stored };
    Some(((method, entry), flags, name, extra))
}

/// Fields that are all ones stand in the zip64 extra field, in this order.
fn fill_from_zip64(entry: &mut Entry, extra: &[u8]) -> Option<()> {
    let missing = |field: u64| field == u64::from(u32::MAX);
    if !(missing(entry.size) || missing(entry.packed) || missing(entry.header)) {
        return Some(());
    }
    let mut extras = Fields(extra);
    while !extras.0.is_empty() {
        let (id, length) = (extras.u16()?, extras.u16()?);
        let mut fields = Fields(extras.take(length.into())?);
        if id == 1 {
            for field in [&mut entry.size, &mut entry.packed, &mut entry.header] {
                if missing(*field) {
                    *field = fields.u64()?;
                }
            }
            return Some(());
        }
    }
    None
}
