//! Reading a codec's settings: one that the codec does not know is an error, and so is one that decoding needs and that
//! is of the wrong type or out of range.
//!
//! What only the encoder needs (levels, say) never refuses data that are there: the `encoder_` methods take the nearest
//! value that the codec has, as the libraries do, and check as strictly as the others where an array is to be made
//! ([`NamedConfig::strict`]).

use crate::{CodecError, NamedConfig, Result};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The settings of one codec, all of whose names are known to it. `null` counts as absent, as numcodecs writes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    codec: &'a str,
    map: &'a Map<String, Value>,
    pub strict: bool,
}

/// The whole number nearest to zero; the least or the greatest for those beyond.
#[expect(clippy::cast_possible_truncation, reason = "a cast from a float saturates")]
fn saturated(n: f64) -> i64 {
    n as i64
}

impl<'a> Settings<'a> {
    /// Refuses settings that are not among `known`. An `id` that repeats the codec's name is let through.
    pub fn new(config: &'a NamedConfig, known: &[&str]) -> Result<Self> {
        let settings = Self { codec: &config.name, map: &config.configuration, strict: config.strict };
        let plain = config.name.strip_prefix("numcodecs.").unwrap_or(&config.name);
        for (key, value) in settings.map {
            let repeats_name = key == "id" && value.as_str() == Some(plain);
            if !known.contains(&key.as_str()) && !repeats_name {
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                return Err(settings.error(format!("unknown setting {key:?}; known are {known}")));
            }
        }
        Ok(settings)
    }

    /// The JSON of a setting.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// An integer within `range`, where present.
    pub fn int(&self, key: &str, range: RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.as_i64() {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            _ => {
                Err(self.wrong(key, &format!("an integer from {} to {}", range.start(), range.end()), value))
            }
        }
    }

    /// An integer that only the encoder needs: of data that are there, the nearest within `range`, and `None` where it is
    /// no number.
    pub fn encoder_int(&self, key: &str, range: RangeInclusive<i64>) -> Result<Option<i64>> {
        let Some(value) = self.value(key).filter(|_| !self.strict) else { return self.int(key, range) };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(saturated)),
            Value::String(digits) => digits.parse().ok(),
            _ => None,
        };
        Ok(number.map(|number| number.clamp(*range.start(), *range.end())))
    }

    /// A switch that only the encoder needs: of data that are there also a number, or a word (GDAL writes `"NO"`), and
    /// `None` where it is none of them.
    pub fn encoder_bool(&self, key: &str) -> Result<Option<bool>> {
        let Some(value) = self.value(key).filter(|_| !self.strict) else { return self.bool(key) };
        Ok(match value {
            Value::Bool(on) => Some(*on),
            Value::Number(number) => Some(number.as_f64() != Some(0.0)),
            Value::String(word) => match word.to_ascii_lowercase().as_str() {
                "yes" | "on" | "true" | "1" => Some(true),
                "no" | "off" | "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        })
    }

    /// A word that only the encoder needs: of data that are there, `None` where it is not among those known.
    pub fn encoder_one_of<'k>(&self, key: &str, known: &[&'k str]) -> Result<Option<&'k str>> {
        let found = self.one_of(key, known);
        if self.strict { found } else { Ok(found.unwrap_or(None)) }
    }

    /// Any number, where present.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value.as_f64().map(Some).ok_or_else(|| self.wrong(key, "a number", value))
    }

    /// `true` or `false`, where present.
    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(key, "true or false", value))
    }

    /// One of the given strings, where present.
    pub fn one_of<'k>(&self, key: &str, known: &[&'k str]) -> Result<Option<&'k str>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match known.iter().find(|name| value.as_str() == Some(name)) {
            Some(name) => Ok(Some(name)),
            None => Err(self.wrong(key, &format!("one of {known:?}"), value)),
        }
    }

    /// The setting, or an error that it is missing.
    pub fn required<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.error(format!("missing setting {key:?}")))
    }

    /// A setting that is not what it has to be.
    pub fn wrong(&self, key: &str, expected: &str, found: &Value) -> CodecError {
        let mut found = found.to_string();
        if found.len() > 60 {
            found = found.chars().take(60).chain("...".chars()).collect();
        }
        self.error(format!("setting {key:?}: expected {expected}, found {found}"))
    }

    /// A configuration error of this codec.
    pub fn error(&self, reason: String) -> CodecError {
        CodecError::Config { codec: self.codec.into(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reason<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_setting_is_named_with_what_was_expected_and_found() {
        let config = NamedConfig::new("zstd").with("level", 99).with("checksum", "yes").with("mode", "fast");
        let known = ["level", "checksum", "mode"];
        let settings = Settings::new(&config, &known).unwrap();
        assert_eq!(
            reason(settings.int("level", -5..=22)),
            "codec \"zstd\": setting \"level\": expected an integer from -5 to 22, found 99"
        );
        assert!(reason(settings.bool("checksum")).contains("expected true or false, found \"yes\""));
        assert!(reason(settings.one_of("mode", &["auto"])).contains("expected one of [\"auto\"]"));
        assert!(reason(settings.required("x", None::<u8>)).contains("missing setting \"x\""));
        assert!(reason(settings.number("mode")).contains("a number"));
        assert_eq!(reason(Settings::new(&config, &["level"])).matches("\"checksum\"").count(), 1);
    }

    #[test]
    fn null_is_absent_and_an_id_that_repeats_the_name_is_let_through() {
        let config = NamedConfig::new("numcodecs.delta").with("astype", Value::Null).with("id", "delta");
        let settings = Settings::new(&config, &["astype"]).unwrap();
        assert_eq!(settings.value("astype"), None);
        assert!(Settings::new(&NamedConfig::new("zstd").with("id", json!("gzip")), &[]).is_err());
    }
}
