//! The byte order of structured elements whose fields lie one after the other.

use crate::endian::Endian;
use tessarray_buffer::DataType;

/// The packed bytes in the byte order that v2 stores.
pub(super) fn to_stored(fill: &[u8], data_type: &DataType, stored: Option<Endian>) -> Vec<u8> {
    let mut bytes = fill.to_vec();
    swap_from(&mut bytes, data_type, stored.unwrap_or(Endian::NATIVE));
    bytes
}

/// Between the machine's byte order and that in which they are stored; it is its own inverse.
pub(super) fn swap_from(bytes: &mut [u8], data_type: &DataType, stored: Endian) {
    if stored != Endian::NATIVE {
        swap(bytes, data_type);
    }
}

fn swap(bytes: &mut [u8], data_type: &DataType) {
    match data_type {
        DataType::Struct(fields) => {
            let mut rest = bytes;
            for field in fields {
                let (head, tail) = rest.split_at_mut(field.data_type.size().min(rest.len()));
                swap(head, &field.data_type);
                rest = tail;
            }
        }
        other => {
            let unit = other.swap_size().unwrap_or(1).max(1);
            bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
    }
}
