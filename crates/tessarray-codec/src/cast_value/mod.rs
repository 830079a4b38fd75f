//! `cast_value` (zarr-extensions): the values as another type, by rules that leave nothing open.
//!
//! 1. What the scalar map has is what it says.
//! 2. What the other type has exactly stays the number that it is, NaN and signed zeros included.
//! 3. The rest is rounded, and what is then out of range is clamped, wrapped or an error.

mod round;

use crate::config::Settings;
use crate::lanes::{Number, cast, floats};
use crate::numerals::{self, Numeral};
use crate::registry::register_all;
use crate::{AnyCodec, ArrayCodec, ChunkSpec, NamedConfig, Registry, Result, fail, numpy};
use round::{OutOfRange, Rounding, Rules};
use serde_json::Value;
use std::sync::Arc;
use tessarray_buffer::DataType;

const NAME: &str = "cast_value";
const ROUNDINGS: [(&str, Rounding); 5] = [
    ("nearest-even", Rounding::NearestEven),
    ("towards-zero", Rounding::TowardsZero),
    ("towards-positive", Rounding::TowardsPositive),
    ("towards-negative", Rounding::TowardsNegative),
    ("nearest-away", Rounding::NearestAway),
];

/// One direction of the codec.
#[derive(Debug)]
struct Cast {
    from: Number,
    to: Number,
    /// The name of the type that values become, for errors.
    name: String,
    rules: Rules,
    /// What a value becomes whatever it is; the first that fits.
    map: Vec<(Numeral, Numeral)>,
}

#[derive(Debug)]
struct CastValue {
    encoded_type: DataType,
    encode: Cast,
    decode: Cast,
    /// Whether the fill value has to come back from a cast and its inverse.
    strict: bool,
    settings: NamedConfig,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &[NAME], build);
}

fn number(data_type: &DataType) -> Option<Number> {
    Number::of(data_type).filter(|&number| number != Number::Bool && numerals::is_plain(data_type))
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["data_type", "rounding", "out_of_range", "scalar_map"])?;
    let from =
        number(&spec.data_type).ok_or_else(|| fail::data_type(NAME, spec, "it casts integers and floats"))?;
    let value = settings.required("data_type", settings.value("data_type"))?;
    let name = value.as_str().or_else(|| value.get("name").and_then(Value::as_str));
    let named = name.and_then(|name| numpy::data_type(name).filter(|found| found.zarr_name() == name));
    let (encoded_type, to) = named
        .and_then(|found| number(&found).map(|number| (found, number)))
        .ok_or_else(|| settings.wrong("data_type", "the name of an integer or float type", value))?;
    let names = ROUNDINGS.map(|(name, _)| name);
    let rounding = settings.one_of("rounding", &names)?;
    let rounding = ROUNDINGS.iter().find(|(name, _)| Some(*name) == rounding);
    let rounding = rounding.map_or(Rounding::NearestEven, |(_, rounding)| *rounding);
    let out_of_range = match settings.one_of("out_of_range", &["clamp", "wrap"])? {
        Some("clamp") => OutOfRange::Clamp,
        Some(_) if to.is_float() => {
            let reason = format!("setting \"out_of_range\": \"wrap\" goes with integers, not {encoded_type}");
            return Err(settings.error(reason));
        }
        Some(_) => OutOfRange::Wrap,
        None => OutOfRange::Error,
    };
    let map = |direction, from, to| scalar_map(&settings, direction, from, to);
    let (encode, decode) = (map("encode", from, to)?, map("decode", to, from)?);
    let rules = Rules { rounding, out_of_range };
    // Wrapping is for integers; a float that decoding gives cannot wrap.
    let back = match out_of_range {
        OutOfRange::Wrap if from.is_float() => OutOfRange::Error,
        same => same,
    };
    Ok(AnyCodec::Array(Arc::new(CastValue {
        encode: Cast { from, to, name: encoded_type.to_string(), rules, map: encode },
        decode: Cast {
            from: to,
            to: from,
            name: spec.data_type.to_string(),
            rules: Rules { rounding, out_of_range: back },
            map: decode,
        },
        encoded_type,
        strict: config.strict,
        settings: NamedConfig { configuration: config.configuration.clone(), ..NamedConfig::new(NAME) },
    })))
}

fn scalar_map(
    settings: &Settings<'_>,
    direction: &str,
    from: Number,
    to: Number,
) -> Result<Vec<(Numeral, Numeral)>> {
    let Some(map) = settings.value("scalar_map") else { return Ok(Vec::new()) };
    let bad = |what: &str, found: &Value| {
        settings.wrong("scalar_map", &format!("{what} in its {direction:?} list"), found)
    };
    let members = map.as_object().ok_or_else(|| bad("an object with lists", map))?;
    if let Some(key) = members.keys().find(|key| !matches!(key.as_str(), "encode" | "decode")) {
        return Err(settings.error(format!("setting \"scalar_map\": unknown member {key:?}")));
    }
    let Some(list) = members.get(direction).filter(|list| !list.is_null()) else { return Ok(Vec::new()) };
    let pairs = list.as_array().ok_or_else(|| bad("pairs", list))?;
    let pair = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => {
            let key =
                numerals::read(from, key).ok_or_else(|| bad("a value of the type that is cast", key))?;
            let value =
                numerals::read(to, value).ok_or_else(|| bad("a value of the type it becomes", value))?;
            Ok((key, value))
        }
        _ => Err(bad("a pair of values", pair)),
    };
    pairs.iter().map(pair).collect()
}

/// Whether `f64` holds every value of this type.
fn fits_f64(number: Number) -> bool {
    !matches!(number, Number::I64 | Number::U64)
}

/// Whether every value of the one type is a value of the other.
fn is_exact(from: Number, to: Number) -> bool {
    let digits = |number: Number| match number {
        Number::F16 => 11,
        Number::BF16 => 8,
        Number::F32 => 24,
        _ => 53,
    };
    match (from.is_float(), to.is_float()) {
        (false, false) => {
            let ((least, greatest), (low, high)) = (numerals::range(from), numerals::range(to));
            low <= least && greatest <= high
        }
        (false, true) => {
            let (least, greatest) = numerals::range(from);
            let limit = 1i128 << digits(to);
            -limit <= least && greatest <= limit
        }
        (true, false) => false,
        (true, true) => from == to || to == Number::F64 || to == Number::F32 && from != Number::F64,
    }
}

impl Cast {
    fn mapped(&self, value: Numeral) -> Option<Numeral> {
        let same = |key: Numeral| match (key, value) {
            (Numeral::Float(key), Numeral::Float(value)) => key == value || key.is_nan() && value.is_nan(),
            (key, value) => key == value,
        };
        self.map.iter().find(|(key, _)| same(*key)).map(|(_, value)| *value)
    }

    /// Casts every element of `input`.
    ///
    /// # Errors
    /// The first value that the rules leave no way for, in words.
    fn run(&self, input: &[u8], out: &mut [u8]) -> std::result::Result<(), String> {
        let (from, to, rules) = (self.from, self.to, &self.rules);
        if self.map.is_empty() && is_exact(from, to) {
            cast(from, input, to, out);
            return Ok(());
        }
        if fits_f64(from) && fits_f64(to) {
            let mut failed = None;
            let to_float = |value| match value {
                Numeral::Int(integer) => integer as f64,
                Numeral::Float(float) => float,
            };
            let map: Vec<(f64, f64)> =
                self.map.iter().map(|&(key, value)| (to_float(key), to_float(value))).collect();
            floats(from, input, to, out, |lanes| {
                for x in lanes {
                    let found = map.iter().find(|(key, _)| key == x || key.is_nan() && x.is_nan());
                    *x = match found {
                        Some((_, value)) => *value,
                        None => match round::float(rules, *x, to) {
                            Some(value) => value,
                            None => *failed.get_or_insert(*x),
                        },
                    };
                }
            });
            return failed.map_or(Ok(()), |value| Err(self.reason(Numeral::Float(value))));
        }
        let (size, to_size) = (from.size(), to.size());
        for (bytes, out) in input.chunks_exact(size).zip(out.chunks_exact_mut(to_size)) {
            let value = numerals::load(from, bytes);
            let mapped = self.mapped(value).or_else(|| round::any(rules, value, to));
            numerals::store(to, mapped.ok_or_else(|| self.reason(value))?, out);
        }
        Ok(())
    }

    fn reason(&self, value: Numeral) -> String {
        let value = match value {
            Numeral::Int(value) => value.to_string(),
            Numeral::Float(value) => value.to_string(),
        };
        format!("{value} is no value of {}, and no setting says what becomes of it", self.name)
    }
}

impl ArrayCodec for CastValue {
    fn config(&self) -> NamedConfig {
        self.settings.clone()
    }

    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec> {
        fail::check_len(NAME, self.encode.from.size(), decoded.fill.len())?;
        let mut fill = vec![0; self.encode.to.size()];
        let failed = |reason| fail::encode(NAME, format!("the fill value: {reason}"));
        self.encode.run(&decoded.fill, &mut fill).map_err(failed)?;
        if self.strict {
            let mut back = vec![0; decoded.fill.len()];
            self.decode.run(&fill, &mut back).map_err(failed)?;
            let (before, after) =
                (numerals::load(self.encode.from, &decoded.fill), numerals::load(self.encode.from, &back));
            let both_nan =
                matches!((before, after), (Numeral::Float(x), Numeral::Float(y)) if x.is_nan() && y.is_nan());
            if before != after && !both_nan {
                return Err(failed(format!("{before:?} comes back as {after:?}")));
            }
        }
        Ok(ChunkSpec {
            shape: decoded.shape.clone(),
            data_type: self.encoded_type.clone(),
            fill: fill.into(),
        })
    }

    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        fail::check_len(NAME, decoded.elements().saturating_mul(self.encode.from.size()), input.len())?;
        fail::check_len(NAME, decoded.elements().saturating_mul(self.encode.to.size()), out.len())?;
        self.encode.run(input, out).map_err(|reason| fail::encode(NAME, reason))
    }

    fn decode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        fail::check_len(NAME, decoded.elements().saturating_mul(self.encode.from.size()), out.len())?;
        fail::check_len(NAME, decoded.elements().saturating_mul(self.encode.to.size()), input.len())?;
        self.decode.run(input, out).map_err(|reason| fail::corrupt(NAME, reason))
    }
}

#[cfg(test)]
mod tests;
