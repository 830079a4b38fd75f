//! Columns of a row group as vectors.
//!
//! Decoded here and not by a general reader: a version is opened, listed and looked up in at the speed of this, and its
//! columns are of few kinds. The tests hold it against the general reader.

use super::numbers::{deltas, hybrid, take};
use super::pages::{Encoding, each};
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use std::sync::Arc;

/// Bytes of the texts of a column: far more than a writer puts there.
const BYTES: usize = 256 << 20;
const NONE: u32 = u32::MAX;

pub(super) fn general(reason: String) -> ParquetError {
    ParquetError::General(reason)
}

/// A column as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub bytes: Bytes,
    /// Whether its pages are Zstandard frames.
    pub packed: bool,
    pub rows: usize,
}

/// Where the values of a column go.
trait Values {
    fn dictionary(&mut self, body: &[u8], count: usize) -> Option<()>;
    fn data(&mut self, encoding: Encoding, body: &[u8], count: usize) -> Option<()>;
}

impl Column {
    /// Values of which each row has one.
    fn required<V: Values>(&self, mut values: V) -> Result<V> {
        let mut rows = 0;
        each(&self.bytes, self.packed, &mut |page| {
            if page.dictionary {
                return values.dictionary(page.body, page.values);
            }
            rows += page.values;
            values.data(page.encoding, page.body, page.values)
        })?;
        self.check(rows)?;
        Ok(values)
    }

    /// Values of which a row may have one: for each row, whether it has.
    fn optional<V: Values>(&self, mut values: V) -> Result<(Vec<u32>, V)> {
        let mut defined = Vec::new();
        each(&self.bytes, self.packed, &mut |page| {
            if page.dictionary {
                return values.dictionary(page.body, page.values);
            }
            let mut body = page.body;
            let there = levels(&mut body, page.values, &mut defined)?;
            if there == 0 { Some(()) } else { values.data(page.encoding, body, there) }
        })?;
        self.check(defined.len())?;
        Ok((defined, values))
    }

    fn check(&self, rows: usize) -> Result<()> {
        let same = rows == self.rows;
        same.then_some(()).ok_or_else(|| general(format!("expected {} rows, found {rows}", self.rows)))
    }

    /// Numbers of `width` bytes, one a row.
    pub(super) fn integers(&self, width: usize) -> Result<Vec<i64>> {
        Ok(self.required(Integers { width, ..Integers::default() })?.values)
    }

    /// Numbers that some rows have.
    pub(super) fn optional_integers(&self, width: usize) -> Result<Vec<Option<i64>>> {
        let (defined, found) = self.optional(Integers { width, ..Integers::default() })?;
        let mut values = found.values.into_iter();
        Ok(defined.iter().map(|&there| if there > 0 { values.next() } else { None }).collect())
    }

    /// A list of numbers of `width` bytes a row.
    pub(super) fn lists(&self, width: usize) -> Result<Lists> {
        let mut values = Integers { width, ..Integers::default() };
        let (mut repeats, mut defined, mut first) = (Vec::new(), Vec::new(), None);
        each(&self.bytes, self.packed, &mut |page| {
            if page.dictionary {
                return values.dictionary(page.body, page.values);
            }
            let mut body = page.body;
            levels(&mut body, page.values, &mut repeats)?;
            let there = levels(&mut body, page.values, &mut defined)?;
            let stored = &page.body[..page.body.len() - body.len()];
            first.get_or_insert_with(|| Levels { stored: stored.into(), count: page.values, there });
            if there == 0 { Some(()) } else { values.data(page.encoding, body, there) }
        })?;
        let mut starts = Vec::with_capacity(self.rows + 1);
        let mut count = 0;
        for (repeat, defined) in repeats.iter().zip(&defined) {
            if *repeat == 0 {
                starts.push(count);
            }
            count += defined;
        }
        self.check(starts.len())?;
        starts.push(count);
        Ok(Lists { starts, numbers: values.values, first: first.unwrap_or_default() })
    }

    /// The same, where the lists must be as long as those of another column: its numbers.
    pub(super) fn lists_like(&self, width: usize, other: &Lists) -> Result<Vec<i64>> {
        // Mostly both have one page, and its levels are the same bytes: then there is nothing to decode of them.
        let mut values = Integers { width, ..Integers::default() };
        let (mut pages, mut same) = (0, true);
        each(&self.bytes, self.packed, &mut |page| {
            if page.dictionary {
                return values.dictionary(page.body, page.values);
            }
            pages += 1;
            let Levels { stored, count, there } = &other.first;
            same &= pages == 1 && page.values == *count && page.body.starts_with(stored);
            if !same || *there == 0 {
                return Some(());
            }
            values.data(page.encoding, &page.body[stored.len()..], *there)
        })?;
        if same && values.values.len() == other.numbers.len() {
            return Ok(values.values);
        }
        let found = self.lists(width)?;
        let like = found.starts == other.starts && found.numbers.len() == other.numbers.len();
        like.then_some(found.numbers).ok_or_else(|| general("the columns of chunks differ in length".into()))
    }

    /// Yes or no, for each row.
    pub(super) fn booleans(&self) -> Result<Vec<bool>> {
        Ok(self.required(Booleans::default())?.0)
    }

    /// A text a row.
    pub(super) fn texts(&self) -> Result<Texts> {
        self.required(Texts::default())
    }

    /// A text a row, where few differ.
    pub(super) fn numbered(&self) -> Result<Numbered> {
        self.required(Numbered::default())
    }

    /// A text that some rows have.
    pub(super) fn optional_texts(&self) -> Result<Numbered> {
        let (defined, mut found) = self.optional(Numbered::default())?;
        if found.at.len() < defined.len() {
            if found.at.is_empty() {
                return Ok(Numbered::default());
            }
            let mut numbers = found.at.into_iter();
            let number = |&there: &u32| if there > 0 { numbers.next().unwrap_or(NONE) } else { NONE };
            found.at = defined.iter().map(number).collect();
        }
        Ok(found)
    }

    /// The same, of texts that are kept for themselves.
    pub(super) fn shared(&self) -> Result<Shared> {
        let found = self.optional_texts()?;
        let text = |number| {
            let text = std::str::from_utf8(found.texts.get(number));
            text.map(Arc::from).map_err(|error| general(error.to_string()))
        };
        let texts = (0..found.texts.len()).map(text).collect::<Result<_>>()?;
        Ok(Shared { at: found.at, texts })
    }
}

/// Takes the levels of a page, which are 0 or 1, and says how many are 1.
fn levels(body: &mut &[u8], count: usize, out: &mut Vec<u32>) -> Option<usize> {
    let mut size = [0; 4];
    size.copy_from_slice(take(body, 4)?);
    let before = out.len();
    hybrid(take(body, usize::try_from(u32::from_le_bytes(size)).ok()?)?, 1, count, out)?;
    let mut ones = 0;
    for &level in &out[before..] {
        if level > 1 {
            return None;
        }
        ones += level as usize;
    }
    Some(ones)
}

/// A list a row.
pub(super) struct Lists {
    /// Where each row's begin; with the end.
    pub starts: Vec<u32>,
    pub numbers: Vec<i64>,
    first: Levels,
}

/// The levels of a page.
#[derive(Default)]
struct Levels {
    /// As they are stored.
    stored: Box<[u8]>,
    /// How many, and how many of them are of numbers.
    count: usize,
    there: usize,
}

/// Appends numbers of values of a dictionary.
fn numbers(body: &[u8], count: usize, known: usize, out: &mut Vec<u32>) -> Option<()> {
    let (&width, body) = body.split_first()?;
    let before = out.len();
    hybrid(body, u32::from(width), count, out)?;
    out[before..].iter().all(|&number| (number as usize) < known).then_some(())
}

#[derive(Default)]
struct Integers {
    /// Bytes of a plain one.
    width: usize,
    dictionary: Vec<i64>,
    values: Vec<i64>,
    numbers: Vec<u32>,
}

impl Integers {
    fn plain(&self, body: &[u8], count: usize, out: &mut Vec<i64>) -> Option<()> {
        let bytes = body.get(..count.checked_mul(self.width)?)?;
        match self.width {
            4 => out.extend(bytes.as_chunks().0.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes)))),
            _ => out.extend(bytes.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes))),
        }
        Some(())
    }
}

impl Values for Integers {
    fn dictionary(&mut self, body: &[u8], count: usize) -> Option<()> {
        let mut values = Vec::new();
        self.plain(body, count, &mut values)?;
        self.dictionary = values;
        Some(())
    }

    fn data(&mut self, encoding: Encoding, mut body: &[u8], count: usize) -> Option<()> {
        match encoding {
            Encoding::Plain => {
                let mut values = std::mem::take(&mut self.values);
                self.plain(body, count, &mut values)?;
                self.values = values;
                Some(())
            }
            Encoding::Numbers => {
                self.numbers.clear();
                numbers(body, count, self.dictionary.len(), &mut self.numbers)?;
                let dictionary = &self.dictionary;
                self.values.extend(self.numbers.iter().map(|&number| dictionary[number as usize]));
                Some(())
            }
            Encoding::Deltas => deltas(&mut body, count, &mut self.values),
            Encoding::TextDeltas => None,
        }
    }
}

#[derive(Default)]
struct Booleans(Vec<bool>);

impl Values for Booleans {
    fn dictionary(&mut self, _: &[u8], _: usize) -> Option<()> {
        None
    }

    fn data(&mut self, encoding: Encoding, body: &[u8], count: usize) -> Option<()> {
        if encoding != Encoding::Plain || body.len() < count.div_ceil(8) {
            return None;
        }
        self.0.extend((0..count).map(|i| body[i / 8] >> (i % 8) & 1 == 1));
        Some(())
    }
}

/// Texts one after the other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Texts {
    pub(super) fn get(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[at] as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Ends the text whose bytes were appended.
    fn end(&mut self) -> Option<()> {
        let end = Some(self.bytes.len()).filter(|&end| end <= BYTES)?;
        self.ends.push(end as u32);
        Some(())
    }

    fn plain(&mut self, mut body: &[u8], count: usize) -> Option<()> {
        for _ in 0..count {
            let mut size = [0; 4];
            size.copy_from_slice(take(&mut body, 4)?);
            let text = take(&mut body, usize::try_from(u32::from_le_bytes(size)).ok()?)?;
            self.bytes.extend_from_slice(text);
            self.end()?;
        }
        Some(())
    }

    fn deltas(&mut self, mut body: &[u8], count: usize) -> Option<()> {
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        deltas(&mut body, count, &mut shared)?;
        deltas(&mut body, count, &mut own)?;
        let length = shared.iter().chain(&own).fold(0i64, |all, &one| all.saturating_add(one.max(0)));
        let length = usize::try_from(length).ok().filter(|&length| length <= BYTES)?;
        self.bytes.reserve(length);
        self.ends.reserve(count);
        let mut last = self.bytes.len()..self.bytes.len();
        for (shared, own) in shared.into_iter().zip(own) {
            let shared = usize::try_from(shared).ok().filter(|&shared| shared <= last.len())?;
            let own = take(&mut body, usize::try_from(own).ok()?)?;
            let begin = self.bytes.len();
            self.bytes.extend_from_within(last.start..last.start + shared);
            self.bytes.extend_from_slice(own);
            self.end()?;
            last = begin..self.bytes.len();
        }
        Some(())
    }
}

impl Values for Texts {
    fn dictionary(&mut self, _: &[u8], _: usize) -> Option<()> {
        None
    }

    fn data(&mut self, encoding: Encoding, body: &[u8], count: usize) -> Option<()> {
        match encoding {
            Encoding::Plain => self.plain(body, count),
            Encoding::TextDeltas => self.deltas(body, count),
            Encoding::Numbers | Encoding::Deltas => None,
        }
    }
}

/// Texts that rows name by number.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    at: Vec<u32>,
    texts: Texts,
}

impl Numbered {
    /// The number of a row's text: rows of one number have one text.
    pub(super) fn number(&self, row: usize) -> Option<u32> {
        self.at.get(row).copied().filter(|&at| at != NONE)
    }

    /// Which numbers have texts that are wanted.
    pub(super) fn which(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<bool> {
        (0..self.texts.len()).map(|number| wanted(self.texts.get(number))).collect()
    }

    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        self.number(row).map(|at| self.texts.get(at as usize))
    }
}

impl Values for Numbered {
    fn dictionary(&mut self, body: &[u8], count: usize) -> Option<()> {
        // The format has one dictionary, and it is the first page.
        (self.texts.len() == 0 && self.at.is_empty()).then_some(())?;
        self.texts.plain(body, count)
    }

    fn data(&mut self, encoding: Encoding, body: &[u8], count: usize) -> Option<()> {
        match encoding {
            Encoding::Numbers => numbers(body, count, self.texts.len(), &mut self.at),
            // A dictionary that became too large.
            Encoding::Plain => {
                let first = self.texts.len() as u32;
                self.texts.plain(body, count)?;
                self.at.extend(first..self.texts.len() as u32);
                Some(())
            }
            Encoding::Deltas | Encoding::TextDeltas => None,
        }
    }
}

/// Texts that many rows share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    at: Vec<u32>,
    texts: Vec<Arc<str>>,
}

impl Shared {
    /// The number of a row's text: rows of one number have one text.
    pub(super) fn number(&self, row: usize) -> Option<u32> {
        self.at.get(row).copied().filter(|&at| at != NONE)
    }

    pub(super) fn get(&self, row: usize) -> Option<&Arc<str>> {
        self.texts.get(self.number(row)? as usize)
    }
}
