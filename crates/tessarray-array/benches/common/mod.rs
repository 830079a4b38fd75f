//! What the benches share.

use tessarray_array::Result;

/// The value of what cannot fail here.
pub fn done<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => unreachable!("{error}"),
    }
}
