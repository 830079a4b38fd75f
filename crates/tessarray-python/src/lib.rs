//! `tessarray._native`: what the Python package calls. One file per noun, no logic; the GIL is released around every
//! call of the engine.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod appender;
mod array;
mod check;
mod chunk_sizes;
mod codec;
mod collection;
mod dtype;
mod errors;
mod fields;
mod group;
mod indexer;
mod interrupt;
mod json;
mod memory;
mod node;
mod pack;
mod recording;
mod selection;
mod session;
mod spec;
mod store;
mod stream;
mod transfer;
mod variable;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::appender::PyArrayAppender;
    #[pymodule_export]
    use crate::array::PyArrayCore;
    #[pymodule_export]
    use crate::check::check_store;
    #[pymodule_export]
    use crate::codec::codecs_from_text;
    #[pymodule_export]
    use crate::collection::{PyCollection, PyFound, PyKind, add_dataset, describe_array};
    #[pymodule_export]
    use crate::dtype::numpy_dtype;
    #[pymodule_export]
    use crate::group::{PyGroup, parse_json};
    #[pymodule_export]
    use crate::indexer::PyIndexer;
    #[pymodule_export]
    use crate::node::{PyNode, array_from_documents, create_array, create_group, open_node};
    #[pymodule_export]
    use crate::pack::{PyPack, PyPackVersion, PyTransaction};
    #[pymodule_export]
    use crate::recording::PyAccessLog;
    #[pymodule_export]
    use crate::session::{PySession, default_session};
    #[pymodule_export]
    use crate::store::{
        PyFaultStore, PyLocalStore, PyMappingStore, PyMemoryStore, PyPackStore, PyPrefixStore,
        PyReadOnlyStore, PyRecordStore, PyStore, PyThrottleStore, PyZipStore,
    };
    #[pymodule_export]
    use crate::stream::{PyChunkStream, chunk_stream};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::interrupt::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
