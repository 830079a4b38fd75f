//! Names: of the files that a pack is made of, and of the keys that it holds.

use crate::error::Result;
use crate::id::Id;
use tessarray_store::Key;

/// The file that makes a folder a pack.
pub const FORMAT_FILE: &str = "format.json";
/// What that file says of itself.
pub(crate) const FORMAT_NAME: &str = "tessarray-pack";
/// The folder of the commit files.
pub(crate) const COMMITS: &str = "commits";
/// The file that says which numbers are not given again.
pub(crate) const EXPIRED: &str = "expired.json";
/// The hint of the latest version.
pub(crate) const LATEST: &str = "latest.json";
/// The folder of the tags.
pub(crate) const TAGS: &str = "tags";
/// The folder of the segments.
pub(crate) const SEGMENTS: &str = "segments";
/// The folder of the catalogue's parts.
pub(crate) const CATALOGUE: &str = "catalogue";

/// The metadata document of a node of Zarr v3.
pub(crate) const V3: &str = "zarr.json";
/// The metadata document of an array of Zarr v2.
pub(crate) const V2_ARRAY: &str = ".zarray";
/// The metadata document of a group of Zarr v2.
pub(crate) const V2_GROUP: &str = ".zgroup";
/// The attributes of a node of Zarr v2.
pub(crate) const V2_ATTRIBUTES: &str = ".zattrs";
/// The names of all metadata documents.
const DOCUMENTS: [&str; 5] = [V3, V2_ARRAY, V2_GROUP, V2_ATTRIBUTES, ".zmetadata"];

/// The document that says what is known of an array's values: it lies beside the array's metadata.
///
/// Who writes an array may put one. A commit that changes an array's chunks or metadata and puts none takes the old
/// one away. So does one that finds that another transaction changed the same array meanwhile. So a document that is
/// there tells of the values that are there.
pub const STATISTICS: &str = "statistics.json";

/// Whether the last part of a key is the name of a metadata document.
pub(crate) fn is_document(name: &str) -> bool {
    DOCUMENTS.contains(&name)
}

/// The key of a value of a node.
pub(crate) fn join(node: &str, name: &str) -> String {
    if node.is_empty() { name.into() } else { format!("{node}/{name}") }
}

/// Whether a node lies at or under a path.
pub(crate) fn is_under(node: &str, path: &str) -> bool {
    path.is_empty() || node.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The file of a segment.
pub(crate) fn segment_key(id: Id) -> Result<Key> {
    Ok(Key::new(&format!("{SEGMENTS}/{id}.seg"))?)
}
