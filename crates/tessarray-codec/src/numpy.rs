//! NumPy's names of number types (`<i4`, `float32`), which the numcodecs filters have in their settings.

use tessarray_buffer::{DataType, TimeUnit};

/// The data type that NumPy calls `name`, in either byte order; `None` for any but numbers, bool and times.
///
/// Chunks are in the machine's byte order at every stage but the last, so the byte order in the name is for the
/// serialiser that follows.
pub(crate) fn data_type(name: &str) -> Option<DataType> {
    let long = match name {
        "bool" => Some(DataType::Bool),
        "int8" => Some(DataType::Int8),
        "int16" => Some(DataType::Int16),
        "int32" => Some(DataType::Int32),
        "int64" => Some(DataType::Int64),
        "uint8" => Some(DataType::UInt8),
        "uint16" => Some(DataType::UInt16),
        "uint32" => Some(DataType::UInt32),
        "uint64" => Some(DataType::UInt64),
        "float16" => Some(DataType::Float16),
        "bfloat16" => Some(DataType::BFloat16),
        "float32" => Some(DataType::Float32),
        "float64" => Some(DataType::Float64),
        _ => None,
    };
    long.or_else(|| match name.trim_start_matches(['<', '>', '|', '=']) {
        "b1" | "?" => Some(DataType::Bool),
        "i1" => Some(DataType::Int8),
        "i2" => Some(DataType::Int16),
        "i4" => Some(DataType::Int32),
        "i8" => Some(DataType::Int64),
        "u1" => Some(DataType::UInt8),
        "u2" => Some(DataType::UInt16),
        "u4" => Some(DataType::UInt32),
        "u8" => Some(DataType::UInt64),
        "f2" => Some(DataType::Float16),
        "f4" => Some(DataType::Float32),
        "f8" => Some(DataType::Float64),
        time => time_type(time),
    })
}

/// `M8[ns]`, `m8[25s]`, `M8`.
fn time_type(name: &str) -> Option<DataType> {
    let (kind, unit) = name.split_at_checked(2)?;
    let unit = match unit.strip_prefix('[') {
        None if unit.is_empty() => "generic",
        None => return None,
        Some(unit) => unit.strip_suffix(']')?,
    };
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (scale, unit) = unit.split_at_checked(digits)?;
    let scale = if scale.is_empty() { 1 } else { scale.parse().ok()? };
    let unit = TimeUnit::from_name(unit)?;
    match kind {
        "M8" => Some(DataType::DateTime64 { unit, scale }),
        "m8" => Some(DataType::TimeDelta64 { unit, scale }),
        _ => None,
    }
}

/// NumPy's short name of a type, in this machine's byte order; for types without one, the Zarr name.
pub(crate) fn name(data_type: &DataType) -> String {
    let (kind, size) = match data_type {
        DataType::Bool => ('b', 1),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => ('i', data_type.size()),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => ('u', data_type.size()),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ('f', data_type.size()),
        DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => {
            let kind = if matches!(data_type, DataType::DateTime64 { .. }) { "M8" } else { "m8" };
            let text = data_type.to_string();
            let unit = text.find('[').and_then(|at| text.get(at..)).unwrap_or("");
            return format!("{}{kind}{unit}", order());
        }
        other => return other.zarr_name(),
    };
    let order = if size == 1 { '|' } else { order() };
    format!("{order}{kind}{size}")
}

fn order() -> char {
    if cfg!(target_endian = "little") { '<' } else { '>' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for text in ["|b1", "|i1", "<i2", "<u4", "<f2", "<f8", "<M8[ns]", "<m8[25s]", "<M8"] {
            assert_eq!(name(&data_type(text).unwrap()), text);
        }
        assert_eq!(data_type(">i4"), Some(DataType::Int32));
        assert_eq!(data_type("float32"), Some(DataType::Float32));
        for text in ["", "O", "|O", "<U4", "|S3", "<c8", "f4x", "M8[", "M8[ns", "i", "é", "M8[99999999999s]"]
        {
            assert_eq!(data_type(text), None, "{text}");
        }
    }
}
