//! How a directory is used as a store.

/// Options of a [`FileStore`](crate::FileStore). All are off by default.
///
/// ```
/// use tessarray_store::{FileOptions, FileStore};
/// let store = FileStore::with_options("cube.zarr", FileOptions::new().durable(true))?;
/// # Ok::<(), tessarray_store::StoreError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// Fsync each file and its directory, so that a put that returned survives a power cut. Without it, a power cut
    /// within seconds of a put may lose it, but a killed process does not. Costs milliseconds a put on most disks.
    pub durable: bool,
    /// Follow symbolic links that lead out of the root, for reading and for directories to write in. A put to a key
    /// that is itself a link replaces the link.
    pub follow_links: bool,
    /// Refuse puts and deletes.
    pub read_only: bool,
}

impl FileOptions {
    /// All off.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`FileOptions::durable`].
    #[must_use]
    pub fn durable(mut self, yes: bool) -> Self {
        self.durable = yes;
        self
    }

    /// Sets [`FileOptions::follow_links`].
    #[must_use]
    pub fn follow_links(mut self, yes: bool) -> Self {
        self.follow_links = yes;
        self
    }

    /// Sets [`FileOptions::read_only`].
    #[must_use]
    pub fn read_only(mut self, yes: bool) -> Self {
        self.read_only = yes;
        self
    }
}
