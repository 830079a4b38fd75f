//! Every kernel against the plainest statement of what a shuffle is.
#![allow(unsafe_code)] // kernels are called one by one

use super::*;
use crate::conformance::random;
use serde_json::json;
use tessarray_buffer::DataType;

/// Byte `b` of element `e` goes to `b * n + e`; the rest stays.
fn plain(typesize: usize, src: &[u8]) -> Vec<u8> {
    let n = src.len() / typesize;
    let mut out = src.to_vec();
    for e in 0..n {
        for b in 0..typesize {
            out[b * n + e] = src[e * typesize + b];
        }
    }
    out
}

/// Bit `k` of byte `b` of element `e` goes to bit `e` of row `b * 8 + k`; the rest stays.
fn plain_bits(typesize: usize, src: &[u8]) -> Vec<u8> {
    let n = src.len() / typesize;
    let mut out = src.to_vec();
    if !n.is_multiple_of(8) {
        return out;
    }
    out[..n * typesize].fill(0);
    for (e, b, k) in (0..n).flat_map(|e| (0..typesize).flat_map(move |b| (0..8).map(move |k| (e, b, k)))) {
        let bit = (src[e * typesize + b] >> k) & 1;
        out[(b * 8 + k) * (n / 8) + e / 8] |= bit << (e % 8);
    }
    out
}

/// Miri takes a second for what takes a microsecond elsewhere.
const SIZES: &[usize] =
    if cfg!(miri) { &[1, 2, 3, 16] } else { &[1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32, 255] };

#[test]
fn shuffles_equal_the_plain_statement_at_every_remainder() {
    let all = (0..70).chain([96, 127, 128, 255, 256, 257, 1000]);
    let elements: Vec<usize> = if cfg!(miri) { vec![0, 1, 33, 65] } else { all.collect() };
    for &typesize in SIZES {
        for &elements in &elements {
            for extra in [0, 1, typesize - 1] {
                let src = random(elements * typesize + extra, (elements * 31 + typesize) as u64);
                let mut out = vec![0; src.len()];
                shuffle(typesize, &src, &mut out);
                assert_eq!(out, plain(typesize, &src), "{typesize} {elements} {extra}");
                let mut back = vec![0; src.len()];
                unshuffle(typesize, &out, &mut back);
                assert_eq!(back, src, "{typesize} {elements} {extra}");
            }
        }
    }
}

#[test]
fn portable_shuffles_equal_the_kernels() {
    fn check<const T: usize>() {
        for n in [1usize, 15, 31, 32, 33, 100] {
            let src = random(n * T, n as u64);
            let mut out = vec![0; n * T];
            let mut planes = out.chunks_exact_mut(n);
            portable::shuffle_fixed::<T>(&src, &mut std::array::from_fn(|_| planes.next().unwrap()), 0);
            assert_eq!(out, plain(T, &src));
            let mut back = vec![0; n * T];
            let mut planes = out.chunks_exact(n);
            portable::unshuffle_fixed::<T>(&std::array::from_fn(|_| planes.next().unwrap()), &mut back, 0);
            assert_eq!(back, src);
        }
    }
    check::<2>();
    check::<4>();
    check::<8>();
    check::<16>();
    let mut bits = random(8 * 9 + 3, 5);
    let mut same = bits.clone();
    portable::transpose_bits(&mut bits);
    let (groups, rest) = same.as_chunks_mut::<8>();
    for group in groups {
        let old = *group;
        for (i, byte) in group.iter_mut().enumerate() {
            *byte = (0..8).fold(0, |sum, j| sum | (((old[j] >> i) & 1) << j));
        }
    }
    assert_eq!(rest.len(), 3);
    assert_eq!(bits, same);
}

/// Each kernel of this machine on its own, whichever of them the dispatch would choose.
#[cfg(target_arch = "x86_64")]
#[test]
fn each_kernel_equals_the_plain_statement() {
    fn check<const T: usize>() {
        let avx512 = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi");
        for n in [0usize, 31, 32, 63, 64, 65, 127, 128, 200] {
            let src = random(n * T, n as u64 + 1);
            let expected = plain(T, &src);
            for wide in [false, true] {
                if !is_x86_feature_detected!("avx2") || (wide && !avx512) {
                    continue;
                }
                let (mut out, mut back) = (vec![0; n * T], vec![0; n * T]);
                let to = out.as_mut_ptr();
                let from = out.as_ptr();
                // SAFETY: the features are there, and all pointers are into buffers of `n * T` bytes.
                let (done, undone) = unsafe {
                    let to: [*mut u8; T] = std::array::from_fn(|b| to.add(b * n));
                    let from: [*const u8; T] = std::array::from_fn(|b| from.add(b * n));
                    if wide {
                        let done = avx512::shuffle::<T>(src.as_ptr(), to, n);
                        (done, avx512::unshuffle::<T>(from, back.as_mut_ptr(), n))
                    } else {
                        let done = avx2::shuffle::<T>(src.as_ptr(), to, n);
                        (done, avx2::unshuffle::<T>(from, back.as_mut_ptr(), n))
                    }
                };
                let step = if wide { 64 } else { 32 };
                assert_eq!((done, undone), (n / step * step, n / step * step));
                for b in 0..T {
                    assert_eq!(out[b * n..b * n + done], expected[b * n..b * n + done], "{T} {n} {wide}");
                }
                assert_eq!(back[..done * T], src[..done * T], "{T} {n} {wide}");
            }
        }
    }
    check::<2>();
    check::<4>();
    check::<8>();
    check::<16>();
}

#[test]
fn planes_that_lie_apart_unshuffle_too() {
    for typesize in 1..=16 {
        let src = random(typesize * 77, typesize as u64);
        let shuffled = plain(typesize, &src);
        let apart: Vec<Vec<u8>> = shuffled.chunks_exact(77).map(<[u8]>::to_vec).collect();
        let planes: Vec<&[u8]> = apart.iter().map(Vec::as_slice).collect();
        let mut back = vec![0; src.len()];
        unshuffle_planes(&planes, &mut back);
        assert_eq!(back, src);
    }
}

#[test]
fn bit_shuffles_equal_the_plain_statement_at_every_remainder() {
    let mut tmp = Vec::new();
    let all = &[0, 1, 7, 8, 9, 16, 64, 100, 104, 256, 264, 1024];
    for &typesize in SIZES {
        for &elements in if cfg!(miri) { &all[..6] } else { &all[..] } {
            for extra in [0, 1, typesize - 1] {
                let src = random(elements * typesize + extra, (elements * 31 + typesize) as u64);
                let mut out = vec![0; src.len()];
                bitshuffle(typesize, &src, &mut out, &mut tmp);
                assert_eq!(out, plain_bits(typesize, &src), "{typesize} {elements} {extra}");
                let mut back = vec![0; src.len()];
                bitunshuffle(typesize, &out, &mut back, &mut tmp);
                assert_eq!(back, src, "{typesize} {elements} {extra}");
            }
        }
    }
}

fn spec() -> ChunkSpec {
    ChunkSpec { shape: [25].into_iter().collect(), data_type: DataType::Int32, fill: Box::new([0; 4]) }
}

#[test]
fn the_codec_round_trips_and_keeps_its_name() {
    let mut registry = Registry::empty();
    register(&mut registry);
    for name in ["shuffle", "numcodecs.shuffle"] {
        let config = NamedConfig::new(name).with("elementsize", 4);
        let Ok(AnyCodec::Bytes(codec)) = registry.build(&config, &spec()) else { panic!("not built") };
        assert_eq!(codec.config(), config);
        let data = random(103, 9);
        let mut encoded = vec![1];
        codec.encode(&data, &mut encoded).unwrap();
        assert_eq!(codec.encoded_size(103), EncodedSize::Exact(encoded.len() - 1));
        assert_eq!(encoded[1..], plain(4, &data));
        let mut out = vec![0; 103];
        codec.decode(&encoded[1..], &mut out).unwrap();
        assert_eq!(out, data);
        let mut bounded = vec![7];
        codec.decode_bounded(&encoded[1..], 103, &mut bounded).unwrap();
        assert_eq!(bounded[1..], data);
        assert!(matches!(codec.decode(&encoded, &mut out), Err(CodecError::Size { .. })));
        assert!(matches!(codec.decode_bounded(&encoded, 103, &mut bounded), Err(CodecError::Size { .. })));
    }
}

#[test]
fn wrong_settings_are_refused() {
    for value in [json!(0), json!(-1), json!(1.5), json!("4"), json!(null)] {
        let config = NamedConfig::new("shuffle").with("elementsize", value).for_new();
        assert!(matches!(ShuffleCodec::from_config(&config, &spec()), Err(CodecError::Config { .. })));
    }
    let config = NamedConfig::new("shuffle").with("size", 4);
    assert!(ShuffleCodec::from_config(&config, &spec()).is_err());
}

#[test]
fn elements_longer_than_the_data_cost_no_memory() {
    let codec = ShuffleCodec::new(usize::MAX).unwrap();
    let mut out = Vec::new();
    codec.encode(&[1, 2, 3], &mut out).unwrap();
    assert_eq!(out, [1, 2, 3]);
    let len = if cfg!(miri) { 1 << 10 } else { 1 << 20 };
    let wide = ShuffleCodec::new(len).unwrap();
    let data = random(len, 3);
    let mut out = vec![0; len];
    wide.decode(&data, &mut out).unwrap();
    assert_eq!(out, data);
}
