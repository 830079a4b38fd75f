//! A look at the pages of a column as they are decoded.
//!
//! Texts that are written as differences begin with how many they are, and a reader makes room for so many. What a page
//! says there is compared with what its header says, which was looked at before (see [`super::pages`]). What no writer of
//! packs makes is refused.

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

/// Values of one piece of a run of differences: the format has 32, and we write no more than 1,024.
const PIECE: u64 = 1 << 16;

/// The pages of a column, each looked at.
pub(super) struct Checked {
    pub pages: Box<dyn PageReader>,
    /// Whether this is the column of texts that are written as differences.
    pub texts: bool,
}

impl Iterator for Checked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            check(page, self.texts)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

fn check(page: &Page, texts: bool) -> Result<()> {
    match page {
        Page::DictionaryPage { .. } => Ok(()),
        Page::DataPage { buf, num_values, encoding: Encoding::DELTA_BYTE_ARRAY, .. } if texts => {
            let said = u64::from(*num_values);
            // How much of each text is that of the one before; and how long the rest of each is.
            let counts = differences(buf).and_then(|(first, end)| Some((first, differences(&buf[end..])?.0)));
            if counts == Some((said, said)) {
                return Ok(());
            }
            Err(general(format!("a page of {said} texts does not hold so many")))
        }
        Page::DataPage {
            encoding: Encoding::DELTA_BYTE_ARRAY | Encoding::DELTA_LENGTH_BYTE_ARRAY, ..
        } => Err(general("a column is not encoded as writers of packs do".into())),
        Page::DataPage { .. } => Ok(()),
        Page::DataPageV2 { .. } => {
            Err(general("a page is not of the kind that writers of packs make".into()))
        }
    }
}

fn general(reason: String) -> ParquetError {
    ParquetError::General(reason)
}

/// How many numbers a run of differences (DELTA_BINARY_PACKED) has, and where it ends.
fn differences(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut at = 0;
    let varint = |at: &mut usize| {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.get(*at)?;
            *at += 1;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    };
    let (block, pieces, count) = (varint(&mut at)?, varint(&mut at)?, varint(&mut at)?);
    varint(&mut at)?;
    let piece = block.checked_div(pieces).filter(|&piece| piece > 0 && piece <= PIECE && piece % 8 == 0)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        varint(&mut at)?;
        let widths = bytes.get(at..at.checked_add(usize::try_from(pieces).ok()?)?)?;
        at += widths.len();
        for &width in widths {
            if left == 0 {
                break;
            }
            at = at.checked_add(usize::try_from(u64::from(width) * piece / 8).ok()?)?;
            left = left.saturating_sub(piece);
        }
        if at > bytes.len() {
            return None;
        }
    }
    Some((count, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn page(bytes: &[u8], values: u32, encoding: Encoding) -> Page {
        Page::DataPage {
            buf: Bytes::copy_from_slice(bytes),
            num_values: values,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    /// A run of numbers that are all the same: a block of 128 in 4 pieces, each of no bits.
    fn run(count: u8) -> Vec<u8> {
        let mut bytes = vec![128, 1, 4, count, 0];
        if count > 1 {
            bytes.extend([0, 0, 0, 0, 0]);
        }
        bytes
    }

    #[test]
    fn the_numbers_of_texts_are_compared() {
        let good = [run(9), run(9), vec![b'a'; 9]].concat();
        check(&page(&good, 9, Encoding::DELTA_BYTE_ARRAY), true).unwrap();
        check(&page(&[run(1), run(1)].concat(), 1, Encoding::DELTA_BYTE_ARRAY), true).unwrap();
        for bad in [[run(9), run(8)].concat(), [run(8), run(9)].concat(), run(9), vec![]] {
            assert!(check(&page(&bad, 9, Encoding::DELTA_BYTE_ARRAY), true).is_err());
        }
        // The second says 2^60.
        let mut lying = run(9);
        lying.extend([128, 1, 4, 128, 128, 128, 128, 128, 128, 128, 128, 16, 0]);
        assert!(check(&page(&lying, 9, Encoding::DELTA_BYTE_ARRAY), true).is_err());
        assert!(check(&page(&good, 9, Encoding::DELTA_BYTE_ARRAY), false).is_err());
        assert!(check(&page(&good, 9, Encoding::DELTA_LENGTH_BYTE_ARRAY), true).is_err());
        check(&page(&good, 9, Encoding::PLAIN), false).unwrap();
    }

    #[test]
    fn pieces_with_bits_are_passed() {
        // Nine numbers: a block of 32 in one piece of 3 bits.
        let bytes = [vec![32, 1, 9, 0, 0, 3], vec![0xff; 12], vec![7]].concat();
        assert_eq!(differences(&bytes), Some((9, 18)));
        assert_eq!(differences(&bytes[..17]), None);
    }

    #[test]
    fn any_bytes_are_walked_without_a_panic() {
        proptest::proptest!(|(bytes: Vec<u8>)| {
            let _ = differences(&bytes);
        });
    }
}
