//! Parts without their checksums, for the fuzzer: what a reader does with a file whose maker meant harm.

use super::group::Group;
use super::part::metadata_of;
use bytes::Bytes;

/// Decodes all rows of a file that says of itself that it is a part; how many there are.
///
/// # Errors
/// What is wrong with it, in words.
pub fn rows(file: &[u8]) -> std::result::Result<usize, String> {
    let metadata = metadata_of(file).map_err(|error| error.to_string())?;
    let bytes = Bytes::copy_from_slice(file);
    let mut rows = 0;
    for number in 0..metadata.num_row_groups() {
        let group = Group::decode(bytes.clone(), 0, &metadata, number).map_err(|error| error.to_string())?;
        for row in 0..group.len() {
            group.row(row).map_err(|error| error.to_string())?;
        }
        rows += group.len();
    }
    Ok(rows)
}
