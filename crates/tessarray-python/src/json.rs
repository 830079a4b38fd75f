//! JSON values and Python objects, both ways.

use crate::errors::Failure;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};
use tessarray::{non_finite, non_finite_value};

/// Levels of nesting that are followed; deeper objects are refused rather than overflowing the stack.
const MAX_DEPTH: usize = 32;

/// A Python object as JSON: None, bool, int, float, str, list, tuple and dict, and NumPy scalars and arrays by their
/// `tolist`. Anything else is an `InvalidArgumentError` that names the place, as in `attributes.units[2]`.
pub fn to_json(object: &Bound<'_, PyAny>, place: &str) -> PyResult<Value> {
    convert(object, place, MAX_DEPTH)
}

/// A Python mapping as a JSON object.
pub fn to_map(object: &Bound<'_, PyAny>, place: &str) -> PyResult<Map<String, Value>> {
    match to_json(object, place)? {
        Value::Object(map) => Ok(map),
        other => Err(refuse(object.py(), place, &format!("expected a mapping, found {other}"))),
    }
}

fn refuse(py: Python<'_>, place: &str, reason: &str) -> PyErr {
    Failure::new("InvalidArgumentError", format!("{place}: {reason}")).raise(py)
}

fn convert(object: &Bound<'_, PyAny>, place: &str, depth: usize) -> PyResult<Value> {
    let py = object.py();
    if depth == 0 {
        return Err(refuse(py, place, &format!("nested deeper than {MAX_DEPTH} levels")));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if let Ok(value) = object.cast::<PyString>() {
        let text = Value::String(value.to_str()?.to_owned());
        if non_finite(&text).is_some() {
            return Err(refuse(py, place, "this text is reserved for NaN and infinities in attributes"));
        }
        return Ok(text);
    }
    if object.is_instance_of::<PyInt>() {
        if let Ok(value) = object.extract::<i64>() {
            return Ok(value.into());
        }
        return match object.extract::<u64>() {
            Ok(value) => Ok(value.into()),
            Err(_) => Err(refuse(py, place, "the integer does not fit 64 bits")),
        };
    }
    if object.is_instance_of::<PyFloat>() {
        let value: f64 = object.extract()?;
        return match Number::from_f64(value) {
            Some(number) => Ok(Value::Number(number)),
            // Attributes may hold them: zarr-python and xarray write them there.
            None if place.starts_with("attributes") => Ok(non_finite_value(value)),
            None => Err(refuse(py, place, &format!("JSON cannot hold {value}; use a string"))),
        };
    }
    if let Ok(list) = object.cast::<PyList>() {
        let items = list.iter().enumerate();
        return items.map(|(i, item)| convert(&item, &format!("{place}[{i}]"), depth - 1)).collect();
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        let items = tuple.iter().enumerate();
        return items.map(|(i, item)| convert(&item, &format!("{place}[{i}]"), depth - 1)).collect();
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let mut map = Map::new();
        for (key, value) in dict.iter() {
            let Ok(key) = key.cast::<PyString>() else {
                return Err(refuse(py, place, &format!("the key {} is not a string", key.repr()?)));
            };
            let key = key.to_str()?;
            map.insert(key.to_owned(), convert(&value, &format!("{place}.{key}"), depth - 1)?);
        }
        return Ok(Value::Object(map));
    }
    if object.hasattr("tolist")? {
        return convert(&object.call_method0("tolist")?, place, depth - 1);
    }
    if object.hasattr("keys")? && object.hasattr("__getitem__")? {
        let dict = py.get_type::<PyDict>().call1((object,))?;
        return convert(&dict, place, depth - 1);
    }
    Err(refuse(py, place, &format!("JSON cannot hold a {}", object.get_type().qualname()?)))
}

/// A JSON value as Python objects.
pub fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => value.into_pyobject(py)?.into_any(),
            (None, Some(value)) => value.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => match non_finite(value) {
            Some(number) => PyFloat::new(py, number).into_any(),
            None => PyString::new(py, text).into_any(),
        },
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| from_json(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(map) => from_map(py, map)?.into_any(),
    })
}

/// A JSON object as a dict.
pub fn from_map<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in map {
        dict.set_item(key, from_json(py, value)?)?;
    }
    Ok(dict)
}
