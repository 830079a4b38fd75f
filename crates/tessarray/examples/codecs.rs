//! A codec of one's own: written in a few lines, registered by name, and used like any other.
//!
//! ```text
//! cargo run -p tessarray --example codecs
//! ```

use std::sync::Arc;
use tessarray::{
    AnyCodec, Array, ArraySpec, BytesCodec, ChunkChoice, CodecChoice, CodecError, DataType, EncodedSize,
    MemoryStore, NamedConfig, Result, Selection, Session, codec_from_text,
};

const NAME: &str = "example.runs";

/// Run lengths: each byte is written as how often it comes (1 to 255) and what it is.
#[derive(Debug)]
struct Runs;

impl BytesCodec for Runs {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(NAME)
    }

    fn encoded_size(&self, decoded: usize) -> EncodedSize {
        EncodedSize::AtMost(decoded.saturating_mul(2))
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> std::result::Result<(), CodecError> {
        for run in input.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255)) {
            out.extend([u8::try_from(run.len()).unwrap_or(u8::MAX), run[0]]);
        }
        Ok(())
    }

    // Stops at the first byte too many, so that no input can make it produce more than was declared.
    fn decode(&self, input: &[u8], out: &mut [u8]) -> std::result::Result<(), CodecError> {
        let expected = out.len() as u64;
        let mut rest = out;
        for pair in input.chunks(2) {
            let &[count, byte] = pair else { return Err(corrupt("half a run")) };
            let Some((run, after)) = rest.split_at_mut_checked(count.into()) else {
                return Err(CodecError::Size { codec: NAME.into(), expected, found: "more".into() });
            };
            run.fill(byte);
            rest = after;
        }
        let missing = rest.len() as u64;
        if missing == 0 {
            Ok(())
        } else {
            Err(CodecError::Truncated { codec: NAME.into(), expected, found: expected - missing })
        }
    }

    // For when another codec stands before it, and the decoded size is only bounded.
    fn decode_bounded(
        &self,
        input: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), CodecError> {
        let total: usize = input.iter().step_by(2).map(|&count| usize::from(count)).sum();
        if total > limit {
            return Err(CodecError::Size {
                codec: NAME.into(),
                expected: limit as u64,
                found: total.to_string(),
            });
        }
        let start = out.len();
        out.resize(start + total, 0);
        self.decode(input, &mut out[start..]).inspect_err(|_| out.truncate(start))
    }
}

fn corrupt(reason: &str) -> CodecError {
    CodecError::Corrupt { codec: NAME.into(), reason: reason.into() }
}

fn main() -> Result<()> {
    let session = Session::new();
    session.register_codec(NAME, |config, _| match config.configuration.keys().next() {
        Some(key) => {
            Err(CodecError::Config { codec: NAME.into(), reason: format!("unknown setting {key:?}") })
        }
        None => Ok(AnyCodec::Bytes(Arc::new(Runs))),
    });

    let store = Arc::new(MemoryStore::new());
    let labels: Vec<u8> = (0..256 * 256).map(|i| u8::from(i / 4096 % 2 == 0)).collect();
    for (path, codecs) in [
        ("runs", vec![NamedConfig::new(NAME), NamedConfig::new("crc32c")]),
        ("blosc", codec_from_text("blosc:lz4:5:noshuffle+crc32c")?),
        ("zstd", codec_from_text("zstd:3+crc32c")?),
        ("nothing", Vec::new()),
    ] {
        let mut spec = ArraySpec::new(&[256, 256], DataType::UInt8);
        spec.chunks = ChunkChoice::Shape(vec![64, 64]);
        spec.compressors = CodecChoice::List(codecs);
        let array = Array::create(&session, store.clone(), path, &spec, false)?;
        array.write_bytes(&Selection::all(&[256, 256]), &labels)?;
        let back = array.read_bytes(&Selection::all(&[256, 256]))?;
        println!(
            "{path:>8}: {:>6} of {} bytes, equal: {}",
            array.stored_bytes()?,
            labels.len(),
            back == labels
        );
    }

    // A session that does not know the name refuses the array, and says what is missing.
    match Array::open(&Session::new(), store, "runs") {
        Ok(_) => println!("opened without the codec"),
        Err(error) => println!("elsewhere: {}", error.to_string().split(';').next().unwrap_or_default()),
    }
    Ok(())
}
