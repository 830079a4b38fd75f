//! What is known of an array's values, made in one pass when they are written.

use half::{bf16, f16};
use serde_json::{Map, Value, json};
use tessarray_buffer::DataType;

/// A value of any numeric type, without loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Of signed integers and times, and of truth values.
    Integer(i64),
    /// Of unsigned integers.
    Unsigned(u64),
    /// Of floating point.
    Float(f64),
}

/// Minimum, maximum, sum and counts of the values of an array.
///
/// *Null* are NaN, not-a-time, and what equals one of the missing values. They count as nothing else: a NaN is
/// never a minimum. Infinite values are values.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Values that are not null.
    pub count: u64,
    /// Values that are.
    pub nulls: u64,
    /// The least; `None` where all are null.
    pub min: Option<Number>,
    /// The greatest.
    pub max: Option<Number>,
    /// The sum of those that are not null, in double precision; `None` for times.
    pub sum: Option<f64>,
    /// Of texts: the distinct ones, where they are few and short.
    pub texts: Option<Vec<String>>,
}

impl Statistics {
    /// Of C-ordered elements in the machine's byte order. `missing` are elements that stand for no value. `None` for
    /// types without an order: complex numbers, texts, structures.
    pub fn of(data_type: &DataType, bytes: &[u8], missing: Option<&[u8]>) -> Option<Self> {
        macro_rules! integers {
            ($type:ty, $wrap:ident, $as:ty) => {
                Some(
                    scan::<$type, _>(bytes, missing, <$type>::from_ne_bytes, |_| false)
                        .finish(|value| Number::$wrap(<$as>::from(value)), true),
                )
            };
        }
        match data_type {
            DataType::Bool | DataType::UInt8 => integers!(u8, Unsigned, u64),
            DataType::UInt16 => integers!(u16, Unsigned, u64),
            DataType::UInt32 => integers!(u32, Unsigned, u64),
            DataType::UInt64 => integers!(u64, Unsigned, u64),
            DataType::Int8 => integers!(i8, Integer, i64),
            DataType::Int16 => integers!(i16, Integer, i64),
            DataType::Int32 => integers!(i32, Integer, i64),
            DataType::Int64 => integers!(i64, Integer, i64),
            DataType::DateTime64 { .. } | DataType::TimeDelta64 { .. } => {
                let scanned = scan::<i64, _>(bytes, missing, i64::from_ne_bytes, |&value| value == i64::MIN);
                Some(scanned.finish(Number::Integer, false))
            }
            DataType::Float16 => {
                let scanned = scan(bytes, missing, f16::from_ne_bytes, |value| value.is_nan());
                Some(scanned.finish(|value| Number::Float(value.to_f64()), true))
            }
            DataType::BFloat16 => {
                let scanned = scan(bytes, missing, bf16::from_ne_bytes, |value| value.is_nan());
                Some(scanned.finish(|value| Number::Float(value.to_f64()), true))
            }
            DataType::Float32 => {
                let scanned = scan(bytes, missing, f32::from_ne_bytes, |value| value.is_nan());
                Some(scanned.finish(|value| Number::Float(value.into()), true))
            }
            DataType::Float64 => {
                let scanned = scan(bytes, missing, f64::from_ne_bytes, |value| value.is_nan());
                Some(scanned.finish(Number::Float, true))
            }
            _ => None,
        }
    }

    /// Of `count` texts; the distinct ones are given.
    pub fn of_texts(count: u64, texts: Vec<String>) -> Self {
        Self { count, nulls: 0, min: None, max: None, sum: None, texts: Some(texts) }
    }

    /// As JSON: `{"count", "nulls", "min", "max", "sum"}`, and `"texts"` where there are any. Infinite numbers are texts, as in Zarr's fill values.
    pub fn to_json(&self) -> Vec<u8> {
        let mut object = Map::new();
        object.insert("count".into(), json!(self.count));
        object.insert("nulls".into(), json!(self.nulls));
        object.insert("min".into(), self.min.map_or(Value::Null, number_to_json));
        object.insert("max".into(), self.max.map_or(Value::Null, number_to_json));
        object.insert("sum".into(), self.sum.map_or(Value::Null, |sum| number_to_json(Number::Float(sum))));
        if let Some(texts) = &self.texts {
            object.insert("texts".into(), json!(texts));
        }
        Value::Object(object).to_string().into_bytes()
    }

    /// From that; `None` for anything else.
    pub fn from_json(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let number = |name: &str| match value.get(name)? {
            Value::Null => Some(None),
            other => number_from_json(other).map(Some),
        };
        let sum = match number("sum")? {
            Some(Number::Float(sum)) => Some(sum),
            Some(Number::Integer(sum)) => Some(sum as f64),
            Some(Number::Unsigned(sum)) => Some(sum as f64),
            None => None,
        };
        let count = value.get("count")?.as_u64()?;
        let nulls = value.get("nulls")?.as_u64()?;
        let texts = match value.get("texts") {
            Some(texts) => Some(serde_json::from_value(texts.clone()).ok()?),
            None => None,
        };
        Some(Self { count, nulls, min: number("min")?, max: number("max")?, sum, texts })
    }
}

fn number_to_json(number: Number) -> Value {
    match number {
        Number::Integer(value) => value.into(),
        Number::Unsigned(value) => value.into(),
        Number::Float(value) if value.is_nan() => "NaN".into(),
        Number::Float(value) if value.is_infinite() => {
            if value > 0.0 {
                "Infinity".into()
            } else {
                "-Infinity".into()
            }
        }
        Number::Float(value) => value.into(),
    }
}

fn number_from_json(value: &Value) -> Option<Number> {
    match value {
        Value::String(text) => match text.as_str() {
            "NaN" => Some(Number::Float(f64::NAN)),
            "Infinity" => Some(Number::Float(f64::INFINITY)),
            "-Infinity" => Some(Number::Float(f64::NEG_INFINITY)),
            _ => None,
        },
        // A number with a point is floating, whatever its value.
        Value::Number(number) if number.is_f64() => number.as_f64().map(Number::Float),
        Value::Number(number) => {
            number.as_i64().map(Number::Integer).or_else(|| number.as_u64().map(Number::Unsigned))
        }
        _ => None,
    }
}

/// What one pass finds.
struct Scan<T> {
    count: u64,
    nulls: u64,
    range: Option<(T, T)>,
    sum: f64,
}

/// Types that have a double.
trait Element: Copy + PartialOrd + PartialEq {
    fn double(self) -> f64;
}

macro_rules! element {
    ($($type:ty),*) => { $(impl Element for $type { fn double(self) -> f64 { self as f64 } })* };
}
element!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl Element for f16 {
    fn double(self) -> f64 {
        self.to_f64()
    }
}

impl Element for bf16 {
    fn double(self) -> f64 {
        self.to_f64()
    }
}

/// Elements that are looked at together: those of most blocks are all valid, and need no branches.
const BLOCK: usize = 1024;
/// Ranges and sums that are kept apart, so that one element does not wait for the one before.
const LANES: usize = 16;

fn scan<T: Element, const N: usize>(
    bytes: &[u8],
    missing: Option<&[u8]>,
    load: impl Fn([u8; N]) -> T,
    is_null: impl Fn(&T) -> bool,
) -> Scan<T> {
    let missing: Vec<T> =
        missing.unwrap_or_default().as_chunks::<N>().0.iter().map(|one| load(*one)).collect();
    match *missing.as_slice() {
        [] => blocks(bytes, load, |value| is_null(&value)),
        [missing] => blocks(bytes, load, |value| is_null(&value) || value == missing),
        _ => blocks(bytes, load, |value| is_null(&value) || missing.contains(&value)),
    }
}

fn blocks<T: Element, const N: usize>(
    bytes: &[u8],
    load: impl Fn([u8; N]) -> T,
    is_null: impl Fn(T) -> bool,
) -> Scan<T> {
    let mut found = Scan { count: 0, nulls: 0, range: None, sum: 0.0 };
    for block in bytes.as_chunks::<N>().0.chunks(BLOCK) {
        let nulls: usize = block.iter().map(|one| usize::from(is_null(load(*one)))).sum();
        if nulls == 0 {
            found.valid(block, &load);
        } else {
            for value in block.iter().map(|one| load(*one)).filter(|value| !is_null(*value)) {
                found.widen(value, value);
                found.sum += value.double();
            }
        }
        found.nulls += nulls as u64;
        found.count += (block.len() - nulls) as u64;
    }
    found
}

impl<T: Element> Scan<T> {
    fn widen(&mut self, low: T, high: T) {
        self.range = Some(match self.range {
            None => (low, high),
            Some((min, max)) => (if low < min { low } else { min }, if high > max { high } else { max }),
        });
    }

    /// A block without nulls.
    fn valid<const N: usize>(&mut self, block: &[[u8; N]], load: &impl Fn([u8; N]) -> T) {
        let Some(first) = block.first() else { return };
        let (mut low, mut high, mut sum) = ([load(*first); LANES], [load(*first); LANES], [0.0; LANES]);
        let (rows, rest) = block.as_chunks::<LANES>();
        for row in rows {
            for lane in 0..LANES {
                let value = load(row[lane]);
                low[lane] = if value < low[lane] { value } else { low[lane] };
                high[lane] = if value > high[lane] { value } else { high[lane] };
                sum[lane] += value.double();
            }
        }
        for (low, high) in low.into_iter().zip(high) {
            self.widen(low, high);
        }
        for value in rest.iter().map(|one| load(*one)) {
            self.widen(value, value);
            self.sum += value.double();
        }
        self.sum += sum.iter().sum::<f64>();
    }
}

impl<T: Copy> Scan<T> {
    fn finish(self, number: impl Fn(T) -> Number, summed: bool) -> Statistics {
        Statistics {
            count: self.count,
            nulls: self.nulls,
            min: self.range.map(|(min, _)| number(min)),
            max: self.range.map(|(_, max)| number(max)),
            sum: summed.then_some(self.sum),
            texts: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn nan_and_the_missing_value_are_nothing_but_counted() {
        let data = bytes(&[f32::NAN, 3.5, -1.0, 99.0, f32::NAN]);
        let found = Statistics::of(&DataType::Float32, &data, Some(&99.0f32.to_ne_bytes())).unwrap();
        assert_eq!((found.count, found.nulls), (2, 3));
        assert_eq!((found.min, found.max), (Some(Number::Float(-1.0)), Some(Number::Float(3.5))));
        assert_eq!(found.sum, Some(2.5));
        let found = Statistics::of(&DataType::Float32, &data, Some(&bytes(&[99.0, -1.0]))).unwrap();
        assert_eq!((found.count, found.nulls, found.max), (1, 4, Some(Number::Float(3.5))));
        let none = Statistics::of(&DataType::Float32, &bytes(&[f32::NAN]), None).unwrap();
        assert_eq!((none.min, none.max, none.nulls, none.sum), (None, None, 1, Some(0.0)));
        assert_eq!(Statistics::of(&DataType::Complex64, &[0; 8], None), None);
    }

    #[test]
    fn large_integers_and_infinities_survive_json() {
        let data: Vec<u8> = [u64::MAX, 1].iter().flat_map(|value| value.to_ne_bytes()).collect();
        let found = Statistics::of(&DataType::UInt64, &data, None).unwrap();
        assert_eq!(found.max, Some(Number::Unsigned(u64::MAX)));
        let back = Statistics::from_json(&found.to_json()).unwrap();
        assert_eq!(back.max, Some(Number::Unsigned(u64::MAX)));
        let data = bytes(&[f32::INFINITY, 2.0, f32::NEG_INFINITY]);
        let found = Statistics::of(&DataType::Float32, &data, None).unwrap();
        let back = Statistics::from_json(&found.to_json()).unwrap();
        assert_eq!((back.min, back.max), (found.min, found.max));
        assert!(back.sum.is_some_and(f64::is_nan));
        assert_eq!(Statistics::from_json(b"{}"), None);
        assert_eq!(Statistics::from_json(b"not json"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_doubles_agree_with_a_plain_loop(values in proptest::collection::vec(proptest::num::f64::ANY, 0..3000)) {
            let data: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            let found = Statistics::of(&DataType::Float64, &data, None).unwrap();
            let valid: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
            assert_eq!(found.count as usize, valid.len());
            assert_eq!(found.nulls as usize, values.len() - valid.len());
            let min = valid.iter().copied().reduce(f64::min).map(Number::Float);
            let max = valid.iter().copied().reduce(f64::max).map(Number::Float);
            assert_eq!((found.min, found.max), (min, max));
        }
    }
}
