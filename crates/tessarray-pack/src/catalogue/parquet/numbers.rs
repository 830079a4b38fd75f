//! Numbers as Parquet packs them (Encodings, "RLE / bit-packing hybrid" and "Delta encoding"). `None` is damage.

/// Values of one piece of a run of differences: the format has 32, and we write no more than 1,024.
const MINIBLOCK: usize = 1 << 16;

/// Takes the first bytes.
pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Takes a number of seven bits a byte.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

/// Takes a number whose sign is its lowest bit.
pub(super) fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = varint(bytes)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

fn size(bytes: &mut &[u8]) -> Option<usize> {
    usize::try_from(varint(bytes)?).ok()
}

/// The first `count` numbers of `width` bits, lowest bits first; `packed` has at least so many.
fn unpack(packed: &[u8], width: u32, count: usize) -> impl ExactSizeIterator<Item = u64> {
    let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
    (0..count).map(move |i| {
        let bit = i * width as usize;
        let (rest, shift) = (&packed[(bit / 8).min(packed.len())..], (bit % 8) as u32);
        let number = match rest.first_chunk::<8>() {
            Some(bytes) if shift + width <= 64 => u64::from_le_bytes(*bytes) >> shift,
            _ => few(rest, shift),
        };
        number & mask
    })
}

/// The number that begins `shift` bits into bytes that may be fewer than eight; or more, where it reaches into a ninth.
#[cold]
fn few(rest: &[u8], shift: u32) -> u64 {
    let mut bytes = [0; 16];
    let there = &rest[..rest.len().min(9)];
    bytes[..there.len()].copy_from_slice(there);
    (u128::from_le_bytes(bytes) >> shift) as u64
}

/// The bits of each byte.
const BITS: [[u32; 8]; 256] = {
    let mut bits = [[0; 8]; 256];
    let mut i = 0;
    while i < 256 * 8 {
        bits[i / 8][i % 8] = ((i / 8) >> (i % 8) & 1) as u32;
        i += 1;
    }
    bits
};

/// Appends `count` numbers of `width` bits: runs of equal ones, and packed ones.
pub(super) fn hybrid(mut bytes: &[u8], width: u32, count: usize, out: &mut Vec<u32>) -> Option<()> {
    if width > 32 {
        return None;
    }
    let end = out.len() + count;
    out.reserve(count);
    while out.len() < end {
        let header = size(&mut bytes)?;
        let (many, left) = (header >> 1, end - out.len());
        if header & 1 == 1 {
            let packed = take(&mut bytes, many.checked_mul(width as usize)?)?;
            if width == 1 {
                packed
                    .iter()
                    .take(left.div_ceil(8))
                    .for_each(|&byte| out.extend_from_slice(&BITS[byte as usize]));
                out.truncate(end);
                continue;
            }
            out.extend(unpack(packed, width, many.saturating_mul(8).min(left)).map(|number| number as u32));
        } else {
            let mut value = [0; 4];
            let there = take(&mut bytes, width.div_ceil(8) as usize)?;
            value[..there.len()].copy_from_slice(there);
            out.resize(out.len() + many.min(left), u32::from_le_bytes(value));
        }
    }
    Some(())
}

/// Takes a run of `count` differences, and appends the numbers.
pub(super) fn deltas(bytes: &mut &[u8], count: usize, out: &mut Vec<i64>) -> Option<()> {
    let (block, pieces, said) = (size(bytes)?, size(bytes)?, size(bytes)?);
    let mut last = signed(bytes)?;
    let piece =
        block.checked_div(pieces).filter(|&piece| piece > 0 && piece <= MINIBLOCK && piece % 8 == 0)?;
    if said != count {
        return None;
    }
    out.reserve(count);
    let Some(mut left) = count.checked_sub(1) else { return Some(()) };
    out.push(last);
    while left > 0 {
        let least = signed(bytes)?;
        for &width in take(bytes, pieces)? {
            if left == 0 {
                break;
            }
            let width = Some(u32::from(width)).filter(|&width| width <= 64)?;
            let packed = take(bytes, piece / 8 * width as usize)?;
            let now = piece.min(left);
            out.extend(unpack(packed, width, now).map(|more| {
                last = last.wrapping_add(least).wrapping_add(more.cast_signed());
                last
            }));
            left -= now;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_and_packed_numbers() {
        // Five times 2; then eight numbers of three bits, 0 to 7 (the example of the format), of which six are wanted.
        let bytes = [10, 2, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        let mut out = vec![9];
        hybrid(&bytes, 3, 11, &mut out).unwrap();
        assert_eq!(out, [9, 2, 2, 2, 2, 2, 0, 1, 2, 3, 4, 5]);
        assert!(hybrid(&bytes[..5], 3, 11, &mut out).is_none());
        assert!(hybrid(&bytes, 33, 1, &mut out).is_none());
        out.clear();
        hybrid(&[200, 1], 0, 100, &mut out).unwrap();
        assert_eq!(out, [0; 100]);
        for count in 0..=16 {
            out.clear();
            hybrid(&[5, 0b1000_0010, 1], 1, count, &mut out).unwrap();
            assert_eq!(out, [0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0][..count]);
        }
    }

    #[test]
    fn differences_of_any_width() {
        // The second example of the format: 7, 5, 3, 1, 2, 3, 4, 5 in one block of 128 in 4 pieces.
        let bytes = [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        let (mut rest, mut out) = (&bytes[..], Vec::new());
        deltas(&mut rest, 8, &mut out).unwrap();
        assert_eq!(out, [7, 5, 3, 1, 2, 3, 4, 5]);
        assert!(rest.is_empty());
        for (end, count) in [(17, 8), (18, 9), (18, 7), (4, 8), (0, 0)] {
            assert!(deltas(&mut &bytes[..end], count, &mut Vec::new()).is_none(), "{end} {count}");
        }
        // A piece of 65 bits; pieces that are none; 2^60 numbers.
        assert!(deltas(&mut &[32, 1, 2, 0, 0, 65][..], 2, &mut Vec::new()).is_none());
        assert!(deltas(&mut &[32, 0, 2, 0, 0, 0][..], 2, &mut Vec::new()).is_none());
        let lying = [128, 1, 4, 128, 128, 128, 128, 128, 128, 128, 128, 16, 0];
        assert!(deltas(&mut &lying[..], 9, &mut Vec::new()).is_none());
    }

    proptest! {
        #[test]
        fn packed_numbers_are_what_was_packed(
            width in 0u32..=64,
            numbers in prop::collection::vec(any::<u64>(), 0..40),
        ) {
            let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
            let wanted: Vec<u64> = numbers.iter().map(|number| number & mask).collect();
            let mut packed = vec![0u8; (wanted.len() * width as usize).div_ceil(8)];
            for (i, number) in wanted.iter().enumerate() {
                for bit in 0..width as usize {
                    let at = i * width as usize + bit;
                    packed[at / 8] |= ((number >> bit & 1) as u8) << (at % 8);
                }
            }
            prop_assert_eq!(unpack(&packed, width, wanted.len()).collect::<Vec<_>>(), wanted);
        }

        #[test]
        fn any_bytes_are_walked_without_a_panic(bytes: Vec<u8>, width in 0u32..40, count in 0usize..5000) {
            let _ = hybrid(&bytes, width, count, &mut Vec::new());
            let _ = deltas(&mut &bytes[..], count, &mut Vec::new());
        }
    }
}
