//! Fletcher's checksum as HDF5 has it: over big-endian 16-bit words, an odd last byte being the high half of one.

/// Words that can be added up before the sums may overflow.
const RUN: usize = 360;

fn fold(sum: u32) -> u32 {
    (sum & 0xFFFF) + (sum >> 16)
}

pub(super) fn fletcher32(data: &[u8]) -> u32 {
    let (words, odd) = data.as_chunks::<2>();
    let (mut low, mut high) = (0u32, 0u32);
    for run in words.chunks(RUN) {
        for word in run {
            low += u32::from(u16::from_be_bytes(*word));
            high += low;
        }
        (low, high) = (fold(low), fold(high));
    }
    if let [byte] = odd {
        low += u32::from(*byte) << 8;
        high += low;
        (low, high) = (fold(low), fold(high));
    }
    (fold(high) << 16) | fold(low)
}
