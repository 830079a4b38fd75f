//! Base 64 (RFC 4648, section 4), the JSON form of byte strings.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &b| bits << 8 | u32::from(b)) << (8 * (3 - group.len()));
        for i in 0..4 {
            let sextet = (bits >> (18 - 6 * i) & 63) as usize;
            out.push(if i <= group.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    out
}

/// `None` where the text is not base 64 with its padding, or has bits set in the padding.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take(2).take_while(|&&b| b == b'=').count();
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for &b in &text[..text.len() - padding] {
        let sextet = ALPHABET.iter().position(|&a| a == b)?;
        bits = bits << 6 | u32::try_from(sextet).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xff) as u8);
            bits &= (1 << held) - 1;
        }
    }
    (bits == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for (bytes, text) in
            [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"ab\xff", "YWL/")]
        {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        }
        let long: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&long)), Some(long));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "====", "Zm9v\n", "Z-9v", "Zé=="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
