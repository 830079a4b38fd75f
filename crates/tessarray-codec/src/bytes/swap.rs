//! Reversing the byte order of elements in place.

use tessarray_buffer::DataType;

/// The units that are reversed in one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Units {
    /// All of one size.
    Same(usize),
    /// Fields: bytes, and the size of the unit in them.
    Fields(Vec<(usize, usize)>),
}

impl Units {
    pub fn of(data_type: &DataType) -> Self {
        match data_type.swap_size() {
            Some(size) => Self::Same(size),
            None => {
                let mut fields = Vec::new();
                collect(data_type, &mut fields);
                Self::Fields(fields)
            }
        }
    }

    /// Whether byte order makes a difference.
    pub fn matter(&self) -> bool {
        match self {
            Self::Same(size) => *size > 1,
            Self::Fields(fields) => fields.iter().any(|(_, size)| *size > 1),
        }
    }

    /// Reverses every unit of `data`, a whole number of elements.
    pub fn swap(&self, data: &mut [u8]) {
        match self {
            Self::Same(size) => swap(data, *size),
            Self::Fields(fields) => {
                let mut rest = data;
                while !rest.is_empty() {
                    for (len, size) in fields {
                        let (field, after) = rest.split_at_mut((*len).min(rest.len()));
                        swap(field, *size);
                        rest = after;
                    }
                    if fields.iter().all(|(len, _)| *len == 0) {
                        return;
                    }
                }
            }
        }
    }
}

fn collect(data_type: &DataType, out: &mut Vec<(usize, usize)>) {
    match data_type {
        DataType::Struct(fields) => fields.iter().for_each(|field| collect(&field.data_type, out)),
        other => out.push((other.size(), other.swap_size().unwrap_or(1))),
    }
}

fn swap(data: &mut [u8], size: usize) {
    match size {
        0 | 1 => {}
        2 => data.as_chunks_mut::<2>().0.iter_mut().for_each(|unit| unit.reverse()),
        4 => data.as_chunks_mut::<4>().0.iter_mut().for_each(|unit| unit.reverse()),
        8 => data.as_chunks_mut::<8>().0.iter_mut().for_each(|unit| unit.reverse()),
        _ => data.chunks_exact_mut(size).for_each(<[u8]>::reverse),
    }
}
