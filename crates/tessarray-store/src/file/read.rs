//! The reader's side: open once a run of equal keys, one positional read a range, into a buffer that is used again.

use super::handle::FileStore;
use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::request::{Blob, BlobBytes, Meta, ReadRequest};
use crate::store::ReadSink;
use crate::{positional, span};
use std::cell::Cell;
use std::fs::File;

/// The largest buffer a thread keeps between reads. Larger values go to the caller in a vector of their own.
const KEPT: usize = 64 << 20;

thread_local! {
    /// Taken out while in use, so that a read inside a sink gets another.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

pub(super) fn read_many(store: &FileStore, requests: &[ReadRequest], sink: &ReadSink<'_>) {
    span::by_key(requests, |first, run| {
        // An error belongs to one request; the next one of the run tries anew.
        for (skipped, request) in run.iter().enumerate() {
            match store.open_value(&request.key) {
                Err(error) => sink(first + skipped, Err(error)),
                Ok(value) => {
                    let value = value.map(|(file, facts)| (file, facts.meta()));
                    let rest = run.iter().enumerate().skip(skipped);
                    rest.for_each(|(i, request)| answer(first + i, request, value.as_ref(), sink));
                    break;
                }
            }
        }
    });
}

fn answer(i: usize, request: &ReadRequest, value: Option<&(File, Meta)>, sink: &ReadSink<'_>) {
    let found = value.map(|(_, meta)| &meta.version);
    if let Err(error) = request.check_version(found) {
        return sink(i, Err(error));
    }
    let Some((file, meta)) = value else { return sink(i, Ok(None)) };
    match request.resolve(meta.size) {
        Err(error) => sink(i, Err(error)),
        Ok((offset, length)) => with_range(&request.key, file, offset, length, |bytes| {
            sink(i, bytes.map(|bytes| Some(Blob { meta: meta.clone(), bytes })));
        }),
    }
}

/// Reads a range that lies inside the file and hands it to `take`. Allocates nothing once the thread's buffer is
/// large enough.
pub(super) fn with_range<T>(
    key: &Key,
    file: &File,
    offset: u64,
    length: u64,
    take: impl FnOnce(Result<BlobBytes<'_>>) -> T,
) -> T {
    let length = match span::to_usize(key, length) {
        Ok(length) => length,
        Err(error) => return take(Err(error)),
    };
    let failed = |error| StoreError::io(key, "read", error);
    if length > KEPT {
        let bytes = positional::read_vec_at(file, length, offset);
        return take(bytes.map(|bytes| BlobBytes::Shared(bytes.into())).map_err(failed));
    }
    let mut buffer = BUFFER.take();
    let read = match buffer.get_mut(..length) {
        Some(bytes) => positional::read_exact_at(file, bytes, offset),
        None => {
            // The old buffer goes before the new one comes.
            drop(std::mem::take(&mut buffer));
            positional::read_vec_at(file, length, offset).map(|bytes| buffer = bytes)
        }
    };
    let result = match read {
        Ok(()) => take(Ok(BlobBytes::Borrowed(buffer.get(..length).unwrap_or_default()))),
        Err(error) => take(Err(failed(error))),
    };
    BUFFER.set(buffer);
    result
}
