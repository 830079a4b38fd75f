//! Bob Jenkins' lookup3 hash, as HDF5 uses it for its metadata.

fn mix([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    b = b.wrapping_add(a);
    [a, b, c]
}

fn finish([mut a, mut b, mut c]: [u32; 3]) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

fn add(state: [u32; 3], block: [u8; 12]) -> [u32; 3] {
    let [a, b, c] = state;
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = block;
    [
        a.wrapping_add(u32::from_le_bytes([a0, a1, a2, a3])),
        b.wrapping_add(u32::from_le_bytes([b0, b1, b2, b3])),
        c.wrapping_add(u32::from_le_bytes([c0, c1, c2, c3])),
    ]
}

/// The hash takes the length modulo 2^32, as the C code does.
pub(super) fn lookup3(data: &[u8], seed: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32 is what is wanted")]
    let length = data.len() as u32;
    let start = 0xDEAD_BEEFu32.wrapping_add(length).wrapping_add(seed);
    let mut state = [start; 3];
    let mut rest = data;
    while rest.len() > 12 {
        let Some((block, after)) = rest.split_first_chunk() else { break };
        state = mix(add(state, *block));
        rest = after;
    }
    if rest.is_empty() {
        return start;
    }
    let mut last = [0; 12];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    finish(add(state, last))
}
