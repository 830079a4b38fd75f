//! A seeded mutator: the changes that break parsers, and nothing that differs from run to run.

/// xorshift64*: small, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Equal seeds give equal numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `n` (0 where `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() >> 16) as usize % n }
    }
}

/// Numbers that lengths, counts and offsets go wrong with.
const ODD: [u64; 14] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 62,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX,
];

/// Changes inputs, and keeps those that led to something new.
#[derive(Debug)]
pub struct Mutator {
    random: Random,
    corpus: Vec<Vec<u8>>,
}

impl Mutator {
    /// Starts from good inputs.
    pub fn new(seed: u64, corpus: Vec<Vec<u8>>) -> Self {
        Self { random: Random::new(seed), corpus }
    }

    /// Remembers an input worth changing further; the oldest finds make room.
    pub fn keep(&mut self, input: Vec<u8>) {
        if self.corpus.len() >= 512 {
            let place = self.random.below(self.corpus.len());
            self.corpus[place] = input;
        } else {
            self.corpus.push(input);
        }
    }

    /// The next input: one of the corpus with one to four changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.pick();
        for _ in 0..=self.random.below(4) {
            self.change(&mut input);
        }
        input.truncate(1 << 16);
        input
    }

    fn pick(&mut self) -> Vec<u8> {
        let place = self.random.below(self.corpus.len());
        self.corpus.get(place).cloned().unwrap_or_default()
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.below(input.len());
        let span = at..(at + 1 + self.random.below(16)).min(input.len());
        match self.random.below(10) {
            0 | 1 if !input.is_empty() => input[at] ^= 1 << self.random.below(8),
            2 if !input.is_empty() => input[at] = self.random.next() as u8,
            3 | 4 => self.odd_number(input, at),
            5 => input.truncate(at),
            6 if !span.is_empty() => drop(input.drain(span)),
            7 if !span.is_empty() => {
                let copy = input[span].to_vec();
                let place = self.random.below(input.len());
                input.splice(place..place, copy);
            }
            8 => {
                let other = self.pick();
                let from = self.random.below(other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => {
                let noise: Vec<u8> = (0..=self.random.below(4)).map(|_| self.random.next() as u8).collect();
                input.splice(at..at, noise);
            }
        }
    }

    /// Overwrites 1, 2, 4 or 8 bytes, in either byte order, with an odd number or one near the input's length.
    fn odd_number(&mut self, input: &mut [u8], at: usize) {
        let mut number = ODD[self.random.below(ODD.len())];
        if self.random.below(3) == 0 {
            number = (input.len() as u64).wrapping_add(self.random.below(5) as u64).wrapping_sub(2);
        }
        let width = 1 << self.random.below(4);
        let mut bytes = number.to_le_bytes()[..width].to_vec();
        if self.random.below(4) == 0 {
            bytes.reverse();
        }
        for (place, byte) in input.iter_mut().skip(at).zip(bytes) {
            *place = byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_inputs() {
        let run = |seed| {
            let mut mutator = Mutator::new(seed, vec![vec![1; 50], Vec::new()]);
            (0..1000).map(|_| mutator.next_input()).collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }

    #[test]
    fn no_seed_is_no_reason_to_stop() {
        let mut mutator = Mutator::new(1, Vec::new());
        assert!((0..1000).any(|_| !mutator.next_input().is_empty()));
    }
}
