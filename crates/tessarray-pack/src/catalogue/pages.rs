//! A look at the pages of a column before they are decoded.
//!
//! A page says how large it becomes and how many values it has, and a reader makes room for that. Whoever made the file
//! may have lied: a page of a few bytes that says two gigabytes, or a run of two thousand million equal values. So the
//! headers (Thrift, compact protocol) are walked first, and what no writer of packs makes is refused.

use parquet::errors::{ParquetError, Result};

/// A page may become so many times larger than it is,
const RATIO: u64 = 1024;
/// beyond this.
const FREE: u64 = 1 << 20;
/// Values of one column of a row group: far more than a writer puts there.
const VALUES: u64 = 1 << 20;
/// Structs in structs of a header.
const DEPTH: usize = 8;

/// Checks the pages of one column of a row group.
pub(super) fn check(mut bytes: &[u8]) -> Result<()> {
    let mut all = 0u64;
    while !bytes.is_empty() {
        let mut header = Header { bytes, at: 0 };
        let Page { unpacked, packed, values } = header.page().ok_or_else(|| broken("a page header"))?;
        all = all.saturating_add(values);
        if all > VALUES {
            return Err(ParquetError::General(format!("a column of more than {VALUES} values")));
        }
        if unpacked > packed.saturating_mul(RATIO).saturating_add(FREE) {
            let what = format!("a page of {packed} bytes says that it becomes {unpacked}");
            return Err(ParquetError::General(what));
        }
        let next = header.at as u64 + packed;
        let next = usize::try_from(next).ok().filter(|&next| next <= bytes.len());
        bytes = &bytes[next.ok_or_else(|| broken("a page reaches past its column"))?..];
    }
    Ok(())
}

fn broken(what: &str) -> ParquetError {
    ParquetError::General(format!("{what} is damaged"))
}

/// What the header of a page says.
struct Page {
    unpacked: u64,
    packed: u64,
    values: u64,
}

struct Header<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Header<'_> {
    /// Reads the header, and leaves `at` behind it.
    fn page(&mut self) -> Option<Page> {
        let (mut unpacked, mut packed, mut values) = (None, None, 0);
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (2, 5) => unpacked = u64::try_from(self.signed()?).ok(),
                (3, 5) => packed = u64::try_from(self.signed()?).ok(),
                // Of a page of values, of a dictionary, of a page of values in the second form.
                (5 | 7 | 8, 12) => values = self.values()?,
                _ => self.skip(kind, DEPTH)?,
            }
        }
        Some(Page { unpacked: unpacked?, packed: packed?, values })
    }

    /// The first field of the struct that begins here; passes the rest.
    fn values(&mut self) -> Option<u64> {
        let (mut field, mut values) = (0, 0);
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (1, 5) => values = u64::try_from(self.signed()?).ok()?,
                _ => self.skip(kind, DEPTH)?,
            }
        }
        Some(values)
    }

    /// The kind of the next field of a struct, whose number is put into `field`; `None` inside where it ends.
    #[allow(clippy::option_option, reason = "the outer one is damage, the inner one the end")]
    fn field(&mut self, field: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *field = match byte >> 4 {
            0 => self.signed()?,
            step => field.checked_add(i64::from(step))?,
        };
        Some(Some(byte & 15))
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        let at = usize::try_from(bytes).ok().and_then(|bytes| self.at.checked_add(bytes))?;
        self.at = (at <= self.bytes.len()).then_some(at)?;
        Some(())
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.unsigned().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.unsigned()?;
                self.pass(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let (mut count, kind) = (u64::from(byte >> 4), byte & 15);
                if count == 15 {
                    count = self.unsigned()?;
                }
                self.items(count, kind, depth)
            }
            12 => {
                let depth = depth.checked_sub(1)?;
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.skip(kind, depth)?;
                }
                Some(())
            }
            // No header of a page has a map.
            _ => None,
        }
    }

    fn items(&mut self, count: u64, kind: u8, depth: usize) -> Option<()> {
        // Each item has a byte at least.
        if count > self.bytes.len() as u64 {
            return None;
        }
        for _ in 0..count {
            if kind == 1 || kind == 2 {
                self.pass(1)?;
            } else {
                self.skip(kind, depth)?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page header: type 0, the two sizes, and a struct that is skipped.
    fn page(unpacked: u8, packed: u8) -> Vec<u8> {
        vec![0x15, 0, 0x15, unpacked * 2, 0x15, packed * 2, 0x2c, 0x15, 4, 0x18, 1, b'x', 0, 0]
    }

    #[test]
    fn pages_are_walked_to_the_end() {
        let mut column = page(3, 2);
        column.extend([9, 9]);
        column.extend(page(1, 1));
        column.push(9);
        check(&column).unwrap();
        assert!(check(&column[..column.len() - 1]).is_err());
        assert!(check(&[&column[..], &[0x15]].concat()).is_err());
    }

    #[test]
    fn a_page_that_says_too_much_is_refused() {
        let mut lying = vec![0x15, 0, 0x15];
        let mut size = (2_000_000_000u64) << 1;
        while size > 127 {
            lying.push((size & 127) as u8 | 128);
            size >>= 7;
        }
        lying.extend([size as u8, 0x15, 2, 0, 9]);
        assert!(check(&lying).unwrap_err().to_string().contains("2000000000"));
    }

    #[test]
    fn a_column_of_too_many_values_is_refused() {
        // Field 5, a struct, whose first field is a number of four bytes.
        let mut lying = vec![0x15, 0, 0x15, 2, 0x15, 2, 0x2c, 0x15, 0xfe, 0xff, 0xff, 0x7f, 0, 0, 9];
        assert!(check(&lying).unwrap_err().to_string().contains("values"));
        lying[8..12].copy_from_slice(&[0xfe, 0x80, 0x80, 0]);
        check(&lying).unwrap();
    }

    #[test]
    fn any_bytes_are_walked_without_a_panic() {
        proptest::proptest!(|(bytes: Vec<u8>)| {
            let _ = check(&bytes);
        });
    }
}
