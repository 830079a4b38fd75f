//! From chunk coordinates to keys and back (Zarr v3 core, "Chunk key encoding").

/// How the key of a chunk is made from its coordinates in the chunk grid. The separator is `'/'` or `'.'`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyEncoding {
    /// `c/0/1`; rank 0 is `c`.
    #[allow(missing_docs, reason = "the line above names it")]
    Default { separator: char },
    /// `0.1`; rank 0 is `0`. The keys of Zarr v2.
    #[allow(missing_docs, reason = "the line above names it")]
    V2 { separator: char },
}

impl KeyEncoding {
    /// The key of the chunk at `coords`, relative to the array's prefix.
    pub fn encode(&self, coords: &[u64]) -> String {
        use std::fmt::Write;
        let (mut key, separator) = match *self {
            Self::Default { separator } => (String::from("c"), separator),
            Self::V2 { separator } => (String::new(), separator),
        };
        for coord in coords {
            if !key.is_empty() {
                key.push(separator);
            }
            // Writing to a String cannot fail.
            let _ = write!(key, "{coord}");
        }
        if key.is_empty() {
            key.push('0');
        }
        key
    }

    /// The coordinates in a key of an array of this rank; `None` where no chunk has that key. Only the exact text
    /// that [`encode`](Self::encode) makes is accepted: no signs, spaces or leading zeros.
    pub fn decode(&self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let (rest, separator) = match *self {
            Self::Default { separator } => {
                let rest = key.strip_prefix('c')?;
                if rank == 0 {
                    return rest.is_empty().then(Vec::new);
                }
                (rest.strip_prefix(separator)?, separator)
            }
            Self::V2 { .. } if rank == 0 => return (key == "0").then(Vec::new),
            Self::V2 { separator } => (key, separator),
        };
        let coords = rest.split(separator).take(rank + 1).map(coordinate).collect::<Option<Vec<u64>>>()?;
        (coords.len() == rank).then_some(coords)
    }
}

fn coordinate(text: &str) -> Option<u64> {
    let canonical = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_coordinates_are_inverse() {
        for separator in ['/', '.'] {
            for encoding in [KeyEncoding::Default { separator }, KeyEncoding::V2 { separator }] {
                for coords in [vec![], vec![0], vec![10, 0, u64::MAX]] {
                    let key = encoding.encode(&coords);
                    assert_eq!(encoding.decode(&key, coords.len()), Some(coords.clone()), "{key}");
                    assert_eq!(encoding.decode(&key, coords.len() + 2), None);
                }
            }
        }
        assert_eq!(KeyEncoding::Default { separator: '/' }.encode(&[0, 1]), "c/0/1");
        assert_eq!(KeyEncoding::Default { separator: '.' }.encode(&[]), "c");
        assert_eq!(KeyEncoding::V2 { separator: '.' }.encode(&[0, 1]), "0.1");
        assert_eq!(KeyEncoding::V2 { separator: '/' }.encode(&[]), "0");
    }

    #[test]
    fn other_spellings_are_no_keys() {
        let encoding = KeyEncoding::Default { separator: '/' };
        for key in [
            "",
            "c",
            "c/",
            "c/00",
            "c/-1",
            "c/+1",
            "c/ 1",
            "c/1/",
            "c//1",
            "c.1",
            "0",
            "c/18446744073709551616",
        ] {
            assert_eq!(encoding.decode(key, 1), None, "{key}");
        }
    }
}
