//! Columns of a row group as vectors.
//!
//! Decoded here and not by a general reader: a version is opened, listed and looked up in at the speed of this, and its
//! columns are of few kinds. The tests hold it against the general reader.

use super::general;
use super::numbers::{hybrid, take};
use super::pages::each;
use super::texts::{Numbered, Shared, Texts};
use super::values::{Booleans, Integers, Values};
use bytes::Bytes;
use parquet::errors::Result;

/// A column as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub bytes: Bytes,
    /// Whether its pages are Zstandard frames.
    pub packed: bool,
    pub rows: usize,
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
    pub(crate) fn integers(&self, width: usize) -> Result<Vec<i64>> {
        Ok(self.required(Integers::of(width))?.values)
    }

    /// Numbers that some rows have.
    pub(crate) fn optional_integers(&self, width: usize) -> Result<Vec<Option<i64>>> {
        let (defined, found) = self.optional(Integers::of(width))?;
        let mut values = found.values.into_iter();
        Ok(defined.iter().map(|&there| if there > 0 { values.next() } else { None }).collect())
    }

    /// A list of numbers of `width` bytes a row.
    pub(crate) fn lists(&self, width: usize) -> Result<Lists> {
        let mut values = Integers::of(width);
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
        // As many as the pages have, which is bounded; the footer may say any number of rows.
        let mut starts = Vec::with_capacity(self.rows.min(repeats.len()) + 1);
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
    pub(crate) fn lists_like(&self, width: usize, other: &Lists) -> Result<Vec<i64>> {
        // Mostly both have one page, and its levels are the same bytes: then there is nothing to decode of them.
        let mut values = Integers::of(width);
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
    pub(crate) fn booleans(&self) -> Result<Vec<bool>> {
        Ok(self.required(Booleans::default())?.values)
    }

    /// A text a row.
    pub(crate) fn texts(&self) -> Result<Texts> {
        self.required(Texts::default())
    }

    /// A text a row, where few differ.
    pub(crate) fn numbered(&self) -> Result<Numbered> {
        self.required(Numbered::default())
    }

    /// A text that some rows have.
    pub(crate) fn optional_texts(&self) -> Result<Numbered> {
        let (defined, found) = self.optional(Numbered::default())?;
        Ok(found.spread(&defined))
    }

    /// The same, of texts that are kept for themselves.
    pub(crate) fn shared(&self) -> Result<Shared> {
        self.optional_texts()?.shared()
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
pub(crate) struct Lists {
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
