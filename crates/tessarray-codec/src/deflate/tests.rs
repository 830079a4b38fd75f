use crate::conformance::{self, Flips, bytes_codec};
use crate::{CodecError, NamedConfig};

#[test]
fn conforms() {
    for level in [-1, 0, 1, 9] {
        conformance::bytes(&NamedConfig::new("gzip").with("level", level), Flips::AreSeen);
        conformance::bytes(&NamedConfig::new("numcodecs.zlib").with("level", level), Flips::AreSeen);
    }
}

#[test]
fn gzip_members_after_one_another_decode_to_their_concatenation() {
    let codec = bytes_codec(&NamedConfig::new("gzip"));
    let mut members = Vec::new();
    for byte in [1, 2, 3] {
        codec.encode(&[byte; 700], &mut members).unwrap();
    }
    codec.encode(&[], &mut members).unwrap();
    let mut out = vec![0; 2100];
    codec.decode(&members, &mut out).unwrap();
    assert_eq!((out[0], out[699], out[700], out[2099]), (1, 1, 2, 3));
    let error = codec.decode(&members, &mut out[..1400]).unwrap_err();
    assert!(matches!(error, CodecError::Size { .. }), "{error}");
    let mut grown = Vec::new();
    codec.decode_bounded(&members, 5000, &mut grown).unwrap();
    assert_eq!(grown, out);
}

#[test]
fn gzip_holds_no_time_so_that_equal_chunks_have_equal_bytes() {
    let codec = bytes_codec(&NamedConfig::new("gzip"));
    let mut out = Vec::new();
    codec.encode(b"chunk", &mut out).unwrap();
    assert_eq!(&out[4..8], &[0; 4]);
}
