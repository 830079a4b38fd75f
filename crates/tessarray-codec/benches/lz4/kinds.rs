//! LZ4 streams as arrays have them: the byte planes of chunks, out of the frames that the Blosc codec makes.

use tessarray_codec::{BloscCodec, BloscConfig, BytesCodec, Compressor, Filter};

/// A stream, and how many bytes it decodes to.
pub type Stream = (Vec<u8>, usize);

/// The names of the kinds.
pub const KINDS: [&str; 11] = [
    "ramp f8 500x25",
    "ramp f8 20x100x10",
    "ramp f8 30x5x2x10",
    "ramp u4 64x64",
    "camera u2 32x32x32",
    "camera u2 2x128x128",
    "smooth f4 32x32x32",
    "smooth f8 32x32x32",
    "random f8 32x32x32",
    "sparse f4 32x32x32",
    "constant f8 32x32x32",
];

/// Chunks of each kind: enough that the processor has not learnt their branches by heart, as it has not in real reads.
const CHUNKS: usize = 64;

/// The streams that are compressed, of some chunks of the kind.
pub fn streams(kind: &str) -> Vec<Stream> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    };
    let unit = |bits: u64| bits as f64 / (1u64 << 53) as f64;
    let mut found = Vec::new();
    for chunk in 0..CHUNKS {
        let cube = [32usize; 3];
        let (typesize, data) = match kind {
            "ramp f8 500x25" => (8, ramp(&[8000, 8000], &[500, 25], chunk, 8)),
            "ramp f8 20x100x10" => (8, ramp(&[800, 600, 300], &[20, 100, 10], chunk, 8)),
            "ramp f8 30x5x2x10" => (8, ramp(&[400, 80, 100, 50], &[30, 5, 2, 10], chunk, 8)),
            "ramp u4 64x64" => (4, ramp(&[8000, 8000], &[64, 64], chunk, 4)),
            "camera u2 32x32x32" => (2, camera(&cube, chunk, &mut random)),
            "camera u2 2x128x128" => (2, camera(&[2, 128, 128], chunk, &mut random)),
            "smooth f4 32x32x32" | "smooth f8 32x32x32" => {
                let mut bytes = Vec::new();
                let single = kind.starts_with("smooth f4");
                each(&cube, |at| {
                    let axes =
                        (0..3).map(|k| ((at[k] + 32 * chunk) as f64 * (0.02 + 0.011 * k as f64)).sin());
                    let noise = (0..12).map(|_| unit(random())).sum::<f64>() - 6.0;
                    let value = ((280.0 + 10.0 * axes.sum::<f64>() + 0.01 * noise) * 1000.0).round() / 1000.0;
                    if single {
                        bytes.extend_from_slice(&(value as f32).to_le_bytes());
                    } else {
                        bytes.extend_from_slice(&value.to_le_bytes());
                    }
                });
                (if single { 4 } else { 8 }, bytes)
            }
            "random f8 32x32x32" => (8, (0..1 << 15).flat_map(|_| unit(random()).to_le_bytes()).collect()),
            "sparse f4 32x32x32" => {
                let mut value = || if random() % 100 == 0 { (1 + random() % 99) as f32 } else { 0.0 };
                (4, (0..1 << 15).flat_map(|_| value().to_le_bytes()).collect())
            }
            _ => (8, (0..1 << 15).flat_map(|_| (chunk as f64 / 3.0).to_le_bytes()).collect()),
        };
        found.extend(planes(typesize, &data));
    }
    found
}

/// 0, 1, 2, ... over the whole array, and of it one chunk.
fn ramp(shape: &[usize], chunk: &[usize], number: usize, typesize: usize) -> Vec<u8> {
    let mut corner: Vec<usize> = vec![0; shape.len()];
    let mut rest = number * 6007 + 5;
    for k in (0..shape.len()).rev() {
        let across = shape[k] / chunk[k];
        corner[k] = rest % across * chunk[k];
        rest = rest / across + number * 7;
    }
    let mut bytes = Vec::new();
    each(chunk, |at| {
        let value = (0..shape.len()).fold(0, |sum, k| sum * shape[k] + corner[k] + at[k]);
        if typesize == 8 {
            bytes.extend_from_slice(&(value as f64).to_le_bytes());
        } else {
            bytes.extend_from_slice(&(value as u32).to_le_bytes());
        }
    });
    bytes
}

/// Smooth light with four bits of noise.
fn camera(shape: &[usize], number: usize, random: &mut impl FnMut() -> u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    each(shape, |at| {
        let (z, y, x) = (at[0] + number * shape[0], at[1] + shape[1], at[2] + shape[2] * number);
        let value = 200 + (y + x) / 8 + z / 4 + (random() % 16) as usize;
        bytes.extend_from_slice(&(value as u16).to_le_bytes());
    });
    bytes
}

/// Calls `f` with each place of the shape in C order.
fn each(shape: &[usize], mut f: impl FnMut(&[usize])) {
    let mut at = vec![0; shape.len()];
    for _ in 0..shape.iter().product() {
        f(&at);
        for k in (0..shape.len()).rev() {
            at[k] += 1;
            if at[k] < shape[k] {
                break;
            }
            at[k] = 0;
        }
    }
}

/// The compressed streams of the frame of one chunk, as the product writes it.
fn planes(typesize: usize, data: &[u8]) -> Vec<Stream> {
    let compressor = Compressor::Lz4;
    let config = BloscConfig { compressor, level: 5, filter: Filter::Bytes, typesize, blocksize: 0 };
    let mut frame = Vec::new();
    if let Err(error) = BloscCodec::new(config).and_then(|codec| codec.encode(data, &mut frame)) {
        unreachable!("{error}");
    }
    let int = |at: usize| frame[at..at + 4].iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    let (blocksize, split, stored) = (int(8), frame[2] & 0x10 == 0, frame[2] & 2 != 0);
    let mut found = Vec::new();
    for block in 0..if stored { 0 } else { data.len().div_ceil(blocksize) } {
        let bytes = blocksize.min(data.len() - block * blocksize);
        let count = if split && bytes == blocksize { typesize } else { 1 };
        let mut at = int(16 + 4 * block);
        for _ in 0..count {
            let len = int(at);
            if len < bytes / count {
                found.push((frame[at + 4..at + 4 + len].to_vec(), bytes / count));
            }
            at += 4 + len;
        }
    }
    found
}
