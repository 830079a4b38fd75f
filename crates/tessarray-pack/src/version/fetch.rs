//! Bytes of segments: read in runs, each chunk checked against its checksum.

use super::content::{Content, Piece, Spot};
use crate::catalogue::Numbering;
use crate::chunk_checksum::{self, ChunkId};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::names::segment_key;
use bytes::Bytes;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, PoisonError};
use tessarray_store::{Blob, BlobBytes, ByteRange, Key, Meta, ReadRequest, ReadSink, Store, StoreError};

/// A request that needs bytes of segments.
pub(crate) struct Job {
    pub request: usize,
    pub meta: Meta,
    /// The pieces, what each is checked against, and where each begins in the value.
    pub pieces: Vec<(Piece, Check, u64)>,
    /// A part of the value that is known: where it begins.
    pub known: Option<(u64, Bytes)>,
    /// The range of the value that is wanted.
    pub range: std::ops::Range<u64>,
}

/// What chunks are checked against.
#[derive(Debug, Clone)]
pub(crate) struct ObjectId {
    pub path: Arc<str>,
    pub node: u64,
    pub at: Arc<[u64]>,
}

/// What bytes are said to be.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    /// The value of a key.
    Value(String),
    /// A chunk of an object.
    Chunk(ObjectId, u64),
}

impl Check {
    /// The chunk of this number in the array at `path` whose own number is `node`.
    pub(crate) fn chunk(path: &Arc<str>, node: u64, numbering: &Numbering, number: u64) -> Self {
        let (at, inner) = numbering.coordinates(number);
        Self::Chunk(ObjectId { path: Arc::clone(path), node, at: at.into() }, inner)
    }

    /// Whether these bytes, from `piece`, are that; the reason where they are not.
    pub(crate) fn verify(&self, piece: &Piece, bytes: &[u8]) -> std::result::Result<(), String> {
        let segment = piece.segment();
        let found = match self {
            Self::Value(key) => chunk_checksum::of_value(bytes, key, segment),
            Self::Chunk(object, inner) => {
                let chunk = ChunkId { node: object.node, at: &object.at, inner: *inner };
                chunk_checksum::of_chunk(&[bytes], chunk, segment)
            }
        };
        if found == piece.crc {
            return Ok(());
        }
        let what = match self {
            Self::Value(key) => key.clone(),
            Self::Chunk(object, inner) => {
                format!("{}: chunk {:?}, inner chunk {inner}", object.path, object.at)
            }
        };
        let at = match piece.place {
            Spot::Segment { offset, .. } => format!(" at {offset}"),
            Spot::Memory { .. } => String::new(),
        };
        let expected = piece.crc;
        Err(format!(
            "{what}: segments/{segment}.seg{at}: checksum: expected {expected:08x}, found {found:08x}"
        ))
    }
}

/// A run of pieces of one job that lie one after the other in a segment.
struct Run {
    job: usize,
    pieces: std::ops::Range<usize>,
}

/// Reads what the jobs need, checks it, and answers them.
pub(crate) fn fetch(content: &dyn Content, jobs: &[Job], sink: &ReadSink<'_>) {
    let (mut runs, mut requests) = (Vec::new(), Vec::new());
    // How many runs a job has; what has come of those of a job with several.
    let mut counts = vec![0usize; jobs.len()];
    let mut last = None;
    for (number, job) in jobs.iter().enumerate() {
        let mut begin = 0;
        while begin < job.pieces.len() {
            let end = run_end(&job.pieces, begin);
            if let Some(request) = request(&job.pieces[begin..end], &mut last) {
                match request {
                    Ok(request) => {
                        requests.push(request);
                        runs.push(Run { job: number, pieces: begin..end });
                        counts[number] += 1;
                    }
                    Err(error) => return sink(job.request, Err(error.into())),
                }
            }
            begin = end;
        }
    }
    let kept: Vec<Mutex<Vec<(usize, Bytes)>>> = jobs.iter().map(|_| Mutex::default()).collect();
    let failed: Vec<Mutex<Option<StoreError>>> = jobs.iter().map(|_| Mutex::default()).collect();
    let whole = |number: usize| {
        let job = &jobs[number];
        counts[number] == 1 && job.known.is_none() && !job.pieces.iter().any(in_memory)
    };
    content.base().read_many(&requests, &|i, answer| {
        let run = &runs[i];
        let job = &jobs[run.job];
        let bytes = answer
            .map_err(|error| torn(content, &requests[i].key, error))
            .and_then(|blob| blob.ok_or_else(|| missing(content, &requests[i].key)));
        let checked = bytes.and_then(|blob| check_run(content, job, run, &blob.bytes).map(|()| blob));
        match checked {
            Ok(blob) if whole(run.job) => {
                let begin = (job.range.start - job.pieces[0].2) as usize;
                let end = begin + (job.range.end - job.range.start) as usize;
                let bytes = match blob.bytes {
                    BlobBytes::Borrowed(bytes) => BlobBytes::Borrowed(&bytes[begin..end]),
                    BlobBytes::Shared(bytes) => BlobBytes::Shared(bytes.slice(begin..end)),
                };
                sink(job.request, Ok(Some(Blob { meta: job.meta.clone(), bytes })));
            }
            Ok(blob) => match blob.into_shared() {
                Ok(bytes) => lock(&kept[run.job]).push((run.pieces.start, bytes)),
                Err(error) => {
                    *lock(&failed[run.job]) = Some(StoreError::io(&requests[i].key, "allocate", error));
                }
            },
            Err(error) => *lock(&failed[run.job]) = Some(error),
        }
    });
    for (number, job) in jobs.iter().enumerate() {
        if let Some(error) = lock(&failed[number]).take() {
            sink(job.request, Err(error));
        } else if !whole(number) {
            let answer = assemble(content, job, &runs, number, &lock(&kept[number]));
            sink(job.request, answer.map(Some));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_memory((piece, ..): &(Piece, Check, u64)) -> bool {
    matches!(piece.place, Spot::Memory { .. })
}

/// The end of the run that begins with piece `begin`.
fn run_end(pieces: &[(Piece, Check, u64)], begin: usize) -> usize {
    let mut end = begin + 1;
    while end < pieces.len() {
        let (before, next) = (&pieces[end - 1].0, &pieces[end].0);
        let adjacent = match (&before.place, &next.place) {
            (Spot::Segment { id: a, offset: at }, Spot::Segment { id: b, offset }) => {
                a == b && at.checked_add(before.length) == Some(*offset)
            }
            _ => false,
        };
        if !adjacent {
            break;
        }
        end += 1;
    }
    end
}

/// What to ask the store for; `None` for a piece in memory. `last` is the segment that was asked for last.
fn request(run: &[(Piece, Check, u64)], last: &mut Option<(Id, Key)>) -> Option<Result<ReadRequest>> {
    let Spot::Segment { id, offset } = run.first()?.0.place else { return None };
    let length = run.iter().map(|(piece, ..)| piece.length).sum();
    let key = match last {
        Some((known, key)) if *known == id => Ok(key.clone()),
        _ => segment_key(id).inspect(|key| *last = Some((id, key.clone()))),
    };
    Some(key.map(|key| ReadRequest { key, range: ByteRange::Span { offset, length }, expect: None }))
}

fn check_run(content: &dyn Content, job: &Job, run: &Run, bytes: &[u8]) -> tessarray_store::Result<()> {
    let mut rest = bytes;
    for (piece, check, _) in &job.pieces[run.pieces.clone()] {
        let Some((own, after)) = usize::try_from(piece.length).ok().and_then(|n| rest.split_at_checked(n))
        else {
            let reason = format!("segment {}: truncated", piece.segment());
            return Err(StoreError::Corrupt { store: content.describe(), reason });
        };
        verify(content, piece, check, own)?;
        rest = after;
    }
    Ok(())
}

fn verify(content: &dyn Content, piece: &Piece, check: &Check, bytes: &[u8]) -> tessarray_store::Result<()> {
    check.verify(piece, bytes).map_err(|reason| StoreError::Corrupt { store: content.describe(), reason })
}

fn torn(content: &dyn Content, key: &Key, error: StoreError) -> StoreError {
    match error {
        StoreError::OutOfRange { offset, length, size, .. } => StoreError::Corrupt {
            store: content.describe(),
            reason: format!(
                "{key}: truncated: bytes {offset}..{} wanted, it has {size}",
                offset.saturating_add(length)
            ),
        },
        other => other,
    }
}

fn missing(content: &dyn Content, key: &Key) -> StoreError {
    PackError::Corrupt { store: content.describe(), file: key.to_string(), reason: "it is missing".into() }
        .into()
}

/// Puts a job's answer together from its runs, pieces in memory, and what is known.
fn assemble(
    content: &dyn Content,
    job: &Job,
    runs: &[Run],
    number: usize,
    kept: &[(usize, Bytes)],
) -> tessarray_store::Result<Blob<'static>> {
    let length = (job.range.end - job.range.start) as usize;
    let mut out = tessarray_buffer::zeroed(length)
        .ok_or_else(|| StoreError::io(content.describe(), "allocate", ErrorKind::OutOfMemory.into()))?;
    let mut paste = |at: u64, bytes: &[u8]| {
        let (begin, end) = (at.max(job.range.start), (at + bytes.len() as u64).min(job.range.end));
        if begin < end {
            let to = (begin - job.range.start) as usize..(end - job.range.start) as usize;
            out[to].copy_from_slice(&bytes[(begin - at) as usize..(end - at) as usize]);
        }
    };
    for run in runs.iter().filter(|run| run.job == number) {
        let Some((_, bytes)) = kept.iter().find(|(begin, _)| *begin == run.pieces.start) else {
            return Err(missing(content, &segment_key(job.pieces[run.pieces.start].0.segment())?));
        };
        paste(job.pieces[run.pieces.start].2, bytes);
    }
    for (piece, check, at) in &job.pieces {
        if let Spot::Memory { bytes, .. } = &piece.place {
            verify(content, piece, check, bytes)?;
            paste(*at, bytes);
        }
    }
    if let Some((at, bytes)) = &job.known {
        paste(*at, bytes);
    }
    Ok(Blob { meta: job.meta.clone(), bytes: BlobBytes::Shared(out.into()) })
}

/// The bytes of pieces, each checked; what is wrong with those that are not right.
pub(crate) fn fetch_each(
    store: &Arc<dyn Store>,
    pieces: &[(Piece, Check)],
) -> Result<Vec<std::result::Result<Bytes, String>>> {
    let mut requests = Vec::with_capacity(pieces.len());
    for (piece, _) in pieces {
        let Spot::Segment { id, offset } = piece.place else { continue };
        let range = ByteRange::Span { offset, length: piece.length };
        requests.push(ReadRequest { key: segment_key(id)?, range, expect: None });
    }
    let answers: Vec<Mutex<std::result::Result<Bytes, String>>> =
        requests.iter().map(|_| Mutex::new(Err("no answer".into()))).collect();
    let memory = Mutex::new(None);
    store.read_many(&requests, &|i, answer| {
        let (piece, check) = &pieces[i];
        let no_memory = |error| StoreError::io(&requests[i].key, "allocate", error);
        let bytes = match answer {
            Ok(Some(blob)) => match check.verify(piece, &blob.bytes) {
                Ok(()) => blob.into_shared().map_err(no_memory),
                Err(reason) => {
                    *lock(&answers[i]) = Err(reason);
                    return;
                }
            },
            Ok(None) => {
                *lock(&answers[i]) = Err(format!("{}: it is missing", requests[i].key));
                return;
            }
            Err(error) => Err(error),
        };
        match bytes {
            Ok(bytes) => *lock(&answers[i]) = Ok(bytes),
            // Want of memory says nothing of what is stored.
            Err(error) if error.is_out_of_memory() => *lock(&memory) = Some(error),
            Err(error) => *lock(&answers[i]) = Err(error.to_string()),
        }
    });
    if let Some(error) = lock(&memory).take() {
        return Err(error.into());
    }
    Ok(answers.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

/// The same, where one that is not right is an error.
pub(crate) fn fetch_all(store: &Arc<dyn Store>, pieces: &[(Piece, Check)]) -> Result<Vec<Bytes>> {
    let corrupt = |reason| StoreError::Corrupt { store: store.describe(), reason }.into();
    fetch_each(store, pieces)?.into_iter().map(|bytes| bytes.map_err(corrupt)).collect()
}
