//! The bytes of one entry.

use super::parse::{Entry, Fields, LOCAL, LOCAL_SIZE, Method, corrupt};
use crate::error::StoreError;
use crate::key::Key;
use crate::{positional, span};
use bytes::Bytes;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::collections::TryReserveError;
use std::fs::File;
use std::io;
use std::path::Path;

/// A deflated entry up to this size is inflated once for a run of requests; larger ones once for each.
const KEPT: u64 = 64 << 20;

pub(super) struct Source<'a> {
    pub(super) file: &'a File,
    pub(super) store: &'a Path,
    pub(super) key: &'a Key,
    pub(super) entry: &'a Entry,
}

impl Source<'_> {
    /// A range that lies inside the entry. `inflated` carries the whole of a deflated entry from call to call.
    pub(super) fn read(
        &self,
        offset: u64,
        length: u64,
        inflated: &mut Option<Bytes>,
    ) -> crate::error::Result<Bytes> {
        if let Some(whole) = inflated {
            return self.slice(whole, offset, length);
        }
        let data = self.data()?;
        match self.entry.method {
            Method::Stored => {
                let bytes = self.bytes(data.saturating_add(offset), length)?;
                // A part cannot be checked: the codecs above do that.
                if length == self.entry.size {
                    self.check(crc(&bytes))?;
                }
                Ok(bytes.into())
            }
            Method::Deflated if self.entry.size <= KEPT => {
                let whole = Bytes::from(self.inflate(data, 0, self.entry.size)?);
                let part = self.slice(&whole, offset, length);
                *inflated = Some(whole);
                part
            }
            Method::Deflated => Ok(self.inflate(data, offset, length)?.into()),
        }
    }

    fn slice(&self, whole: &Bytes, offset: u64, length: u64) -> crate::error::Result<Bytes> {
        let start = span::to_usize(self.key, offset)?;
        let end = start.saturating_add(span::to_usize(self.key, length)?);
        if end > whole.len() {
            return Err(self.damaged("it is shorter than the directory says"));
        }
        Ok(whole.slice(start..end))
    }

    fn damaged(&self, reason: &str) -> StoreError {
        corrupt(&self.store.display().to_string(), format!("{}: {reason}", self.key))
    }

    fn bytes(&self, offset: u64, length: u64) -> crate::error::Result<Vec<u8>> {
        let length = span::to_usize(self.key, length)?;
        positional::read_vec_at(self.file, length, offset)
            .map_err(|error| StoreError::io(self.key, "read", error))
    }

    fn check(&self, found: u32) -> crate::error::Result<()> {
        let expected = self.entry.crc;
        if found == expected {
            return Ok(());
        }
        Err(self.damaged(&format!("its CRC-32 is {found:08x}, and should be {expected:08x}")))
    }

    /// Where the bytes begin, from the local header, which must agree with the directory.
    fn data(&self) -> crate::error::Result<u64> {
        let begin = local_header(self.file, self.key.as_str(), self.entry);
        let begin = begin.map_err(|error| StoreError::io(self.key, "read", error))?;
        begin.map_err(|reason| self.damaged(&reason))
    }

    /// Inflates the whole entry, keeps the range, checks size and CRC-32. Needs the range and 64 KiB twice.
    pub(super) fn inflate(&self, data: u64, offset: u64, length: u64) -> crate::error::Result<Vec<u8>> {
        const STEP: usize = 64 << 10;
        const INFLATER: usize = 64 << 10;
        let none = |error: TryReserveError| StoreError::io(self.key, "allocate", error.into());
        let mut kept: Vec<u8> = Vec::new();
        kept.try_reserve_exact(span::to_usize(self.key, length)?).map_err(none)?;
        let (mut input, mut output) = (zeros(STEP).map_err(none)?, zeros(STEP).map_err(none)?);
        // The inflater takes its own memory without asking: what that is, is asked for here and given back.
        drop(zeros(INFLATER).map_err(none)?);
        let (mut inflater, mut sum) = (Decompress::new(false), Crc::new());
        let (mut filled, mut used) = (0_usize, 0_usize);
        let mut read = 0_u64;
        loop {
            if used == filled && read < self.entry.packed {
                let next = usize::try_from(self.entry.packed - read).unwrap_or(STEP).min(STEP);
                let buffer = input.get_mut(..next).unwrap_or_default();
                positional::read_exact_at(self.file, buffer, data.saturating_add(read))
                    .map_err(|error| StoreError::io(self.key, "read", error))?;
                read += span::as_u64(next);
                (filled, used) = (next, 0);
            }
            let (consumed, produced) = (inflater.total_in(), inflater.total_out());
            let status = inflater
                .decompress(input.get(used..filled).unwrap_or_default(), &mut output, FlushDecompress::None)
                .map_err(|_| self.damaged("its deflate stream is damaged"))?;
            used += usize::try_from(inflater.total_in() - consumed).unwrap_or(0);
            let after = inflater.total_out();
            if after > self.entry.size {
                return Err(self.damaged("it is longer than the directory says"));
            }
            let fresh = output.get(..usize::try_from(after - produced).unwrap_or(0)).unwrap_or_default();
            sum.update(fresh);
            // The part of what came out that lies in the range.
            let from = offset.max(produced).min(after) - produced;
            let to = offset.saturating_add(length).clamp(produced, after) - produced;
            if let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) {
                kept.extend_from_slice(fresh.get(from..to).unwrap_or_default());
            }
            match status {
                Status::StreamEnd => break,
                _ if inflater.total_in() == consumed && after == produced => {
                    return Err(self.damaged("its deflate stream ends too early"));
                }
                _ => {}
            }
        }
        if inflater.total_out() != self.entry.size {
            return Err(self.damaged("it is shorter than the directory says"));
        }
        self.check(sum.sum())?;
        Ok(kept)
    }
}

fn zeros(length: usize) -> Result<Vec<u8>, TryReserveError> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(length)?;
    zeros.resize(length, 0);
    Ok(zeros)
}

/// Where the bytes of an entry begin, from its local header; the reason where that does not agree with the directory.
pub(super) fn local_header(file: &File, name: &str, entry: &Entry) -> io::Result<Result<u64, String>> {
    let length = usize::try_from(LOCAL_SIZE).unwrap_or(30).saturating_add(name.len());
    let header = positional::read_vec_at(file, length, entry.header)?;
    Ok(agree(&header, name, entry))
}

/// Whether the local headers of all entries agree with the directory; the reason where one does not.
pub(super) fn all_agree<'a>(
    file: &File,
    values: impl Iterator<Item = (&'a str, &'a Entry)>,
    hidden: &'a [(String, Entry)],
) -> io::Result<Result<(), String>> {
    let hidden = hidden.iter().map(|(name, entry)| (name.as_str(), entry));
    // In the order of the file.
    let mut all: Vec<_> = values.chain(hidden).collect();
    all.sort_unstable_by_key(|(_, entry)| entry.header);
    for (name, entry) in all {
        if let Err(reason) = local_header(file, name, entry)? {
            return Ok(Err(format!("{name}: {reason}")));
        }
    }
    Ok(Ok(()))
}

fn agree(header: &[u8], name: &str, entry: &Entry) -> Result<u64, String> {
    let mut fields = Fields(header);
    let mut parse = || {
        let magic = fields.u32()?;
        let (_needs, flags, _method) = (fields.u16()?, fields.u16()?, fields.u16()?);
        fields.take(4)?; // time, date
        let sums = [fields.u32()?, fields.u32()?, fields.u32()?];
        Some((magic, flags, sums, fields.u16()?, fields.u16()?))
    };
    let Some((LOCAL, flags, [crc, packed, size], length, extra)) = parse() else {
        return Err("there is no local header where the directory says that it is".into());
    };
    if usize::from(length) != name.len() || fields.0 != name.as_bytes() {
        let found = String::from_utf8_lossy(fields.0);
        return Err(format!("its local header has another name: expected {name:?}, found {found:?}"));
    }
    // Bit 3: who wrote it did not know them yet. All ones: they stand elsewhere.
    let same = |local: u32, known: u64| local == u32::MAX || u64::from(local) == known;
    if flags & 1 << 3 == 0 && !(crc == entry.crc && same(packed, entry.packed) && same(size, entry.size)) {
        return Err("its local header has another checksum or size than the directory".into());
    }
    let begin = LOCAL_SIZE.saturating_add(u64::from(length)).saturating_add(extra.into());
    let data = entry.header.saturating_add(begin);
    if data.saturating_add(entry.packed) > entry.limit {
        return Err("it overlaps what follows it".into());
    }
    Ok(data)
}

fn crc(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}
