//! This machine's limits: what memcpy, the codec, file creation and file reads alone can do, with the same threads as the
//! engine, and the share of them that the engine reaches.
//!
//! ```text
//! make limit                        # or: cargo run --release --example limit -- [folder] [MiB]
//! ```
//!
//! The workloads are a camera-like uint16 array in shards of (128, 256, 256) of inner chunks (32, 32, 32), and in chunks of
//! (128, 128, 128), blosc lz4 level 5 with byte shuffle and crc32c. Medians of interleaved repeats, in GB/s of decoded data.

#![allow(clippy::expect_used, clippy::cast_possible_truncation)] // a program that measures: where a step fails there is nothing to print

use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tessarray::{
    Arena, Array, ArraySpec, Chain, ChunkChoice, ChunkSpec, DataType, Dims, FileStore, InputView,
    NamedConfig, OutputView, Registry, Result, Scratch, Selection, Session, ShardChoice,
};

const REPEATS: usize = 5;
/// Bytes that are asked of a file at once.
const READ: usize = 256 << 10;

/// How the array is cut.
struct Case {
    name: &'static str,
    chunk: [u64; 3],
    shard: Option<[u64; 3]>,
}

const CASES: [Case; 2] = [
    Case { name: "sharded", chunk: [32, 32, 32], shard: Some([128, 256, 256]) },
    Case { name: "chunked", chunk: [128, 128, 128], shard: None },
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let default =
        if Path::new("/dev/shm").is_dir() { PathBuf::from("/dev/shm") } else { std::env::temp_dir() };
    let folder = arguments
        .next()
        .map_or(default, PathBuf::from)
        .join(format!("tessarray-limit-{}", std::process::id()));
    let planes =
        arguments.next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(256).max(256) / 256 * 128;
    let shape = [planes, 1024, 1024];
    let image = camera(&shape);
    CASES.iter().try_for_each(|case| {
        let result = measure(case, &folder, &shape, &image);
        let _ = std::fs::remove_dir_all(&folder);
        result
    })
}

struct Row {
    name: &'static str,
    seconds: Vec<f64>,
}

fn measure(case: &Case, folder: &Path, shape: &[u64; 3], image: &[u8]) -> Result<()> {
    let session = Session::new();
    let threads = session.threads();
    let mut output = vec![1u8; image.len()];
    let bytes = image.len() as f64;
    let place = folder.display();
    println!("{}: {threads} threads, {:.0} MiB of uint16, files in {place}", case.name, bytes / 1048576.0);

    let chain = chain(&case.chunk);
    let decoded = chain.spec().byte_len();
    let chunks: Vec<&[u8]> = image.chunks_exact(decoded).collect();
    let encoded = encode_all(threads, &chain, &chunks);
    let stored: usize = encoded.iter().map(Vec::len).sum();
    println!("codec alone stores {:.1} % of the bytes", 100.0 * stored as f64 / bytes);

    let store = Arc::new(FileStore::new(folder)?);
    let mut spec = ArraySpec::new(shape, DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(case.chunk.to_vec());
    if let Some(shard) = case.shard {
        spec.shards = ShardChoice::Shape(shard.to_vec());
    }
    let array = Array::create(&session, store, "array", &spec, true)?;
    let all = Selection::all(shape);
    let object: u64 = case.shard.unwrap_or(case.chunk).iter().product();
    let files = (shape.iter().product::<u64>() / object) as usize;

    let names = [
        "memcpy",
        "encode alone",
        "decode alone",
        "file creation alone",
        "file read alone",
        "engine: write",
        "engine: read all",
    ];
    let mut rows: Vec<Row> = names.iter().map(|name| Row { name, seconds: Vec::new() }).collect();
    for _ in 0..=REPEATS {
        let mut timed = |row: usize, job: &mut dyn FnMut() -> Result<()>| -> Result<()> {
            let start = Instant::now();
            job()?;
            rows[row].seconds.push(start.elapsed().as_secs_f64());
            Ok(())
        };
        timed(0, &mut || {
            copy_all(threads, image, &mut output);
            Ok(())
        })?;
        timed(1, &mut || {
            black_box(encode_all(threads, &chain, &chunks));
            Ok(())
        })?;
        timed(2, &mut || {
            decode_all(threads, &chain, &encoded);
            Ok(())
        })?;
        timed(3, &mut || {
            create_files(threads, folder, files, stored);
            Ok(())
        })?;
        timed(4, &mut || {
            read_files(threads, folder, files);
            Ok(())
        })?;
        timed(5, &mut || array.write_from(&all, &InputView::new(image, shape, 2)?, &Arena::new()))?;
        timed(6, &mut || array.read_into(&all, &mut OutputView::new(&mut output, shape, 2)?, &Arena::new()))?;
        assert!(output == image, "the engine read back other values than it wrote");
    }
    let rate: Vec<f64> = rows.iter_mut().map(|row| bytes / median(&mut row.seconds[1..]) / 1e9).collect();
    println!("\n{:<22} {:>8}", "", "GB/s");
    for (row, rate) in rows.iter().zip(&rate) {
        println!("{:<22} {rate:>8.2}", row.name);
    }
    let serial = |parts: &[f64]| 1.0 / parts.iter().map(|rate| 1.0 / rate).sum::<f64>();
    let (write, read) = (serial(&[rate[0], rate[1], rate[3]]), serial(&[rate[4], rate[2], rate[0]]));
    let name = case.name;
    println!(
        "\n{name}: write reaches {:.2} of gather + encode + file creation ({write:.2} GB/s)",
        rate[5] / write
    );
    println!("{name}: read reaches {:.2} of file read + decode + scatter ({read:.2} GB/s)\n", rate[6] / read);
    Ok(())
}

/// Smooth light, a gradient, and a few bits of noise, as a 12-bit camera gives.
fn camera(shape: &[u64; 3]) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut out = Vec::with_capacity(shape.iter().product::<u64>() as usize * 2);
    for z in 0..shape[0] {
        for y in 0..shape[1] {
            for x in 0..shape[2] {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let value = 200 + (x + y) / 8 + z / 4 + (state >> 60);
                out.extend_from_slice(&(value as u16).to_ne_bytes());
            }
        }
    }
    out
}

fn chain(chunk: &[u64]) -> Chain {
    let spec =
        ChunkSpec { shape: Dims::from_slice(chunk), data_type: DataType::UInt16, fill: Box::new([0; 2]) };
    let blosc = NamedConfig::new("blosc").with("cname", "lz4").with("clevel", 5).with("shuffle", "shuffle");
    let codecs = [
        NamedConfig::new("bytes").with("endian", "little"),
        blosc.with("typesize", 2).with("blocksize", 0),
        NamedConfig::new("crc32c"),
    ];
    Chain::build(&Registry::new(), &codecs, spec).expect("a chain of built-in codecs")
}

/// Runs numbered jobs on as many threads as the engine uses.
fn on_threads(threads: usize, jobs: usize, job: impl Fn(usize, &mut Scratch) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut scratch = Scratch::new();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= jobs {
                        return;
                    }
                    job(i, &mut scratch);
                }
            });
        }
    });
}

fn copy_all(threads: usize, from: &[u8], to: &mut [u8]) {
    let share = from.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (from, to) in from.chunks(share).zip(to.chunks_mut(share)) {
            scope.spawn(move || to.copy_from_slice(from));
        }
    });
    black_box(to);
}

fn encode_all(threads: usize, chain: &Chain, chunks: &[&[u8]]) -> Vec<Vec<u8>> {
    let out: Vec<std::sync::Mutex<Vec<u8>>> = chunks.iter().map(|_| Default::default()).collect();
    on_threads(threads, chunks.len(), |i, scratch| {
        let mut encoded = out[i].lock().expect("no thread panics");
        chain.encode(chunks[i], &Arena::new(), scratch, &mut encoded).expect("encoding");
    });
    out.into_iter().map(|slot| slot.into_inner().expect("no thread panics")).collect()
}

fn decode_all(threads: usize, chain: &Chain, encoded: &[Vec<u8>]) {
    on_threads(threads, encoded.len(), |i, scratch| {
        let mut chunk = scratch.sized(chain.spec().byte_len()).expect("memory");
        chain.decode(&encoded[i], &mut chunk, &Arena::new(), scratch).expect("decoding");
        black_box(&chunk);
        scratch.give(chunk);
    });
}

/// As many files, of as many bytes, as the array has objects.
fn create_files(threads: usize, folder: &Path, files: usize, bytes: usize) {
    let payload = vec![7u8; bytes / files];
    on_threads(threads, files, |i, _| {
        let path = folder.join(format!("file-{i}"));
        let _ = std::fs::remove_file(&path);
        std::fs::write(path, &payload).expect("writing a file");
    });
}

/// Reads them into memory that stays in cache.
fn read_files(threads: usize, folder: &Path, files: usize) {
    on_threads(threads, files, |i, scratch| {
        let mut file = std::fs::File::open(folder.join(format!("file-{i}"))).expect("opening a file");
        let mut buffer = scratch.sized(READ).expect("memory");
        while file.read(&mut buffer).expect("reading a file") > 0 {
            black_box(&buffer);
        }
        scratch.give(buffer);
    });
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
