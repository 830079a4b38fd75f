//! Against streams made by hand, whose content is known, and against the reference library. Input and output are boxes of
//! exactly their length, so that AddressSanitizer and Miri see a byte too many.

use super::*;
use proptest::prelude::*;

/// A stream under way, and what it decodes to.
#[derive(Default)]
struct Made {
    stream: Vec<u8>,
    data: Vec<u8>,
}

impl Made {
    fn sequence(&mut self, literals: &[u8], distance: usize, len: usize) {
        self.token(literals, len - MIN_MATCH);
        self.stream.extend_from_slice(&(distance as u16).to_le_bytes());
        self.more(len - MIN_MATCH);
        for _ in 0..len {
            self.data.push(self.data[self.data.len() - distance]);
        }
    }

    fn end(mut self, literals: &[u8]) -> Self {
        self.token(literals, 0);
        self
    }

    fn token(&mut self, literals: &[u8], len: usize) {
        self.stream.push((literals.len().min(MORE) << 4 | len.min(MORE)) as u8);
        self.more(literals.len());
        self.stream.extend_from_slice(literals);
        self.data.extend_from_slice(literals);
    }

    fn more(&mut self, len: usize) {
        if let Some(rest) = len.checked_sub(MORE) {
            self.stream.extend(std::iter::repeat_n(255, rest / 255));
            self.stream.push((rest % 255) as u8);
        }
    }
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The first `target` of `len` bytes, which each kind of lanes must agree on.
fn decoded(stream: &[u8], len: usize, target: usize) -> Result<Vec<u8>, Malformed> {
    let src: Box<[u8]> = stream.into();
    let mut dst: Box<[u8]> = vec![0xA5; len].into();
    let done = decode_to(&src, &mut dst, target).map(|()| dst[..target].to_vec());
    dst.fill(0x5A);
    let portable = BlockDecoder { src: &src, dst: &mut dst, read: 0, written: 0, target }.decode::<u128>();
    assert_eq!(done, portable.map(|()| dst[..target].to_vec()));
    done
}

/// Some places to stop at: near both ends, and between.
fn targets(len: usize) -> Vec<usize> {
    if cfg!(miri) {
        return vec![len / 3, len.saturating_sub(1), len];
    }
    let near_end = [1, 2, 5, 6, 12, 13, 31, 32, 33, 64, 65, 100, 300].map(|n| len.saturating_sub(n));
    let between = [0, 1, 3, len / 7, len / 3, len / 2, len - len / 5, len];
    between.into_iter().chain(near_end).filter(|&target| target <= len).collect()
}

fn assert_decodes(stream: &[u8], data: &[u8]) {
    for target in targets(data.len()) {
        let found = decoded(stream, data.len(), target);
        assert!(found.as_deref() == Ok(&data[..target]), "{target} of {}", data.len());
    }
    assert_eq!(decoded(stream, data.len() + 1, data.len() + 1), Err(Malformed));
    if !data.is_empty() {
        assert_eq!(decoded(stream, data.len() - 1, data.len() - 1), Err(Malformed));
    }
}

#[test]
fn every_distance_and_length_repeats_what_was_written() {
    let start = noise(600, 1);
    // Miri takes ten thousand times as long.
    let distances: Vec<usize> =
        if cfg!(miri) { vec![1, 3, 15, 16, 33] } else { (1..70).chain(590..601).collect() };
    let lengths: Vec<usize> = if cfg!(miri) {
        vec![4, 17, 19, 274, 1040]
    } else {
        (4..80).chain(265..300).chain(780..800).chain(1030..1060).chain([5000]).collect()
    };
    for distance in distances {
        for &len in &lengths {
            let mut made = Made::default();
            // In the middle of the block, where nothing is near an end, and once more right before the end.
            made.sequence(&start, distance, len);
            made.sequence(&noise(3, 2), distance, len);
            made.sequence(&noise(14, 3), 1, 400);
            made.sequence(&noise(8, 4), distance, len);
            let Made { stream, data } = made.end(&noise(8, 5));
            assert!(decoded(&stream, data.len(), data.len()).as_ref() == Ok(&data), "{distance}, {len}");
            let part = 600 + len / 2;
            assert!(decoded(&stream, data.len(), part).as_deref() == Ok(&data[..part]), "{distance}, {len}");
        }
    }
}

#[test]
fn literals_of_every_length_are_copied() {
    for len in (0..60).chain(265..300).chain([1000, 5000]).step_by(if cfg!(miri) { 30 } else { 1 }) {
        let mut made = Made::default();
        made.sequence(&noise(20, 6), 7, 30);
        made.sequence(&noise(len, 7), 19, 12);
        made.sequence(&noise(len, 8), 3, 400);
        let Made { stream, data } = made.end(&noise(5 + len, 9));
        assert_decodes(&stream, &data);
        let Made { stream, data } = Made::default().end(&noise(len, 10));
        assert_decodes(&stream, &data);
    }
}

#[test]
fn nothing_decodes_to_nothing() {
    assert_eq!(decoded(&[0], 0, 0), Ok(vec![]));
    for stream in [&[][..], &[3], &[0, 0], &[0x10], &[0x10, 1]] {
        assert_eq!(decoded(stream, 0, 0), Err(Malformed), "{stream:?}");
    }
    assert_eq!(decoded(&[], 5, 5), Err(Malformed));
    assert_eq!(decoded(&[], 5, 0), Ok(vec![]));
}

/// A match that reaches to `last` bytes before the end.
fn ending(last: usize, len: usize) -> Made {
    let mut made = Made::default();
    made.sequence(&noise(100, 11), 9, len);
    made.end(&noise(last, 12))
}

#[test]
fn matches_near_the_end_are_refused_as_the_reference_does() {
    for (last, len, good) in
        [(5, 7, true), (4, 7, false), (4, 700, false), (5, 6, false), (8, 4, true), (7, 4, false)]
    {
        let Made { stream, data } = ending(last, len);
        assert_eq!(decoded(&stream, data.len(), data.len()).is_ok(), good, "{last} after {len}");
        #[cfg(not(miri))]
        assert_eq!(reference::decode(&stream, data.len()).is_some(), good, "{last} after {len}");
    }
}

#[test]
fn distances_that_lead_out_of_the_block_are_refused() {
    for (before, distance) in [(1, 2), (14, 15), (14, 65535), (20, 21), (300, 301), (5, 0), (300, 0)] {
        for len in [4, 18, 19, 100, 300, 3000] {
            let mut made = Made::default();
            made.token(&noise(before, 13), len - MIN_MATCH);
            made.stream.extend_from_slice(&(distance as u16).to_le_bytes());
            made.more(len - MIN_MATCH);
            let Made { stream, data } = made.end(&noise(200, 14));
            let len = data.len() + len;
            assert_eq!(decoded(&stream, len, len), Err(Malformed), "{distance} after {before}");
            assert_eq!(decoded(&stream, len, before + 1), Err(Malformed), "{distance} after {before}");
            assert!(decoded(&stream, len, before).is_ok());
        }
    }
}

#[test]
fn lengths_without_an_end_are_refused() {
    for bytes in [0, 1, 3, 7, 8, 9, 16, 500] {
        let mut literals = vec![0xF0];
        literals.resize(1 + bytes, 255);
        let mut matched = vec![0x1F, 9, 1, 0];
        matched.resize(4 + bytes, 255);
        for stream in [literals, matched] {
            assert_eq!(decoded(&stream, 1 << 17, 1 << 17), Err(Malformed));
            assert_eq!(decoded(&stream, 1 << 17, 1 << 16), Err(Malformed));
        }
    }
}

/// Literals, distance as a share of what is there, length.
fn sequences() -> impl Strategy<Value = Vec<(usize, u32, usize)>> {
    let literals = prop_oneof![6 => 0usize..4, 3 => 4usize..20, 1 => 20usize..600];
    let distance = prop_oneof![Just(1u32), 2u32..40, any::<u32>()];
    let len = prop_oneof![6 => 4usize..20, 3 => 19usize..300, 1 => 300usize..3000];
    proptest::collection::vec((literals, distance, len), 1..40)
}

proptest! {
    #[test]
    fn sequences_of_any_kind_decode_to_what_they_say(list in sequences(), last in 12usize..80, seed: u64) {
        let mut made = Made::default();
        for (literals, distance, len) in list {
            let literals = noise(literals.max(usize::from(made.data.is_empty())), seed ^ made.data.len() as u64);
            let there = (made.data.len() + literals.len()).min(65_535);
            made.sequence(&literals, 1 + (distance as usize - 1) % there, len);
        }
        let Made { stream, data } = made.end(&noise(last, seed));
        assert_decodes(&stream, &data);
    }
}

/// Against the C library, which Miri cannot run.
#[cfg(not(miri))]
mod reference {
    use super::*;

    /// What the library decodes the stream to, if that is `len` bytes.
    pub fn decode(stream: &[u8], len: usize) -> Option<Vec<u8>> {
        let src: Box<[u8]> = stream.into();
        let mut dst: Box<[u8]> = vec![0xA5; len].into();
        let (from, to) = (src.len().try_into().unwrap(), len.try_into().unwrap());
        // SAFETY: both boxes have the lengths given.
        let n =
            unsafe { lz4_sys::LZ4_decompress_safe(src.as_ptr().cast(), dst.as_mut_ptr().cast(), from, to) };
        (usize::try_from(n) == Ok(len)).then(|| dst.into())
    }

    fn encode(data: &[u8], acceleration: i32) -> Vec<u8> {
        let mut out = vec![0; data.len() + data.len() / 255 + 16];
        let (from, to) = (data.len().try_into().unwrap(), out.len().try_into().unwrap());
        // SAFETY: both vectors have the lengths given.
        let n = unsafe {
            let (src, dst) = (data.as_ptr().cast(), out.as_mut_ptr().cast());
            match acceleration {
                0 => lz4_sys::LZ4_compress_HC(src, dst, from, to, 9),
                _ => lz4_sys::LZ4_compress_fast(src, dst, from, to, acceleration),
            }
        };
        out.truncate(n.try_into().unwrap());
        out
    }

    /// Data as the byte planes of arrays are: runs, periods, ramps, noise of few and of many values, one after the other.
    fn data() -> impl Strategy<Value = Vec<u8>> {
        let part = (0u8..6, 0usize..700, 1usize..65, any::<u64>()).prop_map(|(kind, len, period, seed)| {
            let noise = noise(len.max(period), seed);
            let value = |i: usize| match kind {
                0 => seed as u8,
                1 => noise[i % period],
                2 => (i / period) as u8,
                3 => noise[i] & 1,
                4 => (i / 100) as u8 + (noise[i] & 15),
                _ => noise[i],
            };
            (0..len).map(value).collect::<Vec<_>>()
        });
        proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    /// Whether any match has a distance of 0: the library copies then whatever was in its output, we refuse.
    fn has_no_distance(stream: &[u8]) -> bool {
        let mut block = BlockDecoder { src: stream, dst: &mut [], read: 0, written: 0, target: 0 };
        loop {
            let Some(&token) = stream.get(block.read) else { return false };
            block.read += 1;
            let Ok(literals) = block.length(usize::from(token >> 4)) else { return false };
            block.read += literals;
            match stream.get(block.read..block.read + 2) {
                Some([0, 0]) => return true,
                Some(_) => block.read += 2,
                None => return false,
            }
            if block.length(usize::from(token) & MORE).is_err() {
                return false;
            }
        }
    }

    proptest! {
        #[test]
        fn what_the_library_encodes_is_decoded(data in data(), acceleration in 0i32..12) {
            assert_decodes(&encode(&data, acceleration), &data);
        }

        #[test]
        fn damaged_streams_are_refused_where_the_library_refuses(
            data in data(),
            acceleration in 0i32..6,
            flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in proptest::option::of(any::<prop::sample::Index>()),
            tail in proptest::collection::vec(any::<u8>(), 0..3),
            longer in 0usize..3,
        ) {
            let mut stream = encode(&data, acceleration);
            for (at, value) in flips {
                let at = at.index(stream.len());
                stream[at] = value;
            }
            if let Some(cut) = cut {
                stream.truncate(cut.index(stream.len()));
            }
            stream.extend_from_slice(&tail);
            let len = (data.len() + longer).saturating_sub(1);
            let (ours, theirs) = (decoded(&stream, len, len).ok(), decode(&stream, len));
            if ours != theirs {
                assert!(ours.is_none() && has_no_distance(&stream), "{stream:?}");
            }
            for target in targets(len) {
                let part = decoded(&stream, len, target);
                if let Some(whole) = &theirs && ours.is_some() {
                    assert!(part.as_deref() == Ok(&whole[..target]));
                }
            }
        }
    }
}
