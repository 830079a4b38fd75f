//! The engine's data types and NumPy's.

use crate::errors::invalid;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};
use tessarray::{DataType, Field, SmallType, TimeUnit};

/// The data type a user means by a NumPy dtype, anything NumPy takes for one, the name of a Zarr data type, `str`
/// (strings of any length) or `bytes` (byte strings of any length), or a zarr-python data type object.
pub fn data_type(object: &Bound<'_, PyAny>) -> PyResult<DataType> {
    let py = object.py();
    if let Ok(class) = object.cast::<PyType>() {
        if class.is(py.get_type::<PyString>()) {
            return Ok(DataType::String);
        }
        if class.is(py.get_type::<PyBytes>()) {
            return Ok(DataType::Bytes);
        }
    }
    if let Ok(name) = object.cast::<PyString>() {
        match name.to_str()? {
            "string" | "str" => return Ok(DataType::String),
            "bytes" | "variable_length_bytes" => return Ok(DataType::Bytes),
            "bfloat16" => return Ok(DataType::BFloat16),
            name => {
                if let Some(small) = SmallType::from_name(name) {
                    return Ok(DataType::Small(small));
                }
                let bits = name.strip_prefix('r').and_then(|bits| bits.parse::<u32>().ok());
                if let Some(bits) = bits.filter(|bits| bits % 8 == 0 && *bits > 0) {
                    return Ok(DataType::RawBits(bits / 8));
                }
            }
        }
    }
    if object.hasattr("to_native_dtype")? && object.hasattr("to_json")? {
        let name =
            object.getattr("_zarr_v3_name").and_then(|name| name.extract::<String>()).unwrap_or_default();
        return match name.as_str() {
            "string" => Ok(DataType::String),
            "variable_length_bytes" => Ok(DataType::Bytes),
            _ => of_descr(&PyArrayDescr::new(py, object.call_method0("to_native_dtype")?)?),
        };
    }
    of_descr(&PyArrayDescr::new(py, object)?)
}

/// The data type of a NumPy dtype, whatever its byte order.
pub fn of_descr(descr: &Bound<'_, PyArrayDescr>) -> PyResult<DataType> {
    let py = descr.py();
    let refuse = |hint: &str| Err(invalid(py, format!("dtype {} cannot be stored{hint}", descr.as_any())));
    let size = descr.itemsize();
    let small = u32::try_from(size).unwrap_or(u32::MAX);
    if size == 1
        && let Some(small) = SmallType::from_name(&name_of(descr)?)
    {
        return Ok(DataType::Small(small));
    }
    Ok(match (descr.kind(), size) {
        (b'b', 1) => DataType::Bool,
        (b'i', 1) => DataType::Int8,
        (b'i', 2) => DataType::Int16,
        (b'i', 4) => DataType::Int32,
        (b'i', 8) => DataType::Int64,
        (b'u', 1) => DataType::UInt8,
        (b'u', 2) => DataType::UInt16,
        (b'u', 4) => DataType::UInt32,
        (b'u', 8) => DataType::UInt64,
        (b'f', 2) if name_of(descr)? == "float16" => DataType::Float16,
        (b'f', 4) => DataType::Float32,
        (b'f', 8) => DataType::Float64,
        (b'c', 8) => DataType::Complex64,
        (b'c', 16) => DataType::Complex128,
        (b'M', _) => {
            let (unit, scale) = time_unit(descr)?;
            DataType::DateTime64 { unit, scale }
        }
        (b'm', _) => {
            let (unit, scale) = time_unit(descr)?;
            DataType::TimeDelta64 { unit, scale }
        }
        (b'S', _) => DataType::FixedBytes(small),
        (b'U', _) => DataType::FixedUtf32(small / 4),
        (b'T', _) => DataType::String,
        (b'V' | b'f', 2) if name_of(descr)? == "bfloat16" => DataType::BFloat16,
        (b'V', _) if descr.has_fields() => fields(descr)?,
        (b'V', _) if descr.has_subarray() => return refuse(": sub-arrays are not supported"),
        (b'V', _) if name_of(descr)?.starts_with("void") => DataType::RawBits(small),
        (b'O', _) => {
            return refuse(": for text use dtype 'string', for byte strings 'variable_length_bytes'");
        }
        _ => return refuse(""),
    })
}

fn name_of(descr: &Bound<'_, PyArrayDescr>) -> PyResult<String> {
    descr.as_any().getattr("name")?.extract()
}

fn time_unit(descr: &Bound<'_, PyArrayDescr>) -> PyResult<(TimeUnit, u32)> {
    let py = descr.py();
    let (unit, scale): (String, u32) =
        py.import("numpy")?.call_method1("datetime_data", (descr,))?.extract()?;
    match TimeUnit::from_name(&unit) {
        Some(unit) => Ok((unit, scale)),
        None => Err(invalid(py, format!("dtype {}: the unit {unit:?} is not known", descr.as_any()))),
    }
}

fn fields(descr: &Bound<'_, PyArrayDescr>) -> PyResult<DataType> {
    let mut at = 0;
    let mut fields = Vec::new();
    for name in descr.names().unwrap_or_default() {
        let (inner, offset) = descr.get_field(&name)?;
        if offset != at {
            return Err(invalid(
                descr.py(),
                format!(
                    "dtype {}: field {name:?} is padded; only packed fields can be stored",
                    descr.as_any()
                ),
            ));
        }
        at += inner.itemsize();
        fields.push(Field { name, data_type: of_descr(&inner)? });
    }
    if at != descr.itemsize() {
        return Err(invalid(descr.py(), format!("dtype {}: padded at the end", descr.as_any())));
    }
    Ok(DataType::Struct(fields))
}

/// The NumPy dtype of arrays that hold elements of this type: native byte order; `StringDType` for strings (objects
/// on NumPy 1), objects for byte strings of any length.
pub fn descr<'py>(py: Python<'py>, data_type: &DataType) -> PyResult<Bound<'py, PyArrayDescr>> {
    let text = match data_type {
        DataType::BFloat16 | DataType::Small(_) => return ml_dtype(py, &data_type.zarr_name()),
        DataType::String => return string(py),
        DataType::Bytes => "O".to_owned(),
        DataType::FixedBytes(n) => format!("S{n}"),
        DataType::FixedUtf32(n) => format!("U{n}"),
        DataType::RawBits(n) => format!("V{n}"),
        DataType::DateTime64 { unit, scale } => time("M8", *unit, *scale),
        DataType::TimeDelta64 { unit, scale } => time("m8", *unit, *scale),
        DataType::Struct(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|field| Ok((field.name.clone(), descr(py, &field.data_type)?)))
                .collect::<PyResult<_>>()?;
            return PyArrayDescr::new(py, fields);
        }
        other => other.zarr_name(),
    };
    PyArrayDescr::new(py, text.as_str())
}

fn time(kind: &str, unit: TimeUnit, scale: u32) -> String {
    match (unit, scale) {
        (TimeUnit::Generic, _) => kind.to_owned(),
        (unit, 1) => format!("{kind}[{}]", unit.name()),
        (unit, scale) => format!("{kind}[{scale}{}]", unit.name()),
    }
}

fn ml_dtype<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArrayDescr>> {
    let class = py.import("ml_dtypes").and_then(|module| module.getattr(name));
    match class {
        Ok(class) => PyArrayDescr::new(py, class),
        Err(_) => {
            let message =
                format!("{name} needs the package ml_dtypes in Python: pip install --upgrade ml_dtypes");
            Err(crate::errors::Failure::new("MissingPackageError", message).raise(py))
        }
    }
}

fn string(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    let module = py.import("numpy")?;
    match module.getattr("dtypes").and_then(|dtypes| dtypes.getattr("StringDType")) {
        Ok(class) => PyArrayDescr::new(py, class.call0()?),
        Err(_) => PyArrayDescr::new(py, "O"),
    }
}

/// The NumPy dtype in which arrays made with this dtype-like are held.
#[pyfunction]
pub fn numpy_dtype<'py>(dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDescr>> {
    descr(dtype.py(), &data_type(dtype)?)
}
