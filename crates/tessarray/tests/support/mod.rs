//! What these tests share: arrays in every layout, their plain models, stores of two kinds, and a watchdog.
#![allow(clippy::cast_possible_truncation, reason = "made-up data")]
#![allow(dead_code, reason = "each test binary uses a part")]

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tessarray::sharding::{IndexLocation, ShardingConfig};
use tessarray::{
    Array, ArraySpec, ChunkChoice, DataType, FileStore, Format, Key, MemoryStore, Prefix, Selection, Session,
    ShardChoice, Store,
};

/// A small generator, so that every run sees the same numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n.max(1)
    }
}

/// `n` values that compress a little, and are never the fill value zero.
pub fn values(n: usize, seed: u64) -> Vec<u16> {
    let mut random = Random::new(seed);
    (0..n).map(|i| 1 + (i / 7) as u16 % 900 + 1000 * seed as u16 + random.below(8) as u16).collect()
}

pub fn bytes_of(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

pub fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

/// A two-dimensional array of u16 as plain memory; what was never written is 0, the fill value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    pub shape: [u64; 2],
    pub data: Vec<u16>,
}

impl Plane {
    pub fn filled(shape: [u64; 2]) -> Self {
        Self { shape, data: vec![0; (shape[0] * shape[1]) as usize] }
    }

    pub fn random(shape: [u64; 2], seed: u64) -> Self {
        Self { shape, data: values((shape[0] * shape[1]) as usize, seed) }
    }

    pub fn bytes(&self) -> Vec<u8> {
        bytes_of(&self.data)
    }

    pub fn from_bytes(shape: [u64; 2], bytes: &[u8]) -> Self {
        let (pairs, rest) = bytes.as_chunks::<2>();
        assert!(rest.is_empty());
        let data: Vec<u16> = pairs.iter().map(|pair| u16::from_ne_bytes(*pair)).collect();
        assert_eq!(data.len() as u64, shape[0] * shape[1]);
        Self { shape, data }
    }

    /// The part of a box that lies inside.
    pub fn cut(&self, start: [u64; 2], shape: [u64; 2]) -> Self {
        let end = [0, 1].map(|a| (start[a] + shape[a]).min(self.shape[a]));
        let rows = start[0].min(end[0])..end[0];
        let columns = (start[1].min(end[1]) as usize)..end[1] as usize;
        let width = self.shape[1] as usize;
        let shape = [rows.end - rows.start, columns.len() as u64];
        let data =
            rows.flat_map(|row| &self.data[row as usize * width..][columns.clone()]).copied().collect();
        Self { shape, data }
    }

    /// Writes `other` with its first element at `start`; what lies outside is dropped.
    pub fn paste(&mut self, start: [u64; 2], other: &Self) {
        for row in 0..other.shape[0] {
            for column in 0..other.shape[1] {
                let (y, x) = (start[0] + row, start[1] + column);
                if y < self.shape[0] && x < self.shape[1] {
                    self.data[(y * self.shape[1] + x) as usize] =
                        other.data[(row * other.shape[1] + column) as usize];
                }
            }
        }
    }

    /// The same values in another shape, as a resize makes it.
    pub fn resized(&self, shape: [u64; 2]) -> Self {
        let mut out = Self::filled(shape);
        out.paste([0, 0], self);
        out
    }

    pub fn all(&self) -> Selection {
        Selection::all(&self.shape)
    }
}

/// How an array is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Plain,
    Sharded,
    /// The index stands at the start of each shard.
    IndexFirst,
    /// Shards in shards.
    Nested,
    /// Zarr v2.
    V2,
}

impl Layout {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Sharded, Self::IndexFirst, Self::Nested, Self::V2];

    /// A new array of u16 in objects of `object`; where there are shards, of inner chunks a third as long on each axis.
    pub fn create(
        self,
        session: &Session,
        store: Arc<dyn Store>,
        path: &str,
        shape: &[u64],
        object: &[u64],
    ) -> Array {
        let nests = matches!(self, Self::IndexFirst | Self::Nested);
        let spec = if nests { Self::Plain } else { self }.spec(shape, object);
        let mut metadata = spec.metadata(session).unwrap();
        if nests {
            let third: Vec<u64> = object.iter().map(|n| n / 3).collect();
            let mut sharding = ShardingConfig::new(&third, metadata.codecs);
            if self == Self::IndexFirst {
                sharding.index_location = IndexLocation::Start;
            } else {
                let sixth: Vec<u64> = third.iter().map(|n| n / 2).collect();
                sharding.codecs = vec![ShardingConfig::new(&sixth, sharding.codecs).to_config()];
            }
            metadata.codecs = vec![sharding.to_config()];
        }
        Array::create_with(session, store, path, metadata, false).unwrap()
    }

    /// The choices for all but the layouts that only metadata can say.
    pub fn spec(self, shape: &[u64], object: &[u64]) -> ArraySpec {
        let third: Vec<u64> = object.iter().map(|n| n / 3).collect();
        let mut spec = ArraySpec::new(shape, DataType::UInt16);
        spec.chunks = ChunkChoice::Shape(object.to_vec());
        match self {
            Self::Plain => {}
            Self::V2 => spec.format = Format::V2,
            Self::Sharded => {
                spec.chunks = ChunkChoice::Shape(third);
                spec.shards = ShardChoice::Shape(object.to_vec());
            }
            Self::IndexFirst | Self::Nested => unreachable!("made from metadata"),
        }
        spec
    }
}

/// A fresh store: in memory or in a folder of its own.
pub struct Place {
    pub store: Arc<dyn Store>,
    files: Option<(tempfile::TempDir, Arc<FileStore>)>,
}

impl Place {
    pub fn memory() -> Self {
        Self { store: Arc::new(MemoryStore::new()), files: None }
    }

    pub fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(FileStore::new(folder.path().join("store")).unwrap());
        Self { store: store.clone(), files: Some((folder, store)) }
    }

    pub fn path(&self) -> &std::path::Path {
        self.files.as_ref().unwrap().1.root()
    }

    /// A store of each kind.
    pub const KINDS: [fn() -> Self; 2] = [Self::memory, Self::folder];

    pub fn assert_no_leftovers(&self) {
        if let Some((_, files)) = &self.files {
            assert_eq!(files.leftovers(&Prefix::root()).unwrap(), vec![]);
        }
    }
}

/// Runs a job on a thread of its own, and fails where it takes longer than `limit`: a deadlock fails, and hangs not.
pub fn watched<R: Send + 'static>(limit: Duration, job: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = channel();
    let worker = std::thread::spawn(move || {
        let result = job();
        let _ = sender.send(());
        result
    });
    match receiver.recv_timeout(limit) {
        // Disconnected: the job panicked, and the join passes that on.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }
        Err(RecvTimeoutError::Timeout) => panic!("no end after {limit:?}: a deadlock"),
    }
}
