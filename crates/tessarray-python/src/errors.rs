//! Engine errors as the exceptions of `tessarray.errors`.

use crate::interrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tessarray::{ArrayError, CodecError, GridError, MetaError, StoreError};

/// A fact about a failure, kept as an attribute of the exception.
enum Fact {
    Text(String),
    Coordinates(Vec<u64>),
    Errno(i32),
}

/// What to raise: a class of `tessarray.errors`, the message, and attributes.
pub struct Failure {
    class: &'static str,
    message: String,
    facts: Vec<(&'static str, Fact)>,
}

impl Failure {
    pub fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), facts: Vec::new() }
    }

    pub fn text(mut self, name: &'static str, value: impl ToString) -> Self {
        self.facts.push((name, Fact::Text(value.to_string())));
        self
    }

    fn coordinates(mut self, name: &'static str, value: Vec<u64>) -> Self {
        self.facts.push((name, Fact::Coordinates(value)));
        self
    }

    /// The exception itself.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        self.build(py).unwrap_or_else(|error| error)
    }

    fn build(self, py: Python<'_>) -> PyResult<PyErr> {
        let class = py.import("tessarray.errors")?.getattr(self.class)?;
        let facts = PyDict::new(py);
        for (name, fact) in self.facts {
            match fact {
                Fact::Text(text) => facts.set_item(name, text)?,
                Fact::Coordinates(numbers) => facts.set_item(name, PyTuple::new(py, numbers)?)?,
                Fact::Errno(number) => facts.set_item(name, number)?,
            }
        }
        Ok(PyErr::from_value(class.call((self.message,), Some(&facts))?))
    }
}

/// A wrong argument of a call: `InvalidArgumentError`.
pub fn invalid(py: Python<'_>, message: impl Into<String>) -> PyErr {
    Failure::new("InvalidArgumentError", message).raise(py)
}

/// A selection that is none, or does not fit: `SelectionError`, an `IndexError`.
pub fn bad_selection(py: Python<'_>, message: impl Into<String>) -> PyErr {
    Failure::new("SelectionError", message).raise(py)
}

/// Turns the error of an engine call into an exception.
pub trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Failure>> OrRaise<T> for Result<T, E> {
    #[inline]
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        if let Some(raised) = interrupt::take() {
            return Err(raised);
        }
        self.map_err(|error| {
            let failure: Failure = error.into();
            failure.raise(py)
        })
    }
}

/// Why a read of an array failed. Of a damaged chunk it names the store too, and says how to reach the rest.
pub fn of_read(array: &tessarray::Array, error: ArrayError) -> Failure {
    let in_a_chunk = matches!(error, ArrayError::Chunk { .. } | ArrayError::ShardIndex { .. });
    let mut failure = Failure::from(error);
    if in_a_chunk && failure.class == "CorruptError" {
        let rest = "what lies in other chunks can be read, and `check` lists all that is damaged";
        failure.message = format!("{}: {}; {rest}", array.store().describe(), failure.message);
    }
    failure
}

impl From<GridError> for Failure {
    fn from(error: GridError) -> Self {
        Failure::new("SelectionError", error.to_string())
    }
}

impl From<MetaError> for Failure {
    fn from(error: MetaError) -> Self {
        let failure = Failure::new("MetadataError", error.to_string());
        match error {
            MetaError::Value { expected, found, .. } => {
                failure.text("expected", expected).text("found", found)
            }
            _ => failure,
        }
    }
}

impl From<CodecError> for Failure {
    fn from(error: CodecError) -> Self {
        let message = error.to_string();
        match error {
            CodecError::Truncated { expected, found, .. } => {
                Failure::new("CorruptError", message).text("expected", expected).text("found", found)
            }
            CodecError::Size { expected, found, .. } => {
                Failure::new("CorruptError", message).text("expected", expected).text("found", found)
            }
            CodecError::Checksum { stored, computed, .. } => Failure::new("CorruptError", message)
                .text("expected", format!("{stored:#010x}"))
                .text("found", format!("{computed:#010x}")),
            CodecError::Memory { .. } => Failure::new("OutOfMemoryError", message),
            CodecError::Corrupt { .. } => Failure::new("CorruptError", message),
            _ => Failure::new("CodecError", message),
        }
    }
}

impl From<tessarray::KeyError> for Failure {
    fn from(error: tessarray::KeyError) -> Self {
        Failure::new("InvalidKeyError", error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Key(error) => error.into(),
            StoreError::Exists { key } => Failure::new("ExistsError", message).text("key", key),
            StoreError::Changed { key } => Failure::new("ConflictError", message).text("key", key),
            StoreError::OutOfRange { key, size, offset, length } => Failure::new("CorruptError", message)
                .text("key", key)
                .text("expected", format!("at least {} bytes", offset.saturating_add(length)))
                .text("found", format!("{size} bytes")),
            StoreError::ReadOnly { .. } => Failure::new("ReadOnlyError", message),
            StoreError::Full { key } => {
                let mut failure = Failure::new("StoreError", message).text("key", key);
                failure.facts.push(("errno", Fact::Errno(28)));
                failure
            }
            StoreError::Corrupt { .. } => Failure::new("CorruptError", message),
            // What a pack found out comes through its stores as it is.
            StoreError::Decision(error) => match error.downcast::<tessarray::pack::PackError>() {
                Ok(error) => (*error).into(),
                Err(_) => Failure::new("StoreError", message),
            },
            error if error.is_out_of_memory() => Failure::new("OutOfMemoryError", message),
            StoreError::Io { key, source, .. } => {
                let mut failure = Failure::new("StoreError", message).text("key", key);
                if let Some(number) = source.raw_os_error() {
                    failure.facts.push(("errno", Fact::Errno(number)));
                }
                failure
            }
            StoreError::Poisoned { key, code, .. } => {
                let mut failure = Failure::new("StoreError", message).text("key", key);
                failure.facts.extend(code.map(|number| ("errno", Fact::Errno(number))));
                failure
            }
            StoreError::OutsideRoot { key, .. }
            | StoreError::Interrupted { key, .. }
            | StoreError::Other { key, .. }
            | StoreError::Unanswered { key } => Failure::new("StoreError", message).text("key", key),
            _ => Failure::new("StoreError", message),
        }
    }
}

impl From<ArrayError> for Failure {
    fn from(error: ArrayError) -> Self {
        let message = error.to_string();
        match error {
            ArrayError::NotFound { path, .. } => Failure::new("NotFoundError", message).text("path", path),
            ArrayError::WrongNode { path, expected, found, .. } => Failure::new("WrongNodeError", message)
                .text("path", path)
                .text("expected", expected)
                .text("found", found),
            ArrayError::Exists { path, found, .. } => {
                Failure::new("ExistsError", message).text("path", path).text("found", found)
            }
            ArrayError::Selection(error) => error.into(),
            ArrayError::Argument { expected, found, .. } => {
                Failure::new("InvalidArgumentError", message).text("expected", expected).text("found", found)
            }
            ArrayError::BufferShape { .. } | ArrayError::ItemSize { .. } | ArrayError::View(_) => {
                Failure::new("InvalidArgumentError", message)
            }
            ArrayError::Metadata { key, source } => {
                Failure { message, ..Failure::from(source) }.text("key", key)
            }
            ArrayError::Codec { path, source } => {
                Failure { message, ..Failure::from(source) }.text("path", path)
            }
            ArrayError::Chunk { key, chunk, source } => {
                Failure { message, ..Failure::from(source) }.text("key", key).coordinates("chunk", chunk)
            }
            ArrayError::ShardIndex { key, shard, .. } => {
                Failure::new("CorruptError", message).text("key", key).coordinates("chunk", shard)
            }
            ArrayError::Threads { .. } => Failure::new("ThreadsError", message),
            ArrayError::Memory { .. } => Failure::new("OutOfMemoryError", message),
            ArrayError::MissingChunk { key, chunk, .. } => {
                Failure::new("MissingChunkError", message).text("key", key).coordinates("chunk", chunk)
            }
            ArrayError::Store(error) => error.into(),
            ArrayError::Key(error) => error.into(),
            ArrayError::Unstable { key } => Failure::new("ConflictError", message).text("key", key),
            _ => Failure::new("TessarrayError", message),
        }
    }
}
