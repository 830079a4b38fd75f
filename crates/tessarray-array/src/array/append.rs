//! Appending: data first, metadata last.
//!
//! 1. The metadata document's key is locked (a store update), and the document read: the array's true length.
//! 2. The new elements are written behind it, with chunks of any alignment. No reader looks there yet.
//!    A store with transactions is given steps 2 and 3 as one of its own.
//! 3. The document with the new shape is put, atomically, which is when the elements come to be; the lock goes.
//!
//! A writer killed before step 3 leaves the old array. What it left behind the end is overwritten by the next append,
//! and cleared before a resize would show it. Appenders exclude each other at step 1 on stores whose updates lock
//! (local directories, memory); on object stores plain Zarr cannot do this, and packs are the answer.

use super::{Array, State, Within};
use crate::documents;
use crate::error::{ArrayError, Result};
use crate::execute::{self, End};
use crate::session::Session;
use crate::target::Target;
use tessarray_buffer::{Arena, InputView};
use tessarray_grid::{Dims, Selection};
use tessarray_meta::ArrayMetadata;
use tessarray_store::Update;

/// A box of what is appended: where it begins (the place along the axis does not count), and its elements.
pub(crate) struct Part<'a> {
    pub origin: Dims,
    pub input: InputView<'a>,
}

impl Array {
    /// Appends `input` along `axis`, and returns where its elements start. All other axes must have the array's
    /// lengths. Atomic: a reader, and a process that opens the array after a crash, finds all new elements or none.
    ///
    /// Costs one read and one write of the metadata, and the write of the touched objects.
    ///
    /// # Errors
    /// Another number of axes or lengths than the array's other axes have; a store that fails; an array that was deleted or
    /// keeps changing meanwhile. Nothing is appended then.
    pub fn append(&self, axis: usize, input: &InputView<'_>, arena: &Arena) -> Result<u64> {
        let origin = Dims::from_elem(0, input.shape().len());
        let part = Part { origin, input: input.clone() };
        self.append_boxes(&self.inner.session, axis, input.shape(), &[part], arena, &mut |_| ())
    }

    /// The same, with a session's workers, for elements of fixed size that lie in boxes of their own: together they make up
    /// `extent`, and no two share an object. `begins` is told where they will start, before anything is written.
    pub(crate) fn append_parts(
        &self,
        session: &Session,
        axis: usize,
        extent: &[u64],
        parts: &[Part<'_>],
        mut begins: impl FnMut(u64),
    ) -> Result<u64> {
        self.append_boxes(session, axis, extent, parts, &Arena::new(), &mut begins)
    }

    fn append_boxes(
        &self,
        session: &Session,
        axis: usize,
        extent: &[u64],
        parts: &[Part<'_>],
        arena: &Arena,
        begins: &mut dyn FnMut(u64),
    ) -> Result<u64> {
        self.settle()?;
        let mut done: Option<(u64, State)> = None;
        self.inner.store.update_with(&self.metadata_key()?, &mut |within, current| {
            let metadata = self.parse(current.as_ref().map(|blob| &blob.bytes[..]))?;
            begins(check_append(&metadata.shape, axis, extent)?);
            let (start, grown, document) =
                self.append_under_lock((session, within), metadata, axis, extent, parts, arena)?;
            done = Some((start, grown));
            Ok(Update::PutOwned(vec![document]))
        })?;
        match done {
            Some((start, state)) => {
                self.set_state(state);
                Ok(start)
            }
            None => Err(ArrayError::Unstable { key: self.metadata_key()?.to_string() }),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a place in a list")]
    fn append_under_lock(
        &self,
        (session, within): (&Session, Within<'_>),
        metadata: ArrayMetadata,
        axis: usize,
        extent: &[u64],
        parts: &[Part<'_>],
        arena: &Arena,
    ) -> Result<(u64, State, Vec<u8>)> {
        let start = check_append(&metadata.shape, axis, extent)?;
        let n = extent[axis];
        let argument = |expected: &str| ArrayError::Argument {
            what: format!("append along axis {axis}"),
            expected: expected.into(),
            found: format!("{start} + {n}"),
        };
        let end = start.checked_add(n).filter(|&end| end <= i64::MAX as u64);
        let mut shape = metadata.shape.clone();
        shape[axis] = end.ok_or_else(|| argument("a length below 2^63"))?;
        let failed = |source| ArrayError::Metadata { key: "append".into(), source };
        let new = metadata.reshaped(&shape).map_err(failed)?;
        if new.chunk_grid != metadata.chunk_grid {
            // What is appended behind listed chunk lengths is a chunk of its own, which may be too large.
            new.validate(self.inner.session.limits()).map_err(failed)?;
        }
        let grown = self.state_of(new)?;
        let expected = grown.layout.item;
        if let Some(part) = parts.iter().find(|part| part.input.item() != expected) {
            return Err(ArrayError::ItemSize { expected, found: part.input.item() });
        }
        let target = Target { session, ..self.target_in(within, &grown) };
        session.share(parts.len() as u64, |number| {
            let Part { origin, input } = &parts[number as usize];
            let mut origin = origin.clone();
            origin[axis] = start;
            let selection = Selection::region(&origin, input.shape());
            execute::write(&target, &selection, input, arena, End::Held)
        })?;
        let document = documents::of_array(&grown.metadata, &self.inner.prefix)?.pop();
        Ok((start, grown, document.map(|(_, bytes)| bytes).unwrap_or_default()))
    }
}

/// Checks the shape of what is appended, and gives where it starts.
fn check_append(shape: &[u64], axis: usize, input: &[u64]) -> Result<u64> {
    let Some(&start) = shape.get(axis) else {
        return Err(ArrayError::Argument {
            what: "axis".into(),
            expected: format!("below {}, the array's number of dimensions", shape.len()),
            found: axis.to_string(),
        });
    };
    let mut expected = shape.to_vec();
    expected[axis] = input.get(axis).copied().unwrap_or(0);
    if input != expected {
        return Err(ArrayError::BufferShape { expected, found: input.to_vec() });
    }
    Ok(start)
}
