//! Sixteen bytes at once, and how the first few of them are repeated over all sixteen.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_set1_epi8, _mm_shuffle_epi8, _mm_storeu_si128};

/// Bytes in lanes.
pub(super) const WIDTH: usize = 16;

/// Sixteen bytes.
pub(super) trait Lanes: Copy {
    /// The 16 bytes at `from`.
    ///
    /// # Safety
    ///
    /// They can be read.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes the 16 bytes at `to`.
    ///
    /// # Safety
    ///
    /// They can be written.
    unsafe fn store(self, to: *mut u8);

    /// The same byte everywhere.
    fn all(byte: u8) -> Self;

    /// The first `distance` bytes over and over; all of them as they are where that is 16 or more.
    fn repeated(self, distance: usize) -> Self;
}

/// How far apart lanes of a pattern are that go on from each other: the largest multiple of each distance up to 16.
#[expect(clippy::cast_possible_truncation, reason = "places in one vector of 16 bytes")]
pub(super) static STEPS: [u8; WIDTH] = {
    let mut steps = [WIDTH as u8; WIDTH];
    let mut distance = 1;
    while distance < WIDTH {
        steps[distance] = (WIDTH - WIDTH % distance) as u8;
        distance += 1;
    }
    steps
};

/// By distance: the bytes to keep, and what to multiply them by to have them over and over.
static SPREAD: [(u128, u128); WIDTH + 1] = {
    let mut spread = [(u128::MAX, 1); WIDTH + 1];
    let mut distance = 1;
    while distance < WIDTH {
        let (mut factor, mut at) = (0, 0);
        while at < WIDTH {
            factor |= 1 << (8 * at);
            at += distance;
        }
        spread[distance] = ((1 << (8 * distance)) - 1, factor);
        distance += 1;
    }
    spread
};

/// On any processor.
impl Lanes for u128 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes, which need no alignment.
        u128::from_le_bytes(unsafe { from.cast::<[u8; WIDTH]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 16 bytes, which need no alignment.
        unsafe { to.cast::<[u8; WIDTH]>().write(self.to_le_bytes()) };
    }

    #[inline(always)]
    fn all(byte: u8) -> Self {
        Self::from_le_bytes([byte; WIDTH])
    }

    #[inline(always)]
    fn repeated(self, distance: usize) -> Self {
        let (kept, factor) = SPREAD[distance.min(WIDTH)];
        (self & kept).wrapping_mul(factor)
    }
}

/// By distance: where each byte comes from.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::cast_possible_truncation, reason = "places in one vector of 16 bytes")]
static ORDER: [[u8; WIDTH]; WIDTH + 1] = {
    let mut order = [[0; WIDTH]; WIDTH + 1];
    let mut distance = 1;
    while distance <= WIDTH {
        let mut at = 0;
        while at < WIDTH {
            order[distance][at] = (at % distance) as u8;
            at += 1;
        }
        distance += 1;
    }
    order
};

/// With AVX2: whoever uses these lanes has looked whether the processor has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m128i);

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes, which need no alignment.
        Self(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 16 bytes, which need no alignment.
        unsafe { _mm_storeu_si128(to.cast(), self.0) };
    }

    #[inline(always)]
    fn all(byte: u8) -> Self {
        // SAFETY: every processor of this kind has SSE2.
        Self(unsafe { _mm_set1_epi8(byte as i8) })
    }

    #[inline(always)]
    fn repeated(self, distance: usize) -> Self {
        let order = ORDER[distance.min(WIDTH)].as_ptr();
        // SAFETY: the 16 bytes of an order can be read; the shuffle is one of those that come with AVX2.
        Self(unsafe { _mm_shuffle_epi8(self.0, _mm_loadu_si128(order.cast())) })
    }
}
