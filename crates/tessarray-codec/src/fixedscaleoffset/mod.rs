//! `numcodecs.fixedscaleoffset`: `round((x - offset) * scale)`, kept as another type.
//!
//! Arithmetic is NumPy's: float chunks in their own type, integer chunks in `f64` unless both settings are integers.
//! Integer arithmetic is done in 64 bits here, where numcodecs wraps at the chunk's type; where it does not wrap the
//! results are the same. Rounding is to the nearest, ties to even.

use crate::config::Settings;
use crate::lanes::{Number, Precision, Types, floats, ints};
use crate::number_filter::{NumberFilter, codec};
use crate::registry::register_all;
use crate::{AnyCodec, ChunkSpec, NamedConfig, Registry, Result, fail};
use serde_json::Value;

const NAME: &str = "fixedscaleoffset";

#[derive(Debug)]
struct FixedScaleOffset {
    types: Types,
    offset: Value,
    scale: Value,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["fixedscaleoffset", "numcodecs.fixedscaleoffset"], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["offset", "scale", "dtype", "astype"])?;
    let types = Types::read(&settings, spec, NAME, ["dtype", "astype"])?;
    if [types.decoded, types.encoded].into_iter().any(|n| matches!(n, Number::Bool | Number::BF16)) {
        return Err(fail::data_type(NAME, spec, "it works on integers and floats of 16 to 64 bits"));
    }
    settings.required("offset", settings.number("offset")?)?;
    if settings.required("scale", settings.number("scale")?)? == 0.0 {
        return Err(settings.error("setting \"scale\": expected a number other than 0, found 0".into()));
    }
    let value = |key| settings.value(key).cloned().unwrap_or(Value::Null);
    Ok(codec(FixedScaleOffset { types, offset: value("offset"), scale: value("scale") }))
}

impl FixedScaleOffset {
    /// Offset and scale as they are in arithmetic of this precision.
    fn settings(&self, precision: Precision) -> (f64, f64) {
        let number = |value: &Value| precision.round(value.as_f64().unwrap_or(0.0));
        (number(&self.offset), number(&self.scale))
    }
}

impl NumberFilter for FixedScaleOffset {
    const NAME: &'static str = NAME;

    fn types(&self) -> &Types {
        &self.types
    }

    fn config(&self) -> NamedConfig {
        NamedConfig::new("numcodecs.fixedscaleoffset")
            .with("offset", self.offset.clone())
            .with("scale", self.scale.clone())
            .with("dtype", self.types.decoded_name.clone())
            .with("astype", self.types.encoded_name.clone())
    }

    fn encode(&self, input: &[u8], out: &mut [u8]) {
        let Types { decoded, encoded, .. } = self.types;
        if let (false, false, Some(offset), Some(scale)) =
            (decoded.is_float(), encoded.is_float(), self.offset.as_i64(), self.scale.as_i64())
        {
            return ints(decoded, input, encoded, out, |lanes| {
                lanes.iter_mut().for_each(|x| *x = x.wrapping_sub(offset).wrapping_mul(scale));
            });
        }
        let precision = if decoded.is_float() { decoded.precision() } else { Precision::Double };
        let (offset, scale) = self.settings(precision);
        floats(decoded, input, encoded, out, |lanes| {
            for x in lanes {
                let moved = precision.round(*x - offset);
                *x = precision.round(moved * scale).round_ties_even();
            }
        });
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) {
        let Types { decoded, encoded, .. } = self.types;
        let precision = if encoded.is_float() { encoded.precision() } else { Precision::Double };
        let (offset, scale) = self.settings(precision);
        floats(encoded, input, decoded, out, |lanes| {
            for x in lanes {
                *x = precision.round(precision.round(*x / scale) + offset);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, spec};
    use tessarray_buffer::DataType;

    #[test]
    fn conforms_and_loses_at_most_half_a_step() {
        let spec = spec(DataType::Float64, &[300]);
        let values: Vec<f64> = (0..300).map(|i| 250.0 + f64::from(i) * 0.137).collect();
        let input: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let config = NamedConfig::new(NAME).with("offset", 250).with("scale", 100.0).with("astype", "<u2");
        let out = array(&config, &spec, &input);
        for (value, bytes) in values.iter().zip(out.as_chunks::<8>().0) {
            assert!((value - f64::from_ne_bytes(*bytes)).abs() <= 0.005 + 1e-9);
        }
    }

    #[test]
    fn missing_and_impossible_settings_are_named() {
        let spec = spec(DataType::Float32, &[3]);
        for (config, text) in [
            (NamedConfig::new(NAME).with("offset", 1), "missing setting \"scale\""),
            (NamedConfig::new(NAME).with("scale", 1), "missing setting \"offset\""),
            (NamedConfig::new(NAME).with("offset", 1).with("scale", 0), "other than 0"),
            (NamedConfig::new(NAME).with("offset", "1").with("scale", 2), "expected a number, found \"1\""),
        ] {
            let error = Registry::new().build(&config, &spec).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}
