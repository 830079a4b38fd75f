//! Reading chunks that are objects, of one array or of many small ones in one store: all are asked for together, so that a store
//! that keeps them in few files opens each once.

use super::reader::{Failure, Reader};
use crate::error::Result;
use crate::plan::{Cell, Child};
use std::sync::Arc;
use tessarray_store::{Blob, ByteRange, Key, ReadRequest, Store};

/// Reads chunks of arrays without shards: each is given with the number of its reader. On the caller's thread, or on those of
/// the store.
pub(super) fn read_plain(
    store: &Arc<dyn Store>,
    readers: &[Reader<'_>],
    objects: impl ExactSizeIterator<Item = (usize, Child)>,
) -> Result<()> {
    let mut requests = Vec::with_capacity(objects.len());
    let mut cells: Vec<(usize, Cell)> = Vec::with_capacity(objects.len());
    for (number, child) in objects {
        let key = readers[number].target.chunk_key(&child.at)?;
        if !readers[number].read_part(&child.cell, &key)? {
            requests.push(ReadRequest { key, range: ByteRange::All, expect: None });
            cells.push((number, child.cell));
        }
    }
    // A batch without requests is not sent: to a store that is far away it would cost a way there and back.
    if requests.is_empty() {
        return Ok(());
    }
    let failure = Failure::default();
    store.read_many(&requests, &|i, answer| {
        let (number, cell) = &cells[i];
        let key = &requests[i].key;
        failure.note(readers[*number].of_object(cell, |reader| take(reader, cell, key, answer)));
    });
    failure.into_result()
}

/// Puts a chunk into the output.
fn take(
    reader: &Reader<'_>,
    cell: &Cell,
    key: &Key,
    answer: tessarray_store::Result<Option<Blob<'_>>>,
) -> Result<()> {
    match answer? {
        None => {
            reader.target.missing(key, &reader.picks().leaf_chunk(cell))?;
            reader.decoder.missing(cell);
        }
        Some(blob) => {
            reader.decode(cell, key.as_str(), &blob.bytes)?;
            reader.remember(key, &blob);
        }
    }
    Ok(())
}
