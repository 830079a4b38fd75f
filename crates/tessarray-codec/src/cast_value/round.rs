//! One value in another type: rounding, and what is done with values out of range.

use crate::lanes::Number;
use crate::numerals::{self, Numeral};
use half::{bf16, f16};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    NearestEven,
    TowardsZero,
    TowardsPositive,
    TowardsNegative,
    NearestAway,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutOfRange {
    Error,
    Clamp,
    Wrap,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub rounding: Rounding,
    pub out_of_range: OutOfRange,
}

impl Rounding {
    fn to_integer(self, x: f64) -> f64 {
        match self {
            Self::NearestEven => x.round_ties_even(),
            Self::TowardsZero => x.trunc(),
            Self::TowardsPositive => x.ceil(),
            Self::TowardsNegative => x.floor(),
            Self::NearestAway => x.round(),
        }
    }

    /// Which of two neighbours, `low` and `high`, `x` between them becomes. `even` is the one that ties go to.
    fn choose(self, x: f64, low: f64, high: f64, even: f64) -> f64 {
        let (below, above) = (x - low, high - x);
        match self {
            Self::TowardsZero => {
                if x > 0.0 {
                    low
                } else {
                    high
                }
            }
            Self::TowardsPositive => high,
            Self::TowardsNegative => low,
            _ if below < above => low,
            _ if below > above => high,
            Self::NearestAway => {
                if x > 0.0 {
                    high
                } else {
                    low
                }
            }
            Self::NearestEven => even,
        }
    }
}

/// `x` as a value of `to`, where both are held by `f64`; `None` where no rule gives one.
pub(super) fn float(rules: &Rules, x: f64, to: Number) -> Option<f64> {
    if to.is_float() {
        return narrow(rules, x, to);
    }
    if !x.is_finite() {
        return None;
    }
    let rounded = rules.rounding.to_integer(x);
    let (least, greatest) = numerals::range(to);
    let (low, high) = (least as f64, greatest as f64);
    if low <= rounded && rounded <= high {
        return Some(rounded);
    }
    match rules.out_of_range {
        OutOfRange::Error => None,
        OutOfRange::Clamp => Some(rounded.clamp(low, high)),
        OutOfRange::Wrap => {
            let modulus = high - low + 1.0;
            let rest = rounded % modulus;
            Some(if rest < low {
                rest + modulus
            } else if rest > high {
                rest - modulus
            } else {
                rest
            })
        }
    }
}

/// A float in a narrower float type.
fn narrow(rules: &Rules, x: f64, to: Number) -> Option<f64> {
    let (max, beyond) = match to {
        Number::F16 => (f16::MAX.to_f64(), 65_536.0),
        Number::BF16 => (bf16::MAX.to_f64(), 2f64.powi(128)),
        Number::F32 => (f64::from(f32::MAX), 2f64.powi(128)),
        _ => return Some(x),
    };
    if !x.is_finite() {
        return Some(x);
    }
    let size = x.abs();
    let rounded = if size > max {
        // As if the exponent had no end: the next value after the greatest is a power of two, and even.
        let above = match x > 0.0 {
            _ if size >= beyond => beyond,
            true => rules.rounding.choose(x, max, beyond, beyond),
            false => rules.rounding.choose(x, -beyond, -max, -beyond),
        };
        above.abs()
    } else {
        let near = numerals::nearest(to, x);
        let (low, high) = if near > x { (next(to, near, false), near) } else { (near, next(to, near, true)) };
        if near == x { x } else { rules.rounding.choose(x, low, high, near) }
    };
    if rounded.abs() <= max {
        return Some(rounded.copysign(x));
    }
    (rules.out_of_range == OutOfRange::Clamp).then_some(f64::INFINITY.copysign(x))
}

/// The neighbour of a value of this type, above or below.
#[expect(clippy::cast_possible_truncation, reason = "the nearest number is what is wanted")]
fn next(number: Number, x: f64, up: bool) -> f64 {
    // The bits of floats count upwards away from zero.
    let step = |bits: u16| {
        let negative = bits & 0x8000 != 0;
        match bits & 0x7FFF {
            0 => u16::from(!up) << 15 | 1,
            _ if negative == up => bits - 1,
            _ => bits + 1,
        }
    };
    match number {
        Number::F16 => f16::from_bits(step(f16::from_f64(x).to_bits())).to_f64(),
        Number::BF16 => bf16::from_bits(step(bf16::from_f64(x).to_bits())).to_f64(),
        _ if up => f64::from((x as f32).next_up()),
        _ => f64::from((x as f32).next_down()),
    }
}

/// Any value in any type, 64-bit integers included.
#[expect(
    clippy::cast_possible_truncation,
    reason = "below 2^126, where truncation takes what rounding has left: nothing"
)]
pub(super) fn any(rules: &Rules, value: Numeral, to: Number) -> Option<Numeral> {
    match (value, to.is_float()) {
        (Numeral::Float(x), true) => narrow(rules, x, to).map(Numeral::Float),
        (Numeral::Int(x), true) => {
            let digits = match to {
                Number::F16 => 11,
                Number::BF16 => 8,
                Number::F32 => 24,
                _ => 53,
            };
            narrow(rules, digits_of(rules.rounding, x, digits), to).map(Numeral::Float)
        }
        (Numeral::Float(x), false) => {
            if !x.is_finite() {
                return None;
            }
            let rounded = rules.rounding.to_integer(x);
            // Beyond 2^127 only the place in the cycle matters, which `%` gives exactly, or that it is out of range.
            let huge = rounded.abs() >= 2f64.powi(126);
            let whole = match rules.out_of_range {
                OutOfRange::Wrap if huge => (rounded % 2f64.powi(64)) as i128,
                _ => rounded as i128,
            };
            integer(rules, whole, to).map(Numeral::Int)
        }
        (Numeral::Int(x), false) => integer(rules, x, to).map(Numeral::Int),
    }
}

fn integer(rules: &Rules, x: i128, to: Number) -> Option<i128> {
    let (least, greatest) = numerals::range(to);
    if (least..=greatest).contains(&x) {
        return Some(x);
    }
    match rules.out_of_range {
        OutOfRange::Error => None,
        OutOfRange::Clamp => Some(x.clamp(least, greatest)),
        OutOfRange::Wrap => {
            let modulus = greatest - least + 1;
            Some((x - least).rem_euclid(modulus) + least)
        }
    }
}

/// An integer of up to 65 bits rounded to this many binary digits.
fn digits_of(rounding: Rounding, x: i128, digits: u32) -> f64 {
    let size = x.unsigned_abs();
    let shift = (u128::BITS - size.leading_zeros()).saturating_sub(digits);
    if shift == 0 {
        return x as f64;
    }
    let low = size >> shift << shift;
    let (rest, half) = (size - low, 1u128 << (shift - 1));
    let up = rest > 0
        && match rounding {
            Rounding::TowardsZero => false,
            Rounding::TowardsPositive => x > 0,
            Rounding::TowardsNegative => x < 0,
            Rounding::NearestAway => rest >= half,
            Rounding::NearestEven => rest > half || rest == half && (low >> shift) & 1 == 1,
        };
    let rounded = if up { low + (1 << shift) } else { low } as f64;
    if x < 0 { -rounded } else { rounded }
}
