//! Writes a zip file from front to back.

use super::parse::{CENTRAL, END, END64, Entry, LOCAL, LOCATOR64, Method, seal};
use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::{positional, span};
use flate2::Crc;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Version 2.0, or 4.5 for zip64; the high byte says that attributes are as on Unix.
const NEEDS: u16 = 20;
const NEEDS64: u16 = 45;
const MADE_BY: u16 = 3 << 8 | NEEDS64;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// 1 January 1980: files with the same values have the same bytes.
const DATE: u16 = 1 << 5 | 1;
/// A regular file that its owner may write.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// The file while it has no central directory yet, under its temporary name, locked.
pub(super) struct Writer {
    file: File,
    temporary: PathBuf,
    /// Where the next entry goes.
    end: u64,
}

impl Writer {
    /// Step 1. Also returns another handle of the file, to read from.
    pub(super) fn begin(path: &Path, temporary: &Path) -> Result<(Self, File)> {
        let failed = |action| move |error| StoreError::io(path.display(), action, error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(temporary)
            .map_err(failed("create"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let message = "another writer is at work on this zip file".into();
                return Err(StoreError::Other { key: path.display().to_string(), message });
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        file.set_len(0).map_err(failed("create"))?;
        let reader = file.try_clone().map_err(failed("create"))?;
        Ok((Self { file, temporary: temporary.into(), end: 0 }, reader))
    }

    /// Takes over the entries of another zip file: its bytes before the central directory.
    pub(super) fn copy(&mut self, old: &File, length: u64, path: &Path) -> Result<()> {
        let (mut from, mut to) = (old.take(length), &self.file);
        let copied = io::copy(&mut from, &mut to);
        let copied = copied.map_err(|error| StoreError::io(path.display(), "copy", error));
        match copied {
            Ok(copied) if copied == length => {
                self.end = length;
                Ok(())
            }
            answer => {
                let _ = std::fs::remove_file(&self.temporary);
                answer.and(Err(StoreError::io(path.display(), "copy", io::ErrorKind::UnexpectedEof.into())))
            }
        }
    }

    /// Step 2. Where it fails, the next entry takes the place of what was written.
    pub(super) fn append<B: AsRef<[u8]>>(&mut self, key: &Key, parts: &[B]) -> Result<Entry> {
        let mut sum = Crc::new();
        let mut size = 0_u64;
        for part in parts {
            sum.update(part.as_ref());
            size += span::as_u64(part.as_ref().len());
        }
        let mut entry =
            Entry { header: self.end, limit: 0, packed: size, size, crc: sum.sum(), method: Method::Stored };
        let header = local_header(key, &entry);
        let mut at = self.end;
        for bytes in std::iter::once(header.as_slice()).chain(parts.iter().map(AsRef::as_ref)) {
            positional::write_all_at(&self.file, bytes, at)
                .map_err(|error| StoreError::io(key, "write", error))?;
            at += span::as_u64(bytes.len());
        }
        self.end = at;
        entry.limit = at;
        Ok(entry)
    }

    /// Step 3. May be tried again where it fails.
    pub(super) fn finish(&mut self, index: &BTreeMap<Key, Entry>, path: &Path) -> Result<()> {
        let failed = |error| StoreError::io(path.display(), "close", error);
        let mut directory = Vec::new();
        for (key, entry) in index {
            central_header(&mut directory, key, entry);
        }
        let length = span::as_u64(directory.len());
        let comment = seal(&directory);
        end_records(&mut directory, span::as_u64(index.len()), length, self.end, &comment);
        positional::write_all_at(&self.file, &directory, self.end).map_err(failed)?;
        self.file.set_len(self.end + span::as_u64(directory.len())).map_err(failed)?;
        std::fs::rename(&self.temporary, path).map_err(failed)?;
        let _ = self.file.unlock();
        Ok(())
    }

    pub(super) fn discard(self) {
        let _ = std::fs::remove_file(&self.temporary);
        let _ = self.file.unlock();
    }
}

/// A field of 32 bits: all ones where the number is in the zip64 field instead.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn is_wide(number: u64) -> bool {
    number >= u64::from(u32::MAX)
}

/// Names are keys, which have 4096 bytes at most.
fn name_length(key: &Key) -> u16 {
    u16::try_from(key.as_str().len()).unwrap_or(u16::MAX)
}

fn local_header(key: &Key, entry: &Entry) -> Vec<u8> {
    let wide = is_wide(entry.size);
    let mut out = Vec::with_capacity(64 + key.as_str().len());
    out.extend(LOCAL.to_le_bytes());
    for field in [if wide { NEEDS64 } else { NEEDS }, FLAGS, 0, 0, DATE] {
        out.extend(field.to_le_bytes());
    }
    let size = if wide { u32::MAX } else { narrow(entry.size) };
    for field in [entry.crc, size, size] {
        out.extend(field.to_le_bytes());
    }
    out.extend(name_length(key).to_le_bytes());
    out.extend(if wide { 20_u16 } else { 0 }.to_le_bytes());
    out.extend(key.as_str().as_bytes());
    if wide {
        for field in [1_u16, 16] {
            out.extend(field.to_le_bytes());
        }
        out.extend(entry.size.to_le_bytes());
        out.extend(entry.packed.to_le_bytes());
    }
    out
}

fn central_header(out: &mut Vec<u8>, key: &Key, entry: &Entry) {
    let wide: Vec<u64> =
        [entry.size, entry.packed, entry.header].into_iter().filter(|field| is_wide(*field)).collect();
    let method = match entry.method {
        Method::Stored => 0,
        Method::Deflated => 8,
    };
    out.extend(CENTRAL.to_le_bytes());
    let needs = if wide.is_empty() { NEEDS } else { NEEDS64 };
    for field in [MADE_BY, needs, FLAGS, method, 0, DATE] {
        out.extend(field.to_le_bytes());
    }
    for field in [entry.crc, narrow(entry.packed), narrow(entry.size)] {
        out.extend(field.to_le_bytes());
    }
    let extra: u16 = match wide.len() {
        0 => 0,
        1 => 12,
        2 => 20,
        _ => 28,
    };
    for field in [name_length(key), extra, 0, 0, 0] {
        out.extend(field.to_le_bytes());
    }
    out.extend(ATTRIBUTES.to_le_bytes());
    out.extend(narrow(entry.header).to_le_bytes());
    out.extend(key.as_str().as_bytes());
    if extra > 0 {
        for field in [1, extra - 4] {
            out.extend(field.to_le_bytes());
        }
        wide.iter().for_each(|field| out.extend(field.to_le_bytes()));
    }
}

fn end_records(out: &mut Vec<u8>, count: u64, length: u64, start: u64, comment: &str) {
    let short_count = u16::try_from(count).unwrap_or(u16::MAX);
    if short_count == u16::MAX || is_wide(length) || is_wide(start) {
        out.extend(END64.to_le_bytes());
        out.extend(44_u64.to_le_bytes());
        for field in [MADE_BY, NEEDS64] {
            out.extend(field.to_le_bytes());
        }
        out.extend([0; 8]); // disks
        for field in [count, count, length, start] {
            out.extend(field.to_le_bytes());
        }
        out.extend(LOCATOR64.to_le_bytes());
        out.extend([0; 4]);
        out.extend((start + length).to_le_bytes());
        out.extend(1_u32.to_le_bytes());
    }
    out.extend(END.to_le_bytes());
    for field in [0, 0, short_count, short_count] {
        out.extend(field.to_le_bytes());
    }
    for field in [narrow(length), narrow(start)] {
        out.extend(field.to_le_bytes());
    }
    out.extend(u16::try_from(comment.len()).unwrap_or(0).to_le_bytes());
    out.extend(comment.as_bytes());
}
