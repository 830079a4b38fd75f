//! The pages of a column: walked, unpacked, and given to whoever decodes their values.
//!
//! A page says how large it becomes and how many values it has, and a reader makes room for that. Whoever made the file
//! may have lied: a page of a few bytes that says two gigabytes, or a run of two thousand million equal values. What no
//! writer of packs makes is refused.

use super::numbers::{signed, take, varint};
use super::{general, no_memory};
use parquet::errors::Result;
use std::cell::RefCell;
use zstd_safe::DCtx;

/// A page may become so many times larger than it is,
const RATIO: u64 = 1024;
/// beyond this.
const FREE: u64 = 1 << 20;
/// Values of one column of a row group: far more than a writer puts there.
const VALUES: u64 = 1 << 20;
/// Structs in structs of a header.
const DEPTH: usize = 8;

/// How the values of a page are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain,
    /// Numbers of values of the dictionary.
    Numbers,
    /// Differences of numbers.
    Deltas,
    /// Texts, of which the beginning of the one before is left out.
    TextDeltas,
}

/// A page, unpacked.
pub(super) struct Page<'a> {
    /// Whether its values are those that later pages name by number.
    pub dictionary: bool,
    pub encoding: Encoding,
    /// How many values, with those that are not there.
    pub values: usize,
    pub body: &'a [u8],
}

/// Visits the pages of a column. `packed`: they are Zstandard frames.
pub(super) fn each(
    mut column: &[u8],
    packed: bool,
    visit: &mut dyn FnMut(Page<'_>) -> Option<()>,
) -> Result<()> {
    let mut all = 0u64;
    SCRATCH.with_borrow_mut(|scratch| {
        while !column.is_empty() {
            let mut header = Header { bytes: column };
            let found = header.page().ok_or_else(|| general("a page header is damaged".into()))?;
            column = header.bytes;
            let Said { unpacked, packed: bytes, values, .. } = found;
            all = all.saturating_add(values);
            if all > VALUES {
                return Err(general(format!("a column of more than {VALUES} values")));
            }
            if unpacked > bytes.saturating_mul(RATIO).saturating_add(FREE) {
                return Err(general(format!("a page of {bytes} bytes says that it becomes {unpacked}")));
            }
            let body = usize::try_from(bytes).ok().and_then(|bytes| take(&mut column, bytes));
            let body = body.ok_or_else(|| general("a page reaches past its column".into()))?;
            let (dictionary, encoding) = found.kind()?;
            let body = if packed { unpack(body, unpacked as usize, scratch)? } else { body };
            visit(Page { dictionary, encoding, values: values as usize, body })
                .ok_or_else(|| general(format!("a page of {values} values does not hold so many")))?;
        }
        Ok(())
    })
}

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Scratch of more bytes is not kept.
const KEPT: usize = 4 << 20;

fn unpack<'a>(frame: &[u8], size: usize, scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    if scratch.len() > KEPT.max(size) {
        *scratch = Vec::new();
    }
    if scratch.len() < size {
        scratch.try_reserve(size - scratch.len()).map_err(|_| no_memory())?;
        scratch.resize(size, 0);
    }
    let found = CONTEXT.with_borrow_mut(|context| {
        if context.is_none() {
            *context = DCtx::try_create();
        }
        context.as_mut().map(|context| context.decompress(&mut scratch[..size], frame))
    });
    match found {
        Some(Ok(found)) if found == size => Ok(&scratch[..size]),
        Some(Ok(found)) => Err(general(format!("a page: expected {size} bytes, found {found}"))),
        Some(Err(code)) => Err(general(format!("a page: {}", zstd_safe::get_error_name(code)))),
        None => Err(no_memory()),
    }
}

/// What the header of a page says.
#[derive(Default)]
struct Said {
    kind: u64,
    unpacked: u64,
    packed: u64,
    values: u64,
    encoding: u64,
}

impl Said {
    /// Whether it is a dictionary, and how its values are encoded. Levels are runs always: the format has no other way
    /// that is in use.
    fn kind(&self) -> Result<(bool, Encoding)> {
        let encoding = match (self.kind, self.encoding) {
            // A dictionary's encoding has two names.
            (0 | 2, 0) | (2, 2) => Encoding::Plain,
            (0, 2 | 8) => Encoding::Numbers,
            (0, 5) => Encoding::Deltas,
            (0, 7) => Encoding::TextDeltas,
            (kind, encoding) => {
                let what =
                    format!("a page of kind {kind} and encoding {encoding}, which no writer of packs makes");
                return Err(general(what));
            }
        };
        Ok((self.kind == 2, encoding))
    }
}

/// A header: Thrift, compact protocol.
struct Header<'a> {
    bytes: &'a [u8],
}

impl Header<'_> {
    /// Reads the header, and leaves what is behind it.
    fn page(&mut self) -> Option<Said> {
        let (mut said, mut sizes) = (Said::default(), 0);
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (1, 5) => said.kind = self.number()?,
                (2, 5) => (said.unpacked, sizes) = (self.number()?, sizes | 1),
                (3, 5) => (said.packed, sizes) = (self.number()?, sizes | 2),
                // Of a page of values, of a dictionary.
                (5 | 7, 12) => (said.values, said.encoding) = self.values()?,
                _ => self.skip(kind, DEPTH)?,
            }
        }
        (sizes == 3).then_some(said)
    }

    /// The first two fields of the struct that begins here; passes the rest.
    fn values(&mut self) -> Option<(u64, u64)> {
        let (mut field, mut found) = (0, (0, 0));
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (1, 5) => found.0 = self.number()?,
                (2, 5) => found.1 = self.number()?,
                _ => self.skip(kind, DEPTH)?,
            }
        }
        Some(found)
    }

    fn number(&mut self) -> Option<u64> {
        u64::try_from(self.signed()?).ok()
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
        take(&mut self.bytes, 1).map(|byte| byte[0])
    }

    fn unsigned(&mut self) -> Option<u64> {
        varint(&mut self.bytes)
    }

    fn signed(&mut self) -> Option<i64> {
        signed(&mut self.bytes)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        take(&mut self.bytes, usize::try_from(bytes).ok()?).map(|_| ())
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

    /// A page header: a page of values, the two sizes, and a struct of one value, plain, and of what is skipped.
    fn page(unpacked: u8, packed: u8) -> Vec<u8> {
        vec![0x15, 0, 0x15, unpacked * 2, 0x15, packed * 2, 0x2c, 0x15, 2, 0x15, 0, 0x18, 1, b'x', 0, 0]
    }

    fn walk(column: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        each(column, false, &mut |page| {
            assert_eq!((page.dictionary, page.encoding, page.values), (false, Encoding::Plain, 1));
            found.push(page.body.to_vec());
            Some(())
        })?;
        Ok(found)
    }

    #[test]
    fn pages_are_walked_to_the_end() {
        let mut column = page(2, 2);
        column.extend([9, 8]);
        column.extend(page(1, 1));
        column.push(7);
        assert_eq!(walk(&column).unwrap(), [vec![9, 8], vec![7]]);
        assert!(walk(&column[..column.len() - 1]).is_err());
        assert!(walk(&[&column[..], &[0x15]].concat()).is_err());
        assert!(
            each(&column, false, &mut |_| None).unwrap_err().to_string().contains("does not hold so many")
        );
        // As frames, they are none.
        assert!(each(&column, true, &mut |_| Some(())).is_err());
    }

    #[test]
    fn packed_pages_are_unpacked_to_what_they_say() {
        let text = b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        let mut frame = vec![0; zstd_safe::compress_bound(text.len())];
        let size = zstd_safe::compress(&mut frame[..], text, 1).unwrap();
        for (said, good) in [(32, true), (31, false), (33, false)] {
            let mut column = page(said, size as u8);
            column.extend(&frame[..size]);
            let mut seen = 0;
            let found = each(&column, true, &mut |page| {
                seen += 1;
                (page.body == text).then_some(())
            });
            assert_eq!((found.is_ok(), seen), (good, u32::from(good)), "{said}");
        }
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
        assert!(walk(&lying).unwrap_err().to_string().contains("2000000000"));
    }

    #[test]
    fn a_column_of_too_many_values_is_refused() {
        // Field 5, a struct, whose first field is a number of four bytes.
        let lying = [0x15, 0, 0x15, 2, 0x15, 2, 0x2c, 0x15, 0xfe, 0xff, 0xff, 0x7f, 0, 0, 9];
        assert!(walk(&lying).unwrap_err().to_string().contains("values"));
    }

    #[test]
    fn pages_of_another_form_are_refused_by_their_names() {
        for (kind, encoding) in [(3, 0), (0, 6), (0, 9), (2, 8), (1, 0)] {
            let mut column = page(1, 1);
            (column[1], column[10]) = (kind * 2, encoding * 2);
            column.push(7);
            let reason = each(&column, false, &mut |_| Some(())).unwrap_err().to_string();
            assert!(reason.contains(&format!("kind {kind} and encoding {encoding}")), "{reason}");
        }
    }

    #[test]
    fn any_bytes_are_walked_without_a_panic() {
        proptest::proptest!(|(bytes: Vec<u8>, packed: bool)| {
            let _ = each(&bytes, packed, &mut |_| Some(()));
        });
    }
}
