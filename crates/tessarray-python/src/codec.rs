//! Codecs written in Python, as the engine's bytes-to-bytes codecs; and codec settings given as text.

use crate::errors::OrRaise;
use crate::json::{from_json, from_map};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyBytesMethods};
use std::sync::Arc;
use tessarray::{AnyCodec, BytesCodec, ChunkSpec, CodecError, EncodedSize, NamedConfig, Session};

/// A codec object of the user's: `encode(data) -> bytes` and `decode(data, size) -> bytes`, where `size` is the
/// number of bytes to come out, or `None` where only the codec knows; it may also be `decode(data) -> bytes`.
#[derive(Debug)]
struct PyCodec {
    config: NamedConfig,
    object: Py<PyAny>,
    takes_size: bool,
}

impl PyCodec {
    fn error(&self, error: &PyErr) -> CodecError {
        CodecError::User { codec: self.config.name.clone(), message: error.to_string() }
    }

    /// Calls a method with the input bytes and passes the bytes it returns to `take`.
    fn call<T>(
        &self,
        method: &str,
        input: &[u8],
        size: Option<Option<usize>>,
        take: impl FnOnce(&[u8]) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let input = PyBytes::new(py, input);
            let result = match size.filter(|_| self.takes_size) {
                Some(size) => object.call_method1(method, (input, size)),
                None => object.call_method1(method, (input,)),
            };
            let result = result.and_then(|result| match result.cast_into::<PyBytes>() {
                Ok(bytes) => Ok(bytes),
                // bytearray, memoryview, arrays: anything with the buffer protocol.
                Err(other) => {
                    Ok(py.get_type::<PyBytes>().call1((other.into_inner(),))?.cast_into::<PyBytes>()?)
                }
            });
            take(result.map_err(|error| self.error(&error))?.as_bytes())
        })
    }
}

impl BytesCodec for PyCodec {
    fn config(&self) -> NamedConfig {
        self.config.clone()
    }

    fn encoded_size(&self, _decoded: usize) -> EncodedSize {
        EncodedSize::Unbounded
    }

    fn encode(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.call("encode", input, None, |bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        })
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
        self.call("decode", input, Some(Some(out.len())), |bytes| {
            if bytes.len() != out.len() {
                return Err(CodecError::Size {
                    codec: self.config.name.clone(),
                    expected: out.len() as u64,
                    found: bytes.len().to_string(),
                });
            }
            out.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn decode_bounded(&self, input: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.call("decode", input, Some(None), |bytes| {
            if bytes.len() > limit {
                return Err(CodecError::Size {
                    codec: self.config.name.clone(),
                    expected: limit as u64,
                    found: bytes.len().to_string(),
                });
            }
            out.extend_from_slice(bytes);
            Ok(())
        })
    }
}

/// Registers a class under a name in the session. `cls.from_config(dict)` builds a codec where the class has it,
/// `cls(**settings)` otherwise.
pub fn register(session: &Session, name: &str, cls: Py<PyAny>) {
    session.register_codec(name, move |config: &NamedConfig, _: &ChunkSpec| {
        let object = Python::attach(|py| {
            let cls = cls.bind(py);
            let settings = from_map(py, &config.configuration)?;
            let object = match cls.getattr_opt("from_config")? {
                Some(from_config) => from_config.call1((settings,))?,
                None => cls.call((), Some(&settings))?,
            };
            let takes_size =
                py.import("tessarray.sessions")?.call_method1("takes_size", (&object,))?.extract::<bool>()?;
            Ok::<_, PyErr>((object.unbind(), takes_size))
        });
        let (object, takes_size) = object
            .map_err(|error| CodecError::Config { codec: config.name.clone(), reason: error.to_string() })?;
        Ok(AnyCodec::Bytes(Arc::new(PyCodec { config: config.clone(), object, takes_size })))
    });
}

/// The codecs that a short text names (`"blosc:lz4:5:shuffle"`, `"zstd:3"`, `"none"`), as Zarr v3 JSON.
#[pyfunction]
pub fn codecs_from_text<'py>(py: Python<'py>, text: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let codecs = tessarray::codec_from_text(text).or_raise(py)?;
    codecs.iter().map(|codec| from_json(py, &codec.to_json())).collect()
}
