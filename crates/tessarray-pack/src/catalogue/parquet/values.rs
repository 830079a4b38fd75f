//! Numbers and yes or no, as the pages of a column hold them.

use super::numbers::{deltas, hybrid};
use super::pages::Encoding;

/// Where the values of a column go.
pub(super) trait Values {
    /// Takes the values that later pages name by number.
    fn dictionary(&mut self, body: &[u8], count: usize) -> Option<()>;

    /// Takes the values of a page. `None` is damage.
    fn data(&mut self, encoding: Encoding, body: &[u8], count: usize) -> Option<()>;
}

/// Appends numbers of values of a dictionary.
pub(super) fn numbers(body: &[u8], count: usize, known: usize, out: &mut Vec<u32>) -> Option<()> {
    let (&width, body) = body.split_first()?;
    let before = out.len();
    hybrid(body, u32::from(width), count, out)?;
    out[before..].iter().all(|&number| (number as usize) < known).then_some(())
}

/// Whole numbers.
#[derive(Default)]
pub(super) struct Integers {
    /// Bytes of a plain one.
    width: usize,
    dictionary: Vec<i64>,
    pub values: Vec<i64>,
    numbers: Vec<u32>,
}

impl Integers {
    /// Of so many bytes each, where they are plain.
    pub(super) fn of(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

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

/// Yes or no.
#[derive(Default)]
pub(super) struct Booleans {
    pub values: Vec<bool>,
}

impl Values for Booleans {
    fn dictionary(&mut self, _: &[u8], _: usize) -> Option<()> {
        None
    }

    fn data(&mut self, encoding: Encoding, body: &[u8], count: usize) -> Option<()> {
        if encoding != Encoding::Plain || body.len() < count.div_ceil(8) {
            return None;
        }
        self.values.extend((0..count).map(|i| body[i / 8] >> (i % 8) & 1 == 1));
        Some(())
    }
}
