//! The shuffles of 120 KiB, kernel by kernel, for elements of `T` bytes: `cargo bench -p tessarray-codec --bench shuffle`.
//!
//! The kernels are private; they are compiled into this bench from their sources.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]

#[cfg(target_arch = "x86_64")]
#[path = "../src/shuffle/avx2.rs"]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[path = "../src/shuffle/avx512.rs"]
mod avx512;
#[allow(dead_code)] // what only Blosc needs
#[path = "../src/shuffle/kernels.rs"]
mod kernels;
#[path = "../src/shuffle/portable.rs"]
mod portable;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// A whole number of elements of every size below, and of steps of every kernel.
const LEN: usize = 120 << 10;
/// Sizes that have kernels of their own.
const FIXED: [usize; 4] = [2, 4, 8, 16];

/// Runs `kernel` from a buffer to another.
fn run(bencher: Bencher<'_, '_>, mut kernel: impl FnMut(&[u8], &mut [u8])) {
    let src: Vec<u8> = (0..LEN as u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    let mut dst = vec![0; LEN];
    bencher.counter(BytesCount::new(LEN)).bench_local(|| kernel(black_box(&src), black_box(&mut dst)));
}

#[divan::bench(consts = FIXED)]
fn shuffle_portable<const T: usize>(bencher: Bencher<'_, '_>) {
    run(bencher, |src, dst| {
        let mut planes = dst.chunks_exact_mut(LEN / T);
        let mut planes = std::array::from_fn(|_| planes.next().unwrap_or_default());
        portable::shuffle_fixed::<T>(src, &mut planes, 0);
    });
}

#[divan::bench(consts = FIXED)]
fn unshuffle_portable<const T: usize>(bencher: Bencher<'_, '_>) {
    run(bencher, |src, dst| {
        let mut planes = src.chunks_exact(LEN / T);
        let planes = std::array::from_fn(|_| planes.next().unwrap_or_default());
        portable::unshuffle_fixed::<T>(&planes, dst, 0);
    });
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;

    fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
    }

    fn planes<const T: usize>(dst: &mut [u8]) -> [*mut u8; T] {
        std::array::from_fn(|b| dst[b * LEN / T..].as_mut_ptr())
    }

    fn planes_of<const T: usize>(src: &[u8]) -> [*const u8; T] {
        std::array::from_fn(|b| src[b * LEN / T..].as_ptr())
    }

    #[divan::bench(consts = FIXED, ignore = !is_x86_feature_detected!("avx2"))]
    fn shuffle_avx2<const T: usize>(bencher: Bencher<'_, '_>) {
        // SAFETY: the machine has AVX2, and all pointers are into buffers of `LEN` bytes.
        run(bencher, |src, dst| unsafe {
            avx2::shuffle::<T>(src.as_ptr(), planes(dst), LEN / T);
        });
    }

    #[divan::bench(consts = FIXED, ignore = !is_x86_feature_detected!("avx2"))]
    fn unshuffle_avx2<const T: usize>(bencher: Bencher<'_, '_>) {
        // SAFETY: as above.
        run(bencher, |src, dst| unsafe {
            avx2::unshuffle::<T>(planes_of(src), dst.as_mut_ptr(), LEN / T);
        });
    }

    #[divan::bench(consts = FIXED, ignore = !has_avx512())]
    fn shuffle_avx512<const T: usize>(bencher: Bencher<'_, '_>) {
        // SAFETY: the machine has AVX-512 F, BW and VBMI, and all pointers are into buffers of `LEN` bytes.
        run(bencher, |src, dst| unsafe {
            avx512::shuffle::<T>(src.as_ptr(), planes(dst), LEN / T);
        });
    }

    #[divan::bench(consts = FIXED, ignore = !has_avx512())]
    fn unshuffle_avx512<const T: usize>(bencher: Bencher<'_, '_>) {
        // SAFETY: as above.
        run(bencher, |src, dst| unsafe {
            avx512::unshuffle::<T>(planes_of(src), dst.as_mut_ptr(), LEN / T);
        });
    }
}

/// What is called: the best kernel of this machine. Elements of 3 and 12 bytes have the loops for any size.
const ANY: [usize; 7] = [1, 2, 3, 4, 8, 12, 16];

#[divan::bench(args = ANY)]
fn shuffle(bencher: Bencher<'_, '_>, typesize: usize) {
    run(bencher, |src, dst| kernels::shuffle(typesize, src, dst));
}

#[divan::bench(args = ANY)]
fn unshuffle(bencher: Bencher<'_, '_>, typesize: usize) {
    run(bencher, |src, dst| kernels::unshuffle(typesize, src, dst));
}

#[divan::bench(args = ANY)]
fn bitshuffle(bencher: Bencher<'_, '_>, typesize: usize) {
    let mut tmp = Vec::new();
    run(bencher, |src, dst| kernels::bitshuffle(typesize, src, dst, &mut tmp));
}

#[divan::bench(args = ANY)]
fn bitunshuffle(bencher: Bencher<'_, '_>, typesize: usize) {
    let mut tmp = Vec::new();
    run(bencher, |src, dst| kernels::bitunshuffle(typesize, src, dst, &mut tmp));
}
