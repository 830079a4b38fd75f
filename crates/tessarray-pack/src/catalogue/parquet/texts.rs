//! Texts, as the pages of a column hold them.

use super::general;
use super::numbers::{deltas, take};
use super::pages::Encoding;
use super::values::{Values, numbers};
use parquet::errors::Result;
use std::sync::Arc;

/// Bytes of the texts of a column: far more than a writer puts there.
const BYTES: usize = 256 << 20;
/// Stands for a row's text, where it has none.
const NONE: u32 = u32::MAX;

/// Texts one after the other.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Texts {
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[at] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Ends the text whose bytes were appended.
    #[expect(clippy::cast_possible_truncation, reason = "less than `BYTES` bytes, and so fewer texts")]
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
pub(crate) struct Numbered {
    at: Vec<u32>,
    texts: Texts,
}

impl Numbered {
    /// Gives each row its text, of those that have one: `defined` says which.
    pub(super) fn spread(mut self, defined: &[u32]) -> Self {
        if self.at.len() < defined.len() {
            if self.at.is_empty() {
                return Self::default();
            }
            let mut numbers = self.at.into_iter();
            let number = |&there: &u32| if there > 0 { numbers.next().unwrap_or(NONE) } else { NONE };
            self.at = defined.iter().map(number).collect();
        }
        self
    }

    /// The same, each text kept for itself.
    pub(super) fn shared(self) -> Result<Shared> {
        let text = |number| {
            let text = std::str::from_utf8(self.texts.get(number));
            text.map(Arc::from).map_err(|error| general(error.to_string()))
        };
        let texts = (0..self.texts.len()).map(text).collect::<Result<_>>()?;
        Ok(Shared { at: self.at, texts })
    }

    /// The number of a row's text: rows of one number have one text.
    pub(crate) fn number(&self, row: usize) -> Option<u32> {
        self.at.get(row).copied().filter(|&at| at != NONE)
    }

    /// Which numbers have texts that are wanted.
    pub(crate) fn which(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<bool> {
        (0..self.texts.len()).map(|number| wanted(self.texts.get(number))).collect()
    }

    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        self.number(row).map(|at| self.texts.get(at as usize))
    }
}

impl Values for Numbered {
    fn dictionary(&mut self, body: &[u8], count: usize) -> Option<()> {
        // The format has one dictionary, and it is the first page.
        (self.texts.len() == 0 && self.at.is_empty()).then_some(())?;
        self.texts.plain(body, count)
    }

    #[expect(clippy::cast_possible_truncation, reason = "less than `BYTES` bytes, and so fewer texts")]
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
pub(crate) struct Shared {
    at: Vec<u32>,
    texts: Vec<Arc<str>>,
}

impl Shared {
    /// The number of a row's text: rows of one number have one text.
    pub(crate) fn number(&self, row: usize) -> Option<u32> {
        self.at.get(row).copied().filter(|&at| at != NONE)
    }

    pub(crate) fn get(&self, row: usize) -> Option<&Arc<str>> {
        self.texts.get(self.number(row)? as usize)
    }
}
