//! `numcodecs.quantize`: floats rounded to a power of two that keeps this many decimal digits after the point.

use crate::config::Settings;
use crate::lanes::{Number, Types, cast, floats};
use crate::number_filter::{NumberFilter, codec};
use crate::registry::register_all;
use crate::{AnyCodec, ChunkSpec, NamedConfig, Registry, Result, fail};

const NAME: &str = "quantize";

#[derive(Debug)]
struct Quantize {
    types: Types,
    digits: i64,
    scale: f64,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["quantize", "numcodecs.quantize"], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["digits", "dtype", "astype"])?;
    let types = Types::read(&settings, spec, NAME, ["dtype", "astype"])?;
    let float = |number| matches!(number, Number::F16 | Number::F32 | Number::F64);
    if !float(types.decoded) || !float(types.encoded) {
        return Err(fail::data_type(NAME, spec, "it rounds floats of 16, 32 or 64 bits"));
    }
    let digits = settings.required("digits", settings.encoder_int("digits", -300..=300)?)?;
    Ok(codec(Quantize { types, digits, scale: scale(digits) }))
}

/// The power of two, by the steps that numcodecs takes.
fn scale(digits: i64) -> f64 {
    let exponent = 10f64.powf(-(digits as f64)).log10();
    let exponent = if exponent < 0.0 { exponent.floor() } else { exponent.ceil() };
    10f64.powf(-exponent).log2().ceil().exp2()
}

impl NumberFilter for Quantize {
    const NAME: &'static str = NAME;

    fn types(&self) -> &Types {
        &self.types
    }

    fn config(&self) -> NamedConfig {
        NamedConfig::new("numcodecs.quantize")
            .with("digits", self.digits)
            .with("dtype", self.types.decoded_name.clone())
            .with("astype", self.types.encoded_name.clone())
    }

    fn encode(&self, input: &[u8], out: &mut [u8]) {
        let Types { decoded, encoded, .. } = self.types;
        let precision = decoded.precision();
        let scale = precision.round(self.scale);
        floats(decoded, input, encoded, out, |lanes| {
            for x in lanes {
                *x = precision.round(precision.round(scale * *x).round_ties_even() / scale);
            }
        });
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) {
        cast(self.types.encoded, input, self.types.decoded, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, spec};
    use tessarray_buffer::DataType;

    #[test]
    fn conforms_and_keeps_the_digits() {
        let spec = spec(DataType::Float32, &[300]);
        let values: Vec<f32> = (0..300).map(|i| i as f32 * 0.0137).collect();
        let input: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let out = array(&NamedConfig::new(NAME).with("digits", 2), &spec, &input);
        for (value, bytes) in values.iter().zip(out.as_chunks::<4>().0) {
            assert!((value - f32::from_ne_bytes(*bytes)).abs() <= 0.005);
        }
        for config in [NamedConfig::new(NAME), NamedConfig::new(NAME).with("digits", 1).with("astype", "<i2")]
        {
            assert!(Registry::new().build(&config, &spec).is_err());
        }
    }
}
