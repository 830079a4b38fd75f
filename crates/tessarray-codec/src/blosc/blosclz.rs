//! BloscLZ, the compressor of the FastLZ family that came with Blosc, in safe Rust.
//!
//! A stream is a list of instructions. A first byte below 32 is followed by that many literals plus one. Otherwise it is
//! a match: its top 3 bits are the length less 2 (7: add the following bytes up to and including the first below 255),
//! its low 5 bits and the next byte the distance less 1; all 13 bits set means that a far distance, 16 bits
//! big-endian, follows and is added. The first byte of a stream has bit 5 set as a marker.

/// Literals of one instruction.
const MAX_COPY: usize = 32;
/// Distances from here on are far.
const MAX_DISTANCE: usize = 8191;
const MAX_FAR_DISTANCE: usize = 65535 + MAX_DISTANCE - 1;

/// The encoder's hash table, kept between calls.
#[derive(Default)]
pub(super) struct Table(Vec<u32>);

fn word(src: &[u8], at: usize) -> Option<u32> {
    src.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// Compresses `src` into `out` and returns the length; `None` if it does not fit. `level` is 1 to 9.
#[expect(clippy::cast_possible_truncation, reason = "positions in a block, which has less than 2 GiB")]
pub(super) fn compress(level: u8, src: &[u8], out: &mut [u8], table: &mut Table) -> Option<usize> {
    if src.len() < 16 || out.len() < 66 || u32::try_from(src.len()).is_err() {
        return None;
    }
    let bits = match level {
        0 | 1 => 12,
        2 => 13,
        _ => 14,
    };
    table.0.clear();
    table.0.resize(1 << bits, 0);
    let hash = |sequence: u32| (sequence.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize;

    let mut writer = Writer { out, len: 0 };
    // A match needs 4 bytes before it at the start, and the last 12 are literals.
    let (mut anchor, mut at) = (0, 4);
    while at + 12 < src.len() {
        let sequence = word(src, at)?;
        let slot = table.0.get_mut(hash(sequence))?;
        let from = std::mem::replace(slot, at as u32) as usize;
        let distance = at - from;
        // Long stretches without a match are looked at ever more sparsely.
        let step = 1 + ((at - anchor) >> 9);
        if distance >= MAX_FAR_DISTANCE || word(src, from) != Some(sequence) {
            at += step;
            continue;
        }
        let end = src.len() - 2;
        let length = 4 + same(&src[from + 4..], &src[at + 4..end]);
        // Short far matches cost more to read than they save.
        if length < if distance > MAX_DISTANCE { 8 } else { 5 } {
            at += step;
            continue;
        }
        writer.literals(&src[anchor..at])?;
        writer.matched(length, distance)?;
        at += length;
        anchor = at;
    }
    writer.literals(&src[anchor..])?;
    let len = writer.len;
    *writer.out.first_mut()? |= 1 << 5;
    Some(len)
}

/// How many bytes the two have in common at the start.
fn same(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let whole = words.take_while(|(a, b)| a == b).count() * 8;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.out.get_mut(self.len..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "each byte is a field that its bounds or mask make fit"
    )]
    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        for run in bytes.chunks(MAX_COPY) {
            self.put(&[(run.len() - 1) as u8])?;
            self.put(run)?;
        }
        Some(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "each byte is a field that its bounds or mask make fit"
    )]
    fn matched(&mut self, length: usize, distance: usize) -> Option<()> {
        let (mut length, distance) = (length - 2, distance - 1);
        let far = distance >= MAX_DISTANCE;
        let near = if far { MAX_DISTANCE } else { distance };
        self.put(&[((length.min(7) << 5) | (near >> 8)) as u8])?;
        if length >= 7 {
            length -= 7;
            while length >= 255 {
                self.put(&[255])?;
                length -= 255;
            }
            self.put(&[length as u8])?;
        }
        self.put(&[(near & 255) as u8])?;
        if far {
            self.put(&u16::try_from(distance - MAX_DISTANCE).ok()?.to_be_bytes())?;
        }
        Some(())
    }
}

/// Decompresses `src` into `dst` and returns how many bytes came out; `None` if `src` is invalid or does not fit.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (&first, mut src) = src.split_first()?;
    let next = |src: &mut &[u8]| -> Option<usize> {
        let (&byte, rest) = src.split_first()?;
        *src = rest;
        Some(byte.into())
    };
    let mut control = usize::from(first & 31);
    let mut at = 0;
    loop {
        if control < 32 {
            let (literals, rest) = src.split_at_checked(control + 1)?;
            dst.get_mut(at..at + literals.len())?.copy_from_slice(literals);
            at += literals.len();
            src = rest;
        } else {
            let mut length = (control >> 5) + 2;
            if length == 9 {
                loop {
                    let more = next(&mut src)?;
                    length += more;
                    if more < 255 {
                        break;
                    }
                }
            }
            let mut distance = ((control & 31) << 8) + next(&mut src)?;
            if distance == MAX_DISTANCE {
                distance += (next(&mut src)? << 8) + next(&mut src)?;
            }
            copy_match(dst, at, distance + 1, length)?;
            at += length;
        }
        match next(&mut src) {
            Some(byte) => control = byte,
            None => return Some(at),
        }
    }
}

/// Copies `length` bytes from `distance` before `at` to `at`; the two may overlap, which repeats a pattern.
fn copy_match(dst: &mut [u8], at: usize, distance: usize, length: usize) -> Option<()> {
    let end = at.checked_add(length).filter(|&end| end <= dst.len())?;
    let from = at.checked_sub(distance)?;
    // Each copy doubles the part of the pattern there is.
    let mut done = at;
    while done < end {
        let step = (done - from).min(end - done);
        dst.copy_within(from..from + step, done);
        done += step;
    }
    Some(())
}
