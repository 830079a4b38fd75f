//! What some codecs can do besides: decode blocks, encode pieces, verify a checksum inside.

use crate::{BlockCodec, BytesCodec, Pieces, Window};
use std::ops::Range;

/// Bytes that are nowhere together, in units of one.
#[derive(Debug)]
struct Scattered<'a>(&'a [u8]);

impl Pieces for Scattered<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn unit(&self) -> usize {
        1
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0[range]);
    }

    fn whole(&self, _: Range<usize>) -> Option<&[u8]> {
        None
    }
}

/// Checks on one encoding that every ability of the codec agrees with its `encode` and `decode`.
pub(super) fn check_parts(codec: &dyn BytesCodec, data: &[u8]) {
    let mut encoded = Vec::new();
    codec.encode(data, &mut encoded).unwrap();
    if let Some(sum) = codec.inner_checksum() {
        let name = codec.config().name;
        assert!(sum.verify(&encoded).is_ok(), "{name}: its own encoding is damaged");
        let mut out = vec![0x5A; data.len()];
        sum.decode_verified(&encoded, &mut out).unwrap();
        assert!(out == data, "{name}: verified bytes decode to others");
    }
    if let Some(blocks) = codec.blocks() {
        check_blocks(&codec.config().name, blocks, data, &encoded);
    }
    if let Some(pieces) = codec.pieces() {
        let name = codec.config().name;
        let mut out = b"before".to_vec();
        if let Some(done) = pieces.encode_pieces(&Scattered(data), &mut out) {
            done.unwrap();
            assert!(
                out.starts_with(b"before") && out[6..] == encoded,
                "{name}: pieces give another encoding"
            );
        }
        let (first, second) = data.split_at(data.len() / 3);
        if let Some(head) = pieces.stored_head(&Scattered(data), &[first, second]) {
            assert!([&head, data].concat() == encoded, "{name}: stored data have another encoding");
        }
    }
}

fn check_blocks(name: &str, codec: &dyn BlockCodec, data: &[u8], encoded: &[u8]) {
    if let Some(stored) = codec.stored(encoded, data.len()) {
        assert!(stored == data, "{name}: what is stored differs");
    }
    let block = codec.block_len(encoded, data.len()).unwrap();
    assert!(block > 0 || data.is_empty(), "{name}: blocks of no bytes");
    let spans = codec.block_spans(encoded, data.len());
    for (number, expected) in data.chunks(block.max(1)).enumerate() {
        let whole = Window::whole(encoded);
        // With no more than the block's own bytes at hand, if the codec says which they are.
        let own = spans.as_ref().map(|(head, spans)| {
            let span = spans[number].clone();
            Window::new(&encoded[..*head], span.start, &encoded[span], encoded.len())
        });
        for window in [Some(whole), own].into_iter().flatten() {
            let mut out = vec![0x5A; expected.len()];
            codec.decode_block(window, data.len(), number, &mut out).unwrap();
            assert!(out == expected, "{name}: block {number} differs");
            let n = expected.len();
            let parts = [n / 9..n / 8, n / 3..n / 2, n - 1..n];
            out.fill(0x5A);
            if let Some(done) = codec.decode_parts(window, data.len(), number, &parts, &mut out) {
                done.unwrap();
                for part in parts {
                    assert!(out[part.clone()] == expected[part], "{name}: a part of block {number} differs");
                }
            }
        }
    }
}
