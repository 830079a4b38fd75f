//! Numbers of 8 bits and fewer that NumPy has not: the types of the package `ml_dtypes`, one byte per element.

/// A number of 2 to 8 bits, held in the low bits of one byte; the bits above are ignored.
///
/// The names are those of `ml_dtypes` and of Zarr: `E4M3` has 4 bits of exponent and 3 of mantissa, `Fn` has no
/// infinities, `Uz` has no negative zero, and `B11` states an unusual bias of the exponent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SmallType {
    /// Signed, 2 bits.
    Int2,
    /// Unsigned, 2 bits.
    UInt2,
    /// Signed, 4 bits.
    Int4,
    /// Unsigned, 4 bits.
    UInt4,
    /// 2 bits of exponent, 1 of mantissa; numbers only.
    Float4E2M1Fn,
    /// 2 bits of exponent, 3 of mantissa; numbers only.
    Float6E2M3Fn,
    /// 3 bits of exponent, 2 of mantissa; numbers only.
    Float6E3M2Fn,
    /// 3 bits of exponent, 4 of mantissa.
    Float8E3M4,
    /// 4 bits of exponent, 3 of mantissa.
    Float8E4M3,
    /// 4 bits of exponent with a bias of 11, 3 of mantissa; no infinity, no negative zero.
    Float8E4M3B11Fnuz,
    /// 4 bits of exponent, 3 of mantissa; no infinity.
    Float8E4M3Fn,
    /// 4 bits of exponent, 3 of mantissa; no infinity, no negative zero.
    Float8E4M3Fnuz,
    /// 5 bits of exponent, 2 of mantissa.
    Float8E5M2,
    /// 5 bits of exponent, 2 of mantissa; no infinity, no negative zero.
    Float8E5M2Fnuz,
    /// 8 bits of exponent: powers of two.
    Float8E8M0Fnu,
}

/// What the largest codes of a float type stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    /// IEEE 754: the largest exponent is for infinities and what is not a number.
    Ieee,
    /// Numbers only.
    None,
    /// The code of all ones (but for the sign) is not a number.
    AllOnes,
    /// The code of negative zero is not a number.
    NegativeZero,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Integer {
        signed: bool,
        bits: u32,
    },
    Float {
        exponent: u32,
        mantissa: u32,
        bias: i32,
        special: Special,
    },
    /// A power of two, 2^(code - 127): no sign, no zero.
    Power,
}

const fn int(signed: bool, bits: u32) -> Kind {
    Kind::Integer { signed, bits }
}

const fn float(exponent: u32, mantissa: u32, bias: i32, special: Special) -> Kind {
    Kind::Float { exponent, mantissa, bias, special }
}

const TYPES: [(SmallType, &str, Kind); 15] = [
    (SmallType::Int2, "int2", int(true, 2)),
    (SmallType::UInt2, "uint2", int(false, 2)),
    (SmallType::Int4, "int4", int(true, 4)),
    (SmallType::UInt4, "uint4", int(false, 4)),
    (SmallType::Float4E2M1Fn, "float4_e2m1fn", float(2, 1, 1, Special::None)),
    (SmallType::Float6E2M3Fn, "float6_e2m3fn", float(2, 3, 1, Special::None)),
    (SmallType::Float6E3M2Fn, "float6_e3m2fn", float(3, 2, 3, Special::None)),
    (SmallType::Float8E3M4, "float8_e3m4", float(3, 4, 3, Special::Ieee)),
    (SmallType::Float8E4M3, "float8_e4m3", float(4, 3, 7, Special::Ieee)),
    (SmallType::Float8E4M3B11Fnuz, "float8_e4m3b11fnuz", float(4, 3, 11, Special::NegativeZero)),
    (SmallType::Float8E4M3Fn, "float8_e4m3fn", float(4, 3, 7, Special::AllOnes)),
    (SmallType::Float8E4M3Fnuz, "float8_e4m3fnuz", float(4, 3, 8, Special::NegativeZero)),
    (SmallType::Float8E5M2, "float8_e5m2", float(5, 2, 15, Special::Ieee)),
    (SmallType::Float8E5M2Fnuz, "float8_e5m2fnuz", float(5, 2, 16, Special::NegativeZero)),
    (SmallType::Float8E8M0Fnu, "float8_e8m0fnu", Kind::Power),
];

impl SmallType {
    /// Every small type.
    pub fn all() -> impl Iterator<Item = Self> {
        TYPES.iter().map(|row| row.0)
    }

    /// The name in Zarr and in `ml_dtypes` (`int4`, `float8_e5m2`, ...).
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        TYPES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Bits of an element, 2 to 8; the other bits of its byte are ignored.
    pub fn bits(self) -> u32 {
        match self.row().2 {
            Kind::Integer { bits, .. } => bits,
            Kind::Float { exponent, mantissa, .. } => 1 + exponent + mantissa,
            Kind::Power => 8,
        }
    }

    /// Whether this is an integer type, signed (`Some(true)`) or not (`Some(false)`); `None` for floats.
    pub fn signed_integer(self) -> Option<bool> {
        match self.row().2 {
            Kind::Integer { signed, .. } => Some(signed),
            _ => None,
        }
    }

    /// The bits of a byte that count.
    pub fn mask(self) -> u8 {
        0xff >> (8 - self.bits().min(8))
    }

    /// The number that a byte stands for. Exact.
    pub fn to_f64(self, byte: u8) -> f64 {
        let code = byte & self.mask();
        match self.row().2 {
            Kind::Integer { signed, bits } => {
                let wraps = signed && code >> (bits - 1) == 1;
                f64::from(code) - if wraps { power(bits.cast_signed()) } else { 0.0 }
            }
            Kind::Float { exponent, mantissa, bias, special } => {
                let sign = code >> (exponent + mantissa);
                let size = code & (self.mask() >> 1);
                let (e, m) = (size >> mantissa, size & !(0xff << mantissa));
                let top = e == !(0xff << exponent);
                let magnitude = match special {
                    Special::Ieee if top && m == 0 => f64::INFINITY,
                    Special::Ieee if top => f64::NAN,
                    Special::AllOnes if size == self.mask() >> 1 => f64::NAN,
                    Special::NegativeZero if sign == 1 && size == 0 => f64::NAN,
                    _ => {
                        let (leading, e) = if e == 0 { (0.0, 1) } else { (1.0, i32::from(e)) };
                        (leading + f64::from(m) * power(-mantissa.cast_signed())) * power(e - bias)
                    }
                };
                if sign == 1 { -magnitude } else { magnitude }
            }
            Kind::Power if code == 0xff => f64::NAN,
            Kind::Power => power(i32::from(code) - 127),
        }
    }

    /// The byte of what is not a number, as `ml_dtypes` makes it; `None` where the type has no such value.
    pub fn nan(self) -> Option<u8> {
        match self.row().2 {
            Kind::Integer { .. } => None,
            Kind::Float { exponent, mantissa, special, .. } => match special {
                Special::Ieee => Some((!(0xff << (exponent + 1))) << (mantissa - 1)),
                Special::None => None,
                Special::AllOnes => Some(0x7f),
                Special::NegativeZero => Some(0x80),
            },
            Kind::Power => Some(0xff),
        }
    }

    /// The byte of a number. Integers are exact or refused. Floats are rounded to the nearest, ties to the even
    /// code; what rounding would take beyond the largest number is refused, and so is what the type has no code for
    /// (an infinity, not-a-number, a negative power of two).
    ///
    /// Tries every code: for fill values, not for elements.
    pub fn from_f64(self, number: f64) -> Option<u8> {
        if number.is_nan() {
            return self.nan();
        }
        let codes = || (0..=self.mask()).map(|code| (code, self.to_f64(code)));
        if let Some((code, _)) = codes().find(|(_, value)| value.to_bits() == number.to_bits()) {
            return Some(code);
        }
        if let Some((code, _)) = codes().find(|(_, value)| *value == number) {
            return Some(code);
        }
        if self.signed_integer().is_some() || number.is_infinite() {
            return None;
        }
        let finite = || codes().filter(|(_, value)| value.is_finite());
        let below = finite().filter(|row| row.1 < number).max_by(|a, b| a.1.total_cmp(&b.1));
        let above = finite().filter(|row| row.1 > number).min_by(|a, b| a.1.total_cmp(&b.1));
        match (below, above) {
            (Some(low), Some(high)) => {
                let (down, up) = (number - low.1, high.1 - number);
                let even = if low.0 & 1 == 0 { low.0 } else { high.0 };
                Some(if down < up {
                    low.0
                } else if up < down {
                    high.0
                } else {
                    even
                })
            }
            (Some(low), None) => self.rounds_down(low, number).then_some(low.0),
            (None, Some(high)) if matches!(self.row().2, Kind::Power) => {
                // No zero: what is too small for the smallest power is that power, as TensorStore takes 0.
                (number >= 0.0).then_some(high.0)
            }
            (None, Some(high)) => self.rounds_down((high.0, -high.1), -number).then_some(high.0),
            (None, None) => None,
        }
    }

    /// Whether a number beyond the largest rounds back to it: by less than half the step to the number before it.
    fn rounds_down(self, largest: (u8, f64), number: f64) -> bool {
        let before = self.to_f64(largest.0.wrapping_sub(1)).abs();
        number - largest.1 < (largest.1 - before) / 2.0
    }

    fn row(self) -> &'static (SmallType, &'static str, Kind) {
        TYPES.iter().find(|row| row.0 == self).unwrap_or(&TYPES[0])
    }
}

fn power(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_the_number_it_is_made_from() {
        for small in SmallType::all() {
            assert_eq!(SmallType::from_name(small.name()), Some(small));
            for code in 0..=small.mask() {
                let number = small.to_f64(code);
                let made = small.from_f64(number);
                if number.is_nan() {
                    assert_eq!(made, small.nan(), "{small:?} {code:#x}");
                } else {
                    assert_eq!(made, Some(code), "{small:?} {code:#x} {number}");
                }
                assert_eq!(small.to_f64(code | !small.mask()).to_bits(), number.to_bits());
            }
            if let Some(nan) = small.nan() {
                assert!(small.to_f64(nan).is_nan());
            }
        }
    }

    #[test]
    fn the_largest_numbers_are_those_of_the_formats() {
        let largest = |small: SmallType| {
            let codes = (0..=small.mask()).map(|code| small.to_f64(code)).filter(|n| n.is_finite());
            codes.fold(f64::MIN, f64::max)
        };
        let known = [
            (SmallType::Int2, 1.0),
            (SmallType::UInt4, 15.0),
            (SmallType::Float4E2M1Fn, 6.0),
            (SmallType::Float6E2M3Fn, 7.5),
            (SmallType::Float6E3M2Fn, 28.0),
            (SmallType::Float8E3M4, 15.5),
            (SmallType::Float8E4M3, 240.0),
            (SmallType::Float8E4M3B11Fnuz, 30.0),
            (SmallType::Float8E4M3Fn, 448.0),
            (SmallType::Float8E4M3Fnuz, 240.0),
            (SmallType::Float8E5M2, 57344.0),
            (SmallType::Float8E5M2Fnuz, 57344.0),
            (SmallType::Float8E8M0Fnu, 2f64.powi(127)),
        ];
        for (small, number) in known {
            assert_eq!(largest(small), number, "{small:?}");
            assert_eq!(small.from_f64(number * 1.3), None, "{small:?}");
        }
    }

    #[test]
    fn numbers_between_are_rounded_to_the_nearest_and_ties_to_even() {
        let float = SmallType::Float8E5M2;
        let round = |number: f64| float.from_f64(number).map(|code| float.to_f64(code));
        assert_eq!(round(1.1), Some(1.0));
        assert_eq!(round(1.125), Some(1.0));
        assert_eq!(round(1.375), Some(1.5));
        assert_eq!(round(-1.2), Some(-1.25));
        assert_eq!(round(57344.0 + 4095.0), Some(57344.0));
        assert_eq!(round(57344.0 + 4096.0), None);
        assert_eq!(round(-57344.0 - 4096.0), None);
        assert_eq!(round(f64::INFINITY), Some(f64::INFINITY));
        assert_eq!(SmallType::Float8E4M3Fn.from_f64(f64::INFINITY), None);
        assert_eq!(SmallType::Float4E2M1Fn.from_f64(f64::NAN), None);
        assert_eq!(SmallType::Int4.from_f64(1.5), None);
        assert_eq!(SmallType::Int4.from_f64(-9.0), None);
        assert_eq!(SmallType::Float8E8M0Fnu.from_f64(0.0), Some(0));
        assert_eq!(SmallType::Float8E8M0Fnu.from_f64(-1.0), None);
    }
}
